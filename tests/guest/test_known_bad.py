# SPDX-License-Identifier: GPL-2.0-or-later
"""Known-bad and legal builds: the gate gives each the answer that its class requires."""

from collections import Counter
from pathlib import Path

import msgspec
import pytest
from delayrig.base.errors import ExitCode
from delayrig.base.paths import Paths
from delayrig.decision.decision import Outcome
from delayrig.features.selfcheck.known_bad import FILE_NAME, PAGE_NAME, KnownBad
from delayrig.model.result import Verdict, read_results
from delayrig.subjects.known_bad import Kind

from .conftest import launch, repeated

# Builds that do not wait after sleep, reset, suspend or power-up, do not poll the part, or wait in
# the wrong place; builds that only take longer; and legal builds.
DOZEN = {
    "wake-not-waited": Outcome.UNSAFE,
    "reset-not-waited": Outcome.UNSAFE,
    "identified-without-settling": Outcome.UNSAFE,
    "resumed-erase-not-waited": Outcome.UNSAFE,
    "power-up-not-waited": Outcome.UNSAFE,
    "power-up-write-not-waited": Outcome.UNSAFE,
    "trusts-typical-times": Outcome.UNSAFE,
    "wait-before-buffered-write": Outcome.UNSAFE,
    "sync-waits-a-second": Outcome.SLOWER,
    "waits-after-ready": Outcome.SLOWER,
    "relative-sleep": Outcome.PASS,
    "boottime-clock": Outcome.PASS,
}
# Builds with interrupted sleeps of a driver.
SLEEPS = {
    "direct-sleep-resumed": Outcome.PASS,
    "direct-sleep-then-clock": Outcome.PASS,
    "direct-sleep-interrupted": Outcome.UNSAFE,
    "direct-until-interrupted": Outcome.UNSAFE,
    "poll-as-a-sleep": Outcome.UNSAFE,
    "own-delay-interrupted": Outcome.UNSAFE,
}
# The rig finds the delay function of these by its code, so they need no symbols.
WITHOUT_SYMBOLS = {
    "resumes-once": Outcome.UNSAFE,
    "rounds-down-long-ones": Outcome.UNSAFE,
    "milliseconds-interrupted": Outcome.UNSAFE,
    "programmer-delay-an-eighth-short": Outcome.UNSAFE,
    "nanoseconds-in-64-bits": Outcome.PASS,
    "sleeps-until-a-moment": Outcome.PASS,
}
STRIPPED = ("--stripped", "--renamed")
MATRIX_LIMIT_S = 5400


def answered(paths: Paths, out: Path, *words: str) -> tuple[int, KnownBad, str]:
    """Runs the known-bad builds; returns the exit code, the answer and the output."""
    words = ("selfcheck", "known-bad", *words, "--out", str(out))
    done = launch(paths, *words, limit_s=MATRIX_LIMIT_S)
    answer = msgspec.json.decode((out / FILE_NAME).read_bytes(), type=KnownBad)
    return done.returncode, answer, done.stdout


@pytest.mark.parametrize(
    ("words", "wanted"),
    [((), DOZEN), ((), SLEEPS), (STRIPPED, WITHOUT_SYMBOLS)],
    ids=["a dozen", "sleeps", "stripped"],
)
def test_each_build_gets_the_answer_of_its_class_and_is_on_the_page(
    paths: Paths, tmp_path: Path, words: tuple[str, ...], wanted: dict[str, Outcome]
) -> None:
    words = (*words, *repeated("--only", wanted))
    code, answer, output = answered(paths, tmp_path / "out", *words)
    assert {build.name: build.outcome for build in answer.builds} == wanted, output
    assert code == ExitCode.PASS
    page = (tmp_path / "out" / PAGE_NAME).read_text(encoding="utf-8")
    assert all(name in page for name in wanted)


@pytest.mark.long("all builds, then stripped: more than half an hour; quick: some of them")
@pytest.mark.parametrize(("words", "legal_min"), [((), 12), (STRIPPED, 0)])
def test_every_build_gets_the_answer_of_its_class(
    paths: Paths, tmp_path: Path, words: tuple[str, ...], legal_min: int
) -> None:
    _, answer, output = answered(paths, tmp_path / "out", *words)
    assert [build.name for build in answer.builds if not build.right] == [], output
    assert len(answer.builds) >= 60
    assert Counter(build.kind for build in answer.builds)[Kind.LEGAL] >= legal_min


# Past mistakes, and the cells of the plan `gate` that show them.
PAST_MISTAKES = (
    *("eintr-ignored", "wall-clock", "wrap-32bit", "calibrated-loop", "trusting-getres"),
    "doubling-calibration-2003",
)
CELLS = ("siblings*", "signals.*", "clock-is-set.*wall-clock-step--*", "whole-chip*")
FAULTS = (Verdict.TOO_SHORT, Verdict.HUNG)
"""The verdicts on them: a program hangs if it waits by a clock that is set back."""


def test_past_mistakes_are_found_without_symbols(paths: Paths, tmp_path: Path) -> None:
    subjects = [f"stripped:renamed:past-mistake:{name}" for name in PAST_MISTAKES]
    words = [*repeated("--subject", subjects), *repeated("--cell", CELLS)]
    done = launch(paths, "run", "--plan", "gate", "--out", str(tmp_path / "out"), *words)
    assert "warning: no cell" not in done.stderr
    cells = read_results(tmp_path / "out").cells
    shown = {cell.subject.name for cell in cells if cell.verdict in FAULTS}
    assert shown == set(subjects), done.stdout
    assert done.returncode == ExitCode.UNSAFE
