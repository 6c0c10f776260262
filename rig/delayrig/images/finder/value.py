# SPDX-License-Identifier: GPL-2.0-or-later
"""What is known of a register or of a word on the stack while code is read.

A value is a set of marks. `(ARGUMENT, n)` is the function's n-th argument itself, `(DERIVED, n)`
something computed from it, and `(SCALED, n)` that times a variable, as calibrated loops do.
`(STACK, offset)` is an address, from where the stack was at the function's entry; `(NUMBER, n)` a
constant; `(CLOCK, 0)` comes from a clock, `(MEMORY, 0)` from a variable.
"""

ARGUMENT, DERIVED, SCALED = "argument", "derived", "scaled"
STACK, NUMBER, CLOCK, MEMORY = "stack", "number", "clock", "memory"

Mark = tuple[str, int]
Value = frozenset[Mark]
NOTHING: Value = frozenset()
OF_CLOCK: Value = frozenset({(CLOCK, 0)})
OF_MEMORY: Value = frozenset({(MEMORY, 0)})
OF_ARGUMENT = (ARGUMENT, DERIVED, SCALED)
MARKS_MAX = 24


def number(value: int) -> Value:
    """A constant."""
    return frozenset({(NUMBER, value)})


def argument(index: int) -> Value:
    """An argument as the caller gave it."""
    return frozenset({(ARGUMENT, index)})


def stack(offset: int) -> Value:
    """An address on the stack."""
    return frozenset({(STACK, offset)})


def only(value: Value, kind: str) -> int | None:
    """The number of the one mark of that kind; None where there is none, or several."""
    found = [n for name, n in value if name == kind]
    return found[0] if len(found) == 1 else None


def constant(value: Value) -> int | None:
    """The number that it is, if it can be no other."""
    return only(value, NUMBER) if len(value) == 1 else None


def arguments_in(value: Value) -> set[int]:
    """Of which arguments it was made."""
    return {n for name, n in value if name in OF_ARGUMENT}


def is_scaled(value: Value, index: int) -> bool:
    """Whether it is that argument times a variable."""
    return (SCALED, index) in value


def has_clock(value: Value) -> bool:
    """Whether a clock is in it."""
    return (CLOCK, 0) in value


def computed(*sources: Value) -> Value:
    """What comes of values by arithmetic."""
    marks = {
        (DERIVED, n) if name == ARGUMENT else (name, n)
        for source in sources
        for name, n in source
        if name not in (NUMBER, STACK)
    }
    return frozenset(marks)


def multiplied(*sources: Value) -> Value:
    """The same by a product: times a variable, an argument is scaled."""
    product = computed(*sources)
    if (MEMORY, 0) not in product:
        return product
    return product | {(SCALED, n) for n in arguments_in(product)}
