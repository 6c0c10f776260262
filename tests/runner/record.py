# SPDX-License-Identifier: GPL-2.0-or-later
"""A plugin of pytest that runs named tests, and writes outcome and time of each as a line of JSON.

$FLASHROM_RIG_TESTS_RECORD names the file to write, $FLASHROM_RIG_TESTS_NAMES a file with the names
of tests to run, and $FLASHROM_RIG_TESTS_PASSED one with those to leave out. With pytest-xdist, only
the controller writes.
"""

import os
from pathlib import Path

import pytest

from tests.runner.outcome import CaseResult, Outcome, write_record
from tests.runner.python_layer import NAMES_VARIABLE, PASSED_VARIABLE, VARIABLE


class Recorder:
    """A plugin that adds up set-up, call and tear-down of each test."""

    def __init__(self, record: Path) -> None:
        self.record = record
        self.took_s: dict[str, float] = {}
        self.outcomes: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Notes one phase of a test, whose outcome is that of its worst phase."""
        name = report.nodeid
        self.took_s[name] = self.took_s.get(name, 0.0) + report.duration
        if report.outcome != "passed" and self.outcomes.get(name) != "failed":
            self.outcomes[name] = report.outcome
        if report.when not in ("setup", "call"):  # pytest-xdist reports a dead worker as "???"
            self._write(name)

    def _write(self, name: str) -> None:
        outcome = Outcome(self.outcomes.get(name, "passed"))
        test = CaseResult(name=name, outcome=outcome, took_s=self.took_s[name])
        write_record(self.record, test)


def pytest_configure(config: pytest.Config) -> None:
    """Registers the recorder if the variable names a file."""
    file = os.environ.get(VARIABLE)
    if file and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder(Path(file)), "flashrom-rig-record")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leaves out the tests that the list of names does not have, and those that passed."""
    if names := listed(NAMES_VARIABLE):
        items[:] = [item for item in items if item.nodeid in names]
    passed = listed(PASSED_VARIABLE)
    items[:] = [item for item in items if item.nodeid not in passed]


def listed(variable: str) -> frozenset[str]:
    """Returns the lines of the file that the variable names; none if it is not set."""
    file = os.environ.get(variable)
    return frozenset(Path(file).read_text(encoding="utf-8").splitlines()) if file else frozenset()
