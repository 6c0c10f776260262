# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig try`: cells without a plan."""

import shlex
import subprocess
from pathlib import Path

from delayrig.base.errors import ExitCode
from delayrig.base.paths import Paths
from delayrig.model.result import Verdict, read_results

from tests.rig.running import run

from .conftest import launch, rig_command
from .provided import skip_if_refused

SMALL = ("--region", "4", "--chip", "GD25Q16C")


def run_try(
    paths: Paths, *words: str, code: ExitCode = ExitCode.PASS
) -> subprocess.CompletedProcess[str]:
    """Runs `rig/rig try`; checks its exit code."""
    done = launch(paths, "try", "--no-color", *words)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def test_one_cell_shows_its_figures_and_leaves_no_file(paths: Paths, tmp_path: Path) -> None:
    program = paths.flashrom_build / "flashrom"
    done = run(*rig_command(paths, "try", str(program), *SMALL), cwd=tmp_path)
    skip_if_refused(done.returncode, done.stderr)
    assert done.returncode == ExitCode.PASS, done.stdout + done.stderr
    assert f"path:{program}" in done.stderr
    assert "pass: Nothing was too short." in done.stdout
    assert "stage   |" in done.stdout
    assert "CPU time:" in done.stdout
    assert "No canary and control" in done.stdout
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_short_wait_is_convicted_and_the_printed_command_repeats_the_result(paths: Paths) -> None:
    short = str(paths.flashrom_build / "flashrom-short")
    first = run_try(paths, short, *SMALL, code=ExitCode.UNSAFE)
    again = next(line for line in first.stdout.splitlines() if "Again: rig/rig try " in line)
    words = shlex.split(again.partition("Again: rig/rig ")[2])
    second = launch(paths, *words)
    assert second.returncode == ExitCode.UNSAFE, second.stderr
    assert evidence(second.stdout) == evidence(first.stdout)


def evidence(output: str) -> list[str]:
    """Returns the lines of evidence, which are equal for equal cells."""
    lines = [line for line in output.splitlines() if line.startswith("  ")]
    assert any("too little" in line for line in lines), output
    return lines


def test_two_values_of_two_options_make_four_cells(paths: Paths, tmp_path: Path) -> None:
    out = tmp_path / "out"
    values = ("--mips", "250,62", "--job", "erase", "--job", "write", "--canaries")
    done = run_try(paths, "bundled", *SMALL, *values, "--out", str(out))
    results = read_results(out)
    assert [cell.verdict for cell in results.cells[:4]] == [Verdict.PASS] * 4
    assert "4 canaries and controls are as they must be." in done.stdout
    assert "\ntoo_short" not in done.stdout


def test_faults_of_the_other_flashrom_fail_nothing(paths: Paths, tmp_path: Path) -> None:
    out = tmp_path / "out"
    short = str(paths.flashrom_build / "flashrom-short")
    done = run_try(paths, "bundled", "--against", short, *SMALL, "--out", str(out))
    ours, theirs = read_results(out).cells
    assert (ours.verdict, theirs.verdict) == (Verdict.PASS, Verdict.TOO_SHORT)
    assert f"first: path:{short}; second: bundled" in done.stdout
    assert "1 cell compared: time" in done.stdout


def test_tried_cell_is_repeated_and_shrunk_from_its_folder(paths: Paths, tmp_path: Path) -> None:
    out = tmp_path / "out"
    short = str(paths.flashrom_build / "flashrom-short")
    run_try(paths, short, *SMALL, "--out", str(out), code=ExitCode.UNSAFE)
    again = launch(paths, "repro", "--from", str(out))
    assert "equal to the nanosecond" in again.stdout, again.stderr
    words = ("--from", str(out), "--limit-s", "1", "--out", str(tmp_path / "tried"))
    assert launch(paths, "shrink", *words).returncode == ExitCode.UNSAFE


def test_loop_calibrated_beside_busy_siblings_is_convicted(paths: Paths) -> None:
    hazards = ("--cores", "4", "--mips", "62", "--hazard", "low-res-timers+busy-siblings")
    done = run_try(paths, "debian:bookworm", "--region", "4", *hazards, code=ExitCode.UNSAFE)
    assert "asked for: 1.000000 s" in done.stdout
