# SPDX-License-Identifier: GPL-2.0-or-later
"""The one stream of what happened in a cell, by time: agent, emulator, host program."""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec

from delayrig.base.errors import LostGuestError

Event = dict[str, Any]

TRANSACTIONS = ("spi", "cycle")
"""What reaches the chip: transfers on an SPI bus, commands and reads on any other."""

TIME_KEYS = ("t_ns", "read_ns", "start_ns")


AGENTS_OWN = ("subject_start", "subject_end")
"""Whose `t_ns` others are put in relation to."""


def _check_times(event: Event) -> None:
    """Raises `LostGuestError` where a time of it is none."""
    for key in TIME_KEYS:
        value = event.get(key)
        if value is None and not (key == "t_ns" and event["ev"] in AGENTS_OWN):
            continue
        if type(value) is not int or value < 0:
            raise LostGuestError(f"an event of kind {event['ev']!r} has {key!r} {value!r}")


def event_time_ns(event: Event) -> int:
    """When it happened, on the guest's virtual clock."""
    for key in TIME_KEYS:
        if type(event.get(key)) is int:
            return int(event[key])
    raise LostGuestError(f"an event of kind {event.get('ev')!r} has no time")


def parse_events(text: bytes, *, source: str) -> list[Event]:
    """Every line; a line that is not an event makes the guest a lost one."""
    events = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            event = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise LostGuestError(f"{source}, line {number}: {error}") from error
        if not isinstance(event, dict) or not isinstance(event.get("ev"), str):
            raise LostGuestError(f"{source}, line {number}: not an event")
        _check_times(cast("Event", event))
        event_time_ns(cast("Event", event))
        events.append(event)
    return events


def merge_events(
    agent: bytes, emulator: bytes, host: bytes = b"", delays: Sequence[Event] = ()
) -> bytes:
    """One stream in the order of time; each source keeps its own order."""
    streams = (
        _ordered(parse_events(agent, source="the agent's events")),
        _ordered(parse_events(emulator, source="the emulator's events")),
        _ordered(parse_events(host, source="the host program's events")),
        _ordered(delays),
    )
    merged = (event for _, event in heapq.merge(*streams, key=lambda pair: pair[0]))
    return encode_events(merged)


def encode_events(events: Iterable[Event]) -> bytes:
    """A line for each."""
    return b"".join(msgspec.json.encode(event) + b"\n" for event in events)


def _ordered(events: Sequence[Event]) -> Iterator[tuple[int, Event]]:
    """Times never fall within one source, so that merging keeps each source's order."""
    latest = 0
    for event in events:
        latest = max(latest, event_time_ns(event))
        yield latest, event


def read_events(source: Path) -> list[Event]:
    """The events of a cell's folder, or of a file."""
    path = source / "events.jsonl" if source.is_dir() else source
    try:
        return parse_events(path.read_bytes(), source=str(path))
    except OSError as error:
        raise LostGuestError(f"{path}: {error.strerror}") from error


def of_kind(events: list[Event], kind: str) -> list[Event]:
    """Those of one kind."""
    return [event for event in events if event["ev"] == kind]


def transactions(events: list[Event]) -> list[Event]:
    """Those that reached the chip, over whatever bus."""
    return [event for event in events if event["ev"] in TRANSACTIONS]


def first(events: list[Event], kind: str) -> Event | None:
    """The first of one kind."""
    return next((event for event in events if event["ev"] == kind), None)
