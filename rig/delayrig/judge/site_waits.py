# SPDX-License-Identifier: GPL-2.0-or-later
"""The delays of a cell by call site: what a gate compares between two builds."""

from collections import defaultdict
from collections.abc import Iterable

from delayrig.base.durations import NS_PER_US
from delayrig.model.delays import function_of_frame
from delayrig.model.evidence import ObservedDelay
from delayrig.model.result import SiteWaits

UNKNOWN = "?"
"""The name of a caller in a stripped program, whose address says nothing about another build."""


def site_waits(delays: Iterable[ObservedDelay]) -> list[SiteWaits]:
    """Returns the judged delays, summed up by call stack and length.

    Good ones of about the same length are summed up: a program that polls asks for many lengths.
    Good ones of a length that was cut short there are summed up apart, so that they can be counted.
    """
    judged = [delay for delay in delays if delay.is_judged]
    cut = {wait_of(delay) for delay in judged if delay.is_short}
    groups = defaultdict[tuple[object, ...], list[ObservedDelay]](list)
    for delay in judged:
        is_cut = wait_of(delay) in cut
        size_ns = (length_class_ns if is_cut else decade_ns)(delay.requested_ns)
        groups[delay.callers, delay.is_short, is_cut, size_ns].append(delay)
    return [_summed(same) for same in groups.values()]


def wait_of(wait: ObservedDelay | SiteWaits) -> tuple[tuple[str, ...], int]:
    """Returns the call stack and the length class, which name a wait in two builds."""
    return tuple(wait.callers), length_class_ns(wait.requested_ns)


def _summed(same: list[ObservedDelay]) -> SiteWaits:
    least = max(same, key=lambda delay: delay.short_by_ns)
    return SiteWaits(
        callers=list(least.callers),
        requested_ns=least.requested_ns,
        count=len(same),
        short=sum(delay.is_short for delay in same),
        least_ns=(least.shortest_ns, least.longest_ns),
        error_ns=least.clock_error_ns + least.step_ns,
    )


def length_class_ns(requested_ns: int) -> int:
    """Returns the length itself where it is in whole microseconds, else its power of ten.

    A sleep until a moment asks for the time left until then, which differs each time.
    """
    if requested_ns % NS_PER_US == 0:
        return requested_ns
    return decade_ns(requested_ns)


def decade_ns(requested_ns: int) -> int:
    """Returns the greatest power of ten that is not above the length."""
    return int(10 ** (len(str(max(requested_ns, 1))) - 1))


def functions_of(callers: Iterable[str]) -> tuple[str, ...]:
    """Returns the names of the functions of a call stack, which two builds have in common."""
    names = map(function_of_frame, callers)
    return tuple(UNKNOWN if name.startswith("0x") else name for name in names)
