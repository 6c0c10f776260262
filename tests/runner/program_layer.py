# SPDX-License-Identifier: GPL-2.0-or-later
"""Layers with their own program, which writes a record as pytest does in the other layers."""

from collections.abc import Sequence
from pathlib import Path

from tests.runner.outcome import LayerResult, read_record
from tests.runner.places import Places
from tests.runner.selection import Selection


def run_program(
    layer: str,
    places: Places,
    selection: Selection,
    *,
    words: Sequence[str],
    in_quick: Sequence[str],
) -> LayerResult:
    """Runs `python WORDS`, which writes the outcome of each of its tests to a record."""
    names = list_program(layer, places, selection, words=words)
    if not names:
        return LayerResult(layer=layer, tests=selection.passed, is_sound=not selection.is_whole)
    record = places.fresh_record(layer, selection)
    options: list[str | Path] = ["--meson", places.meson, "--record", record]
    options += [] if selection.all_tiers else in_quick
    options += [] if selection.is_whole else names
    done = places.run([places.python, *words, *options])
    is_sound = done.code in (0, 1)
    tests = read_record(record)
    return LayerResult(layer=layer, tests=tests, is_sound=is_sound, cpu_s=done.cpu_s)


def list_program(
    _layer: str, places: Places, selection: Selection, *, words: Sequence[str]
) -> list[str]:
    """Returns the names of the tests that would run."""
    names = places.lines_of([places.python, *words, "--list"])
    return [name for name in names if selection.takes(name)]
