# SPDX-License-Identifier: GPL-2.0-or-later
"""Events for the tests of this folder, in the form of real ones."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import msgspec
from delayrig.hazards.artifacts import Artifacts
from delayrig.model.events import Event, encode_events, first
from delayrig.model.kinds.agent import ClockRate, EmulatorEnd, Guest, SubjectEnd, SubjectStart
from delayrig.model.kinds.emulator import Accept, Busy, Cycle, Disconnect, End, Serprog, Spi, Start
from delayrig.model.kinds.hazard import SiblingsRunning, SiblingsStopped
from delayrig.model.kinds.kind import Kind

from tests.rig.builders import MS, SECOND

Some = TypeVar("Some", bound=Kind)

START_NS = 10 * SECOND
END_NS = 20 * SECOND
NOP, SYNCNOP, DELAY = "NOP", "SYNCNOP", "O_DELAY"
NAMES = {
    "0x01": "WRSR",
    "0x02": "PP",
    "0x03": "READ",
    "0x05": "RDSR",
    "0x06": "WREN",
    "0x12": "PP4",
    "0x13": "READ4",
    "0x20": "SE",
    "0x21": "SE4",
    "0x50": "BLOCK_ERASE",
    "0x83": "BUF1_TO_PAGE_ERASE",
    "0x84": "WRITE_BUF1",
    "0x9f": "RDID",
    "0xab": "RES",
    "0xad": "AAI",
    "0xd8": "BE",
    "0xe8": "READ_LEGACY",
}
SERPROG_OPS = {
    NOP: "0x00",
    "Q_IFACE": "0x01",
    SYNCNOP: "0x10",
    DELAY: "0x0e",
    "S_PIN_STATE": "0x15",
}


def made(kind: type[Some], /, **given: Any) -> Some:
    """Makes an event of that kind; required keys that are not given are null, 0 or empty."""
    keys = msgspec.structs.fields(kind)
    plain = {key.name: _nothing(key.type) for key in keys if key.required}
    return kind(**{**plain, **given})


def _nothing(key: Any) -> object:
    values: tuple[object, ...] = (None, 0, 1, "", "0x00", False, [])
    for value in values:
        try:
            return msgspec.convert(value, key)
        except msgspec.ValidationError:
            continue
    raise AssertionError(key)


def serprog(name: str, *, empty: int, read: int, reply: int | None = None) -> Event:
    """Makes a request that the programmer answers without the chip."""
    return made(
        Serprog,
        op=SERPROG_OPS[name],
        name=name,
        empty_ns=empty,
        read_ns=read,
        reply_ns=read + 10 if reply is None else reply,
        ack=True,
    )


def spi(
    op: str,
    *,
    read: int,
    empty: int | None = None,
    reply: int | None = None,
    sr: str = "0x00",
    wire: int = 0,
    violation: str | None = None,
    margin: int | None = None,
    grade: str | None = None,
) -> Event:
    """Makes a transaction with the chip."""
    return made(
        Spi,
        op=op,
        name=NAMES[op],
        wlen=1,
        empty_ns=max(read - 5, 0) if empty is None else empty,
        read_ns=read,
        reply_ns=read + 10 if reply is None else reply,
        gap_ns=100,
        wire_ns=wire,
        sr=sr,
        violation=violation,
        margin_ns=margin,
        grade=grade,
    )


def cycle(
    name: str,
    *,
    read: int,
    op: str | None = None,
    start: int | None = None,
    rlen: int = 0,
    wire: int = 0,
    violation: str | None = None,
    margin: int | None = None,
    grade: str | None = None,
) -> Event:
    """Makes a command, or a read if `rlen` is given, of a part on a parallel, LPC or FWH bus."""
    return made(
        Cycle,
        op=op,
        name=name,
        addr=65536,
        wlen=0 if rlen else 4,
        rlen=rlen,
        empty_ns=read - 5,
        read_ns=read,
        reply_ns=read + 10,
        gap_ns=100,
        start_ns=read if start is None else start,
        wire_ns=wire,
        value="0x40" if rlen else None,
        violation=violation,
        margin_ns=margin,
        grade=grade,
    )


def busy(op: str, *, start: int, until: int, kind: str = "erase") -> Event:
    """Makes the event of the operation that the transaction before it started."""
    return Busy(
        kind=kind,
        op=op,
        addr=65536,
        start_ns=start,
        until_ns=until,
        nominal_ns=until - start,
        grade="datasheet",
    )


def early(op: str, *, read: int, margin: int, grade: str = "datasheet") -> Event:
    """Makes a transaction that reached the chip while it was busy."""
    return spi(op, read=read, sr="0x03", violation="busy", margin=margin, grade=grade)


def started(*, wake: int | None, step: int = 0, rate_ppm: int = 0, at: int = 0) -> Event:
    """Makes the emulator's first line; `wake` is its largest wake-up latency.

    By default its clock has no error.
    """
    return made(
        Start,
        t_ns=at,
        chip="GD25Q16C",
        corner="typ",
        clock="tsc",
        clock_step_ns=step,
        clock_rate_error_ppm=rate_ppm,
        seed=1,
        wake_latency_ns_min=wake,
        wake_latency_ns_max=wake,
        size_bytes=2 << 20,
    )


def subject_end(at: int) -> Event:
    """Makes the end of a subject that reported success."""
    return made(
        SubjectEnd,
        t_ns=at,
        user_ns=30 * MS,
        sys_ns=7 * MS,
        voluntary_switches=40,
        involuntary_switches=2,
    )


def seen_of(*events: Event) -> Artifacts:
    """Returns a cell's artifacts with these events, and nothing else."""
    return Artifacts(events=list(events), output=b"", image=b"", read_back=None)


def seen_after(*events: Event) -> Artifacts:
    """Returns the artifacts of a cell without faults, with more events at its end."""
    return seen_of(*sound_events(), *events)


def guest(**changes: Any) -> Event:
    """Makes the event of a guest with one core, with the changes."""
    plain = made(
        Guest,
        schema=1,
        t_ns=5 * SECOND,
        kernel="6.1.0",
        version="#1 SMP",
        machine="x86_64",
        cores=1,
        cmdline="console=ttyS0",
        clocksource="tsc",
    )
    return msgspec.structs.replace(plain, **changes)


def sound_events(*bus: Event, siblings: int = 0) -> list[Event]:
    """Returns all events of a cell without faults, around the given ones of the bus."""
    lasted = dict.fromkeys(("raw_ns_min", "raw_ns_max", "monotonic_ns"), 100 * MS)
    return [
        guest(cores=siblings + 1),
        made(ClockRate, t_ns=6 * SECOND, **lasted),
        started(wake=70_000, at=7 * SECOND),
        SiblingsRunning(t_ns=8 * SECOND, count=siblings),
        SubjectStart(t_ns=START_NS),
        Accept(t_ns=START_NS + 1),
        SiblingsStopped(t_ns=START_NS + 2, stdout_bytes=0),
        *bus,
        subject_end(END_NS),
        Disconnect(t_ns=END_NS + 1),
        made(End, t_ns=END_NS + 2, spi_transactions=len(bus), clean=True),
        EmulatorEnd(t_ns=END_NS + 3, exit_code=0),
    ]


def changed(events: Sequence[Event], kind: type[Kind], **fields: Any) -> list[Event]:
    """Returns the events, with other fields in each event of one kind."""
    assert first(events, kind) is not None
    return [
        msgspec.structs.replace(event, **fields) if isinstance(event, kind) else event
        for event in events
    ]


def without(events: Sequence[Event], kind: type[Kind]) -> list[Event]:
    """Returns the events without those of one kind."""
    assert first(events, kind) is not None
    return [event for event in events if not isinstance(event, kind)]


def as_lines(events: Iterable[Event]) -> bytes:
    """Returns the events as the lines of a file."""
    return encode_events(events)
