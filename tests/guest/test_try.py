# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig try`: questions that would otherwise need a plan."""

import shlex
import subprocess
from pathlib import Path

import pytest
from delayrig.base.errors import ExitCode
from delayrig.base.paths import Paths
from delayrig.model.result import Verdict, read_results

from .conftest import launch
from .provided import skip_if_refused

SMALL = ("--region", "4", "--chip", "GD25Q16C")


def tried(
    paths: Paths, *words: str, code: ExitCode = ExitCode.PASS
) -> subprocess.CompletedProcess[str]:
    """Runs `rig/rig try`, and checks its exit code."""
    done = launch(paths, "try", "--no-color", *words)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def test_one_cell_is_shown_as_it_goes_with_its_figures_and_nothing_is_kept(
    paths: Paths, tmp_path: Path
) -> None:
    program = paths.flashrom_build / "flashrom"
    done = subprocess.run(
        [str(paths.checkout / "rig/rig"), "try", str(program), *SMALL],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    skip_if_refused(done.returncode, done.stderr)
    assert done.returncode == ExitCode.PASS, done.stdout + done.stderr
    assert f"note: {program} is taken as path:{program}" in done.stderr
    assert "pass: Nothing was too short." in done.stdout
    assert "stage   |" in done.stdout
    assert "CPU time:" in done.stdout
    assert "No canary and control were among the cells" in done.stdout
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_wait_that_is_short_is_convicted_and_its_try_line_does_it_again(paths: Paths) -> None:
    short = str(paths.flashrom_build / "flashrom-short")
    first = tried(paths, short, *SMALL, code=ExitCode.UNSAFE)
    again = next(line for line in first.stdout.splitlines() if "Again: rig/rig try " in line)
    words = shlex.split(again.partition("Again: rig/rig ")[2])
    second = launch(paths, *words)
    assert second.returncode == ExitCode.UNSAFE, second.stderr
    assert evidence(second.stdout) == evidence(first.stdout)


def evidence(output: str) -> list[str]:
    """Returns the lines of evidence, which are the same for equal cells."""
    lines = [line for line in output.splitlines() if line.startswith("  ")]
    assert any("too little" in line for line in lines), output
    return lines


def test_two_values_of_two_flags_are_four_cells_and_canaries_watch_them(
    paths: Paths, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    values = ("--mips", "250,62", "--job", "erase", "--job", "write", "--canaries")
    done = tried(paths, "bundled", *SMALL, *values, "--out", str(out))
    results = read_results(out)
    assert [cell.verdict for cell in results.cells[:4]] == [Verdict.PASS] * 4
    assert "4 canaries and controls are as they must be." in done.stdout
    assert "\ntoo_short" not in done.stdout


def test_other_flashrom_is_shown_beside_it_and_its_faults_fail_nothing(
    paths: Paths, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    short = str(paths.flashrom_build / "flashrom-short")
    done = tried(paths, "bundled", "--against", short, *SMALL, "--out", str(out))
    ours, theirs = read_results(out).cells
    assert (ours.verdict, theirs.verdict) == (Verdict.PASS, Verdict.TOO_SHORT)
    assert f"first: path:{short}; second: bundled" in done.stdout
    assert "1 cell compared: time" in done.stdout


def test_cell_that_was_tried_is_run_again_and_shrunk_from_its_folder(
    paths: Paths, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    tried(
        paths,
        str(paths.flashrom_build / "flashrom-short"),
        *(*SMALL, "--out", str(out)),
        code=ExitCode.UNSAFE,
    )
    again = launch(paths, "repro", "--from", str(out))
    assert "equal to the nanosecond" in again.stdout, again.stderr
    told = ("--from", str(out), "--limit-s", "1", "--out", str(tmp_path / "tried"))
    assert launch(paths, "shrink", *told).returncode == ExitCode.UNSAFE


@pytest.mark.parametrize("program", ["debian:bookworm"])
def test_calibrated_loop_is_convicted_where_siblings_were_busy(paths: Paths, program: str) -> None:
    hazards = ("--cores", "4", "--mips", "62", "--hazard", "low-res-timers+busy-siblings")
    done = tried(paths, program, "--region", "4", *hazards, code=ExitCode.UNSAFE)
    assert "asked for: 1.000000 s" in done.stdout
