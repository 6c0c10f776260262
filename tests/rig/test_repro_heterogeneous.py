# SPDX-License-Identifier: GPL-2.0-or-later
"""The walk through the classic bug shows what the cells recorded, and nothing else."""

from pathlib import Path

import msgspec
import pytest
from delayrig.base.paths import find_paths
from delayrig.features.repro.heterogeneous import (
    PLAN,
    Walk,
    describe_answer,
    describe_stage,
    describe_walk,
    measured_mips,
    read_walk,
)
from delayrig.lanes.stages import BOOTED, CONNECTED, ENDED, PACK
from delayrig.model.cell import Expect
from delayrig.model.events import Event
from delayrig.model.evidence import Evidence, Witness
from delayrig.model.kinds.agent import SubjectEnd, SubjectStart
from delayrig.model.kinds.hazard import Moved
from delayrig.model.kinds.pace import Window
from delayrig.model.lane import LaneName
from delayrig.model.result import Verdict
from delayrig.plan.request import choose_cells

from tests.rig.builders import MS, SECOND, make_cell, make_result
from tests.rig.event_builders import made

CELL = make_cell(
    lane=LaneName.LIVE,
    subject="debian:bookworm",
    cores=2,
    core_mips=(10.0, 40.0),
    machine="10:40",
    hazards=("low-res-timers", "move:accept"),
)
SHORT = Evidence(
    what="1 s synchronisation wait after the serprog NOPs was too short",
    witness=Witness.BUS,
    requested_ns=SECOND,
    actual_ns=(304 * MS, 305 * MS),
    margin_ns=-695 * MS,
    grade="profile",
    where="bus at 1 ns",
)


def window(core: int, begin_ms: int, instructions: int, active_ms: int = 100) -> Window:
    return made(
        Window,
        vcpu=core,
        from_ns=begin_ms * MS,
        t_ns=(begin_ms + 100) * MS,
        active_ns=active_ms * MS,
        instructions=instructions,
    )


EVENTS: list[Event] = [
    made(SubjectStart, t_ns=1000 * MS),
    made(Moved, t_ns=4000 * MS, core=1),
    made(SubjectEnd, t_ns=6000 * MS),
]
TRACE = [
    window(0, 0, 50_000_000),  # before the subject, all cores run at full speed
    window(0, 2000, 990_000),
    window(0, 2100, 1_010_000),
    window(0, 2200, 10, active_ms=1),
    window(1, 4500, 4_000_000),
]


def walk(verdict: Verdict, *evidence: Evidence, subject: str = "debian:bookworm") -> Walk:
    cell = msgspec.structs.replace(CELL, subject=subject)
    result = msgspec.structs.replace(
        make_result(cell, verdict=verdict), evidence=list(evidence), reason="as it is"
    )
    return Walk(
        cell=cell,
        result=result,
        events=EVENTS,
        trace=TRACE,
        stdout="Calibrating delay loop... OK.\nFound chip.\n",
    )


def test_speed_is_that_of_windows_in_which_the_core_computed_while_the_subject_was_there() -> None:
    convicted = walk(Verdict.TOO_SHORT, SHORT)
    assert measured_mips(convicted, 0, 1000 * MS, 4000 * MS) == pytest.approx(10.0)
    assert measured_mips(convicted, 1, 4000 * MS, 6000 * MS) == pytest.approx(40.0)
    assert measured_mips(convicted, 1, 1000 * MS, 4000 * MS) is None


def test_conviction_is_told_as_calibrated_here_moved_there_asked_for_and_got() -> None:
    text = "\n".join(describe_walk(walk(Verdict.TOO_SHORT, SHORT)))
    assert "core 0, 10.0 MIPS as measured, for 3.000000 s" in text
    assert "Calibrating delay loop... OK." in text
    assert "core 1, 40.0 MIPS as measured" in text
    assert "Asked for this: 1.000000 s (1 s synchronisation wait" in text
    assert "Got that:       0.304000 s to 0.305000 s, seen by the bus witness" in text
    assert "10.0 / 40.0 of it is 0.250000 s" in text
    assert "The other 0.054000 s: it counts whole turns" in text


def test_steps_of_several_convictions_count_up() -> None:
    lines = describe_walk(walk(Verdict.TOO_SHORT, SHORT, SHORT))
    assert [line[0] for line in lines if line[0] != " "] == list("123456")


def test_acquittal_without_a_busy_chip_claims_no_wait() -> None:
    text = "\n".join(describe_walk(walk(Verdict.PASS)))
    assert "3. pass: as it is" in text
    assert "Got that" not in text


def test_lost_cell_is_told_by_its_reason_alone(tmp_path: Path) -> None:
    result = make_result(CELL, verdict=Verdict.INFRA_ERROR)
    lost = read_walk(CELL, result, tmp_path)
    assert describe_walk(lost) == [f"   {result.reason}"]


@pytest.mark.parametrize("stage", [BOOTED, CONNECTED, ENDED])
def test_each_stage_of_the_guest_is_explained(stage: str) -> None:
    assert describe_stage(CELL, stage, 9.0).startswith("  [  9.0 s] ")


def test_stages_of_the_rig_are_passed_over() -> None:
    assert describe_stage(CELL, PACK, 1.0) == ""


def test_answer_claims_the_bug_only_where_one_was_convicted_and_the_other_acquitted() -> None:
    guilty = walk(Verdict.TOO_SHORT, SHORT)
    ours = walk(Verdict.PASS, subject="bundled")
    doubt = walk(Verdict.INCONCLUSIVE, subject="bundled")
    assert describe_answer([guilty, ours]).startswith("That is the bug, and its remedy")
    assert describe_answer([guilty, doubt]).startswith("This host could not keep it up")
    assert describe_answer([ours, ours]).startswith("Not what is expected here")


def test_its_plan_runs_the_guilty_one_first_and_expects_its_conviction() -> None:
    choice = choose_cells(plan=PLAN, subjects=[], patterns=[], seed=1, paths=find_paths())
    assert choice.lane is LaneName.LIVE
    assert [(cell.subject, cell.expect) for cell in choice.cells] == [
        ("debian:bookworm", Expect.TOO_SHORT),
        ("bundled", Expect.PASS),
    ]
    assert all(cell.core_mips == (10.0, 40.0) for cell in choice.cells)
