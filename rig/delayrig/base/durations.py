# SPDX-License-Identifier: GPL-2.0-or-later
"""Units of time, and durations as text: in full to compare them, or rounded to read quickly."""

NS_PER_US, NS_PER_MS, NS_PER_S = 1_000, 1_000_000, 1_000_000_000
MS_PER_S = 1_000
UNITS = {1: "ns", NS_PER_US: "us", NS_PER_MS: "ms", NS_PER_S: "s"}


def in_full(ns: int, *, beside_ns: int = 0) -> str:
    """Returns the duration with all digits, to the microsecond or finer: 1 s is `1.000000 s`.

    The unit suits `beside_ns`, or `ns` if that is 0. Durations below each other with the same unit
    can be compared digit by digit.
    """
    for unit, size, digits in (("s", NS_PER_S, 6), ("ms", NS_PER_MS, 3), ("us", NS_PER_US, 3)):
        if abs(beside_ns or ns) >= size:
            return f"{ns / size:.{digits}f} {unit}"
    return f"{ns} ns"


def rounded(ns: int) -> str:
    """Returns the duration with at most four digits, in the unit that suits it: `1 s`."""
    return in_unit_of(ns, ns, digits=4)


def in_unit_of(beside_ns: int, ns: int, *, digits: int = 3) -> str:
    """Returns the duration in the unit that suits `beside_ns`: `0.05 s` beside 1 s.

    A duration more than a thousand times shorter has its own unit: `5.38 us` beside 1 s.
    """
    if 0 < abs(ns) * 1000 < abs(beside_ns):
        beside_ns = ns
    for unit, size in (("s", NS_PER_S), ("ms", NS_PER_MS), ("us", NS_PER_US)):
        if abs(beside_ns) >= size:
            return f"{_figures(ns / size, digits)} {unit}"
    return f"{ns} ns"


def _figures(value: float, digits: int) -> str:
    """Returns the number without the exponent that the format `g` gives long numbers."""
    return f"{value:.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}"
