# SPDX-License-Identifier: GPL-2.0-or-later
"""The one stream of what happened in a cell, by time: agent, emulator, library client.

What each line may say is in `kinds/`. Here is the one edge at which a line becomes an event: behind
it every event is of a known kind, with all of its keys and no other, each of its type, and no time
is negative. A line that is not makes the guest a lost one.
"""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from delayrig.base.errors import LostGuestError
from delayrig.model.kinds.agent import OfGuest
from delayrig.model.kinds.delay_plugin import PluginLine
from delayrig.model.kinds.emulator import Busy, Cycle, OfEmulator, Serprog, Spi
from delayrig.model.kinds.hazard import OfHazard
from delayrig.model.kinds.kind import Kind, name_of
from delayrig.model.kinds.library_client import HostEnd, HostStart
from delayrig.model.kinds.pace import Pace, Speed, TraceEnd, TraceStart, Window

Transaction = Spi | Cycle
"""What reached the part: transfers on an SPI bus, commands and reads on any other."""
Request = Serprog | Transaction
"""What a client asked the emulator for."""
Event = OfGuest | OfHazard | OfEmulator | HostStart | HostEnd | Speed | Pace
"""A line of `events.jsonl`, or of one of the streams that it is made of."""
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
    """Each line, and what it says; raises `LostGuestError` that names the line and its fault."""
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            yield line, decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
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
    """Every line; a line that is not an event makes the guest a lost one."""
    return [event for _, event in decoded(text, EVENTS, source=source)]


def parse_trace(text: bytes, *, source: str) -> list[TraceLine]:
    """The same of the CPU plugin's trace. A guest that was ended left half a line at most."""
    whole = text[: text.rfind(b"\n") + 1]
    return [line for _, line in decoded(whole, TRACE, source=source)]


def merge_events(agent: bytes, emulator: bytes, host: bytes = b"") -> bytes:
    """One stream in the order of time; each source keeps its own order, each line its bytes."""
    sources = {"agent": agent, "emulator": emulator, "library client": host}
    streams = (_by_time(text, source=f"the {who}'s events") for who, text in sources.items())
    merged = heapq.merge(*streams, key=lambda pair: pair[0])
    return b"".join(line + b"\n" for _, line in merged)


def _by_time(text: bytes, *, source: str) -> Iterator[tuple[int, bytes]]:
    """Times never fall within one source, so that merging keeps each source's order."""
    latest = 0
    for line, event in decoded(text, EVENTS, source=source):
        latest = max(latest, event_time_ns(event))
        yield latest, line


def encode_events(events: Iterable[Kind]) -> bytes:
    """A line for each, as its writer has it: the version of the stream comes first."""
    return b"".join(_encoded(event) + b"\n" for event in events)


def _encoded(event: Kind) -> bytes:
    line = msgspec.json.encode(event)
    kind, comma, rest = line.partition(b",")
    version, _, others = rest.partition(b",")
    if not version.startswith(b'"schema":'):
        return line
    return b"{" + version + comma + kind.removeprefix(b"{") + comma + others


def read_events(source: Path) -> list[Event]:
    """The events of a cell's folder, or of a file."""
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
    """The same of a kind without which nothing is known; raises `LostGuestError` without one."""
    found = first(events, kind)
    if found is None:
        raise LostGuestError(f"the events hold no {name_of(kind)!r}")
    return found
