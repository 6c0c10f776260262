# SPDX-License-Identifier: GPL-2.0-or-later
"""Direct waits: compares requested and elapsed time of sleeps outside the delay functions.

When a signal interrupts a sleep, the subject may continue it: then the same call site sleeps again
for the rest. Otherwise the subject may have waited in a way that nobody sees, such as by reading a
clock, or not at all. Its next request shows which. If it was read before the requested time was
over, the subject did not wait; if it was sent after that, it did.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from delayrig.judge.clock_error import clock_error
from delayrig.model.delays import DelayCall
from delayrig.model.events import Event, first, requests
from delayrig.model.evidence import ObservedDelay
from delayrig.model.kinds.agent import ClockRate
from delayrig.model.kinds.emulator import Start

RESUMED_MAX = 4096
"""The most later calls to search for continuations: one signal in each millisecond of 4 s."""
REST_TOLERANCE_NS = 10_000_000
"""The most by which a continued sleep may exceed the rest, because it was rounded up."""


@dataclass(frozen=True, slots=True)
class _Requests:
    """The times of the subject's requests to the programmer, in the order of arrival."""

    seen: Sequence[tuple[int, int]]
    """The times of arrival and of reading of each request."""
    latency_ns: int | None
    """The most that the programmer takes to notice a request; None if unknown."""

    def after(self, t_ns: int) -> tuple[int, int] | None:
        at = bisect_left(self.seen, (t_ns, 0))
        return None if at == len(self.seen) else self.seen[at]


def observe_sleeps(
    calls: Sequence[DelayCall],
    observe: Callable[[DelayCall], ObservedDelay],
    events: list[Event],
) -> Iterator[ObservedDelay]:
    """Yields the sleeps among `calls` that requested time and were seen to end.

    `observe` compares the request of a call with the time from its beginning to its end.
    """
    places: dict[tuple[int, int], list[DelayCall]] = defaultdict(list)
    for call in calls:
        places[call.function, call.thread].append(call)
    asked = _requests_of(events) if places else _Requests((), None)
    for here in places.values():
        for number, call in enumerate(here):
            later = here[number + 1 : number + 1 + RESUMED_MAX]
            if call.end_ns is None:
                continue
            plain = observe(call) if call.until_ns is None else _until(observe, call, events)
            if plain.requested_ns > 0:
                yield _with_what_followed(plain, call, later, asked)


def _until(
    observe: Callable[[DelayCall], ObservedDelay], call: DelayCall, events: list[Event]
) -> ObservedDelay:
    """Returns the wait for the time left to the absolute deadline, by the guest's clock."""
    assert call.until_ns is not None, "it has an absolute deadline"
    rate = first(events, ClockRate)
    if rate is None:
        return msgspec.structs.replace(observe(call), requested_ns=1, is_open=True)
    apart_ns = call.t_ns - rate.t_ns
    left_ns = max(call.until_ns - (rate.monotonic_at_ns + apart_ns), 0)
    found = observe(msgspec.structs.replace(call, requested_ns=left_ns))
    wrong_ns = rate.raw_ns_max - rate.raw_ns_min + clock_error(events).of_wait_ns(apart_ns)
    return msgspec.structs.replace(found, clock_error_ns=found.clock_error_ns + wrong_ns)


def _with_what_followed(
    plain: ObservedDelay, call: DelayCall, later: Sequence[DelayCall], asked: _Requests
) -> ObservedDelay:
    """Judges a sleep that ended early by what followed; it stays open if nothing decides.

    `later` are the next calls at the same place and thread.
    """
    if not plain.is_short:
        return plain
    assert call.end_ns is not None, "it was seen to end"
    following = asked.after(call.end_ns)
    end_ns = _resumed_until(call, later, None if following is None else following[0])
    lengths = [_resumed(plain, end_ns - call.end_ns)]
    if following is not None:
        read_ns = max(following[1], end_ns) - call.t_ns
        lengths.append(_followed(plain, read_ns))
        if asked.latency_ns is not None:
            lengths.append(_kept(plain, read_ns - asked.latency_ns))
    decided = [each for each in lengths if each is not None and each.is_judged]
    return decided[0] if decided else msgspec.structs.replace(plain, is_open=True)


def _resumed(plain: ObservedDelay, added_ns: int) -> ObservedDelay | None:
    """Returns the sleep with its continuations, if that makes it long enough."""
    whole = msgspec.structs.replace(
        plain, shortest_ns=plain.shortest_ns + added_ns, longest_ns=plain.longest_ns + added_ns
    )
    return None if whole.is_short else whole


def _followed(plain: ObservedDelay, read_ns: int) -> ObservedDelay | None:
    """Returns the sleep with an end at the reading of the next request, if that is too early."""
    longest_ns = max(plain.longest_ns, int(read_ns * plain.stretch))
    found = msgspec.structs.replace(plain, longest_ns=longest_ns)
    return found if found.is_short else None


def _kept(plain: ObservedDelay, sent_ns: int) -> ObservedDelay | None:
    """Returns the sleep with an end at the sending of the next request, if that is late enough."""
    found = msgspec.structs.replace(plain, shortest_ns=sent_ns, longest_ns=sent_ns)
    return None if found.is_short else found


def _requests_of(events: Sequence[Event]) -> _Requests:
    """Returns the requests whose time of arrival is known.

    If it was not recorded, a request arrived when it was read, unless it was sent before the
    previous reply: then it may have been queued.
    """
    found = []
    for request in requests(events):
        waited = request.gap_ns is not None and request.gap_ns >= 0
        arrived_ns = request.arrived_ns
        if arrived_ns is None and waited:
            arrived_ns = request.read_ns
        if arrived_ns is not None:
            found.append((arrived_ns, request.read_ns))
    start = first(events, Start)
    return _Requests(sorted(found), start.wake_latency_ns_max if start else None)


def _resumed_until(call: DelayCall, later: Sequence[DelayCall], sent_ns: int | None) -> int:
    last = call
    for each in later:
        is_next = sent_ns is None or each.t_ns < sent_ns
        if each.end_ns is None or not is_next or not _goes_on(last, each):
            break
        last = each
    assert last.end_ns is not None, "all of them were seen to end"
    return last.end_ns


def _goes_on(before: DelayCall, after: DelayCall) -> bool:
    if before.until_ns is not None:
        return after.until_ns == before.until_ns
    left_ns = before.requested_ns - (before.seen_ns or 0)
    asks_less = after.requested_ns < before.requested_ns
    return asks_less and after.requested_ns <= left_ns + REST_TOLERANCE_NS
