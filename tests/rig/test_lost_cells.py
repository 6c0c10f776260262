# SPDX-License-Identifier: GPL-2.0-or-later
"""A cell that the rig lost runs once more, and its result says so."""

import asyncio
from dataclasses import replace
from pathlib import Path

import msgspec
from delayrig.base.paths import Paths
from delayrig.judge.exit_code import exit_code_of_run
from delayrig.model.result import Results, Verdict
from delayrig.present.formats.report import report_of_run
from delayrig.present.results import answer
from delayrig.run.resume import FIRST_TRY, RESULT
from delayrig.run.runner import run_request

from tests.rig.builders import make_cell, make_result, make_run_header
from tests.rig.test_host_lane import Silent, host_cell, request_of, run_one, stand_in
from tests.rig.test_host_lane import paths as paths_of_the_host_lane

paths = paths_of_the_host_lane
DIES = "echo 'no luck today' >&2; exit 3"


def dies_once(tmp_path: Path) -> str:
    """Returns a script that dies at its first start. Without rights it is started once a try."""
    unprivileged = f'case "$*" in *--realtime=*) {DIES};; esac'
    once = f"if mkdir {tmp_path}/was-here 2>/dev/null; then {DIES}; fi"
    return f'{unprivileged}\n{once}\nexec "$real" "$@"'


def test_cell_lost_once_has_the_verdict_of_its_second_try(paths: Paths, tmp_path: Path) -> None:
    stand_in(paths, dies_once(tmp_path))
    out = tmp_path / "out"
    result = run_one(paths, out, host_cell())
    assert result.verdict is Verdict.PASS, result.reason
    assert "no luck today" in result.retried_after
    kept = msgspec.json.decode((out / result.id / RESULT).read_bytes())
    assert kept["retried_after"] == result.retried_after
    assert (out / result.id / FIRST_TRY / "cell.json").is_file()
    assert [entry.name for entry in out.iterdir() if entry.is_dir()] == [result.id]


def test_cell_lost_twice_is_lost(paths: Paths, tmp_path: Path) -> None:
    stand_in(paths, DIES)
    result = run_one(paths, tmp_path / "out", host_cell())
    assert result.verdict is Verdict.INFRA_ERROR
    assert result.retried_after


def test_cell_that_somebody_looks_into_is_not_run_again(paths: Paths, tmp_path: Path) -> None:
    stand_in(paths, dies_once(tmp_path))
    request = replace(request_of([host_cell()], tmp_path), retries_lost=False)
    (result,) = asyncio.run(run_request(request, paths, Silent())).cells
    assert (result.verdict, result.retried_after) == (Verdict.INFRA_ERROR, "")


def test_lost_cells_are_named_beside_the_answer() -> None:
    cells = [make_result(make_cell(name=f"c{number}")) for number in range(20)]
    cells[3] = msgspec.structs.replace(cells[3], verdict=Verdict.INFRA_ERROR, reason="it\nhung")
    cells[4] = msgspec.structs.replace(cells[4], retried_after="it died")
    results = Results(run=make_run_header(cells_planned=20), cells=cells)
    code = exit_code_of_run(cells)
    assert code == 0
    assert ", 1 lost." in answer(results, code)
    report = report_of_run(results)
    assert f"Lost by the rig, and says nothing: {cells[3].id}: it hung" in report.lines
    assert f"Lost by the rig and run once more: {cells[4].id}: it died" in report.lines
    assert report.cases[4].properties["retried_after"] == "it died"
