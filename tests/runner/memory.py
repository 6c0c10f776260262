# SPDX-License-Identifier: GPL-2.0-or-later
"""The tests that failed when each layer was last run."""

import json
from pathlib import Path

from tests.runner.outcome import LayerResult
from tests.runner.selection import Selection

FILE = "failed.json"


def failed_last(notes: Path) -> dict[str, list[str]]:
    """Returns the names by layer; none if the file cannot be read."""
    try:
        found: dict[str, list[str]] = json.loads((notes / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found


def remember(notes: Path, result: LayerResult, selection: Selection) -> None:
    """Adds the failed tests to the file; removes those that passed, or that no longer exist.

    A test that did not run keeps its state, also if the layer was aborted.
    """
    known = failed_last(notes)
    ran = {test.name for test in result.tests}
    gone = selection.must_run if result.is_sound else lambda _: False
    kept = [name for name in known.get(result.layer, []) if name not in ran and not gone(name)]
    known[result.layer] = sorted({*kept, *result.failed})
    notes.mkdir(parents=True, exist_ok=True)
    fresh = notes / f"{FILE}.new"
    fresh.write_text(json.dumps(known, indent=1), encoding="utf-8")
    fresh.replace(notes / FILE)
