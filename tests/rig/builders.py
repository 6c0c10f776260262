# SPDX-License-Identifier: GPL-2.0-or-later
"""Small cells, chips, delays and results for tests, in the form of real ones."""

from pathlib import Path
from typing import Any

import msgspec
from delayrig.decision.two_runs import Comparison, compare_exactly, compared_run
from delayrig.judge.judge import planned_result
from delayrig.model import workload
from delayrig.model.cell import Cell, Expect, Job, Programmer, Role
from delayrig.model.chips import ChipFacts, read_chips
from delayrig.model.corner import Corner
from delayrig.model.delays import CallSite, DelayCall, Delays, DelaysHeader, FunctionFacts
from delayrig.model.delays import End as CallEnd
from delayrig.model.evidence import Evidence, ObservedWait, Witness
from delayrig.model.result import (
    CellResult,
    ContrastResult,
    ContrastVerdict,
    HostFacts,
    Results,
    RunHeader,
    Verdict,
)
from delayrig.plan.request import Request
from delayrig.subjects.profiles.profile import OPENS_BUSY_STATUS, OPENS_SYNC_NOPS, Profile, Wait
from delayrig.subjects.recipes import read_recipes
from delayrig.subjects.subject import Subject

CHECKOUT = Path(__file__).resolve().parents[2]

MS = 1_000_000
SECOND = 1_000_000_000


def make_cell(**changes: Any) -> Cell:
    """Returns a plain cell of one core without hazards, with the changes."""
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


def cell_of(*hazards: str) -> Cell:
    """Returns a cell of four cores with those hazards."""
    return make_cell(hazards=hazards, cores=4)


def make_chip(**changes: Any) -> ChipFacts:
    """Returns the small chip that `make_cell` names, with the changes."""
    plain = ChipFacts(
        name="GD25Q16C",
        vendor="GigaDevice",
        family="spi_nor",
        size_bytes=2 << 20,
        flashrom_names=["GD25Q16(B)"],
    )
    return msgspec.structs.replace(plain, **changes)


def make_subject(**changes: Any) -> Subject:
    """Returns a subject whose archive does not exist, with the changes."""
    plain = Subject(
        name="bundled",
        archive="/nowhere/subject.cpio",
        archive_sha256="a" * 64,
        program_sha256="b" * 64,
        packages={},
    )
    return msgspec.structs.replace(plain, **changes)


def delay(us: int, *, took_ns: int | None, at: int = 0) -> DelayCall:
    """Returns a call of the function in `delays_of`. If `took_ns` is None, it never returns."""
    return DelayCall(
        call=1,
        function=0,
        t_ns=at,
        end_ns=None if took_ns is None else at + took_ns,
        ended=CallEnd.OPEN if took_ns is None else CallEnd.RETURN,
        requested_ns=us * 1000,
        thread=1,
        cpu_in=0,
        cpu_out=None if took_ns is None else 1,
        site=1,
    )


def delays_of(*calls: DelayCall, doubt: str = "") -> Delays:
    """Returns the delays that QEMU recorded in a cell, with exact times."""
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
    site = CallSite(site=1, callers=["core/busy.c:154", "drivers/spi25.c:67"])
    return Delays(header=header, sites={1: site}, calls=list(calls))


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
    return Profile(schema=1, name="test", versions=["1"], threshold_us={}, wait=list(waits))


def make_evidence(witness: Witness = Witness.CHIP, grade: str = "datasheet") -> Evidence:
    """Returns the evidence of a conviction."""
    return Evidence(
        what="PP came too early",
        witness=witness,
        requested_ns=None,
        actual_ns=None,
        margin_ns=-1,
        grade=grade,
        where="bus at 1 ns",
    )


def make_wait(**changes: Any) -> ObservedWait:
    """Returns a wait of 100 ns that may have taken no time, with the changes."""
    plain = ObservedWait(
        kind="poll", what="a poll", requested_ns=100, shortest_ns=0, longest_ns=0, opened_ns=0
    )
    return msgspec.structs.replace(plain, **changes)


def short_sync(shortest_ms: int, longest_ms: int) -> Evidence:
    """Returns the evidence of a synchronisation of 1 s that took so long."""
    return msgspec.structs.replace(
        make_evidence(Witness.BUS, "profile"),
        what="1 s synchronisation wait after the serprog NOPs was too short",
        requested_ns=SECOND,
        actual_ns=(shortest_ms * MS, longest_ms * MS),
        margin_ns=longest_ms * MS - SECOND,
    )


def sparse_image(content: bytes, offset: int = workload.REGION_OFFSET_BYTES) -> bytes:
    """Returns an emulator's image that is blank except for the content at the offset."""
    records = (
        (offset + at).to_bytes(8, "little") + content[at : at + 4096]
        for at in range(0, len(content), 4096)
    )
    return b"".join(records)


def make_result(cell: Cell | None = None, **changes: Any) -> CellResult:
    """Returns a result that passed, with the changes."""
    planned = planned_result(cell or make_cell(), make_chip(), rerun="rig/rig run")
    passed = {"verdict": Verdict.PASS, "reason": "nothing was short"}
    return msgspec.structs.replace(planned, **passed | changes)


def make_contrast(
    cell: str, against: str, verdict: ContrastVerdict = ContrastVerdict.SEEN
) -> ContrastResult:
    """Returns the result of a contrast between two cells."""
    return ContrastResult(
        cell=cell,
        against=against,
        figure="cpu",
        at_least=1,
        ours_ns=2,
        theirs_ns=1,
        verdict=verdict,
        reason="it polls",
    )


CANARY = make_result(
    make_cell(name="canary-bus", role=Role.CANARY, subject="canary:bus", expect="too_short"),
    verdict=Verdict.TOO_SHORT,
)
CONTROL = make_result(make_cell(name="control-bus", role=Role.CONTROL))
WATCH = [CANARY, CONTROL]
"""A canary that was convicted, and a control that passed."""


def request_of(cells: list[Cell], out: Path) -> Request:
    """Returns the request to run these cells, all of one lane, one after another."""
    return Request(
        plan="smoke",
        cells=cells,
        contrasts=[],
        chips=read_chips(CHECKOUT),
        recipes=read_recipes(CHECKOUT),
        out=out,
        jobs=1,
        seed=1,
        connect=None,
        argv=[],
        lane=cells[0].lane,
    )


def make_run_header(**changes: Any) -> RunHeader:
    """Returns the header of a run of one cell, with the changes."""
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


def run_of(*cells: CellResult, **header: Any) -> Results:
    """Returns a run of these cells; its header has the changes."""
    return Results(run=make_run_header(**header), cells=list(cells))


def compare_folders(first: Path, second: Path) -> Comparison:
    """Compares two runs, each named by its folder or its results file."""
    return compare_exactly(compared_run(first), compared_run(second))
