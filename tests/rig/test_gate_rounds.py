# SPDX-License-Identifier: GPL-2.0-or-later
"""Rounds of a gate in real time: their cells, and the side that begins."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path

import msgspec
import pytest
from delayrig.base.paths import find_paths
from delayrig.decision import request as rounds
from delayrig.decision.request import GateRequest, StoredBaseline
from delayrig.model.cell import Cell, Expect, Role
from delayrig.model.lane import LaneName
from delayrig.model.result import CellResult, Results, Verdict
from delayrig.plan.request import Request, default_jobs
from delayrig.present.console import RunProgress
from delayrig.subjects.recipes import read_recipes
from rich.console import Console

from tests.rig.builders import make_cell, make_result, make_run_header

LANE = LaneName.HOST
MEASURED = make_cell(lane=LANE)
CANARY = make_cell(
    name="canary", lane=LANE, role=Role.CANARY, subject="canary:bus", expect=Expect.TOO_SHORT
)
CONTROL = make_cell(name="control", lane=LANE, role=Role.CONTROL)
ROUNDS = 4


def request(tmp_path: Path, lane: LaneName = LANE) -> GateRequest:
    """Makes the request of a gate with one cell to measure."""
    cells = [msgspec.structs.replace(cell, lane=lane) for cell in (MEASURED, CANARY, CONTROL)]
    candidate = Request(
        plan="smoke",
        cells=cells,
        contrasts=[],
        chips={},
        recipes=read_recipes(find_paths().checkout),
        out=tmp_path,
        jobs=1,
        seed=1,
        connect=None,
        argv=[],
        lane=lane,
    )
    theirs = replace(candidate, cells=cells[:1])
    return GateRequest(baseline=theirs, candidate=candidate, stored=None, rounds=ROUNDS)


def ids(sides: Sequence[Request]) -> list[list[str]]:
    return [[cell.name for cell in side.cells] for side in sides]


def test_canaries_and_controls_are_asked_until_they_answer(tmp_path: Path) -> None:
    gate = request(tmp_path)
    assert ids(gate.round(0)) == [["group"], ["group", "canary", "control"]]
    assert ids(gate.round(1)) == [["group"], ["group"]]
    canary = gate.candidate.cells[1].id
    assert ids(gate.round(1, {canary})) == [["group"], ["group", "canary"]]


def test_what_is_exact_is_run_once(tmp_path: Path) -> None:
    gate = request(tmp_path, LaneName.VIRTUAL)
    assert ids(gate.round(1, {gate.candidate.cells[1].id})) == [[], []]


def test_sides_take_turns_in_who_begins_and_keep_their_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[list[str]] = []

    async def run(sides: Sequence[Request], *_: object) -> list[Results]:
        begun.append([side.out.name for side in sides])
        return [Results(run=make_run_header(), cells=[told(c) for c in s.cells]) for s in sides]

    def told(cell: Cell) -> CellResult:
        is_canary = cell.role is Role.CANARY
        busy = is_canary and len(begun) < 3
        verdict = Verdict.TOO_SHORT if is_canary else Verdict.PASS
        return make_result(cell, verdict=Verdict.INCONCLUSIVE if busy else verdict)

    monkeypatch.setattr(rounds, "run_side_by_side", run)
    said = StringIO()
    progress = RunProgress(Console(file=said))
    runs = asyncio.run(rounds.run_rounds(request(tmp_path), find_paths(), progress))
    assert begun == [
        ["baseline", "candidate"],
        ["candidate-2", "baseline-2"],
        ["baseline-3", "candidate-3"],
        ["candidate-4", "baseline-4"],
    ]
    assert [[len(side.cells) for side in sides] for sides in runs] == [
        [1, 3],
        [1, 2],
        [1, 2],
        [1, 1],
    ]
    assert f"round {ROUNDS} of {ROUNDS}" in said.getvalue()


def test_cells_of_real_time_leave_each_other_the_machine() -> None:
    assert default_jobs(LaneName.LIVE) <= default_jobs(LaneName.HOST)
    assert default_jobs(LaneName.HOST) <= default_jobs(LaneName.VIRTUAL)


def test_stored_baseline_has_no_rounds(tmp_path: Path) -> None:
    stored = StoredBaseline(path=tmp_path, results=Results(run=make_run_header(), cells=[]))
    gate = replace(request(tmp_path), baseline=None, stored=stored, rounds=1)
    assert [side.out.name for side in gate.round(0)] == ["candidate"]
