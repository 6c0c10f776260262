# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of tests: of one, and of a layer."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path


class Outcome(StrEnum):
    """The outcome of a test."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """The result of a test; its name runs it again in its layer."""

    name: str
    outcome: Outcome
    took_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerResult:
    """The results of all tests of a layer that ran."""

    layer: str
    tests: tuple[CaseResult, ...]
    is_sound: bool
    """False if the layer itself failed: it did not build, or it was aborted."""
    took_s: float = 0.0
    cpu_s: float = 0.0
    before_s: float = 0.0
    """The time that the layer took before it was interrupted."""

    @property
    def failed(self) -> tuple[str, ...]:
        """Returns the names of the tests that failed."""
        return tuple(test.name for test in self.tests if test.outcome is Outcome.FAILED)

    @property
    def good(self) -> bool:
        """Returns True if the layer is sound and no test failed."""
        return self.is_sound and not self.failed

    def count(self, outcome: Outcome) -> int:
        """Returns the number of tests with that outcome."""
        return sum(test.outcome is outcome for test in self.tests)


def counted(layer: str, tests: Iterable[CaseResult]) -> str:
    """Returns a closing line with the number of tests of each outcome."""
    outcomes = [test.outcome for test in tests]
    counts = ", ".join(f"{outcomes.count(each)} {each}" for each in Outcome)
    return f"{layer}: {counts}"


def write_record(record: Path, test: CaseResult) -> None:
    """Appends a result to a record at once, so an interrupted run loses none."""
    with record.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(asdict(test)) + "\n")


def note(record: Path | None, name: str, *, passed: bool, took_s: float) -> None:
    """Appends a result to the record of a layer with its own program, if there is a record."""
    if record is not None:
        outcome = Outcome.PASSED if passed else Outcome.FAILED
        write_record(record, CaseResult(name=name, outcome=outcome, took_s=took_s))


def read_record(record: Path) -> tuple[CaseResult, ...]:
    """Returns the results in a record; none if no test has ended."""
    if not record.exists():
        return ()
    rows = map(json.loads, record.read_text(encoding="utf-8").splitlines())
    return tuple(
        CaseResult(name=row["name"], outcome=Outcome(row["outcome"]), took_s=float(row["took_s"]))
        for row in rows
    )
