# SPDX-License-Identifier: GPL-2.0-or-later
"""Which calls lie within a call of a delay function: that one answers for them.

A delay may sleep in parts, be interrupted, and make good what is missing: whether it did shows at
its own end alone.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from math import inf

from delayrig.model.delays import DelayCall, Delays, End


def without_inner(delays: Delays, calls: Sequence[DelayCall]) -> list[DelayCall]:
    """The calls that answer for themselves. `calls` are in the order in which they began."""
    open_by_thread: dict[int, list[DelayCall]] = defaultdict(list)
    kept = []
    for call in calls:
        outer = [each for each in open_by_thread[call.thread] if _holds(each, call.t_ns)]
        if not any(_answers_for(each, call, delays) for each in outer):
            kept.append(call)
        if not delays.function_of(call).direct and call.ended is not End.ABANDONED:
            outer.append(call)
        open_by_thread[call.thread] = outer
    return kept


def _holds(outer: DelayCall, t_ns: int) -> bool:
    return outer.end_ns is None or outer.end_ns > t_ns


def _answers_for(outer: DelayCall, call: DelayCall, delays: Delays) -> bool:
    """For each sleep in it; for another delay function where that was short of no more than the
    outer call asks for itself.
    """
    if delays.function_of(call).direct:
        return True
    is_short = call.seen_ns is not None and call.seen_ns < call.requested_ns
    is_other = outer.function != call.function
    return is_short and is_other and outer.requested_ns >= call.requested_ns


def outside(calls: Sequence[DelayCall], enclosing: Sequence[DelayCall]) -> list[DelayCall]:
    """The calls that began in none of the others of their thread."""
    begins: dict[int, list[int]] = defaultdict(list)
    ends: dict[int, list[float]] = defaultdict(list)
    for each in sorted(enclosing, key=lambda call: call.t_ns):
        latest = ends[each.thread][-1:] or [0.0]
        begins[each.thread].append(each.t_ns)
        ends[each.thread].append(max(*latest, inf if each.end_ns is None else each.end_ns))
    return [call for call in calls if not _is_within(call, begins[call.thread], ends[call.thread])]


def _is_within(call: DelayCall, begins: Sequence[int], ends: Sequence[float]) -> bool:
    """`ends` are the latest of all that had begun by then."""
    begun = bisect_right(begins, call.t_ns)
    return begun > 0 and ends[begun - 1] > call.t_ns
