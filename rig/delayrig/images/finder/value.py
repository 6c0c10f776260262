# SPDX-License-Identifier: GPL-2.0-or-later
"""What is known of a register or of a word on the stack while code is read.

A value is a set of marks. `(ARGUMENT, n)` is the function's n-th argument itself, `(DERIVED, n)`
something computed from it, and `(SCALED, n)` that times a variable, as calibrated loops do.
`(STACK, offset)` is an address, from where the stack was at the function's entry; `(NUMBER, n)` a
constant; `(CLOCK, 0)` comes from a clock, `(MEMORY, 0)` from a variable.
`(TIMES + "n", 1000)` is the n-th argument times 1000, perhaps with something else added to it: so
microseconds become nanoseconds.
"""

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


def number(value: int) -> Value:
    return frozenset({(NUMBER, value)})


def argument(index: int) -> Value:
    return frozenset({(ARGUMENT, index)})


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


def is_scaled(value: Value, index: int) -> bool:
    """Whether it is that argument times a variable."""
    return (SCALED, index) in value


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
    marks = {
        (DERIVED, n) if name == ARGUMENT else (name, n)
        for source in sources
        for name, n in source
        if name not in (NUMBER, STACK) and not name.startswith(TIMES)
    }
    return frozenset(marks)


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
