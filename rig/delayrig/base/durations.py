# SPDX-License-Identifier: GPL-2.0-or-later
"""Durations in words: to be compared, or to be taken in at a glance."""


def in_full(ns: int, *, beside_ns: int = 0) -> str:
    """In the unit that a person would choose, to the microsecond or finer: 1 s is `1.000000 s`.

    What was asked for and what was got stand below each other, digit by digit: what is told
    `beside_ns` has the unit of that one.
    """
    for unit, size, digits in (("s", 1_000_000_000, 6), ("ms", 1_000_000, 3), ("us", 1000, 3)):
        if abs(beside_ns or ns) >= size:
            return f"{ns / size:.{digits}f} {unit}"
    return f"{ns} ns"


def rounded(ns: int) -> str:
    """In the unit that needs the fewest digits, to four of them, signed as it is: `1 s`."""
    return in_unit_of(ns, ns, digits=4)


def in_unit_of(beside_ns: int, ns: int, *, digits: int = 3) -> str:
    """In the unit that `rounded()` tells the other one in: `0.05 s` of 1 s."""
    for unit, size in (("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1000)):
        if abs(beside_ns) >= size:
            return f"{ns / size:.{digits}g} {unit}"
    return f"{ns} ns"
