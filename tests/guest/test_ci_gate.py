# SPDX-License-Identifier: GPL-2.0-or-later
"""`ci/gate.sh` with real guests: it builds source trees, gates them and writes its reports."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from delayrig.base.errors import ExitCode
from delayrig.base.paths import Paths
from delayrig.decision.decision import read_decision
from delayrig.model.result import Verdict, read_results
from junitparser.xunit2 import JUnitXml

from tests.rig.git_commits import commit_all

from .conftest import RUN_LIMIT_S
from .plans import OVER, group, plan, watched, write_plan
from .upstream_tree import gateable_tree

PLAN = plan(group("bus", region_kib=192), watched())
BUILT = "built"
MAKEFILE = f"flashrom:\n\tcp {BUILT} flashrom\n"
MESON = f"""\
project('flashrom')
custom_target('flashrom', input: '{BUILT}', output: 'flashrom', build_by_default: true,
              command: ['cp', '@INPUT@', '@OUTPUT@'])
"""
LIBRARY = group("library", f'{OVER}, hazards = ["signals:20"]')
HALF_DELAYS = ("usecs % 1000000 * 1000L", "usecs % 1000000 * 500L")
RESUMED_SLEEP = ("nanosleep(&asked, NULL);", "while (nanosleep(&asked, &asked))\n\t\t\t;")


@pytest.fixture(name="plan")
def plan_file(tmp_path: Path) -> Path:
    return Path(write_plan(tmp_path, PLAN))


def tree_of(folder: Path, paths: Paths, name: str, *, by_meson: bool = False) -> Path:
    """Makes a source tree whose build copies one of our flashroms."""
    folder.mkdir()
    shutil.copy(paths.flashrom_build / name, folder / BUILT)
    text = MESON if by_meson else MAKEFILE
    (folder / ("meson.build" if by_meson else "Makefile")).write_text(text, encoding="utf-8")
    return folder


def gate(paths: Paths, out: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(paths.checkout / "ci" / "gate.sh"), "--out", str(out), *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=RUN_LIMIT_S,
    )


def review_of(out: Path) -> tuple[int, str]:
    review = json.loads((out / "review.json").read_bytes())
    return review["labels"]["Verified"], review["message"]


def test_tree_with_shorter_delays_is_unsafe(paths: Paths, tmp_path: Path, plan: Path) -> None:
    out = tmp_path / "out"
    before = tree_of(tmp_path / "before", paths, "flashrom", by_meson=True)
    after = tree_of(tmp_path / "after", paths, "flashrom-canary")
    done = gate(paths, out, "--baseline", before, "--candidate", after, "--plan", plan)
    assert done.returncode == ExitCode.UNSAFE, done.stderr
    decision = read_decision(out / "run")
    vote, message = review_of(out)
    assert vote == -1
    assert decision.lines[0] in message
    assert done.stdout.startswith(decision.lines[0])
    suites = JUnitXml.fromfile(str(out / "junit.xml"))
    assert sum(suite.failures for suite in suites) == 1
    assert decision.lines[0].split(":")[0] in (out / "summary.md").read_text(encoding="utf-8")
    assert json.loads((out / "result.json").read_bytes())["exit_code"] == 1
    assert (out / "metrics.txt").read_text(encoding="utf-8").endswith("# EOF\n")
    assert {path.name for path in before.iterdir()} == {BUILT, "meson.build"}, "the tree changed"


def commit_change(tree: Path, subject: str, *change: str) -> None:
    """Commits a change of the tree's delay file: the given replacement, or else a new comment."""
    udelay = tree / "platform" / "udelay.c"
    text = udelay.read_text(encoding="utf-8")
    udelay.write_text(text.replace(change[0], change[1]) if change else f"{text}\n/* more */\n")
    commit_all(tree, subject)


def test_commit_and_its_library_are_gated_against_the_parent_commit(
    paths: Paths, tmp_path: Path, plan: Path
) -> None:
    tree = gateable_tree(paths.checkout / "flashrom", tmp_path / "tree")
    plan.write_text(PLAN + LIBRARY, encoding="utf-8")
    commit_all(tree, "first")
    codes = {}
    for subject, change in (("good", ()), ("mending", RESUMED_SLEEP), ("bad", HALF_DELAYS)):
        commit_change(tree, subject, *change)
        out = tmp_path / subject
        words = ("--baseline", "git:HEAD~1", "--candidate", tree, "--plan", plan)
        codes[subject] = gate(paths, out, *words, "--", "--tree", tree).returncode
    library = read_decision(tmp_path / "mending" / "run").cells
    assert Verdict.SKIPPED not in {cell.candidate for cell in library}
    assert read_decision(tmp_path / "bad" / "run").candidate.title.endswith(" (bad)")
    assert codes == {"good": 0, "mending": 0, "bad": ExitCode.UNSAFE}
    sarif = (tmp_path / "bad" / "results.sarif").read_text(encoding="utf-8")
    assert '"uri": "platform/udelay.c"' in sarif or '"uri": "ours/' in sarif


def test_slower_program_gets_a_negative_vote(paths: Paths, tmp_path: Path, plan: Path) -> None:
    ours, slow = (paths.flashrom_build / name for name in ("flashrom", "flashrom-slow"))
    more = ("--plan", plan, "--", "--max-slowdown", "1")
    done = gate(paths, tmp_path / "slow", "--baseline", ours, "--candidate", slow, *more)
    assert (done.returncode, review_of(tmp_path / "slow")[0]) == (ExitCode.SLOWER, -1)
    stored = tmp_path / "slow" / "run" / "baseline"
    done = gate(paths, tmp_path / "same", "--baseline", stored, "--candidate", ours, *more)
    assert done.returncode == ExitCode.PASS, done.stdout + done.stderr
    assert review_of(tmp_path / "same")[0] == 1
    again = gate(paths, tmp_path / "same", "--candidate", ours, *more)
    assert again.returncode == ExitCode.BAD_INPUT
    assert "holds an older run" in again.stderr


def test_without_a_baseline_only_safety_counts(paths: Paths, tmp_path: Path, plan: Path) -> None:
    out = tmp_path / "out"
    done = gate(paths, out, "--candidate", paths.flashrom_build / "flashrom", "--plan", plan)
    assert done.returncode == ExitCode.PASS, done.stderr
    assert read_results(out / "run").run.plan == str(plan)
    assert review_of(out)[0] == 1


def test_failed_build_is_bad_input_and_its_output_is_shown(paths: Paths, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    build = "echo cannot compile; exit 7"
    done = gate(paths, tmp_path / "out", "--candidate", tree, "--build", build)
    assert done.returncode == ExitCode.BAD_INPUT
    assert "cannot compile" in done.stderr
    assert "--build CMD" in done.stderr
    done = gate(paths, tmp_path / "out", "--candidate", tree, "--build", "true")
    assert "left no program" in done.stderr
