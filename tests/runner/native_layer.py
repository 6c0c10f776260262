# SPDX-License-Identifier: GPL-2.0-or-later
"""The unit tests of the C programs, run by meson: under sanitizers, or as they are used."""

import json
import re
from pathlib import Path

from tests.runner.outcome import CaseResult, LayerResult, Outcome, counted, write_record
from tests.runner.places import Places
from tests.runner.selection import Selection

SUITE = "unit"
OUTCOMES = {"OK": Outcome.PASSED, "EXPECTEDFAIL": Outcome.PASSED, "SKIP": Outcome.SKIPPED}
SANITIZED = (
    *("-Dbuildtype=debug", "-Dpast_mistakes=true"),
    *("-Db_sanitize=address,undefined", "-Db_lundef=false"),
)
TIMEOUT_FACTOR = "5"


def run_sanitized(layer: str, places: Places, selection: Selection) -> LayerResult:
    """Runs the tests in a separate build, which has only the programs that they need.

    The sanitizers do not support the guest's agent, which is linked statically.
    """
    if not configure(places):
        return LayerResult(layer=layer, tests=(), is_sound=False)
    return run_native(layer, places, places.sanitized_build, selection)


def run_plain(layer: str, places: Places, selection: Selection) -> LayerResult:
    """Runs the tests in the build of set-up."""
    return run_native(layer, places, places.build, selection)


def configure(places: Places) -> bool:
    """Sets up the build with sanitizers, or applies the present options to it."""
    build = places.sanitized_build
    is_there = (build / "build.ninja").exists()
    verb = "configure" if is_there else "setup"
    return places.run([places.meson, verb, build, *SANITIZED]).code == 0


def run_native(layer: str, places: Places, build: Path, selection: Selection) -> LayerResult:
    """Runs the tests with meson, and prints a closing line below its summary."""
    names = list_native(places, build, selection)
    if not names:
        return LayerResult(layer=layer, tests=selection.passed, is_sound=not selection.is_whole)
    log = build / "meson-logs" / "testlog.json"
    log.unlink(missing_ok=True)
    words = ["--suite", SUITE, "--print-errorlogs", "--timeout-multiplier", TIMEOUT_FACTOR]
    which = [] if selection.is_whole else names
    done = places.run([places.meson, "test", "-C", build, *words, *which])
    fresh, record = read_testlog(log), places.fresh_record(layer, selection)
    for test in fresh:
        write_record(record, test)
    tests = (*selection.passed, *fresh)
    print(counted(layer, tests), flush=True, file=places.output)
    has_failed = any(test.outcome is Outcome.FAILED for test in tests)
    is_sound = bool(tests) and (done.code == 0 or has_failed)
    return LayerResult(layer=layer, tests=tests, is_sound=is_sound, cpu_s=done.cpu_s)


def list_native(places: Places, build: Path, selection: Selection) -> list[str]:
    """Returns the names of the tests that would run."""
    lines = places.lines_of([places.meson, "test", "-C", build, "--suite", SUITE, "--list"])
    names = [bare_name(line) for line in lines if line.startswith(SUITE)]
    return [name for name in names if selection.takes(name)]


def bare_name(line: str) -> str:
    """Returns the name without project and suite, after which meson writes `:` or `/`."""
    return re.split(r"[:/]", line)[-1].strip()


def read_testlog(log: Path) -> tuple[CaseResult, ...]:
    """Returns the results in meson's log, which has a test on each line."""
    if not log.exists():
        return ()
    rows = map(json.loads, log.read_text(encoding="utf-8").splitlines())
    return tuple(
        CaseResult(
            name=bare_name(row["name"]),
            outcome=OUTCOMES.get(row["result"], Outcome.FAILED),
            took_s=float(row["duration"]),
        )
        for row in rows
    )
