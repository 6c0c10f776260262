# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a direct wait was that ended early: a signal interrupts a sleep, which may go on.

A sleep that goes on is called again at the same place, for what is left. Otherwise the subject has
made the wait good in a way that nobody sees, such as by reading a clock, or it has not. What shows
is its next request: one that was read before the time was over was not waited for, and one that was
sent after it was.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from delayrig.model.delays import DelayCall
from delayrig.model.events import Event, Request, first, requests
from delayrig.model.kinds.emulator import Start

REST_TOLERANCE_NS = 10_000_000
"""By so much may what a sleep goes on for be more than what is left: it was rounded up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Length:
    """How long a wait was."""

    shortest_ns: int
    """Of the sleep and those that went on with it."""
    sent_ns: int | None
    """From its begin to the earliest moment at which the next request may have been sent."""
    read_ns: int | None
    """The same to when that was read; both are None where nothing came after it."""


@dataclass(frozen=True, slots=True)
class Requests:
    """When the subject sent what the programmer read, by the moment that it was there at last."""

    sent_ns: Sequence[int]
    read_ns: Sequence[int]
    latency_ns: int | None
    """The most that the programmer takes to notice one; None where nobody knows."""

    def after(self, t_ns: int) -> tuple[int, int] | None:
        """When the first one that was not yet there at that time was, and when it was read."""
        at = bisect_left(self.sent_ns, t_ns)
        return None if at == len(self.sent_ns) else (self.sent_ns[at], self.read_ns[at])


def requests_of(events: Sequence[Event]) -> Requests:
    """Those of which is known when they came; one that followed another at once may have waited."""
    found = sorted(
        (moment, request.read_ns) for request in requests(events) for moment in _sent(request)
    )
    start = first(events, Start)
    latency_ns = start.wake_latency_ns_max if start else None
    return Requests([sent for sent, _ in found], [read for _, read in found], latency_ns)


def _sent(request: Request) -> list[int]:
    if request.arrived_ns is not None:
        return [request.arrived_ns]
    waited = request.gap_ns is not None and request.gap_ns >= 0
    return [request.read_ns] if waited else []


def length_of(call: DelayCall, later: Sequence[DelayCall], requests: Requests) -> Length:
    """`later` are the calls at the same place and by the same thread that began after it."""
    assert call.end_ns is not None, "it was seen to end"
    following = requests.after(call.end_ns)
    end_ns = _resumed_until(call, later, None if following is None else following[0])
    shortest_ns = end_ns - call.t_ns
    if following is None:
        return Length(shortest_ns=shortest_ns, sent_ns=None, read_ns=None)
    read_ns = max(following[1] - call.t_ns, shortest_ns)
    late_ns = requests.latency_ns
    sent_ns = None if late_ns is None else read_ns - late_ns
    return Length(shortest_ns=shortest_ns, sent_ns=sent_ns, read_ns=read_ns)


def _resumed_until(call: DelayCall, later: Sequence[DelayCall], sent_ns: int | None) -> int:
    last = call
    for each in later:
        is_next = sent_ns is None or each.t_ns < sent_ns
        if each.end_ns is None or not is_next or not _goes_on(last, each):
            break
        last = each
    assert last.end_ns is not None, "each was seen to end"
    return last.end_ns


def _goes_on(before: DelayCall, after: DelayCall) -> bool:
    """Whether that one asks for what was left."""
    if before.until_ns is not None:
        return after.until_ns == before.until_ns
    left_ns = before.requested_ns - (before.seen_ns or 0)
    asks_less = after.requested_ns < before.requested_ns
    return asks_less and after.requested_ns <= left_ns + REST_TOLERANCE_NS
