# SPDX-License-Identifier: GPL-2.0-or-later
"""Layers that pytest runs."""

from collections.abc import Sequence

from tests.runner.outcome import LayerResult, read_record
from tests.runner.places import Places
from tests.runner.selection import Selection

VARIABLE = "FLASHROM_RIG_TESTS_RECORD"
"""The variable with the path of the file that `record.py` writes."""
NAMES_VARIABLE = "FLASHROM_RIG_TESTS_NAMES"
"""The variable with the path of a list of names. If the list has any, only these tests run."""
PASSED_VARIABLE = "FLASHROM_RIG_TESTS_PASSED"
"""The variable with the path of a list of names that are left out."""
RECORDER = ("-p", "tests.runner.record")
QUICK = "--quick"
NO_NEW_WORKER = ("--max-worker-restart", "0")
"""Ends the layer if a worker dies: with `loadfile`, pytest-xdist would wait for its tests."""
NOTHING_COLLECTED = 5


def run_python(
    layer: str, places: Places, selection: Selection, *, folder: str, options: Sequence[str]
) -> LayerResult:
    """Runs the selected tests in the folder; pytest itself reports progress."""
    record = places.fresh_record(layer, selection)
    names, passed = record.with_suffix(".names"), record.with_suffix(".passed")
    names.write_text("\n".join(selection.names or ()), encoding="utf-8")
    passed.write_text("\n".join(test.name for test in selection.passed), encoding="utf-8")
    words = [*RECORDER, *options, *chosen(places, folder or layer, selection)]
    variables = {VARIABLE: str(record), NAMES_VARIABLE: str(names), PASSED_VARIABLE: str(passed)}
    done = places.run(pytest_command(places, *words), **variables)
    is_sound = done.code in (0, 1) or (done.code == NOTHING_COLLECTED and not selection.is_whole)
    tests = read_record(record)
    return LayerResult(layer=layer, tests=tests, is_sound=is_sound, cpu_s=done.cpu_s)


def list_python(
    layer: str, places: Places, selection: Selection, *, folder: str, options: Sequence[str]
) -> list[str]:
    """Returns the names of the tests that would run."""
    alone = ["-n", "0"] if "-n" in options else []
    words = ["--collect-only", *options, *alone, *chosen(places, folder or layer, selection)]
    found = places.lines_of(pytest_command(places, *words))
    wanted = found if selection.names is None else selection.names
    return [name for name in found if name.startswith("tests/") and name in wanted]


def pytest_command(places: Places, *words: str) -> list[str]:
    """Returns the command line of pytest for the rig's tests."""
    own = ["-c", "rig/pyproject.toml", "--rootdir", str(places.checkout), "-q", "-rs"]
    return [str(places.python), "-m", "pytest", *own, *NO_NEW_WORKER, *words]


def chosen(places: Places, folder: str, selection: Selection) -> list[str]:
    """Returns pytest's arguments that select tests, without long ones unless all tiers run.

    It passes names of files, since pytest fails if a named test no longer exists.
    """
    words = [] if selection.all_tiers else [QUICK]
    words += ["-k", selection.words] if selection.words else []
    files = dict.fromkeys(name.partition("::")[0] for name in selection.names or ())
    found = [file for file in files if (places.checkout / file).is_file()]
    return [*words, *(found or [f"tests/{folder}"])]
