# SPDX-License-Identifier: GPL-2.0-or-later
"""Timelines, and the files that viewers read."""

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from delayrig.model.delays import encode_delays
from delayrig.model.events import Event
from delayrig.model.kinds.emulator import Accept, Disconnect, FaultMade
from delayrig.present.trace.perfetto import as_perfetto
from delayrig.present.trace.timeline import Timeline, Track, timeline_of
from delayrig.present.trace.vcd import as_vcd

from tests.rig.builders import SECOND, delay, delays_of
from tests.rig.event_builders import (
    END_NS,
    NOP,
    START_NS,
    as_lines,
    busy,
    cycle,
    early,
    made,
    serprog,
    sound_events,
    spi,
)
from tests.rig.running import answer_of, refusal_of, rig

US = 1000


def fault(at_ns: int) -> Event:
    return made(FaultMade, t_ns=at_ns, kind="nak", at="request", nth=2, held_ns=0)


def erase(at: int = SECOND) -> list[Event]:
    """Returns a NOP, an erase, a program that comes too early, a fault, and a status read."""
    return [
        serprog(NOP, empty=at - 2, read=at, reply=at + US),
        spi("0x20", read=at + 4 * US, reply=at + 5 * US, sr="0x03"),
        busy("0x20", start=at + 4 * US, until=at + 50 * US),
        early("0x02", read=at + 9 * US, margin=-41 * US),
        fault(at + 12 * US),
        spi("0x05", read=at + 60 * US, reply=at + 61 * US),
    ]


EVENTS = pytest.mark.parametrize(
    "events", [[], erase(), sound_events(*erase(START_NS + SECOND))], ids=["none", "few", "cell"]
)


def spans_on(timeline: Timeline, track: Track) -> list[tuple[str, int, int]]:
    """Returns name, start and end of the track's spans, in nanoseconds after SECOND."""
    return [
        (span.name, span.start_ns - SECOND, span.end_ns - SECOND)
        for span in timeline.spans
        if span.track is track
    ]


def test_each_kind_of_event_has_its_track() -> None:
    timeline = timeline_of(erase())
    assert spans_on(timeline, Track.REQUEST) == [(NOP, 0, US)]
    assert [name for name, *_ in spans_on(timeline, Track.COMMAND)] == ["SE", "PP", "RDSR"]
    assert spans_on(timeline, Track.BUSY) == [("erase", 4 * US, 50 * US)]
    assert spans_on(timeline, Track.WAIT)[:2] == [
        (f"after {NOP}", US, 4 * US),
        ("after SE", 5 * US, 9 * US),
    ]
    assert [(i.track, i.name, i.start_ns - SECOND) for i in timeline.instants] == [
        (Track.VIOLATION, "busy", 9 * US),
        (Track.FAULT, "nak", 12 * US),
    ]
    assert timeline.start_ns == SECOND


def test_delays_that_returned_have_a_track() -> None:
    calls = [delay(5, took_ns=9 * US, at=SECOND), delay(7, took_ns=None, at=2 * SECOND)]
    delays = delays_of(*calls)
    timeline = timeline_of([], delays)
    assert spans_on(timeline, Track.DELAY) == [("5 us", 0, 9 * US)]
    assert timeline.spans[0].facts["stack"] == delays.callers_of(calls[0])


def test_overlapping_requests_and_suspended_work_are_shown_one_after_the_other() -> None:
    requests = [serprog(NOP, empty=1, read=10, reply=reply) for reply in (20, 35)]
    works = [busy("0x20", start=10, until=90), busy("0x75", start=40, until=60)]
    for events, spans in ((requests, [(10, 20), (20, 35)]), (works, [(10, 40), (40, 60)])):
        assert [(s.start_ns, s.end_ns) for s in timeline_of(events).spans] == spans


def test_span_without_a_duration_lasts_1_ns() -> None:
    for event, at in (
        (serprog(NOP, empty=1, read=10, reply=10), 10),
        (cycle("PROGRAM", op="0xa0", read=100), 100),
    ):
        (span,) = timeline_of([event]).spans
        assert (span.start_ns, span.end_ns) == (at, at + 1)


def test_wait_does_not_span_two_connections() -> None:
    def at(ns: int) -> Event:
        return serprog(NOP, empty=ns, read=ns, reply=ns + 1)

    events = [at(10), made(Disconnect, t_ns=20), made(Accept, t_ns=30), at(40)]
    assert [s for s in timeline_of(events).spans if s.track is Track.WAIT] == []


@EVENTS
def test_spans_of_a_track_are_sorted_and_never_overlap(events: list[Event]) -> None:
    timeline = timeline_of(events)
    for track in Track:
        spans = [span for span in timeline.spans if span.track is track]
        for span, following in pairwise(spans):
            assert span.end_ns <= following.start_ns
        assert all(timeline.start_ns <= s.start_ns < s.end_ns < END_NS for s in spans)


# The trace event format requires these keys for each type of event (`ph`).
PHASES: dict[str, set[str]] = {
    "M": {"ph", "name", "pid", "tid", "args"},
    "X": {"ph", "name", "cat", "pid", "tid", "ts", "dur", "args"},
    "i": {"ph", "name", "cat", "pid", "tid", "ts", "s", "args"},
}


def perfetto(events: list[Event]) -> dict[str, Any]:
    trace = json.loads(as_perfetto(timeline_of(events)))
    assert isinstance(trace, dict)
    return trace


@EVENTS
def test_perfetto_trace_has_the_documented_keys_in_the_order_of_time(events: list[Event]) -> None:
    trace = perfetto(events)
    assert set(trace) == {"displayTimeUnit", "traceEvents"}
    assert trace["displayTimeUnit"] in ("ms", "ns")
    for event in trace["traceEvents"]:
        assert set(event) == PHASES[event["ph"]]
        assert event.get("s", "t") in ("g", "p", "t")
        assert event.get("ts", 0) >= 0
        assert event.get("dur", 1) > 0
    times = [event["ts"] for event in trace["traceEvents"] if "ts" in event]
    assert times == sorted(times)


def test_perfetto_threads_are_named_and_their_spans_nest() -> None:
    trace = perfetto(erase())
    events = trace["traceEvents"]
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert list(names.values()) == [track.value for track in Track]
    ends = dict.fromkeys(names, 0.0)
    for event in events:
        if event["ph"] == "X":
            assert names[event["tid"]] == event["cat"]
            assert event["ts"] >= ends[event["tid"]]
            ends[event["tid"]] = event["ts"] + event["dur"]


def test_perfetto_times_are_microseconds_to_the_nanosecond() -> None:
    late = 10_000 * SECOND + 1
    events = [serprog(NOP, empty=1, read=7, reply=8), serprog(NOP, empty=2, read=late, reply=late)]
    spans = [event for event in perfetto(events)["traceEvents"] if event["ph"] == "X"]
    assert [round(span["ts"] * 1000) for span in spans if span["name"] == NOP] == [0, late - 7]


class VcdReader:
    """A parser of value change dumps that accepts only what their grammar allows."""

    def __init__(self, text: str) -> None:
        head, _, body = text.partition("$enddefinitions $end\n")
        assert body
        self.kinds: dict[str, tuple[str, int]] = {}
        self.names: dict[str, str] = {}
        self.changes: list[tuple[int, str, str]] = []
        self._depth = 0
        for line in head.splitlines():
            self._declare(line)
        assert self._depth == 0
        self._read(body.splitlines())

    def _declare(self, line: str) -> None:
        words = line.split()
        assert words[-1] == "$end"
        match words[0]:
            case "$comment":
                assert words.count("$end") == 1
            case "$timescale":
                assert words[1:3] == ["1", "ns"]
            case "$scope":
                assert words[1] == "module"
                self._depth += 1
            case "$upscope":
                self._depth -= 1
            case "$var":
                kind, bits, code, name = words[1:5]
                assert kind in ("wire", "reg", "event")
                assert re.fullmatch(r"[!-~]+", code)
                assert code not in self.kinds
                self.kinds[code] = (kind, int(bits))
                self.names[code] = name
            case other:
                pytest.fail(f"unknown declaration {other}")

    def _read(self, lines: list[str]) -> None:
        now = -1
        dumping = False
        for line in lines:
            if line.startswith("#"):
                assert int(line[1:]) > now
                now = int(line[1:])
            elif line in ("$dumpvars", "$end"):
                assert dumping is (line == "$end")
                dumping = line == "$dumpvars"
            else:
                assert now >= 0
                self._change(now, line)
        assert not dumping

    def _change(self, now: int, line: str) -> None:
        vector = re.fullmatch(r"b([01]{1,8}|[xz]) (\S+)", line)
        scalar = re.fullmatch(r"([01xz])(\S+)", line)
        found = vector or scalar
        assert found, line
        value, code = found.groups()
        kind, bits = self.kinds[code]
        assert (bits > 1) is bool(vector)
        assert kind != "event" or value == "1"
        self.changes.append((now, self.names[code], value))

    def of(self, name: str) -> list[tuple[int, str]]:
        return [(at, value) for at, changed, value in self.changes if changed == name]


def vcd(events: list[Event]) -> VcdReader:
    return VcdReader(as_vcd(timeline_of(events)).decode("ascii"))


@EVENTS
def test_vcd_keeps_to_its_grammar(events: list[Event]) -> None:
    assert len(vcd(events).names) == 7


def test_vcd_shows_what_was_on_the_bus() -> None:
    reader = vcd(erase())
    assert reader.of("busy") == [(0, "0"), (4 * US, "1"), (50 * US, "0")]
    assert reader.of("command_op")[:3] == [(0, "z"), (4 * US, "100000"), (5 * US, "z")]
    assert reader.of("request_op") == [(0, "z"), (0, "0"), (US, "z")]
    assert reader.of("violation") == [(9 * US, "1")]
    assert reader.of("fault") == [(12 * US, "1")]
    # A command right after another one is not shown as idle.
    events = [spi("0x05", read=10, reply=20), spi("0x03", read=10, reply=30)]
    assert vcd(events).of("command_op") == [(0, "z"), (0, "101"), (10, "11"), (20, "z")]


@pytest.mark.parametrize("kind", ["perfetto", "vcd"])
def test_command_reads_a_folder_and_a_file_alike(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    file.write_bytes(as_lines(erase()))
    out = tmp_path / "out"
    answer_of("trace", tmp_path, "--format", kind, "-o", out)
    piped = rig("trace", file, "--format", kind)
    assert (piped.exit_code, piped.stdout_bytes) == (0, out.read_bytes())


def test_command_shows_the_delays_of_a_cell(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(as_lines(erase()))
    call = delay(7, took_ns=9 * US, at=SECOND)
    (tmp_path / "delays.jsonl").write_bytes(encode_delays(delays_of(call)))
    shown = json.loads(answer_of("trace", tmp_path))["traceEvents"]
    found = [event["args"]["function"] for event in shown if event["name"] == "7 us"]
    assert found == ["default_delay"]


@pytest.mark.parametrize("content", [None, b"not json\n", b'{"ev":"serprog","read_ns":1}\n'])
def test_command_explains_what_it_cannot_read(content: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    if content is not None:
        file.write_bytes(content)
    assert "events" in refusal_of("trace", file)
