# SPDX-License-Identifier: GPL-2.0-or-later
"""Cells of a moved gate folder and of a stripped program: they run again, and are shrunk."""

import shlex
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest
from delayrig.base.errors import ExitCode
from delayrig.base.paths import Paths
from delayrig.decision.decision import read_decision
from delayrig.model.cell import Cell
from delayrig.model.result import CellResult, Verdict, read_results
from delayrig.subjects.symbols import read_symbols

from .conftest import launch, run_plan
from .plans import SMALL_PLAN, write_plan
from .test_gate import gate

CELL = "write.*"
TRIED_S = "1"
"""In this time `shrink` tries the cell itself and begins to try smaller ones."""


@pytest.fixture(scope="module")
def moved(paths: Paths, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs a gate, removes its program and moves its folder; returns the new folder."""
    folder = tmp_path_factory.mktemp("gate")
    plan, program = write_plan(folder, SMALL_PLAN), folder / "build" / "flashrom"
    program.parent.mkdir()
    shutil.copy(paths.flashrom_build / "flashrom-short", program)
    out = folder / "out"
    code, decision, output = gate(paths, out, "bundled", str(program), "--plan", plan)
    assert code == ExitCode.UNSAFE, output
    worst = decision.deciding[0]
    assert worst.rerun == shlex.join(["rig/rig", "repro", "--from", str(out), worst.id])
    assert f"again: {worst.rerun}" in output
    assert f"gate: rig/rig gate --no-color --baseline bundled --candidate {program}" in output
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "gate-out"
    out.rename(elsewhere)
    shutil.rmtree(folder)
    return elsewhere


def test_ids_of_cells_contain_the_side_instead_of_a_path(moved: Path) -> None:
    for side in ("baseline", "candidate"):
        cells = [cell for cell in read_results(moved / side).cells if cell.role == "measure"]
        assert [cell.id.split(".")[1] for cell in cells] == [side]
        assert (moved / "programs" / side / "subject.cpio").is_file()


def test_worst_cell_runs_again_with_equal_results(paths: Paths, moved: Path) -> None:
    done = launch(paths, "repro", "--from", str(moved))
    assert done.returncode == ExitCode.UNSAFE, done.stdout + done.stderr
    assert f"cell      {read_decision(moved).deciding[0].id}" in done.stdout
    assert "The same thing happened again: too_short" in done.stdout
    assert "equal to the nanosecond" in done.stdout
    assert f"Again: rig/rig repro --from {moved} " in done.stdout


@pytest.mark.parametrize("cell", ["write.baseline", "canary.canary-bus"])
def test_other_cell_runs_again_with_equal_results(paths: Paths, moved: Path, cell: str) -> None:
    done = launch(paths, "repro", "--from", str(moved), cell)
    assert done.returncode == ExitCode.PASS, done.stdout + done.stderr
    assert "equal to the nanosecond" in done.stdout


def shrunk(paths: Paths, out: Path, *words: str) -> tuple[Cell, CellResult]:
    """Runs `rig/rig shrink` briefly; returns the first cell that it tried, and its result."""
    done = launch(paths, "shrink", *words, "--limit-s", TRIED_S, "--out", str(out))
    assert done.returncode == ExitCode.UNSAFE, done.stdout + done.stderr
    (folder,) = (out / "001").glob("*.*/")
    cell = msgspec.json.decode((folder / "cell.json").read_bytes(), type=Cell)
    return cell, msgspec.json.decode((folder / "result.json").read_bytes(), type=CellResult)


def test_moved_cell_can_be_shrunk(paths: Paths, moved: Path, tmp_path: Path) -> None:
    cell, _ = shrunk(paths, tmp_path / "tried", "--from", str(moved))
    assert (cell.side, cell.seed) == ("", read_decision(moved).seed)


def test_shrink_uses_the_delay_offset_of_its_run(paths: Paths, tmp_path: Path) -> None:
    binary, out = tmp_path / "flashrom", tmp_path / "out"
    plan = write_plan(tmp_path, SMALL_PLAN)
    shutil.copyfile(paths.flashrom_build / "flashrom-short", binary)
    symbols = read_symbols(binary)
    address = symbols.function("default_delay")
    assert address is not None
    offset = f"{symbols.file_offset(address):#x}"
    subprocess.run(["strip", str(binary)], check=True)
    binary.chmod(0o755)
    subject = f"path:{binary}"
    words = ["--plan", plan, "--delay-offset", offset]
    run = run_plan(paths, out, *words, "--subject", subject, "--cell", CELL)
    assert run.results.cells[0].verdict is Verdict.TOO_SHORT, run.output

    requests = (["--from", str(out)], [CELL, *words, "--subject", subject])
    for number, request in enumerate(requests):
        cell, result = shrunk(paths, tmp_path / f"tried-{number}", *request)
        assert cell.subject == subject
        assert result.verdict is Verdict.TOO_SHORT
        assert f"--delay-offset {offset}" in result.rerun
