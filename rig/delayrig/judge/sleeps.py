# SPDX-License-Identifier: GPL-2.0-or-later
"""Direct waits, asked against given: calls of what sleeps that go past the delay functions."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

import msgspec

from delayrig.judge.clock_error import clock_error
from delayrig.judge.interrupted import Length, Requests, length_of, requests_of
from delayrig.model.delays import DelayCall
from delayrig.model.events import Event, first
from delayrig.model.evidence import ObservedDelay
from delayrig.model.kinds.agent import ClockRate

RESUMED_MAX = 4096
"""So often is a sleep looked for that goes on: a signal every millisecond for seconds."""


def observe_sleeps(
    calls: Sequence[DelayCall],
    observe: Callable[[DelayCall], ObservedDelay],
    events: list[Event],
) -> Iterator[ObservedDelay]:
    """Those of `calls` that asked for anything and were seen to end. `observe` takes each for one
    that lasted from its begin to its end.
    """
    places: dict[tuple[int, int], list[DelayCall]] = defaultdict(list)
    for call in calls:
        places[call.function, call.thread].append(call)
    requests = requests_of(events) if places else Requests((), (), None)
    for here in places.values():
        for number, call in enumerate(here):
            later = here[number + 1 : number + 1 + RESUMED_MAX]
            plain = _plain(call, observe, events)
            if plain is not None and plain.requested_ns > 0:
                yield _with_what_followed(plain, call, later, requests)


def _plain(
    call: DelayCall, observe: Callable[[DelayCall], ObservedDelay], events: list[Event]
) -> ObservedDelay | None:
    if call.end_ns is None:
        return None
    return observe(call) if call.until_ns is None else _until(observe, call, events)


def _until(
    observe: Callable[[DelayCall], ObservedDelay], call: DelayCall, events: list[Event]
) -> ObservedDelay:
    """What was left until then when it began, by the guest's clock as it was compared once."""
    assert call.until_ns is not None, "it waits for a moment"
    rate = first(events, ClockRate)
    if rate is None:
        return msgspec.structs.replace(observe(call), requested_ns=1, is_open=True)
    apart_ns = call.t_ns - rate.t_ns
    left_ns = max(call.until_ns - (rate.monotonic_at_ns + apart_ns), 0)
    found = observe(msgspec.structs.replace(call, requested_ns=left_ns))
    wrong_ns = rate.raw_ns_max - rate.raw_ns_min + clock_error(events).of_wait_ns(apart_ns)
    return msgspec.structs.replace(found, clock_error_ns=found.clock_error_ns + wrong_ns)


def _with_what_followed(
    plain: ObservedDelay, call: DelayCall, later: Sequence[DelayCall], requests: Requests
) -> ObservedDelay:
    if not plain.is_short:
        return plain
    length = length_of(call, later, requests)
    lengths = (_resumed(plain, call, length), _followed(plain, length), _kept(plain, length))
    good = [each for each in lengths if each is not None and each.is_judged]
    return good[0] if good else msgspec.structs.replace(plain, is_open=True)


def _resumed(plain: ObservedDelay, call: DelayCall, length: Length) -> ObservedDelay | None:
    """With the sleeps that went on with it, where these made it whole."""
    added_ns = length.shortest_ns - (call.seen_ns or 0)
    whole = msgspec.structs.replace(
        plain, shortest_ns=plain.shortest_ns + added_ns, longest_ns=plain.longest_ns + added_ns
    )
    return None if whole.is_short else whole


def _followed(plain: ObservedDelay, length: Length) -> ObservedDelay | None:
    """At most as long as until the next request, where that came too early."""
    if length.read_ns is None:
        return None
    longest_ns = max(plain.longest_ns, int(length.read_ns * plain.stretch))
    found = msgspec.structs.replace(plain, longest_ns=longest_ns)
    return found if found.is_short else None


def _kept(plain: ObservedDelay, length: Length) -> ObservedDelay | None:
    """As long as until the next request was sent, where that was not too early."""
    if length.sent_ns is None:
        return None
    found = msgspec.structs.replace(plain, shortest_ns=length.sent_ns, longest_ns=length.sent_ns)
    return None if found.is_short else found
