# SPDX-License-Identifier: GPL-2.0-or-later
"""The history of real runs: stored, compared, searched for steps. It never makes a run fail."""

import json
import os
from pathlib import Path

import pytest
from delayrig.base.errors import ExitCode
from delayrig.base.paths import Paths
from delayrig.features.history.address import VARIABLE
from delayrig.model.result import read_results

from .conftest import launch
from .plans import write_plan
from .test_ci_gate import PLAN


@pytest.fixture
def plan(tmp_path: Path) -> str:
    return write_plan(tmp_path, PLAN)


def run(paths: Paths, plan: str, out: Path, subject: Path, url: str, *more: str) -> str:
    """Runs the plan with the history at `url`; checks that it passes; returns standard error."""
    words = ["run", "--plan", plan, "--subject", f"path:{subject}", "--out", str(out), *more]
    done = launch(paths, *words, environment={**os.environ, VARIABLE: url})
    assert done.returncode == ExitCode.PASS, done.stderr
    assert read_results(out).run.cells_planned == 3
    return done.stderr


def test_history_names_the_run_of_a_slower_program(paths: Paths, tmp_path: Path, plan: str) -> None:
    url = f"sqlite:///{tmp_path / 'h.sqlite'}"
    binary = tmp_path / "flashrom"
    for number, name in enumerate(("flashrom", "flashrom", "flashrom-slow"), start=1):
        binary.write_bytes((paths.flashrom_build / name).read_bytes())
        binary.chmod(0o755)
        output = run(paths, plan, tmp_path / f"out-{number}", binary, url)
        assert f"history: {number} in" in output
    history = ["--history", url]
    found = launch(paths, "history", "steps", f"path:{binary}", "--json", *history)
    (step,) = json.loads(found.stdout)["steps"]
    assert (step["run"], step["same_program"], step["same_inputs"]) == (3, False, True)
    assert step["after_ns"] > step["before_ns"]
    same = launch(paths, "compare", "--exact", "1", "2", *history)
    assert same.returncode == ExitCode.PASS, same.stdout
    unlike = launch(paths, "compare", "2", str(tmp_path / "out-3"), "--json", *history)
    assert unlike.returncode == ExitCode.PASS, unlike.stdout
    pairs = json.loads(unlike.stdout)["pairs"]
    assert [pair["same_program"] for pair in pairs] == [False, True, True]
    shown = launch(paths, "history", "show", "3", "--json", *history)
    assert shown.stdout.encode() == (tmp_path / "out-3" / "results.json").read_bytes()


def test_run_passes_without_a_writable_history(paths: Paths, tmp_path: Path, plan: str) -> None:
    ours = paths.flashrom_build / "flashrom"
    (tmp_path / "notes").write_text("no database\n" * 100, encoding="utf-8")
    out = tmp_path / "out"
    output = run(paths, plan, out, ours, f"sqlite:///{tmp_path / 'notes'}")
    assert "warning: not kept in the history" in output
    url = f"sqlite:///{tmp_path / 'h.sqlite'}"
    assert launch(paths, "history", "add", str(out), "--history", url).returncode == ExitCode.PASS
    output = run(paths, plan, tmp_path / "unkept", ours, url, "--no-history")
    assert "history" not in output
