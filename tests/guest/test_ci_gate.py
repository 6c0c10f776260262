# SPDX-License-Identifier: GPL-2.0-or-later
"""`ci/gate.sh` with real guests: it builds trees, gates them and reports."""

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
from .plans import OVER, group, plan, watched
from .upstream_tree import gateable_tree

PLAN = plan(group("bus", region_kib=192), watched())
MADE = "made"
MAKEFILE = f"flashrom:\n\tcp {MADE} flashrom\n"
MESON = f"""\
project('flashrom')
custom_target('flashrom', input: '{MADE}', output: 'flashrom', build_by_default: true,
              command: ['cp', '@INPUT@', '@OUTPUT@'])
"""
LIBRARY = group("library", f'{OVER}, hazards = ["signals:20"]')
HALF = ("usecs % 1000000 * 1000L", "usecs % 1000000 * 500L")
MENDED = ("nanosleep(&asked, NULL);", "while (nanosleep(&asked, &asked))\n\t\t\t;")


@pytest.fixture(name="plan")
def plan_file(tmp_path: Path) -> Path:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN, encoding="utf-8")
    return path


def tree_of(folder: Path, paths: Paths, name: str, *, by_meson: bool = False) -> Path:
    """Makes a source tree whose build copies one of our flashroms."""
    folder.mkdir()
    shutil.copy(paths.flashrom_build / name, folder / MADE)
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


def test_tree_with_shorter_delays_is_voted_down(paths: Paths, tmp_path: Path, plan: Path) -> None:
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
    assert {path.name for path in before.iterdir()} == {MADE, "meson.build"}, "it is as it was"


def committed(tree: Path, subject: str, *change: str) -> None:
    """Commits a change of the tree's delay file: the given replacement, or a new comment."""
    udelay = tree / "platform" / "udelay.c"
    text = udelay.read_text(encoding="utf-8")
    udelay.write_text(text.replace(change[0], change[1]) if change else f"{text}\n/* more */\n")
    commit_all(tree, subject)


def test_commit_of_a_tree_is_gated_with_its_library_against_the_one_before(
    paths: Paths, tmp_path: Path, plan: Path
) -> None:
    tree = gateable_tree(paths.checkout / "flashrom", tmp_path / "tree")
    plan.write_text(PLAN + LIBRARY, encoding="utf-8")
    commit_all(tree, "The first one")
    codes = {}
    for subject, change in (("good", ()), ("mending", MENDED), ("bad", HALF)):
        committed(tree, subject, *change)
        out = tmp_path / subject
        words = ("--baseline", "git:HEAD~1", "--candidate", tree, "--plan", plan)
        codes[subject] = gate(paths, out, *words, "--", "--tree", tree).returncode
    library = read_decision(tmp_path / "mending" / "run").cells
    assert Verdict.SKIPPED not in {cell.candidate for cell in library}
    assert read_decision(tmp_path / "bad" / "run").candidate.title.endswith(" (bad)")
    assert codes == {"good": 0, "mending": 0, "bad": ExitCode.UNSAFE}
    sarif = (tmp_path / "bad" / "results.sarif").read_text(encoding="utf-8")
    assert '"uri": "platform/udelay.c"' in sarif or '"uri": "ours/' in sarif


def test_slower_program_is_voted_down_and_equal_one_up(
    paths: Paths, tmp_path: Path, plan: Path
) -> None:
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


def test_without_a_baseline_it_asks_for_safety_alone(
    paths: Paths, tmp_path: Path, plan: Path
) -> None:
    out = tmp_path / "out"
    done = gate(paths, out, "--candidate", paths.flashrom_build / "flashrom", "--plan", plan)
    assert done.returncode == ExitCode.PASS, done.stderr
    assert read_results(out / "run").run.plan == str(plan)
    assert review_of(out)[0] == 1


def test_build_that_fails_says_nothing_of_the_program(paths: Paths, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    build = "echo gone wrong; exit 7"
    done = gate(paths, tmp_path / "out", "--candidate", tree, "--build", build)
    assert done.returncode == ExitCode.BAD_INPUT
    assert "gone wrong" in done.stderr
    assert "--build CMD builds it another way" in done.stderr
    done = gate(paths, tmp_path / "out", "--candidate", tree, "--build", "true")
    assert "left no program" in done.stderr
