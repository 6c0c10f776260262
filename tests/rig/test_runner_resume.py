# SPDX-License-Identifier: GPL-2.0-or-later
"""`tests/run`: layers of pytest that break off, and release checks that are resumed."""

import os
import sys
import time
from pathlib import Path

import pytest

from tests.rig.builders import CHECKOUT
from tests.rig.git_commits import commit_all
from tests.runner import resume
from tests.runner.arguments import UsageError
from tests.runner.outcome import LayerResult, Outcome
from tests.runner.places import Places
from tests.runner.python_layer import run_python
from tests.runner.selection import Selection

WHOLE = Selection(all_tiers=True)
MODULE = """\
import os
import signal

def test_before(): pass
def test_that_dies(): os.kill(os.getpid(), signal.SIGKILL)
def test_after(): pass
"""


def make_checkout(checkout: Path) -> Path:
    """Makes a checkout whose only test module is MODULE; returns its path."""
    module = checkout / "tests" / "rig" / "test_named.py"
    module.parent.mkdir(parents=True)
    module.write_text(MODULE, encoding="utf-8")
    for link, target in (("rig", CHECKOUT / "rig"), ("tests/runner", CHECKOUT / "tests/runner")):
        (checkout / link).symlink_to(target)
    (checkout / "venv").symlink_to(sys.prefix)
    return module


def run_rig_layer(checkout: Path, chosen: Selection) -> LayerResult:
    with (checkout / "output").open("w", encoding="utf-8") as output:
        places = Places(checkout=checkout, state=checkout, output=output)
        options = ("-n", "2", "--dist", "loadfile")
        return run_python("rig", places, chosen, folder="", options=options)


def run_named(checkout: Path, *names: str) -> LayerResult:
    """Makes a checkout and runs these tests of its module."""
    make_checkout(checkout)
    names = tuple(f"tests/rig/test_named.py::{name}" for name in names)
    return run_rig_layer(checkout, Selection(all_tiers=True, names=names))


def test_layer_whose_worker_dies_ends_with_that_test_failed(tmp_path: Path) -> None:
    result = run_named(tmp_path, "test_before", "test_that_dies", "test_after")
    assert [name.rpartition("::")[2] for name in result.failed] == ["test_that_dies"]
    assert not result.good


def test_name_of_a_removed_test_does_not_stop_the_others(tmp_path: Path) -> None:
    result = run_named(tmp_path, "test_before", "test_renamed")
    assert [test.name.rpartition("::")[2] for test in result.tests] == ["test_before"]
    assert result.good


def test_resumed_layer_runs_only_tests_that_have_not_passed(tmp_path: Path) -> None:
    module = make_checkout(tmp_path)
    places = Places(checkout=tmp_path, state=tmp_path)
    resume.begin(places, ["rig"])
    broken = run_rig_layer(tmp_path, WHOLE)
    assert not broken.good
    module.write_text(MODULE.replace("os.kill(os.getpid(), signal.SIGKILL)", "pass"))
    left = resume.without_passed(places, {"rig": WHOLE})["rig"]
    passed = {test.name for test in left.passed}
    assert passed == {test.name for test in broken.tests if test.outcome is Outcome.PASSED}
    resumed = run_rig_layer(tmp_path, left)
    assert resumed.good
    names = {test.name.rpartition("::")[2] for test in resumed.tests}
    assert names == {"test_before", "test_that_dies", "test_after"}
    again = run_rig_layer(tmp_path, resume.without_passed(places, {"rig": WHOLE})["rig"])
    assert again.good
    assert again.tests == resumed.tests  # Nothing ran: even the times are the same.


def test_check_is_resumed_only_on_its_own_tree(tmp_path: Path) -> None:
    places = Places(checkout=tmp_path, state=tmp_path / "state")
    (tmp_path / ".gitignore").write_text("state\n", encoding="utf-8")
    commit_all(tmp_path, "first")
    with pytest.raises(UsageError, match="no run with --all was interrupted"):
        resume.interrupted_layers(places)
    resume.begin(places, ["rig", "guest"])
    assert resume.interrupted_layers(places) == ["rig", "guest"]
    new = tmp_path / "new.py"
    new.write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match="the tree has changed"):
        resume.interrupted_layers(places)
    new.unlink()
    resume.end(places)
    with pytest.raises(UsageError, match="no run with --all was interrupted"):
        resume.interrupted_layers(places)


def test_time_before_an_interruption_counts(tmp_path: Path) -> None:
    places = Places(checkout=tmp_path, state=tmp_path)
    resume.begin(places, ["rig"])
    record = places.fresh_record("rig", WHOLE)
    assert resume.begin_layer(record) == 0.0
    for before_s in (100.0, 200.0):
        record.touch()
        os.utime(record, (0, time.time() + 100))  # The last test ended 100 s after the start.
        assert resume.begin_layer(record) == pytest.approx(before_s, abs=30)


def test_run_without_any_layer_is_no_release_check() -> None:
    assert resume.is_release_check({"rig": WHOLE})
    assert not resume.is_release_check({})  # `--last-failed` where nothing failed
    assert not resume.is_release_check({"rig": WHOLE, "guest": Selection()})
