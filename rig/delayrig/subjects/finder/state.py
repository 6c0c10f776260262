# SPDX-License-Identifier: GPL-2.0-or-later
"""The possible contents of registers and stack at one point, and the effect of one instruction.

A value is a set of marks. `(ARGUMENT, n)` is the function's n-th argument itself, `(DERIVED, n)`
something computed from it, and `(SCALED, n)` its product with a variable, as in calibrated loops.
`(STACK, offset)` is an address on the stack, relative to the stack pointer at the function's entry;
`(NUMBER, n)` a constant; `(CLOCK, 0)` comes from a clock, `(MEMORY, 0)` from a variable.
`(READING, address)` is the call that read that clock; `(BETWEEN, 0)` is a time between two
readings, and `(BEFORE, 0)` a time since a start that a variable holds. With `(CAPPED, 0)`, the
value may be a constant of the code instead of an argument.
`(TIMES + "n", 1000)` is the n-th argument times 1000, perhaps with something added, as when
microseconds become nanoseconds.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from delayrig.subjects.finder.isa import Instruction, Isa, Operand, Place

ARGUMENT, DERIVED, SCALED = "argument", "derived", "scaled"
STACK, NUMBER, CLOCK, MEMORY = "stack", "number", "clock", "memory"
READING, BETWEEN, BEFORE, CAPPED = "reading", "between", "before", "capped"
TIMES = "times "

Mark = tuple[str, int]
Value = frozenset[Mark]
NOTHING: Value = frozenset()
OF_MEMORY: Value = frozenset({(MEMORY, 0)})
OF_ARGUMENT = (ARGUMENT, DERIVED, SCALED)
FACTOR_MAX = 1_000_000_000
CAPS = range(2, 2**31 - 1)
"""The constants that cap a wait. Smaller ones are minimum waits, larger ones avoid overflows."""
GRANULE = 4
"""The resolution of the stack's content in bytes."""
ARGUMENTS = 8
"""The number of arguments that are followed, in registers and on the stack."""
MOVES = (
    *("mov", "movabs", "movzx", "movsx", "movsxd", "movd", "movq", "movaps", "movups", "movdqa"),
    *("movdqu", "uxtw", "sxtw", "fmov", "cdqe", "uxth"),
)
LOADS = ("ldr", "ldur", "ldp", "ldrsw", "ldrb", "ldrh", "ldursw", "ldpsw", "ldar", "ldapr")
STORES = ("str", "stur", "stp", "strb", "strh", "stlr")
NOTHING_DONE = ("nop", "pause", "yield", "endbr64", "endbr32", "bti")
"""Instructions without effect.

x86 fills gaps with a `nop` that names memory, but does not read it.
"""
COMPARISONS = ("cmp", "test", "cmn", "tst", "ccmp", "ucomisd", "comisd", "fcmp")
SUMS = ("add", "adds", "sub", "subs", "msub")
DIFFERENCES = ("sub", "subs", "sbb", "sbc", "sbcs")
CHOICES = ("cmov", "csel")
SHIFTS_UP = ("shl", "sal", "lsl")
PRODUCTS = ("imul", "mul", "madd", "umull", "smull", "umulh", "umaddl", "smaddl", "mulx", "pmuludq")


def number(value: int) -> Value:
    return frozenset({(NUMBER, value)})


def stack(offset: int) -> Value:
    return frozenset({(STACK, offset)})


def only(value: Value, kind: str) -> int | None:
    """Returns the number of the only mark of that kind; None if there is none, or several."""
    found = [n for name, n in value if name == kind]
    return found[0] if len(found) == 1 else None


def constant(value: Value) -> int | None:
    """Returns the constant, if the value can be nothing else."""
    return only(value, NUMBER) if len(value) == 1 else None


def arguments_in(value: Value) -> set[int]:
    return {n for name, n in value if name in OF_ARGUMENT}


def has_clock(value: Value) -> bool:
    return (CLOCK, 0) in value


def reading(address: int) -> Value:
    """Returns the value of a clock that the call there read."""
    return frozenset({(CLOCK, 0), (READING, address)})


def readings(value: Value) -> set[int]:
    """Returns the addresses of the calls that may have read it from a clock."""
    return {n for name, n in value if name == READING}


def is_between(*sources: Value) -> bool:
    """Returns True if different clock readings are combined: a start, and a later reading."""
    if any((BETWEEN, 0) in source for source in sources):
        return True
    clocks = [readings(source) for source in sources if has_clock(source)]
    return any(each != clocks[0] for each in clocks[1:])


def is_before(*sources: Value) -> bool:
    """Returns True if a clock reading is combined with a variable, which may hold a start."""
    pure = [s for s in sources if has_clock(s) and not (arguments_in(s) or (BETWEEN, 0) in s)]
    return bool(pure) and any((MEMORY, 0) in s and not has_clock(s) for s in sources)


def is_capped(value: Value) -> bool:
    """Returns True if it may be an argument, or a constant of the code instead."""
    numbers = (n for name, n in value if name == NUMBER)
    return (CAPPED, 0) in value or (bool(arguments_in(value)) and any(n in CAPS for n in numbers))


def factors(value: Value, index: int) -> set[int]:
    """Returns the factors by which that argument may have been multiplied."""
    return {factor for name, factor in _multiples(value) if name == f"{TIMES}{index}"}


def _multiples(value: Value) -> Value:
    same = {(f"{TIMES}{n}", 1) for name, n in value if name == ARGUMENT}
    return frozenset(same.union(mark for mark in value if mark[0].startswith(TIMES)))


def computed(*sources: Value) -> Value:
    """Returns the result of arithmetic with these values."""
    made = frozenset(
        (DERIVED, n) if name == ARGUMENT else (name, n)
        for name, n in NOTHING.union(*sources)
        if name not in (NUMBER, STACK) and not name.startswith(TIMES)
    )
    facts = {BETWEEN: is_between(*sources), CAPPED: any(map(is_capped, sources))}
    return made.union((fact, 0) for fact, holds in facts.items() if holds)


def added(*sources: Value) -> Value:
    """Returns the result of a sum or difference.

    If only one part is a multiple of an argument, the result keeps its factor.
    """
    found = [each for each in map(_multiples, sources) if each]
    return computed(*sources) | found[0] if len(found) == 1 else computed(*sources)


def chosen(*sources: Value) -> Value:
    """Returns one of the values, chosen by a condition."""
    capped = {(CAPPED, 0)} if is_capped(NOTHING.union(*sources)) else NOTHING
    return computed(*sources).union(capped, *map(_multiples, sources))


def multiplied(*sources: Value) -> Value:
    """Returns the result of a product. An argument times a variable is scaled."""
    product = computed(*sources)
    if (MEMORY, 0) in product:
        return product | {(SCALED, n) for n in arguments_in(product)}
    numbers = [n for n in map(constant, sources) if n is not None]
    found = [mark for source in sources for mark in _multiples(source)]
    if len(numbers) != 1:
        return product
    times = ((name, n * numbers[0]) for name, n in found)
    return product.union(mark for mark in times if 0 < mark[1] <= FACTOR_MAX)


@dataclass(slots=True)
class State:
    registers: dict[str, Value] = field(default_factory=dict)
    words: dict[int, Value] = field(default_factory=dict)
    """The values on the stack, by offset."""
    behind: dict[int, Value] = field(default_factory=dict)
    """The values stored behind pointer arguments, by the argument's number."""

    def copy(self) -> "State":
        return State(dict(self.registers), dict(self.words), dict(self.behind))

    def merge(self, other: "State") -> bool:
        """Adds the values of another path to this point; returns True if any is new."""
        news = _merge(self.registers, other.registers)
        news |= _merge(self.words, other.words)
        return _merge(self.behind, other.behind) or news

    def of(self, register: str) -> Value:
        return self.registers.get(register, NOTHING)

    def put(self, register: str, value: Value) -> None:
        if register:
            self.registers[register] = value

    def offset(self, register: str) -> int | None:
        """Returns the position on the stack that it points to."""
        return only(self.of(register), STACK)

    def load(self, offset: int, size: int) -> Value:
        return NOTHING.union(*(self.words.get(at, NOTHING) for at in _granules(offset, size)))

    def store(self, offset: int, size: int, value: Value) -> None:
        """Replaces the value there."""
        self.words |= dict.fromkeys(_granules(offset, size), value)

    def add(self, offset: int, size: int, value: Value) -> None:
        """Adds a value to the one there, because another function may have written it."""
        for at in _granules(offset, size):
            self.words[at] = self.words.get(at, NOTHING) | value


def entry_state(isa: Isa) -> State:
    state = State({isa.stack: stack(0)})
    for index in range(ARGUMENTS):
        argument = frozenset({(ARGUMENT, index)})
        on_stack = index - len(isa.arguments)
        if on_stack < 0:
            state.put(isa.arguments[index], argument)
        else:
            state.store(isa.call_pushes + on_stack * isa.word_bytes, isa.word_bytes, argument)
    return state


def _granules(offset: int, size: int) -> range:
    return range(offset - offset % GRANULE, offset + max(size, 1), GRANULE)


def _merge(into: dict[str, Value] | dict[int, Value], other: dict) -> bool:  # type: ignore[type-arg]
    news = False
    for key, value in other.items():
        known = into.get(key, NOTHING)
        if not value <= known:
            into[key] = known | value
            news = True
    return news


@dataclass(slots=True)
class Notes:
    """The uses that a function makes of its arguments."""

    read: set[int] = field(default_factory=set)
    """Arguments that an instruction reads. A call that passes one on does not count."""
    pointers: set[int] = field(default_factory=set)
    """Arguments through which memory is accessed."""
    met_clock: set[int] = field(default_factory=set)
    """Arguments that are compared or combined with a clock's time."""
    met_since: set[int] = field(default_factory=set)
    """Those of `met_clock` that are combined with the time between two clock readings."""
    met_before: set[int] = field(default_factory=set)
    """Those of `met_clock` whose start comes from a variable or a caller."""
    met_capped: set[int] = field(default_factory=set)
    """Those of `met_clock` that a constant of the code may replace."""
    looked_at: dict[int, set[int]] = field(default_factory=dict)
    """The arguments of each comparison, by address."""
    compared: dict[int, set[int]] = field(default_factory=dict)
    """The scaled arguments of each comparison, by address."""
    stored: set[int] = field(default_factory=set)
    """Arguments that are stored outside of the stack, themselves or in a sum without a clock."""
    bits: dict[int, int] = field(default_factory=dict)
    """The number of bits with which each argument was first read."""


class Transfer:
    def __init__(self, isa: Isa, notes: Notes) -> None:
        self.isa = isa
        self.notes = notes

    def run(self, instruction: Instruction, state: State) -> None:
        """Changes the state as the instruction does. Calls and jumps are handled elsewhere."""
        name = instruction.mnemonic
        if name in NOTHING_DONE:
            return
        self._note_width(instruction, state)
        if name == "push":
            self._push(instruction, state)
        elif name == "pop":
            self._pop(instruction.operands[0].register, self.isa.stack, state)
        elif name == "leave":
            frame = "rbp" if self.isa.word_bytes == 8 else "ebp"
            self._pop(frame, frame, state)
        elif name in ("lea", "adr", "adrp"):
            self._lea(instruction, state)
        elif name in STORES:
            self._store(instruction, state)
        elif name in LOADS:
            self._load(instruction, state)
        elif name in COMPARISONS:
            sources = self._sources(instruction, state)
            self._note_meeting(instruction, sources)
            looked_at = arguments_in(NOTHING.union(*sources))
            self.notes.looked_at.setdefault(instruction.address, set()).update(looked_at)
        elif name in MOVES and len(instruction.operands) == 2:
            self._move(instruction, state)
        else:
            self._compute(instruction, state)
        self._walk_base(instruction, state)

    def _note_width(self, instruction: Instruction, state: State) -> None:
        if instruction.zeroed:
            return
        first = instruction.operands[0].register if instruction.operands else ""
        is_read = instruction.mnemonic in (*STORES, *COMPARISONS) or first in instruction.read
        for operand in instruction.operands[0 if is_read else 1 :]:
            index = only(self._looked_at(operand, state), ARGUMENT)
            if index is not None:
                self.notes.bits.setdefault(index, operand.bits or 8 * self.isa.word_bytes)
                self.notes.read.add(index)

    def _looked_at(self, operand: Operand, state: State) -> Value:
        """Returns the value of the register, or of the stack there."""
        if operand.register:
            return state.of(operand.register)
        place = operand.place
        at = self._stack_at(place, state) if place else None
        return NOTHING if at is None or place is None else state.load(at, place.size)

    def _push(self, instruction: Instruction, state: State) -> None:
        top = state.offset(self.isa.stack)
        if top is None:
            return
        value = self._value(instruction.operands[0], state)
        state.put(self.isa.stack, stack(top - self.isa.word_bytes))
        state.store(top - self.isa.word_bytes, self.isa.word_bytes, value)

    def _pop(self, target: str, pointer: str, state: State) -> None:
        top = state.offset(pointer)
        if top is not None:
            state.put(target, state.load(top, self.isa.word_bytes))
            state.put(self.isa.stack, stack(top + self.isa.word_bytes))

    def _lea(self, instruction: Instruction, state: State) -> None:
        place = instruction.operands[1].place
        value = NOTHING
        if place is not None:
            base = state.of(place.base)
            at = self._stack_at(place, state)
            plain = not place.index and not place.shift
            value = base if plain else _sum_of(place, state)
            value = stack(at) if at is not None else value
            self._note_meeting(instruction, [base, state.of(place.index)])
        state.put(instruction.operands[0].register, value)

    def _stack_at(self, place: Place, state: State) -> int | None:
        base = state.offset(place.base) if place.base else None
        return None if base is None or place.index else base + place.shift

    def _move(self, instruction: Instruction, state: State) -> None:
        target, source = instruction.operands
        value = self._value(source, state)
        if target.place is not None:
            self._put_in_memory(target.place, value, state)
        else:
            state.put(target.register, value)

    def _load(self, instruction: Instruction, state: State) -> None:
        targets = [each.register for each in instruction.operands if each.register]
        values = [self._from_memory(part, state) for part in _parts(instruction, len(targets))]
        for target, value in zip(targets, values, strict=False):
            state.put(target, value)

    def _store(self, instruction: Instruction, state: State) -> None:
        sources = [each.register for each in instruction.operands if not each.place][:2]
        named = [name for name in sources if instruction.mnemonic == "stp" or name == sources[0]]
        for source, part in zip(named, _parts(instruction, len(named)), strict=False):
            self._put_in_memory(part, state.of(source), state)

    def _walk_base(self, instruction: Instruction, state: State) -> None:
        """Updates the base register of a pre-indexed or post-indexed address (arm64)."""
        place = instruction.place
        if not instruction.back or place is None:
            return
        by = (o.immediate for o in instruction.operands if o.immediate is not None)
        shift = next(by, place.shift) if instruction.after else place.shift
        base = state.offset(place.base)
        if base is not None:
            state.put(place.base, stack(base + shift))

    def _compute(self, instruction: Instruction, state: State) -> None:
        if instruction.zeroed:
            state.put(instruction.zeroed, number(0))
            return
        moved = self._moved_stack(instruction, state)
        sources = self._sources(instruction, state)
        self._note_meeting(instruction, sources)
        value = _result(instruction, sources)
        if instruction.mnemonic.startswith(CHOICES):
            # If the condition does not hold, the old value stays. The sources do not include it.
            value |= chosen(*(self._value(each, state) for each in instruction.operands))
        first = instruction.operands[0] if instruction.operands else Operand()
        if first.place is not None and self.isa.is_x86:
            self._put_in_memory(first.place, value, state)
        for register in instruction.written:
            state.put(register, value)
        if moved is not None:
            state.put(instruction.operands[0].register, moved)

    def _moved_stack(self, instruction: Instruction, state: State) -> Value | None:
        """Returns the result if it is a known stack address or constant, else None."""
        operands = instruction.operands
        by = operands[-1].immediate if operands else None
        if by is None or not operands[0].register:
            return None
        base = state.of(operands[-2].register if len(operands) > 2 else operands[0].register)
        at = only(base, STACK)
        if at is not None and instruction.mnemonic in ("add", "sub"):
            return stack(at + by if instruction.mnemonic == "add" else at - by)
        if at is not None and instruction.mnemonic == "and":
            return stack(at)
        if instruction.mnemonic in ("movz", "mov"):
            return number(by)
        if instruction.mnemonic == "movk" and (low := constant(base)) is not None:
            return number(low | by)
        return None

    def _sources(self, instruction: Instruction, state: State) -> list[Value]:
        found = [state.of(register) for register in instruction.read]
        found += [self._value(each, state) for each in instruction.operands if each.place]
        return found

    def _value(self, operand: Operand, state: State) -> Value:
        if operand.immediate is not None:
            return number(operand.immediate)
        if operand.place is not None:
            return self._from_memory(operand.place, state)
        # arm64's register that is always zero has no name here.
        return state.of(operand.register) if operand.register else number(0)

    def _from_memory(self, place: Place, state: State) -> Value:
        at = self._stack_at(place, state)
        if at is not None:
            return state.load(at, place.size)
        behind = [state.behind.get(n, NOTHING) for n in self._note_pointer(place, state)]
        return OF_MEMORY.union(*behind)

    def _put_in_memory(self, place: Place, value: Value, state: State) -> None:
        at = self._stack_at(place, state)
        if at is not None:
            state.store(at, place.size, value)
            return
        self.notes.stored |= set() if has_clock(value) else arguments_in(value)
        for n in self._note_pointer(place, state):
            state.behind[n] = state.behind.get(n, NOTHING) | computed(value)

    def _note_pointer(self, place: Place, state: State) -> set[int]:
        found = {n for name, n in state.of(place.base) if name in (ARGUMENT, DERIVED)}
        self.notes.pointers |= found
        return found

    def _note_meeting(self, instruction: Instruction, sources: list[Value]) -> None:
        together = NOTHING.union(*sources) if sources else NOTHING
        if has_clock(together):
            self._note_clock(instruction.mnemonic, sources, arguments_in(together))
        if scaled := {n for name, n in together if name == SCALED}:
            self.notes.compared.setdefault(instruction.address, set()).update(scaled)

    def _note_clock(self, mnemonic: str, sources: list[Value], arguments: set[int]) -> None:
        self.notes.met_clock |= arguments
        if is_between(*sources):
            self.notes.met_since |= arguments
        is_since = mnemonic in (*COMPARISONS, *DIFFERENCES) and is_before(*sources)
        if is_since or any((BEFORE, 0) in source for source in sources):
            self.notes.met_before |= arguments
        if any(map(is_capped, sources)):
            self.notes.met_capped |= arguments


def _parts(instruction: Instruction, count: int) -> list[Place]:
    """Returns the place of each register that it loads or stores; empty if it names no place."""
    place = instruction.place
    if place is None or not count:
        return []
    size, shift = place.size // count, 0 if instruction.after else place.shift
    return [Place(place.base, place.index, shift + n * size, size) for n in range(count)]


def _sum_of(place: Place, state: State) -> Value:
    """Returns the sum of x86's address arithmetic, which also multiplies."""
    base = state.of(place.base)
    if place.base == place.index:
        return multiplied(base, number(1 + place.scale))
    return added(base, multiplied(state.of(place.index), number(place.scale)))


def _result(instruction: Instruction, sources: list[Value]) -> Value:
    by = [each.immediate for each in instruction.operands if each.immediate is not None]
    if instruction.mnemonic in PRODUCTS:
        return multiplied(*sources, *map(number, by))
    if instruction.mnemonic in SHIFTS_UP and by:
        return multiplied(*sources, number(1 << (by[0] % 64)))
    registers = [each.register for each in instruction.operands[-2:]]
    is_double = len({*registers}) == 1
    is_sum = instruction.mnemonic in SUMS and not is_double
    made = added(*sources) if is_sum else computed(*sources)
    is_rest = instruction.mnemonic in DIFFERENCES and is_before(*sources)
    return made | {(BEFORE, 0)} if is_rest else made


def registers_lost(isa: Isa) -> Iterator[str]:
    """Yields the registers that a call may change, including vectors."""
    yield from isa.lost
    prefix = "xmm" if isa.is_x86 else "v"
    yield from (f"{prefix}{n}" for n in range(32))
