# SPDX-License-Identifier: GPL-2.0-or-later
"""What one instruction does to what registers and stack hold."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from delayrig.images.finder.isa import Instruction, Isa, Operand, Place
from delayrig.images.finder.state import (
    ARGUMENT,
    DERIVED,
    NOTHING,
    OF_MEMORY,
    SCALED,
    STACK,
    State,
    Value,
    added,
    arguments_in,
    chosen,
    computed,
    constant,
    has_clock,
    multiplied,
    number,
    only,
    stack,
)

MOVES = (
    *("mov", "movabs", "movzx", "movsx", "movsxd", "movd", "movq", "movaps", "movups", "movdqa"),
    *("movdqu", "uxtw", "sxtw", "fmov", "cdqe", "uxth"),
)
LOADS = ("ldr", "ldur", "ldp", "ldrsw", "ldrb", "ldrh", "ldursw", "ldpsw", "ldar", "ldapr")
STORES = ("str", "stur", "stp", "strb", "strh", "stlr")
NOTHING_DONE = ("nop", "pause", "yield", "endbr64", "endbr32", "bti")
"""x86 fills gaps with a `nop` that names a place in memory, and looks at nothing there."""
COMPARISONS = ("cmp", "test", "cmn", "tst", "ccmp", "ucomisd", "comisd", "fcmp")
SUMS = ("add", "adds", "sub", "subs", "msub")
CHOICES = ("cmov", "csel")
SHIFTS_UP = ("shl", "sal", "lsl")
PRODUCTS = ("imul", "mul", "madd", "umull", "smull", "umulh", "umaddl", "smaddl", "mulx", "pmuludq")


@dataclass(slots=True)
class Notes:
    """What a function is seen to do with its arguments."""

    read: set[int] = field(default_factory=set)
    """Used for anything but to be kept for later."""
    pointers: set[int] = field(default_factory=set)
    """Something is looked up there."""
    met_clock: set[int] = field(default_factory=set)
    """Compared or added up with a clock's time."""
    compared: dict[int, set[int]] = field(default_factory=dict)
    """By address: the scaled arguments of each comparison."""
    bits: dict[int, int] = field(default_factory=dict)
    """Of how many bits each was read first."""


class Transfer:
    def __init__(self, isa: Isa, notes: Notes) -> None:
        self.isa = isa
        self.notes = notes

    def run(self, instruction: Instruction, state: State) -> None:
        """Changes the state as the instruction does; calls and jumps are not for here."""
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
            self._note_meeting(instruction, self._sources(instruction, state))
        elif name in MOVES and len(instruction.operands) == 2:
            self._move(instruction, state)
        else:
            self._compute(instruction, state)
        self._walk_base(instruction, state)

    def _note_width(self, instruction: Instruction, state: State) -> None:
        if self._is_zeroing(instruction):
            return
        first = instruction.operands[0].register if instruction.operands else ""
        is_read = instruction.mnemonic in (*STORES, *COMPARISONS) or first in instruction.read
        for operand in instruction.operands[0 if is_read else 1 :]:
            index = only(self._looked_at(operand, state), ARGUMENT)
            if index is not None:
                self.notes.bits.setdefault(index, operand.bits or 8 * self.isa.word_bytes)
                self.notes.read.add(index)

    def _looked_at(self, operand: Operand, state: State) -> Value:
        """What is in the register, or on the stack there."""
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
        """arm64's addresses that move as they are used."""
        place = instruction.place
        if not instruction.back or place is None:
            return
        by = (o.immediate for o in instruction.operands if o.immediate is not None)
        shift = next(by, place.shift) if instruction.after else place.shift
        base = state.offset(place.base)
        if base is not None:
            state.put(place.base, stack(base + shift))

    def _compute(self, instruction: Instruction, state: State) -> None:
        if self._is_zeroing(instruction):
            state.put(instruction.operands[0].register, number(0))
            return
        moved = self._moved_stack(instruction, state)
        sources = self._sources(instruction, state)
        self._note_meeting(instruction, sources)
        value = _result(instruction, sources)
        if instruction.mnemonic.startswith(CHOICES):
            # What is kept where the condition does not hold is no operand that is read.
            value |= chosen(*(self._value(each, state) for each in instruction.operands))
        first = instruction.operands[0] if instruction.operands else Operand()
        if first.place is not None and self.isa.is_x86:
            self._put_in_memory(first.place, value, state)
        for register in instruction.written:
            state.put(register, value)
        if moved is not None:
            state.put(instruction.operands[0].register, moved)

    def _is_zeroing(self, instruction: Instruction) -> bool:
        names = [operand.register for operand in instruction.operands]
        zeroing = instruction.mnemonic in ("xor", "pxor", "xorps", "eor")
        return zeroing and len(names) == 2 and names[0] == names[1] != ""

    def _moved_stack(self, instruction: Instruction, state: State) -> Value | None:
        """An address on the stack, and a number more or less; numbers, put together."""
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
        for n in self._note_pointer(place, state):
            state.behind[n] = state.behind.get(n, NOTHING) | computed(value)

    def _note_pointer(self, place: Place, state: State) -> set[int]:
        found = {n for name, n in state.of(place.base) if name in (ARGUMENT, DERIVED)}
        self.notes.pointers |= found
        return found

    def _note_meeting(self, instruction: Instruction, sources: list[Value]) -> None:
        together = NOTHING.union(*sources) if sources else NOTHING
        if has_clock(together):
            self.notes.met_clock |= arguments_in(together)
        if scaled := {n for name, n in together if name == SCALED}:
            self.notes.compared.setdefault(instruction.address, set()).update(scaled)


def _parts(instruction: Instruction, count: int) -> list[Place]:
    """The place of each register that it loads or stores; empty where it names no place."""
    place = instruction.place
    if place is None or not count:
        return []
    size, shift = place.size // count, 0 if instruction.after else place.shift
    return [Place(place.base, place.index, shift + n * size, size) for n in range(count)]


def _sum_of(place: Place, state: State) -> Value:
    """x86's way to add up, which also multiplies."""
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
    return added(*sources) if is_sum else computed(*sources)


def registers_lost(isa: Isa) -> Iterator[str]:
    """What no caller may rely on behind a call, vectors as well."""
    yield from isa.lost
    prefix = "xmm" if isa.is_x86 else "v"
    yield from (f"{prefix}{n}" for n in range(32))
