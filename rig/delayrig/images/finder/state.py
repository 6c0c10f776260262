# SPDX-License-Identifier: GPL-2.0-or-later
"""What registers and stack hold at one point of a function, as far as reading its code tells.

A value is a set of marks. `(ARGUMENT, n)` is the function's n-th argument itself, `(DERIVED, n)`
something computed from it, and `(SCALED, n)` that times a variable, as calibrated loops do.
`(STACK, offset)` is an address, from where the stack was at the function's entry; `(NUMBER, n)` a
constant; `(CLOCK, 0)` comes from a clock, `(MEMORY, 0)` from a variable.
`(TIMES + "n", 1000)` is the n-th argument times 1000, perhaps with something else added to it: so
microseconds become nanoseconds.
"""

from dataclasses import dataclass, field

from delayrig.images.finder.isa import Isa

ARGUMENT, DERIVED, SCALED = "argument", "derived", "scaled"
STACK, NUMBER, CLOCK, MEMORY = "stack", "number", "clock", "memory"
TIMES = "times "

Mark = tuple[str, int]
Value = frozenset[Mark]
NOTHING: Value = frozenset()
OF_CLOCK: Value = frozenset({(CLOCK, 0)})
OF_MEMORY: Value = frozenset({(MEMORY, 0)})
OF_ARGUMENT = (ARGUMENT, DERIVED, SCALED)
FACTOR_MAX = 1_000_000_000
GRANULE = 4
"""Words of the stack are told apart by four bytes."""
ARGUMENTS = 6


def number(value: int) -> Value:
    return frozenset({(NUMBER, value)})


def stack(offset: int) -> Value:
    return frozenset({(STACK, offset)})


def only(value: Value, kind: str) -> int | None:
    """The number of the one mark of that kind; None where there is none, or several."""
    found = [n for name, n in value if name == kind]
    return found[0] if len(found) == 1 else None


def constant(value: Value) -> int | None:
    """The number that it is, if it can be no other."""
    return only(value, NUMBER) if len(value) == 1 else None


def arguments_in(value: Value) -> set[int]:
    return {n for name, n in value if name in OF_ARGUMENT}


def has_clock(value: Value) -> bool:
    return (CLOCK, 0) in value


def factors(value: Value, index: int) -> set[int]:
    """By which numbers that argument may have been multiplied."""
    return {factor for name, factor in _multiples(value) if name == f"{TIMES}{index}"}


def _multiples(value: Value) -> Value:
    same = {(f"{TIMES}{n}", 1) for name, n in value if name == ARGUMENT}
    return frozenset(same.union(mark for mark in value if mark[0].startswith(TIMES)))


def computed(*sources: Value) -> Value:
    """What comes of values by arithmetic."""
    return frozenset(
        (DERIVED, n) if name == ARGUMENT else (name, n)
        for name, n in NOTHING.union(*sources)
        if name not in (NUMBER, STACK) and not name.startswith(TIMES)
    )


def added(*sources: Value) -> Value:
    """The same by a sum or a difference, of which one part is a multiple of an argument."""
    found = [each for each in map(_multiples, sources) if each]
    return computed(*sources) | found[0] if len(found) == 1 else computed(*sources)


def chosen(*sources: Value) -> Value:
    """One of them, by a condition."""
    return computed(*sources).union(*map(_multiples, sources))


def multiplied(*sources: Value) -> Value:
    """The same by a product: times a variable, an argument is scaled."""
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
    """Changed by one instruction after the other."""

    registers: dict[str, Value] = field(default_factory=dict)
    words: dict[int, Value] = field(default_factory=dict)
    """Of the stack, by offset."""
    behind: dict[int, Value] = field(default_factory=dict)
    """What was put behind a pointer that the function was given, by the argument's number."""

    def copy(self) -> "State":
        return State(dict(self.registers), dict(self.words), dict(self.behind))

    def merge(self, other: "State") -> bool:
        """Takes up what another way here may hold; whether that was news."""
        news = _merge(self.registers, other.registers)
        news |= _merge(self.words, other.words)
        return _merge(self.behind, other.behind) or news

    def of(self, register: str) -> Value:
        return self.registers.get(register, NOTHING)

    def put(self, register: str, value: Value) -> None:
        if register:
            self.registers[register] = value

    def offset(self, register: str) -> int | None:
        """Where on the stack it points."""
        return only(self.of(register), STACK)

    def load(self, offset: int, size: int) -> Value:
        return NOTHING.union(*(self.words.get(at, NOTHING) for at in _granules(offset, size)))

    def store(self, offset: int, size: int, value: Value) -> None:
        """In place of what lay there."""
        self.words |= dict.fromkeys(_granules(offset, size), value)

    def add(self, offset: int, size: int, value: Value) -> None:
        """To what lies there, as somebody else may have written it."""
        for at in _granules(offset, size):
            self.words[at] = self.words.get(at, NOTHING) | value


def entry_state(isa: Isa) -> State:
    state = State({isa.stack: stack(0)})
    for index in range(ARGUMENTS):
        argument = frozenset({(ARGUMENT, index)})
        if isa.arguments:
            state.put(isa.arguments[index], argument)
        else:
            state.store(isa.call_pushes + index * isa.word_bytes, isa.word_bytes, argument)
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
