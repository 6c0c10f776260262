# SPDX-License-Identifier: GPL-2.0-or-later
"""The delays of a cell by call site: what a gate compares between two builds."""

from collections import defaultdict
from collections.abc import Iterable

from delayrig.base.durations import NS_PER_US
from delayrig.model.delays import function_of_frame
from delayrig.model.evidence import ObservedDelay
from delayrig.model.result import SiteWaits

UNKNOWN = "?"
"""Stands for a caller without a symbol, because its address differs between two builds."""


def site_waits(delays: Iterable[ObservedDelay]) -> list[SiteWaits]:
    """Returns the judged delays, summed up by call stack and length.

    Short delays and good ones are summed up separately. Good ones of the same power of ten are one
    group, because a program that polls requests many lengths. If a delay of the same call stack and
    length class was short, the good ones of that class are a separate group, so that a reader can
    compare their number with that of the short ones.
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
    """Returns the call stack and the length class, which identify the same wait in two builds."""
    return tuple(wait.callers), length_class_ns(wait.requested_ns)


def _summed(same: list[ObservedDelay]) -> SiteWaits:
    worst = max(same, key=lambda delay: delay.short_by_ns)
    return SiteWaits(
        callers=list(worst.callers),
        requested_ns=worst.requested_ns,
        count=len(same),
        short=sum(delay.is_short for delay in same),
        least_ns=(worst.shortest_ns, worst.longest_ns),
        error_ns=worst.clock_error_ns + worst.step_ns,
    )


def length_class_ns(requested_ns: int) -> int:
    """Returns the length itself if it is a whole number of microseconds, else its power of ten.

    A sleep until an absolute deadline requests the time left, which is different in each call.
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
