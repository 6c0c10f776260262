# SPDX-License-Identifier: GPL-2.0-or-later
"""Layers with a program of their own, which writes a record as those of pytest do."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.runner.outcome import LayerResult, read_record
from tests.runner.places import Places
from tests.runner.selection import Selection


def run_program(
    layer: str, places: Places, selection: Selection, words: Sequence[str]
) -> LayerResult:
    """Runs `python WORDS`, which writes the outcome of each of its tests to a record."""
    names = list_program(places, selection, words)
    if not names:
        return LayerResult(layer=layer, tests=(), is_sound=not selection.is_whole)
    record = places.fresh_record(layer)
    done = places.run([*command(places, words, record), *([] if selection.is_whole else names)])
    is_sound = done.code in (0, 1)
    tests = read_record(record)
    return LayerResult(layer=layer, tests=tests, is_sound=is_sound, cpu_s=done.cpu_s)


def list_program(places: Places, selection: Selection, words: Sequence[str]) -> list[str]:
    """Returns the names of the tests that would run."""
    done = subprocess.run(
        [places.python, *words, "--list"],
        cwd=places.checkout,
        env=places.environment(),
        check=False,
        capture_output=True,
        text=True,
    )
    return [name for name in done.stdout.splitlines() if selection.takes(name)]


def command(places: Places, words: Sequence[str], record: Path) -> list[str]:
    """Returns the command line of the program."""
    tools = ["--meson", str(places.meson), "--record", str(record)]
    return [str(places.python), *words, *tools]
