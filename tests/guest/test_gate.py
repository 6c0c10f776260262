# SPDX-License-Identifier: GPL-2.0-or-later
"""Gates of our own flashrom: against itself, with shorter and longer waits, and in a bisection."""

import shlex
from pathlib import Path

import pytest
from delayrig.base.errors import ExitCode
from delayrig.base.paths import Paths
from delayrig.decision.decision import FILE_NAME, Decision, Outcome, read_decision
from delayrig.model.result import Verdict

from tests.rig.git_commits import commit_all, git

from .conftest import RUN_LIMIT_S, launch, rig_command
from .plans import SMALL_PLAN, group, write_plan

SEVERAL = 'mips = [250, 62], cores = [1], job = ["write", "erase"], chip = ["GD25Q16C"]'
SEVERAL_GROUP = group("several", f'{SEVERAL}, corner = ["max"]')


def program(paths: Paths, name: str) -> str:
    return f"path:{paths.flashrom_build / name}"


def gate(
    paths: Paths, out: Path, baseline: str, candidate: str, *more: str
) -> tuple[int, Decision, str]:
    """Runs a gate; returns its exit code, its decision and its standard output."""
    sides = ["--baseline", baseline, "--candidate", candidate, "--out", str(out)]
    done = launch(paths, "gate", "--no-color", *sides, *more)
    assert (out / FILE_NAME).is_file(), done.stderr
    decision = read_decision(out)
    assert decision.exit_code == done.returncode
    return done.returncode, decision, done.stdout


@pytest.fixture(scope="module")
def baseline(paths: Paths, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs a small gate of our flashrom against itself; returns the candidate's run."""
    folder = tmp_path_factory.mktemp("itself")
    plan = write_plan(folder, SMALL_PLAN + SEVERAL_GROUP)
    code, _, output = gate(paths, folder / "out", "bundled", "bundled", "--plan", plan)
    assert code == ExitCode.PASS, output
    return folder / "out" / "candidate"


@pytest.mark.long("a gate with the default plan; quick: with a plan of six cells")
def test_gate_with_the_default_plan_finds_no_difference_of_a_subject_to_itself(
    paths: Paths, tmp_path: Path
) -> None:
    code, _, output = gate(paths, tmp_path / "out", "bundled", "bundled")
    assert code == ExitCode.PASS, output
    assert_no_difference(tmp_path / "out", least=70)


def test_gate_finds_no_difference_of_a_subject_to_itself(baseline: Path) -> None:
    assert_no_difference(baseline.parent, least=8)


def assert_no_difference(out: Path, *, least: int) -> None:
    cells = read_decision(out).cells
    differences = [item.candidate_ns - item.baseline_ns for cell in cells for item in cell.excess]
    assert len(differences) >= least
    assert set(differences) == {0}


def test_delays_shortened_by_two_percent_are_unsafe_and_the_first_line_names_the_worst_cell(
    paths: Paths, tmp_path: Path, baseline: Path
) -> None:
    short = program(paths, "flashrom-short")
    code, decision, output = gate(paths, tmp_path / "out", str(baseline), short)
    assert code == ExitCode.UNSAFE
    worst = decision.deciding[0]
    assert worst.candidate is Verdict.TOO_SHORT
    assert worst.margin_ns == min(cell.margin_ns or 0 for cell in decision.deciding)
    assert worst.id in output.splitlines()[0]


def test_delays_longer_by_three_percent_are_slower_in_all_cells_together(
    paths: Paths, tmp_path: Path, baseline: Path
) -> None:
    slow = program(paths, "flashrom-slow")
    code, decision, output = gate(paths, tmp_path / "out", str(baseline), slow)
    assert code == ExitCode.SLOWER
    assert {cell.candidate for cell in decision.cells if cell.role == "measure"} == {Verdict.PASS}
    assert "slower: all cells together: time +" in output.splitlines()[0]
    times = [item for cell in decision.cells for item in cell.excess if item.figure == "time"]
    # Cells with few waits slow down less, so no single cell exceeds its limit.
    assert max(item.pct for item in times) > 2
    assert {cell.outcome for cell in decision.cells} == {Outcome.PASS}
    assert sum(item.candidate_ns for item in times) > sum(item.baseline_ns for item in times)


def test_every_delay_of_a_stripped_program_is_judged(paths: Paths, tmp_path: Path) -> None:
    trixie, plan = "debian:trixie", write_plan(tmp_path, SMALL_PLAN)
    code, decision, output = gate(paths, tmp_path / "out", trixie, trixie, "--plan", plan)
    assert code == ExitCode.PASS, output
    assert {cell.outcome for cell in decision.cells} == {Outcome.PASS}
    assert "Seen: delays: all " in output
    assert ": not judged in " not in output


def test_git_bisect_finds_the_revision_with_short_delays(paths: Paths, tmp_path: Path) -> None:
    """Revision 2 cannot be built; revision 4 is the first one with short delays."""
    tree, baseline = tmp_path / "tree", tmp_path / "baseline"
    tree.mkdir()
    plan = write_plan(tmp_path, SMALL_PLAN)
    done = launch(paths, "run", "--plan", plan, "--out", str(baseline))
    assert done.returncode == ExitCode.PASS, done.stderr

    builds = ["flashrom", "flashrom", "nonesuch", "flashrom", *["flashrom-short"] * 3]
    for number, name in enumerate(builds):
        program = shlex.quote(str(paths.flashrom_build / name))
        (tree / "build.sh").write_text(f"# {number}\ncp {program} built\n")
        (tree / ".gitignore").write_text("built\nout/\n")
        commit_all(tree, f"revision {number}")
    words = ["--build", "rm -f built; sh build.sh", "--baseline", str(baseline)]
    command = rig_command(paths, "gate", "--bisect", *words, "--candidate", "path:built")
    git(tree, "bisect", "start", "HEAD", "HEAD~6")
    output = git(tree, "bisect", "run", *command, limit_s=RUN_LIMIT_S)
    assert "revision 4" in output.partition("is the first bad commit")[2], output
