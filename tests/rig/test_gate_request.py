# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests of a gate: accepted baselines, exit codes for git, and rounds in real time."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path

import msgspec
import pytest
from delayrig.base.errors import BadInputError, BuildError, ExitCode, RigFaultError
from delayrig.base.paths import find_paths
from delayrig.decision import request as rounds
from delayrig.decision.request import (
    GateRequest,
    StoredBaseline,
    build_candidate,
    check_built,
    is_subject,
    read_baseline,
)
from delayrig.features.gate import command
from delayrig.model.cell import WATCHING, Cell, Expect, Role
from delayrig.model.lane import LaneName
from delayrig.model.result import FILE_NAME, CellResult, Results, Verdict, write_results
from delayrig.plan.request import Request, choose_cells
from delayrig.present.console import RunProgress
from delayrig.subjects.recipes import read_recipes
from rich.console import Console

from tests.rig.builders import CHECKOUT, make_cell, make_result, make_run_header, request_of, run_of
from tests.rig.running import refusal_of, rig

HERE, THERE = make_cell(name="here"), make_cell(name="there")
CANARY = make_cell(name="canary", role=Role.CANARY, subject="canary:bus")


def kept(folder: Path, *, interrupted: bool = False) -> Path:
    folder.mkdir(exist_ok=True)
    run = make_run_header(interrupted=interrupted)
    write_results(Results(run=run, cells=[make_result(HERE), make_result(CANARY)]), folder)
    return folder


def test_baseline_may_be_named_by_its_folder_or_its_file(tmp_path: Path) -> None:
    run = kept(tmp_path)
    for path in (run, run / FILE_NAME):
        assert read_baseline(path).path == run / FILE_NAME


def test_baseline_in_a_file_of_another_name_is_refused_before_the_gate_runs(tmp_path: Path) -> None:
    other = (kept(tmp_path) / FILE_NAME).rename(tmp_path / "other.json")
    with pytest.raises(BadInputError, match=f"{other}: is not called {FILE_NAME}"):
        read_baseline(other)


def test_baseline_needs_the_cells_of_any_subject_and_no_canaries(tmp_path: Path) -> None:
    baseline = read_baseline(kept(tmp_path))
    theirs = msgspec.structs.replace(HERE, subject="debian:trixie")
    other = msgspec.structs.replace(CANARY, name="canary-chip")
    baseline.check_cells([theirs, other])
    with pytest.raises(BadInputError, match=r"lacks 1 cell of the plan, such as there\.250mips"):
        baseline.check_cells([HERE, THERE])


def candidates(*words: str, plan: str = "smoke") -> list[str]:
    """Returns the cells of the candidate that a gate would run."""
    done = rig("gate", "--candidate", "debian:trixie", "--plan", plan, "--dry-run", *words)
    lines = done.stdout.splitlines()
    return [line.split()[1] for line in lines if line.startswith("candidate")]


def test_tree_whose_baseline_is_unknown_is_refused_before_it_is_copied(tmp_path: Path) -> None:
    (tmp_path / "Makefile").touch()
    refusal = refusal_of("gate", "--tree", tmp_path)
    assert "is in no repository that git reads" in refusal
    assert "candidate: " not in refusal


def test_invalid_file_of_known_faults_is_refused_before_the_gate_runs(tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    file.write_text("schema = 1\n[[fault]]\n", encoding="utf-8")
    sides = ("--baseline", "bundled", "--candidate", "bundled")
    assert f"{file}: key 'fault[0].what'" in refusal_of(
        "gate", *sides, "--dry-run", "--known-faults", file
    )


@pytest.mark.parametrize("option", ["--baseline", "--candidate"])
@pytest.mark.parametrize("name", ["debian:trixy", "path:/nofile", "path:/bin/ls"])
def test_unsuitable_subject_is_refused_with_the_option_that_names_it(
    option: str, name: str
) -> None:
    words = {"--baseline": "bundled", "--candidate": "bundled", option: name}
    refusal = refusal_of("gate", *(word for pair in words.items() for word in pair), "--dry-run")
    assert refusal.startswith(f"error: {option}: ")


def test_lane_is_the_requested_one_or_that_of_the_stored_run(tmp_path: Path) -> None:
    on_host = candidates("--baseline", "bundled", "--lane", "host")
    assert {cell.split(".")[2] for cell in on_host} == {"host"}
    keep_run_of(tmp_path, "smoke", LaneName.HOST)
    assert candidates("--baseline", str(tmp_path)) == on_host
    assert candidates("--baseline", str(tmp_path), "--lane", "virtual") == []


def keep_run_of(folder: Path, plan: str, lane: LaneName | None = None) -> None:
    """Writes a run of the plan with its canaries and controls first, as a gate does."""
    ran = choose_cells(
        plan=plan, subjects=["bundled"], patterns=[], seed=1, paths=find_paths(), lane=lane
    )
    cells = sorted(ran.cells, key=lambda cell: cell.role not in WATCHING)
    write_results(run_of(*(make_result(cell) for cell in cells)), folder)


def test_stored_run_in_several_lanes_keeps_the_lane_of_each_cell(tmp_path: Path) -> None:
    keep_run_of(tmp_path, "gate")
    usual = candidates("--baseline", "bundled", plan="gate")
    assert len({cell.split(".")[2] for cell in usual}) > 1
    assert candidates("--baseline", str(tmp_path), plan="gate") == usual


def test_interrupted_run_is_no_baseline(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"key 'run\.interrupted' is true"):
        read_baseline(kept(tmp_path, interrupted=True))


def test_run_of_no_subject_or_several_is_no_baseline(tmp_path: Path) -> None:
    other = make_result(msgspec.structs.replace(HERE, subject="debian:trixie"))
    for cells, found in (
        ([make_result(HERE), other], "2 measured subjects"),
        ([], "0 measured subjects"),
    ):
        write_results(run_of(*cells), tmp_path)
        with pytest.raises(BadInputError, match=found) as caught:
            read_baseline(tmp_path)
        assert "--subject" in caught.value.hint


def test_name_of_a_subject_comes_before_a_file_of_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipes = read_recipes(CHECKOUT)
    monkeypatch.chdir(tmp_path)
    for name in ("bundled", "run"):
        (tmp_path / name).mkdir()
    named = ("bundled", "path:run", "nonesuch", "run")
    assert [is_subject(name, recipes) for name in named] == [True, True, True, False]


def exit_code_of(monkeypatch: pytest.MonkeyPatch, outcome: ExitCode | Exception, *more: str) -> int:
    """Returns the exit code of a gate whose work has that outcome."""

    def worked(*_: object, **__: object) -> ExitCode:
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    monkeypatch.setattr(command, "_gate", worked)
    return rig("gate", "--baseline", "bundled", "--candidate", "path:x", *more).exit_code


@pytest.mark.parametrize(
    ("outcome", "plain", "bisected"),
    [
        (ExitCode.PASS, 0, 0),
        (ExitCode.UNSAFE, 1, 1),
        (ExitCode.SLOWER, 3, 1),
        (ExitCode.INCONCLUSIVE, 4, 125),
        (ExitCode.SKIPPED, 77, 125),
        (ExitCode.RIG_FAULT, 99, 125),
        (ExitCode.BAD_INPUT, 2, 128),
        (BuildError("no"), 2, 125),
        (BadInputError("no such plan"), 2, 128),
        (RigFaultError("lost"), 99, 125),
        (ZeroDivisionError(), 99, 125),
    ],
)
def test_gate_has_other_exit_codes_for_git_bisect(
    monkeypatch: pytest.MonkeyPatch, outcome: ExitCode | Exception, plain: int, bisected: int
) -> None:
    assert exit_code_of(monkeypatch, outcome) == plain
    assert exit_code_of(monkeypatch, outcome, "--bisect") == bisected


def test_wrong_option_stops_git_bisect(monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in (["--max-slowdown", "much"], ["--nonesuch"], ["--rounds", "0"]):
        assert exit_code_of(monkeypatch, ExitCode.PASS, *wrong) == 2
        assert exit_code_of(monkeypatch, ExitCode.PASS, "--bisect", *wrong) == 128


def test_failed_build_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="ended with 3"):
        build_candidate("exit 3")
    with pytest.raises(BuildError, match="left no file"):
        check_built(f"path:{tmp_path}/flashrom")
    build_candidate(f"touch {tmp_path}/flashrom")
    check_built(f"path:{tmp_path}/flashrom")
    check_built("bundled")


LANE = LaneName.HOST
MEASURED = make_cell(lane=LANE)
HOST_CANARY = make_cell(
    name="canary", lane=LANE, role=Role.CANARY, subject="canary:bus", expect=Expect.TOO_SHORT
)
CONTROL = make_cell(name="control", lane=LANE, role=Role.CONTROL)
ROUNDS = 4


def request(tmp_path: Path, lane: LaneName = LANE) -> GateRequest:
    """Makes the request of a gate with one cell to measure."""
    cells = [msgspec.structs.replace(cell, lane=lane) for cell in (MEASURED, HOST_CANARY, CONTROL)]
    candidate = request_of(cells, tmp_path)
    theirs = replace(candidate, cells=cells[:1])
    return GateRequest(baseline=theirs, candidate=candidate, stored=None, rounds=ROUNDS)


def ids(sides: Sequence[Request]) -> list[list[str]]:
    return [[cell.name for cell in side.cells] for side in sides]


def test_canaries_run_again_only_until_they_are_conclusive(tmp_path: Path) -> None:
    gate = request(tmp_path)
    assert ids(gate.round(0)) == [["group"], ["group", "canary", "control"]]
    assert ids(gate.round(1)) == [["group"], ["group"]]
    canary = gate.candidate.cells[1].id
    assert ids(gate.round(1, {canary})) == [["group"], ["group", "canary"]]


def test_virtual_cells_run_once(tmp_path: Path) -> None:
    gate = request(tmp_path, LaneName.VIRTUAL)
    assert ids(gate.round(1, {gate.candidate.cells[1].id})) == [[], []]


def test_sides_start_in_alternating_order_and_are_returned_in_one_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []

    async def run(sides: Sequence[Request], *_: object) -> list[Results]:
        started.append([side.out.name for side in sides])
        return [run_of(*(result_of(c) for c in s.cells)) for s in sides]

    def result_of(cell: Cell) -> CellResult:
        is_canary = cell.role is Role.CANARY
        busy = is_canary and len(started) < 3
        verdict = Verdict.TOO_SHORT if is_canary else Verdict.PASS
        return make_result(cell, verdict=Verdict.INCONCLUSIVE if busy else verdict)

    monkeypatch.setattr(rounds, "run_side_by_side", run)
    output = StringIO()
    progress = RunProgress(Console(file=output))
    runs = asyncio.run(rounds.run_rounds(request(tmp_path), find_paths(), progress))
    assert started == [
        ["baseline", "candidate"],
        ["candidate-2", "baseline-2"],
        ["baseline-3", "candidate-3"],
        ["candidate-4", "baseline-4"],
    ]
    counts = [[len(side.cells) for side in sides] for sides in runs]
    assert counts == [[1, 3], [1, 2], [1, 2], [1, 1]]
    assert f"round {ROUNDS} of {ROUNDS}" in output.getvalue()


def test_stored_baseline_is_not_run(tmp_path: Path) -> None:
    stored = StoredBaseline(path=tmp_path, results=run_of())
    gate = replace(request(tmp_path), baseline=None, stored=stored, rounds=1)
    assert [side.out.name for side in gate.round(0)] == ["candidate"]
