# SPDX-License-Identifier: GPL-2.0-or-later
"""A gate whose folder was moved: its cells run again, with the programs that it kept."""

import shlex
import shutil
from pathlib import Path

import msgspec
import pytest
from delayrig.base.errors import ExitCode
from delayrig.base.paths import Paths
from delayrig.decision.decision import read_decision
from delayrig.model.cell import Cell
from delayrig.model.result import read_results

from .conftest import launch
from .test_gate import SMALL_PLAN, gate


@pytest.fixture(scope="module")
def moved(paths: Paths, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs a gate, removes its program, moves its folder, and returns the new place."""
    folder = tmp_path_factory.mktemp("gate")
    plan, program = folder / "small.toml", folder / "build" / "flashrom"
    plan.write_text(SMALL_PLAN)
    program.parent.mkdir()
    shutil.copy(paths.flashrom_build / "flashrom-short", program)
    out = folder / "out"
    code, decision, said = gate(paths, out, "bundled", str(program), "--plan", str(plan))
    assert code == ExitCode.UNSAFE, said
    worst = decision.deciding[0]
    assert worst.rerun == shlex.join(["rig/rig", "repro", "--from", str(out), worst.id])
    assert f"again: {worst.rerun}" in said
    assert f"gate: rig/rig gate --no-color --baseline bundled --candidate {program}" in said
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
