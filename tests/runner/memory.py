# SPDX-License-Identifier: GPL-2.0-or-later
"""The tests that failed when each layer was last run."""

import json
from pathlib import Path

from tests.runner.outcome import LayerResult

FILE = "failed.json"


def failed_last(notes: Path) -> dict[str, list[str]]:
    """Returns the names by layer; none if the file cannot be read."""
    try:
        found: dict[str, list[str]] = json.loads((notes / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found


def remember(notes: Path, result: LayerResult) -> None:
    """Adds the failed tests to the file, and removes those that passed.

    A test that was not run keeps its state, also if the layer broke off.
    """
    known = failed_last(notes)
    ran = {test.name for test in result.tests}
    kept = [name for name in known.get(result.layer, []) if name not in ran]
    known[result.layer] = sorted({*kept, *result.failed})
    notes.mkdir(parents=True, exist_ok=True)
    fresh = notes / f"{FILE}.new"
    fresh.write_text(json.dumps(known, indent=1), encoding="utf-8")
    fresh.replace(notes / FILE)
