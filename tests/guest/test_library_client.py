# SPDX-License-Identifier: GPL-2.0-or-later
"""Each subject's library in a program with signals, and in the same program without them."""

import pytest
from delayrig.base.errors import ExitCode
from delayrig.base.paths import Paths
from delayrig.model.evidence import Witness
from delayrig.model.result import CellResult, Verdict

from .conftest import FinishedRun, repeated, run_plan

SUBJECTS = ("bundled", "debian:bookworm", "debian:trixie")


@pytest.fixture(scope="module")
def run(paths: Paths, tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    """Runs the cells of `default` for libraries, with the canaries and controls that they need."""
    patterns = ("host.*", "canary-bus.*", "control-bus.*")
    words = ["--plan", "default", *repeated("--cell", patterns)]
    return run_plan(paths, tmp_path_factory.mktemp("host") / "out", *words)


def host_cell(run: FinishedRun, subject: str, hazard: str) -> CellResult:
    """Returns the only cell of that subject with that hazard."""
    (cell,) = [
        cell
        for cell in run.results.cells
        if cell.subject.name == subject and cell.hazards == [hazard]
    ]
    run.need([cell])
    return cell


def test_each_cell_has_the_verdict_that_the_plan_expects(run: FinishedRun) -> None:
    assert run.exit_code == ExitCode.PASS, run.output


@pytest.mark.parametrize("subject", SUBJECTS)
def test_library_without_signals_is_acquitted(run: FinishedRun, subject: str) -> None:
    cell = host_cell(run, subject, "library")
    assert cell.verdict is Verdict.PASS, cell.reason
    assert cell.subject.library
    assert cell.subject.version


def test_library_that_ignores_interrupted_sleeps_is_convicted(run: FinishedRun) -> None:
    cell = host_cell(run, "debian:trixie", "signals:20")
    assert cell.verdict is Verdict.TOO_SHORT
    found = cell.evidence[0]
    assert found.witness is Witness.BUS
    assert found.requested_ns == 1_000_000_000
    assert found.actual_ns is not None
    assert found.actual_ns[1] < 60_000_000


@pytest.mark.parametrize("subject", ["bundled", "debian:bookworm"])
def test_library_that_sleeps_the_rest_is_acquitted(run: FinishedRun, subject: str) -> None:
    cell = host_cell(run, subject, "signals:20")
    assert cell.verdict is Verdict.PASS, cell.reason
    assert cell.judged
