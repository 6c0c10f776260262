# SPDX-License-Identifier: GPL-2.0-or-later
"""A timeline in the JSON trace event format, which Perfetto and Chrome's viewer read.

Its times are in microseconds; three decimals keep every nanosecond.
"""

from typing import Any

import msgspec

from delayrig.base.durations import NS_PER_US
from delayrig.present.trace.timeline import Span, Timeline, Track

PROCESS = 1
THREADS = {track: number for number, track in enumerate(Track, start=1)}


def as_perfetto(timeline: Timeline) -> bytes:
    events = [_name("process_name", {"name": timeline.title}, thread=0)]
    for track, thread in THREADS.items():
        events.append(_name("thread_name", {"name": track.value}, thread=thread))
        events.append(_name("thread_sort_index", {"sort_index": thread}, thread=thread))
    events += [_event("X", span, timeline) for span in timeline.spans]
    events += [_event("i", instant, timeline) for instant in timeline.instants]
    events.sort(key=lambda event: event.get("ts", -1.0))
    trace = {"displayTimeUnit": "ns", "traceEvents": events}
    return msgspec.json.encode(trace) + b"\n"


def _name(kind: str, args: dict[str, Any], *, thread: int) -> dict[str, Any]:
    return {"ph": "M", "name": kind, "pid": PROCESS, "tid": thread, "args": args}


def _event(kind: str, span: Span, timeline: Timeline) -> dict[str, Any]:
    """Returns a span, or an instant of one thread."""
    is_instant = kind == "i"
    return {
        "ph": kind,
        **({"s": "t"} if is_instant else {}),
        "name": span.name,
        "cat": span.track.value,
        "pid": PROCESS,
        "tid": THREADS[span.track],
        "ts": (span.start_ns - timeline.start_ns) / NS_PER_US,
        **({} if is_instant else {"dur": (span.end_ns - span.start_ns) / NS_PER_US}),
        "args": span.facts,
    }
