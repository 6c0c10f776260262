# SPDX-License-Identifier: GPL-2.0-or-later
"""Parts that the archive lacks: their cells are skipped, others count, one line tells it."""

import msgspec
from delayrig.decision.decision import Limits, Outcome
from delayrig.decision.gate_judge import decide
from delayrig.judge.not_provided import not_provided_lines
from delayrig.lanes.supplies import Need, needs_of
from delayrig.model.cell import Role
from delayrig.model.result import CellResult, NotProvided, Results, Verdict
from delayrig.present.formats.report import report_of_run

from tests.rig.builders import make_cell, make_result, make_run_header

WHAT = "flashrom of trixie for i386"
MISSING = NotProvided(what=WHAT, cause="Mirror sync in progress?")
LIMITS = Limits(slowdown_pct=2, cpu_pct=5)
CANARY = make_result(
    make_cell(name="canary", role=Role.CANARY, subject="canary:bus", expect="too_short"),
    verdict=Verdict.TOO_SHORT,
)
CONTROL = make_result(make_cell(name="control", role=Role.CONTROL))


def skipped(cell: CellResult) -> CellResult:
    """Returns the cell as skipped, since the archive did not provide a part of it."""
    return msgspec.structs.replace(
        cell, verdict=Verdict.SKIPPED, reason=f"not provided: {WHAT}", not_provided=WHAT
    )


def run_of(*cells: CellResult) -> Results:
    """Returns a run in which the archive did not provide a part."""
    return Results(run=make_run_header(not_provided=[MISSING]), cells=list(cells))


def measured(subject: str, name: str = "a") -> CellResult:
    """Returns a cell that passed."""
    return make_result(make_cell(name=name, subject=subject))


def test_it_is_told_once_with_its_cause_and_its_cells() -> None:
    cells = [skipped(measured("x", "a")), skipped(measured("x", "b")), CANARY, CONTROL]
    (line,) = not_provided_lines([run_of(*cells), run_of(*cells[2:])])
    assert "2 cells were skipped" in line
    assert WHAT in line
    assert MISSING.cause in line
    assert line.count("a.x") == 1
    assert report_of_run(run_of(*cells)).lines[1:] == [line]


def test_run_that_needed_nothing_of_it_says_nothing() -> None:
    assert not_provided_lines([run_of(measured("x"))]) == []


def gate(*candidate: CellResult, baseline: list[CellResult]) -> tuple[Outcome, list[str]]:
    """Decides a gate of both; returns its outcome and its lines."""
    decision = decide([run_of(*baseline)], [run_of(*candidate)])
    return decision.outcome, decision.lines


def test_gate_passes_over_what_neither_side_got_and_tells_it() -> None:
    ours, theirs = measured("new"), measured("old")
    outcome, lines = gate(
        ours, skipped(measured("new", "b")), CANARY, CONTROL, skipped(CANARY2),
        baseline=[theirs, skipped(measured("old", "b"))],
    )  # fmt: skip
    assert outcome is Outcome.PASS
    assert any(WHAT in line for line in lines)


CANARY2 = msgspec.structs.replace(CANARY, id="canary-i386.canary-bus.62mips")


def test_gate_doubts_a_candidate_that_was_not_to_be_had() -> None:
    outcome, _ = gate(skipped(measured("new")), CANARY, CONTROL, baseline=[measured("old")])
    assert outcome is Outcome.DOUBT


def test_gate_without_a_canary_that_works_is_a_fault() -> None:
    outcome, _ = gate(
        measured("new"), skipped(CANARY), CONTROL, baseline=[measured("old")]
    )  # fmt: skip
    assert outcome is Outcome.RIG_FAULT


def test_cells_need_their_own_architecture_alone() -> None:
    cell = make_cell(subject="debian:trixie")
    assert needs_of(cell) == [
        (Need.GUEST, cell.arch),
        (Need.SUBJECT, ("debian:trixie", cell.arch)),
    ]
