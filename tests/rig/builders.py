# SPDX-License-Identifier: GPL-2.0-or-later
"""Small cells, events and results of the shapes that real ones have, for the tests beside this."""

from pathlib import Path
from typing import Any

import msgspec
from delayrig.hazards.seen import Seen
from delayrig.images.profiles.profile import OPENS_BUSY_STATUS, OPENS_SYNC_NOPS, Profile, Wait
from delayrig.images.subject import Subject
from delayrig.judge.judge import Finding, blank_result
from delayrig.model import workload
from delayrig.model.cell import Cell, Expect, Job, Programmer, Role
from delayrig.model.chips import ChipFacts
from delayrig.model.corner import Corner
from delayrig.model.delays import DelayCall, Delays, DelaysHeader, End, FunctionFacts
from delayrig.model.events import Event
from delayrig.model.evidence import Evidence, Witness
from delayrig.model.result import CellResult, HostFacts, RunHeader, Verdict

CHECKOUT = Path(__file__).resolve().parents[2]

MS = 1_000_000
SECOND = 1_000_000_000

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


def make_cell(**changes: Any) -> Cell:
    """A plain cell of one core with nothing special about it."""
    plain = Cell(
        name="group",
        subject="bundled",
        icount_shift=2,
        cores=1,
        chip="GD25Q16C",
        corner=Corner.TYP,
        job=Job.WRITE,
        programmer=Programmer.SERPROG_IP,
        expect=Expect.PASS,
        role=Role.MEASURE,
        seed=1,
    )
    return msgspec.structs.replace(plain, **changes)


def make_chip(**changes: Any) -> ChipFacts:
    """The part of `make_cell`, small."""
    plain = ChipFacts(
        name="GD25Q16C",
        vendor="GigaDevice",
        family="spi_nor",
        size_bytes=2 << 20,
        flashrom_names=["GD25Q16(B)"],
    )
    return msgspec.structs.replace(plain, **changes)


def make_subject(**changes: Any) -> Subject:
    """A packed flashrom of which nothing exists but its digests."""
    plain = Subject(
        name="bundled",
        archive="/nowhere/subject.cpio",
        archive_sha256="a" * 64,
        program_sha256="b" * 64,
        packages={},
    )
    return msgspec.structs.replace(plain, **changes)


def serprog(name: str, *, empty: int, read: int, reply: int | None = None) -> Event:
    """A request that stays with the programmer."""
    return {
        "ev": "serprog",
        "op": SERPROG_OPS[name],
        "name": name,
        "empty_ns": empty,
        "read_ns": read,
        "reply_ns": read + 10 if reply is None else reply,
        "gap_ns": None,
        "ack": True,
    }


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
    """A transaction with the chip."""
    return {
        "ev": "spi",
        "op": op,
        "name": NAMES[op],
        "addr": None,
        "wlen": 1,
        "rlen": 0,
        **_moments(read, empty=empty, reply=reply),
        "wire_ns": wire,
        "sr": sr,
        **_said(violation, margin, grade),
    }


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
    """A command, or with `rlen` a read, of a part on a parallel, LPC or FWH bus."""
    return {
        "ev": "cycle",
        "op": op,
        "name": name,
        "addr": 65536,
        "wlen": 0 if rlen else 4,
        "rlen": rlen,
        **_moments(read),
        "start_ns": read if start is None else start,
        "wire_ns": wire,
        "value": "0x40" if rlen else None,
        **_said(violation, margin, grade),
    }


def _moments(read: int, *, empty: int | None = None, reply: int | None = None) -> Event:
    return {
        "empty_ns": read - 5 if empty is None else empty,
        "read_ns": read,
        "reply_ns": read + 10 if reply is None else reply,
        "gap_ns": 100,
    }


def _said(violation: str | None, margin: int | None, grade: str | None) -> Event:
    return {
        "busy_left_ns": 0,
        "busy_until_ns": 0,
        "violation": violation,
        "margin_ns": margin,
        "grade": grade,
    }


def busy(op: str, *, start: int, until: int, kind: str = "erase") -> Event:
    """The chip's work on the transaction before."""
    return {
        "ev": "busy",
        "kind": kind,
        "op": op,
        "addr": 65536,
        "start_ns": start,
        "until_ns": until,
        "nominal_ns": until - start,
        "grade": "datasheet",
    }


def early(op: str, *, read: int, margin: int, grade: str = "datasheet") -> Event:
    """A transaction that came while the chip was busy."""
    return spi(op, read=read, sr="0x03", violation="busy", margin=margin, grade=grade)


def started(*, wake: int | None, step: int = 0, rate_ppm: int = 0) -> Event:
    """The emulator's first line; `wake` is its largest wake-up latency.

    Its clock is without error where nothing else is said.
    """
    return {
        "schema": 1,
        "ev": "start",
        "t_ns": 0,
        "chip": "GD25Q16C",
        "corner": "typ",
        "clock": "tsc",
        "clock_step_ns": step,
        "clock_rate_error_ppm": rate_ppm,
        "seed": 1,
        "native_delay": False,
        "wake_latency_ns_min": wake,
        "wake_latency_ns_max": wake,
        "size_bytes": 2 << 20,
    }


def delay(us: int, *, took_ns: int | None, at: int = 0) -> DelayCall:
    """A call of the function of `delays_of`; one that takes None never returns."""
    return DelayCall(
        call=1,
        function=0,
        t_ns=at,
        end_ns=None if took_ns is None else at + took_ns,
        ended=End.OPEN if took_ns is None else End.RETURN,
        requested_ns=us * 1000,
        thread=1,
        cpu_in=0,
        cpu_out=None if took_ns is None else 1,
        site=1,
    )


def delays_of(*calls: DelayCall, doubt: str = "") -> Delays:
    """What QEMU saw of a cell, without the error of an instruction."""
    function = FunctionFacts(
        name="default_delay",
        file="/usr/sbin/flashrom",
        address=0x1130,
        unit_ns=1000,
        found_by="symbol",
        doubt=doubt,
        setjmp=False,
    )
    header = DelaysHeader(functions=[function], late_ns=0, calls=len(calls), lost=0)
    callers = {1: ["core/busy.c:154", "drivers/spi25.c:67"]}
    return Delays(header=header, callers=callers, calls=list(calls))


START_NS = 10 * SECOND
END_NS = 20 * SECOND


def seen_of(*events: Event) -> Seen:
    """What a cell left whose events alone are looked at."""
    return Seen(events=list(events), output=b"", image=b"", read_back=None)


def sound_events(*bus: Event, siblings: int = 0) -> list[Event]:
    """All that a cell in which nothing went wrong leaves, around what was on the bus."""
    return [
        {
            "schema": 1,
            "ev": "guest",
            "t_ns": 5 * SECOND,
            "kernel": "6.1.0",
            "machine": "x86_64",
            "cores": siblings + 1,
            "cmdline": "console=ttyS0",
            "clocksource": "tsc",
        },
        {
            "ev": "clock_rate",
            "t_ns": 6 * SECOND,
            "raw_ns_min": 100 * MS,
            "raw_ns_max": 100 * MS,
            "monotonic_ns": 100 * MS,
        },
        {**started(wake=70_000), "t_ns": 7 * SECOND},
        {"ev": "siblings_running", "t_ns": 8 * SECOND, "count": siblings},
        {"ev": "subject_start", "t_ns": START_NS},
        {"ev": "accept", "t_ns": START_NS + 1},
        {"ev": "siblings_stopped", "t_ns": START_NS + 2, "stdout_bytes": 0},
        *bus,
        {
            "ev": "subject_end",
            "t_ns": END_NS,
            "exit_code": 0,
            "signal": 0,
            "timed_out": False,
            "user_ns": 30 * MS,
            "sys_ns": 7 * MS,
            "voluntary_switches": 40,
            "involuntary_switches": 2,
        },
        {"ev": "disconnect", "t_ns": END_NS + 1},
        {
            "ev": "end",
            "t_ns": END_NS + 2,
            "spi_transactions": len(bus),
            "cycle_transactions": 0,
            "serprog_requests": 0,
            "violations": 0,
            "clean": True,
        },
        {"ev": "emulator_end", "t_ns": END_NS + 3, "exit_code": 0},
    ]


def changed(events: list[Event], kind: str, **fields: Any) -> list[Event]:
    """The events, with other fields in those of one kind."""
    assert any(event["ev"] == kind for event in events)
    return [{**event, **fields} if event["ev"] == kind else event for event in events]


def without(events: list[Event], kind: str) -> list[Event]:
    """The events but those of one kind."""
    assert any(event["ev"] == kind for event in events)
    return [event for event in events if event["ev"] != kind]


def as_lines(events: list[Event]) -> bytes:
    """As they lie on disk."""
    return b"".join(msgspec.json.encode(event) + b"\n" for event in events)


SYNC_WAIT = Wait(
    kind="serprog-sync",
    what="1 s after the NOPs",
    opens=OPENS_SYNC_NOPS,
    requested_us=1_000_000,
    always_judged=True,
)
ERASE_WAIT = Wait(
    kind="erase-poll",
    what="10 ms between status reads of an erase",
    opens=OPENS_BUSY_STATUS,
    after=["0x20"],
    requested_us=10_000,
)


def make_profile(*waits: Wait) -> Profile:
    """A profile with those waits."""
    return Profile(schema=1, name="test", versions=["1"], threshold_us={}, wait=list(waits))


def make_evidence(witness: Witness = Witness.CHIP, grade: str = "datasheet") -> Evidence:
    """A conviction."""
    return Evidence(
        what="PP came too early",
        witness=witness,
        requested_ns=None,
        actual_ns=None,
        margin_ns=-1,
        grade=grade,
        where="bus at 1 ns",
    )


def sparse_image(content: bytes, offset: int = workload.REGION_OFFSET_BYTES) -> bytes:
    """The emulator's image of a part that is blank but for the content at the offset."""
    records = (
        (offset + at).to_bytes(8, "little") + content[at : at + 4096]
        for at in range(0, len(content), 4096)
    )
    return b"".join(records)


def make_result(cell: Cell | None = None, **changes: Any) -> CellResult:
    """A result that passed, or with the changes."""
    finding = Finding(verdict=Verdict.PASS, reason="nothing was short")
    blank = blank_result(cell or make_cell(), make_chip(), finding, rerun="rig/rig run")
    return msgspec.structs.replace(blank, **changes)


def make_run_header(**changes: Any) -> RunHeader:
    """The header of a run of one cell."""
    plain = RunHeader(
        rig_version="0.1.0",
        commit="0123456",
        plan="smoke",
        seed=1,
        argv=["run"],
        started="2026-01-01T00:00:00+00:00",
        host=HostFacts(cpus=2, kernel="6.1", machine="x86_64", os="Debian"),
        qemu_version="10.0",
        libvirt_version="9.0",
        image_digests={"kernel": "c" * 64, "qemu": "d" * 64},
        lock="same",
        cells_planned=1,
    )
    return msgspec.structs.replace(plain, **changes)
