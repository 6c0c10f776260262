# SPDX-License-Identifier: GPL-2.0-or-later
"""Layers that pytest runs."""

import subprocess
from collections.abc import Sequence

from tests.runner.outcome import LayerResult, read_record
from tests.runner.places import Places
from tests.runner.selection import Selection

VARIABLE = "FLASHROM_RIG_TESTS_RECORD"
"""The variable with the path of the file that `record.py` writes."""
NAMES_VARIABLE = "FLASHROM_RIG_TESTS_NAMES"
"""The variable with the path of a list of names; other tests are left out if it has any."""
RECORDER = ("-p", "tests.runner.record")
QUICK = "--quick"
NO_NEW_WORKER = ("--max-worker-restart", "0")
"""If a worker dies, the layer ends. With `loadfile`, pytest-xdist would wait for its tests."""
NOTHING_COLLECTED = 5


def run_python(
    layer: str, folder: str, places: Places, selection: Selection, options: Sequence[str]
) -> LayerResult:
    """Runs the selected tests below `tests/FOLDER`; pytest itself reports progress."""
    record = places.fresh_record(layer)
    names = record.with_suffix(".names")
    names.write_text("\n".join(selection.names or ()), encoding="utf-8")
    words = [*RECORDER, *tier_words(selection), *options, *chosen(places, folder, selection)]
    variables = {VARIABLE: str(record), NAMES_VARIABLE: str(names)}
    done = places.run(pytest_command(places, *words), **variables)
    is_sound = done.code in (0, 1) or (done.code == NOTHING_COLLECTED and not selection.is_whole)
    tests = read_record(record)
    return LayerResult(layer=layer, tests=tests, is_sound=is_sound, cpu_s=done.cpu_s)


def list_python(
    folder: str, places: Places, selection: Selection, options: Sequence[str]
) -> list[str]:
    """Returns the names of the tests that would run."""
    alone = ["-n", "0"] if "-n" in options else []
    words = ["--collect-only", *tier_words(selection), *options, *alone]
    words += chosen(places, folder, selection)
    done = subprocess.run(
        pytest_command(places, *words),
        cwd=places.checkout,
        env=places.environment(),
        check=False,
        capture_output=True,
        text=True,
    )
    found = [line for line in done.stdout.splitlines() if line.startswith("tests/")]
    return [name for name in found if selection.names is None or name in selection.names]


def pytest_command(places: Places, *words: str) -> list[str]:
    """Returns the command line of pytest for the rig's tests."""
    own = ["-c", "rig/pyproject.toml", "--rootdir", str(places.checkout), "-q", "-rs"]
    return [str(places.python), "-m", "pytest", *own, *NO_NEW_WORKER, *words]


def tier_words(selection: Selection) -> list[str]:
    """Returns the words that leave out long tests, unless all tiers run."""
    return [] if selection.all_tiers else [QUICK]


def chosen(places: Places, folder: str, selection: Selection) -> list[str]:
    """Returns pytest's arguments that select tests: files by name, since a test may be gone."""
    words = ["-k", selection.words] if selection.words else []
    files = dict.fromkeys(name.partition("::")[0] for name in selection.names or ())
    found = [file for file in files if (places.checkout / file).is_file()]
    return [*words, *(found or [f"tests/{folder}"])]
