# SPDX-License-Identifier: GPL-2.0-or-later
"""Gates and runs whose cells run again elsewhere: moved folders, and cells that are shrunk."""

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
from .plans import SMALL_PLAN
from .test_gate import gate


@pytest.fixture(scope="module")
def moved(paths: Paths, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs a gate, removes its program, moves its folder, and returns the new place."""
    folder = tmp_path_factory.mktemp("gate")
    plan, program = folder / "small.toml", folder / "build" / "flashrom"
    plan.write_text(SMALL_PLAN)
    program.parent.mkdir()
    shutil.copy(paths.flashrom_build / "flashrom-short", program)
    out = folder / "out"
    code, decision, output = gate(paths, out, "bundled", str(program), "--plan", str(plan))
    assert code == ExitCode.UNSAFE, output
    worst = decision.deciding[0]
    assert worst.rerun == shlex.join(["rig/rig", "repro", "--from", str(out), worst.id])
    assert f"again: {worst.rerun}" in output
    assert f"gate: rig/rig gate --no-color --baseline bundled --candidate {program}" in output
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "gate-out"
    out.rename(elsewhere)
    shutil.rmtree(folder)
    return elsewhere


def test_ids_name_the_side_and_no_path(moved: Path) -> None:
    for side in ("baseline", "candidate"):
        cells = [cell for cell in read_results(moved / side).cells if cell.role == "measure"]
        assert [cell.id.split(".")[1] for cell in cells] == [side]
        assert (moved / "programs" / side / "subject.cpio").is_file()


def test_worst_cell_runs_again_to_the_nanosecond_from_the_folder_alone(
    paths: Paths, moved: Path
) -> None:
    done = launch(paths, "repro", "--from", str(moved))
    assert done.returncode == ExitCode.UNSAFE, done.stdout + done.stderr
    assert f"cell      {read_decision(moved).deciding[0].id}" in done.stdout
    assert "The same thing happened again: too_short" in done.stdout
    assert "equal to the nanosecond" in done.stdout
    assert f"Again: rig/rig repro --from {moved} " in done.stdout


@pytest.mark.parametrize("cell", ["write.baseline", "canary.canary-bus"])
def test_other_cells_of_it_do_as_well(paths: Paths, moved: Path, cell: str) -> None:
    done = launch(paths, "repro", "--from", str(moved), cell)
    assert done.returncode == ExitCode.PASS, done.stdout + done.stderr
    assert "equal to the nanosecond" in done.stdout


def test_conviction_of_it_can_be_shrunk(paths: Paths, moved: Path, tmp_path: Path) -> None:
    told = ("--from", str(moved), "--limit-s", "1", "--out", str(tmp_path / "tried"))
    done = launch(paths, "shrink", *told)
    assert done.returncode == ExitCode.UNSAFE, done.stdout + done.stderr
    (folder,) = (tmp_path / "tried" / "001").glob("*.*/")
    cell = msgspec.json.decode((folder / "cell.json").read_bytes(), type=Cell)
    assert (cell.side, cell.seed) == ("", read_decision(moved).seed)


CELL = "write.*"
TRIED_S = "1"
"""In this time `shrink` tries the cell itself, and begins what it can."""


def test_program_without_symbols_is_shrunk_by_the_offset_that_its_run_was_told(
    paths: Paths, tmp_path: Path
) -> None:
    binary, plan, out = (tmp_path / name for name in ("flashrom", "small.toml", "out"))
    plan.write_text(SMALL_PLAN)
    shutil.copyfile(paths.flashrom_build / "flashrom-short", binary)
    symbols = read_symbols(binary)
    address = symbols.function("default_delay")
    assert address is not None
    offset = f"{symbols.file_offset(address):#x}"
    subprocess.run(["strip", str(binary)], check=True)
    binary.chmod(0o755)
    subject = f"path:{binary}"
    words = ["--plan", str(plan), "--subject", subject, "--cell", CELL, "--delay-offset", offset]
    run = run_plan(paths, out, *words)
    assert run.results.cells[0].verdict is Verdict.TOO_SHORT, run.output

    for number, told in enumerate((["--from", str(out)], words[:2] + words[2:4] + words[6:])):
        tried = tmp_path / f"tried-{number}"
        named = [] if "--from" in told else [CELL]
        more = ["--limit-s", TRIED_S, "--out", str(tried)]
        done = launch(paths, "shrink", *named, *told, *more)
        assert done.returncode == ExitCode.UNSAFE, done.stdout + done.stderr
        (folder,) = (tried / "001").glob("*.*/")
        cell = msgspec.json.decode((folder / "cell.json").read_bytes(), type=Cell)
        assert cell.subject == subject
        result = msgspec.json.decode((folder / "result.json").read_bytes(), type=CellResult)
        assert result.verdict is Verdict.TOO_SHORT
        assert f"--delay-offset {offset}" in result.rerun
