# SPDX-License-Identifier: GPL-2.0-or-later
"""A timeline in the JSON trace event format, which Perfetto and Chrome's viewer read.

Its times are in microseconds; three decimals keep every nanosecond.
"""

from typing import Any

import msgspec

from delayrig.base.durations import NS_PER_US
from delayrig.present.trace.timeline import Span, Timeline, Track

PROCESS = 1


def as_perfetto(timeline: Timeline) -> bytes:
    events = [
        *_names(timeline),
        *(_span(span, timeline.start_ns) for span in timeline.spans),
        *(_instant(instant, timeline.start_ns) for instant in timeline.instants),
    ]
    events.sort(key=lambda event: event.get("ts", -1.0))
    trace = {"displayTimeUnit": "ns", "traceEvents": events}
    return msgspec.json.encode(trace) + b"\n"


def _thread(track: Track) -> int:
    return list(Track).index(track) + 1


def _names(timeline: Timeline) -> list[dict[str, Any]]:
    names = [_name("process_name", {"name": timeline.title}, thread=0)]
    for track in Track:
        thread = _thread(track)
        names.append(_name("thread_name", {"name": track.value}, thread=thread))
        names.append(_name("thread_sort_index", {"sort_index": thread}, thread=thread))
    return names


def _name(kind: str, args: dict[str, Any], *, thread: int) -> dict[str, Any]:
    return {"ph": "M", "name": kind, "pid": PROCESS, "tid": thread, "args": args}


def _span(span: Span, start_ns: int) -> dict[str, Any]:
    return {
        "ph": "X",
        **_place(span),
        "ts": (span.start_ns - start_ns) / NS_PER_US,
        "dur": (span.end_ns - span.start_ns) / NS_PER_US,
        "args": span.facts,
    }


def _instant(instant: Span, start_ns: int) -> dict[str, Any]:
    at_us = (instant.start_ns - start_ns) / NS_PER_US
    return {"ph": "i", "s": "t", **_place(instant), "ts": at_us, "args": instant.facts}


def _place(event: Span) -> dict[str, Any]:
    track = event.track
    return {"name": event.name, "cat": track.value, "pid": PROCESS, "tid": _thread(track)}
