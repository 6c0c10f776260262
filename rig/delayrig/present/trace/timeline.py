# SPDX-License-Identifier: GPL-2.0-or-later
"""The timeline of a cell, in tracks. Spans of one track never overlap; all are sorted by time."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from delayrig.judge.waste import whole_delays
from delayrig.model.delays import Delays
from delayrig.model.events import Event, Request, Transaction, first, of_kind, transactions
from delayrig.model.kinds import emulator
from delayrig.model.kinds.agent import SubjectEnd, SubjectStart
from delayrig.model.kinds.kind import name_of
from delayrig.model.phases import begin_ns


class Track(StrEnum):
    """The tracks, in the order in which a viewer shows them."""

    MOMENT = "moments"
    REQUEST = "requests"
    COMMAND = "commands"
    BUSY = "busy"
    WAIT = "waits"
    DELAY = "delays"
    VIOLATION = "violations"
    FAULT = "faults"


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """An event. One with a duration lasts at least 1 ns, so that it is visible."""

    track: Track
    name: str
    start_ns: int
    end_ns: int
    facts: dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """The timeline of a cell. `start_ns` is not later than anything on it."""

    title: str
    start_ns: int
    spans: list[Span]
    instants: list[Span]
    """The events without a duration."""


def timeline_of(events: list[Event], delays: Delays | None = None) -> Timeline:
    """Returns the timeline of a cell, or of an emulator alone."""
    spans = [
        *_in_turn(_requests(events)),
        *_in_turn(_commands(events)),
        *_cut_short(_busy_times(events)),
        *_in_turn(_waits(events)),
        *_in_turn(_delays(delays)),
    ]
    instants = [*_moments(events), *_violations(events), *_faults(events)]
    start = first(events, emulator.Start)
    times = [span.start_ns for span in (*spans, *instants)]
    return Timeline(
        title=f"{start.chip} at {start.corner}" if start else "events",
        start_ns=min(times, default=0),
        spans=sorted(spans, key=lambda span: (span.start_ns, list(Track).index(span.track))),
        instants=sorted(instants, key=lambda instant: instant.start_ns),
    )


def _span(track: Track, name: str, start_ns: int, end_ns: int, **facts: object) -> Span:
    return Span(track=track, name=name, start_ns=start_ns, end_ns=end_ns, facts=facts)


def _instant(track: Track, name: str, at_ns: int, **facts: object) -> Span:
    return _span(track, name, at_ns, at_ns, **facts)


def _requests(events: list[Event]) -> Iterator[Span]:
    for request in of_kind(events, emulator.Serprog):
        times = request.read_ns, request.reply_ns
        yield _span(Track.REQUEST, request.name, *times, op=request.op, ack=request.ack)


def _commands(events: list[Event]) -> Iterator[Span]:
    """Yields a span for each command.

    A transfer ends with its reply, which is the only evidence of its end. A cycle records its time
    on the wire.
    """
    for event in transactions(events):
        start_ns = begin_ns(event)
        end_ns = start_ns + event.wire_ns if isinstance(event, emulator.Cycle) else event.reply_ns
        yield _span(Track.COMMAND, event.name, start_ns, end_ns, **_command_facts(event))


def _command_facts(event: Transaction) -> dict[str, object]:
    answer = {"sr": event.sr} if isinstance(event, emulator.Spi) else {"value": event.value}
    facts = {
        "op": event.op,
        "addr": event.addr,
        "wlen": event.wlen,
        "rlen": event.rlen,
        **answer,
        "busy_left_ns": event.busy_left_ns,
        "margin_ns": event.margin_ns,
        "grade": event.grade,
    }
    return {key: value for key, value in facts.items() if value is not None}


def _busy_times(events: list[Event]) -> Iterator[Span]:
    for busy in of_kind(events, emulator.Busy):
        times = busy.start_ns, busy.until_ns
        yield _span(Track.BUSY, busy.kind, *times, op=busy.op, addr=busy.addr, grade=busy.grade)


def _waits(events: list[Event]) -> Iterator[Span]:
    """Yields the time from each reply to the next request: the subject and the link."""
    replied: Request | None = None
    for event in events:
        if isinstance(event, (emulator.Accept, emulator.Disconnect)):
            replied = None
        if not isinstance(event, (emulator.Serprog, emulator.Spi, emulator.Cycle)):
            continue
        if replied is not None and event.read_ns > replied.reply_ns:
            name, times = f"after {replied.name}", (replied.reply_ns, event.read_ns)
            yield _span(Track.WAIT, name, *times, next=event.name, empty_ns=event.empty_ns)
        replied = event


def _delays(delays: Delays | None) -> Iterator[Span]:
    """Yields the calls of the subject's delay functions that QEMU saw."""
    if delays is None:
        return
    for call in whole_delays(delays):
        yield _span(
            Track.DELAY,
            f"{call.requested_ns // 1000} us",
            call.t_ns,
            call.t_ns + (call.seen_ns or 0),
            function=delays.function_of(call).name,
            stack=delays.callers_of(call),
            thread=call.thread,
            cpu_in=call.cpu_in,
            cpu_out=call.cpu_out,
        )


def _moments(events: list[Event]) -> Iterator[Span]:
    for event in events:
        if isinstance(
            event,
            (
                SubjectStart,
                emulator.Accept,
                emulator.Barrier,
                emulator.Refused,
                emulator.Disconnect,
                SubjectEnd,
            ),
        ):
            yield _instant(Track.MOMENT, name_of(type(event)), event.t_ns)


def _violations(events: list[Event]) -> Iterator[Span]:
    for event in transactions(events):
        if event.violation:
            at_ns, margin_ns = begin_ns(event), event.margin_ns
            yield _instant(
                Track.VIOLATION, event.violation, at_ns, command=event.name, margin_ns=margin_ns
            )


def _faults(events: list[Event]) -> Iterator[Span]:
    for fault in of_kind(events, emulator.FaultMade):
        yield _instant(Track.FAULT, fault.kind, fault.t_ns, at=fault.at, nth=fault.nth)


def _in_turn(spans: Iterator[Span]) -> Iterator[Span]:
    """Moves the start of each span to the end of the previous one if the two overlap."""
    free_ns = 0
    for span in sorted(spans, key=lambda span: span.start_ns):
        start_ns = max(span.start_ns, free_ns)
        free_ns = max(span.end_ns, start_ns + 1)
        yield replace(span, start_ns=start_ns, end_ns=free_ns)


def _cut_short(spans: Iterator[Span]) -> Iterator[Span]:
    """Ends each busy time where the next begins, as when work was suspended, reset or delayed."""
    following: Span | None = None
    cut = []
    for span in sorted(spans, key=lambda span: (span.start_ns, span.end_ns), reverse=True):
        end_ns = max(span.end_ns, span.start_ns + 1)
        if following is not None:
            end_ns = min(end_ns, following.start_ns)
        if end_ns > span.start_ns:
            following = replace(span, end_ns=end_ns)
            cut.append(following)
    return reversed(cut)
