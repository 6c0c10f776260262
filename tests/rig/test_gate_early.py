# SPDX-License-Identifier: GPL-2.0-or-later
"""A No is reported as soon as it is certain, never before."""

import msgspec
import pytest
from delayrig.features.gate.early import EarlyAnswer
from delayrig.model.cell import Cell, Role
from delayrig.model.result import CellResult, Verdict

from tests.rig.builders import SECOND, make_cell
from tests.rig.test_gate_faults import SIGNALS, SYNC, cell, site
from tests.rig.test_gate_judge import AFTER, BEFORE, CANARY, CONTROL

SHORT = site(SYNC, SECOND, SECOND // 2)
WHOLE = site(SYNC, SECOND, SECOND + 1000)
WATCHING: list[Cell] = [
    make_cell(name="canary-bus", role=Role.CANARY, subject="canary:bus"),
    make_cell(name="control-bus", role=Role.CONTROL),
]


def told(*results: CellResult) -> list[str]:
    early = EarlyAnswer(WATCHING)
    return [early.finished(each, is_candidate=each.subject.name == AFTER) for each in results]


def test_no_is_told_once_when_both_sides_and_the_checks_have_answered() -> None:
    before, now = cell(BEFORE, WHOLE), cell(AFTER, SHORT)
    said = told(CANARY, now, CONTROL, before, now)
    assert said[:3] == ["", "", ""]
    assert said[3].startswith("new: 1 s asked in sp_synchronize, 500 ms too short")
    assert said[4] == ""


@pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.INFRA_ERROR])
def test_nothing_is_certain_where_a_canary_flies_on(verdict: Verdict) -> None:
    blind = msgspec.structs.replace(CANARY, verdict=verdict)
    assert not any(told(blind, CONTROL, cell(BEFORE, WHOLE), cell(AFTER, SHORT)))


def test_what_signals_do_by_chance_is_not_certain_before_the_end() -> None:
    before, now = cell(BEFORE, WHOLE, hazards=SIGNALS), cell(AFTER, SHORT, hazards=SIGNALS)
    assert not any(told(CANARY, CONTROL, before, now))


def test_state_of_a_part_ends_no_wait() -> None:
    found = ["starts:protected"]
    before, now = cell(BEFORE, WHOLE, hazards=found), cell(AFTER, SHORT, hazards=found)
    assert told(CANARY, CONTROL, before, now)[-1].startswith("new: ")


def test_fault_of_both_is_no_no() -> None:
    assert not any(told(CANARY, CONTROL, cell(BEFORE, SHORT), cell(AFTER, SHORT)))
