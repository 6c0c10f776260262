# SPDX-License-Identifier: GPL-2.0-or-later
"""A timeline as a value change dump (IEEE 1364, section 18), which waveform viewers read.

An opcode is a vector of 8 bits, in high impedance if there is none. Violations and faults are
events. All other signals are single bits.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from delayrig.present.trace.timeline import Span, Timeline, Track

NO_OPCODE = "bz"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Signal:
    """A row of a viewer, and its changes: times and values."""

    name: str
    code: str
    kind: str
    bits: int
    idle: str
    changes: list[tuple[int, str]]

    def text(self, value: str) -> str:
        """Returns a line for a change. A space separates the value of a vector from its code."""
        return f"{value} {self.code}" if self.bits > 1 else f"{value}{self.code}"


def as_vcd(timeline: Timeline) -> bytes:
    """Returns the whole file; its time 0 is the start of the timeline."""
    signals = [
        _opcodes(timeline, Track.REQUEST, "request_op", "r"),
        _opcodes(timeline, Track.COMMAND, "command_op", "c"),
        _level(timeline, Track.COMMAND, "command", "C"),
        _level(timeline, Track.BUSY, "busy", "b"),
        _level(timeline, Track.WAIT, "wait", "w"),
        _pulses(timeline, Track.VIOLATION, "violation", "v"),
        _pulses(timeline, Track.FAULT, "fault", "f"),
    ]
    lines = [*_header(timeline, signals), *_changes(signals)]
    return ("\n".join(lines) + "\n").encode("ascii", "replace")


def _spans(timeline: Timeline, track: Track) -> Iterator[tuple[Span, int, int]]:
    for span in timeline.spans:
        if span.track is track:
            yield span, span.start_ns - timeline.start_ns, span.end_ns - timeline.start_ns


def _opcodes(timeline: Timeline, track: Track, name: str, code: str) -> _Signal:
    changes: list[tuple[int, str]] = []
    for span, start, end in _spans(timeline, track):
        opcode = span.facts.get("op")
        value = NO_OPCODE if opcode is None else f"b{int(str(opcode), 16):b}"
        changes += [(start, value), (end, NO_OPCODE)]
    return _Signal(name=name, code=code, kind="reg", bits=8, idle=NO_OPCODE, changes=changes)


def _level(timeline: Timeline, track: Track, name: str, code: str) -> _Signal:
    changes: list[tuple[int, str]] = []
    for _, start, end in _spans(timeline, track):
        changes += [(start, "1"), (end, "0")]
    return _Signal(name=name, code=code, kind="wire", bits=1, idle="0", changes=changes)


def _pulses(timeline: Timeline, track: Track, name: str, code: str) -> _Signal:
    """Returns a signal of type `event`, which has no value and so no initial one."""
    times_ns = [i.start_ns - timeline.start_ns for i in timeline.instants if i.track is track]
    changes = [(at, "1") for at in times_ns]
    return _Signal(name=name, code=code, kind="event", bits=1, idle="", changes=changes)


def _header(timeline: Timeline, signals: list[_Signal]) -> Iterator[str]:
    yield f"$comment {timeline.title}, from {timeline.start_ns} ns on $end"
    yield "$timescale 1 ns $end"
    yield "$scope module chip $end"
    for signal in signals:
        width = f" [{signal.bits - 1}:0]" if signal.bits > 1 else ""
        yield f"$var {signal.kind} {signal.bits} {signal.code} {signal.name}{width} $end"
    yield "$upscope $end"
    yield "$enddefinitions $end"
    yield "#0"
    yield "$dumpvars"
    yield from (signal.text(signal.idle) for signal in signals if signal.idle)
    yield "$end"


def _changes(signals: list[_Signal]) -> Iterator[str]:
    """Yields the changes, sorted by time.

    There is one per signal and time: a span that begins replaces the end of the previous one.
    """
    values: dict[int, dict[str, str]] = {}
    for signal in signals:
        for at, value in signal.changes:
            values.setdefault(at, {})[signal.code] = signal.text(value)
    for at in sorted(values):
        if at > 0:
            yield f"#{at}"
        yield from values[at].values()
