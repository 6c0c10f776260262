# SPDX-License-Identifier: GPL-2.0-or-later
"""Confirms a candidate as a delay function, from its calls in an undisturbed cell.

It does not check if the waits are right: the verdict does. A wrong delay is still a delay if it
lasts longer when more is requested.
"""

from collections.abc import Sequence

from delayrig.base.durations import UNITS

ALLOWANCE_NS = 300_000
"""The tolerated lateness of a sleep: the timer's slack, and the system call on a slow CPU."""
TICKS_NS = 8_000_000
"""The same without high-resolution timers, where a sleep may last two ticks of 4 ms longer."""
TICKS_LITTLE_BESIDE = 2.5
"""The longest request must be this many times `TICKS_NS`, or the tolerance hides the unit."""
LATE_BY = 1.5
SHORT_BY = 0.4
CLOSE_NS = 5_000
"""The tolerance if all requested times are short."""
APART = 3
"""Arguments that differ by this factor are different."""
MANY = 8
LONG_NS = 100_000
"""The shortest request beside which the cost of a call is small."""
EVEN_BY = 2.0
SLOWED_BY = 30.0
"""The largest factor by which a hazard slows a core."""


def confirm(calls: Sequence[tuple[int, int]], unit_ns: int = 1000) -> str:
    """Returns an empty text if the function is a delay, else why it is not.

    Each call has its argument and its duration in nanoseconds.
    """
    asked = [(units, seen_ns) for units, seen_ns in calls if units > 0]
    if not asked:
        return "it was not asked for any time"
    if _follows_closely(asked, unit_ns) or _is_in_proportion(asked, unit_ns):
        return ""
    unit = unit_of(asked)
    if unit is not None:
        return "" if unit == unit_ns else f"its argument counts {UNITS[unit]}, not {UNITS[unit_ns]}"
    for units, seen_ns in asked:
        if not _fits(units, seen_ns, unit_ns):
            return f"a call for {units} took {seen_ns} ns, which its argument does not explain"
    return "its calls are too short to show the unit of its argument"


def unit_of(calls: Sequence[tuple[int, int]]) -> int | None:
    """Returns the unit of the argument in ns; None if no unit fits all calls, or two do."""
    asked = [(units, seen_ns) for units, seen_ns in calls if units > 0]
    for allowance_ns in (ALLOWANCE_NS, TICKS_NS):
        fitting = [unit for unit in UNITS if _fit(asked, unit, allowance_ns)]
        if fitting:
            return fitting[0] if len(fitting) == 1 else None
    return None


def _fit(asked: Sequence[tuple[int, int]], unit_ns: int, allowance_ns: int) -> bool:
    """Returns True if the unit fits all calls.

    With the allowance for ticks, the longest request must be long compared to it.
    """
    longest_ns = unit_ns * max((units for units, _ in asked), default=0)
    is_little = allowance_ns <= ALLOWANCE_NS or longest_ns >= TICKS_LITTLE_BESIDE * allowance_ns
    return is_little and all(_fits(*call, unit_ns, allowance_ns) for call in asked)


def _fits(units: int, seen_ns: int, unit_ns: int, allowance_ns: int = ALLOWANCE_NS) -> bool:
    asked_ns = units * unit_ns
    return SHORT_BY * asked_ns <= seen_ns <= LATE_BY * asked_ns + allowance_ns


def _is_in_proportion(asked: Sequence[tuple[int, int]], unit_ns: int) -> bool:
    """Returns True if durations are in proportion to requests, even if all are too short.

    A loop does this if it was calibrated while the CPU had another speed.
    """
    long = [(each, seen) for each, seen in asked if each * unit_ns >= LONG_NS]
    ratios = [seen_ns / (each * unit_ns) for each, seen_ns in long]
    units = [each for each, _ in long]
    if not units or max(units) < APART * min(units):
        return False
    even = max(ratios) <= EVEN_BY * min(ratios)
    return even and SLOWED_BY * min(ratios) >= 1 and max(ratios) <= LATE_BY


def _follows_closely(asked: Sequence[tuple[int, int]], unit_ns: int) -> bool:
    """Returns True if the times match too closely for chance, even if all are short.

    The calls must request different times, or the same many times.
    """
    units = [each for each, _ in asked]
    is_enough = max(units) >= APART * min(units) or len(units) >= MANY
    return is_enough and all(
        each * unit_ns <= seen_ns <= LATE_BY * each * unit_ns + CLOSE_NS for each, seen_ns in asked
    )
