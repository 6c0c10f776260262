# SPDX-License-Identifier: GPL-2.0-or-later
"""The events of a cell in the order of time, written by agent, emulator and library client.

`kinds/` defines each line. This module parses lines into events. A line must be of a known kind,
with all keys of that kind and no others, and each value must have the right type and range. Any
other line raises `LostGuestError`.
"""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from delayrig.base.errors import NOT_JSON, LostGuestError
from delayrig.model.kinds.agent import OfGuest
from delayrig.model.kinds.delay_plugin import PluginLine
from delayrig.model.kinds.emulator import Busy, Cycle, OfEmulator, Serprog, Spi
from delayrig.model.kinds.hazard import OfHazard
from delayrig.model.kinds.kind import Kind, name_of
from delayrig.model.kinds.library_client import HostEnd, HostStart
from delayrig.model.kinds.pace import Pace, Speed, TraceEnd, TraceStart, Window

Transaction = Spi | Cycle
"""A transaction with the part: a transfer on an SPI bus, a command or a read on any other."""
Request = Serprog | Transaction
"""A request of a client to the emulator."""
Event = OfGuest | OfHazard | OfEmulator | HostStart | HostEnd | Speed | Pace
"""A line of `events.jsonl`, or of one of its sources."""
TraceLine = TraceStart | Speed | Window | TraceEnd
"""A line of `pace.jsonl`."""

Line = TypeVar("Line")
Some = TypeVar("Some", bound=Kind)

EVENTS: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)
TRACE: msgspec.json.Decoder[TraceLine] = msgspec.json.Decoder(TraceLine)
PLUGIN: msgspec.json.Decoder[PluginLine] = msgspec.json.Decoder(PluginLine)


def decoded(
    text: bytes, decoder: msgspec.json.Decoder[Line], *, source: str
) -> Iterator[tuple[bytes, Line]]:
    """Yields each line and its value; raises `LostGuestError` that names the line and its fault."""
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            yield line, decoder.decode(line)
        except NOT_JSON as error:
            raise LostGuestError(f"{source}, line {number}: {error}") from error


def event_time_ns(event: Event) -> int:
    match event:
        case Serprog() | Spi() | Cycle():
            return event.read_ns
        case Busy():
            return event.start_ns
        case _:
            return event.t_ns


def parse_events(text: bytes, *, source: str) -> list[Event]:
    """Returns every line as an event; raises `LostGuestError` for any other line."""
    return [event for _, event in decoded(text, EVENTS, source=source)]


def parse_trace(text: bytes, *, source: str) -> list[TraceLine]:
    """Returns the lines of the CPU plugin's trace. The last line may be cut off, and is ignored."""
    whole = text[: text.rfind(b"\n") + 1]
    return [line for _, line in decoded(whole, TRACE, source=source)]


def merge_events(agent: bytes, emulator: bytes, host: bytes = b"") -> bytes:
    """Merges streams in the order of time. Each source keeps its order, each line its bytes."""
    sources = {"agent": agent, "emulator": emulator, "library client": host}
    streams = (_by_time(text, source=f"the {who}'s events") for who, text in sources.items())
    merged = heapq.merge(*streams, key=lambda pair: pair[0])
    return b"".join(line + b"\n" for _, line in merged)


def _by_time(text: bytes, *, source: str) -> Iterator[tuple[int, bytes]]:
    """Yields each line with the latest time so far in its source, so merging keeps its order."""
    latest = 0
    for line, event in decoded(text, EVENTS, source=source):
        latest = max(latest, event_time_ns(event))
        yield latest, line


def encode_events(events: Iterable[Kind]) -> bytes:
    """Returns a line for each event, as its writer prints it: the stream's version comes first."""
    return b"".join(_encoded(event) + b"\n" for event in events)


def _encoded(event: Kind) -> bytes:
    line = msgspec.json.encode(event)
    kind, comma, rest = line.partition(b",")
    version, _, others = rest.partition(b",")
    if not version.startswith(b'"schema":'):
        return line
    return b"{" + version + comma + kind.removeprefix(b"{") + comma + others


def read_events(source: Path) -> list[Event]:
    """Reads the events of a cell's folder, or of a file."""
    path = source / "events.jsonl" if source.is_dir() else source
    try:
        return parse_events(path.read_bytes(), source=str(path))
    except OSError as error:
        raise LostGuestError(f"{path}: {error.strerror}") from error


def of_kind(events: Iterable[Kind], kind: type[Some]) -> list[Some]:
    return [event for event in events if isinstance(event, kind)]


def requests(events: Sequence[Event]) -> list[Request]:
    return [event for event in events if isinstance(event, (Serprog, Spi, Cycle))]


def transactions(events: Sequence[Event]) -> list[Transaction]:
    return [event for event in events if isinstance(event, (Spi, Cycle))]


def first(events: Iterable[Kind], kind: type[Some]) -> Some | None:
    return next((event for event in events if isinstance(event, kind)), None)


def needed(events: Iterable[Kind], kind: type[Some]) -> Some:
    """Returns the first event of a required kind; raises `LostGuestError` if there is none."""
    found = first(events, kind)
    if found is None:
        raise LostGuestError(f"the events hold no {name_of(kind)!r}")
    return found
