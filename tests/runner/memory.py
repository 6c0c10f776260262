# SPDX-License-Identifier: GPL-2.0-or-later
"""What failed when each layer was run last."""

import json
from pathlib import Path

from tests.runner.outcome import LayerResult

FILE = "failed.json"


def failed_last(notes: Path) -> dict[str, list[str]]:
    """Names by layer; a note that cannot be read is none."""
    try:
        found: dict[str, list[str]] = json.loads((notes / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found


def remember(notes: Path, result: LayerResult) -> None:
    """What was not run now is as it was; a layer that broke off before its tests is all to do."""
    known = failed_last(notes)
    ran = {test.name for test in result.tests}
    kept = [name for name in known.get(result.layer, []) if name not in ran]
    known[result.layer] = sorted({*kept, *result.failed})
    notes.mkdir(parents=True, exist_ok=True)
    fresh = notes / f"{FILE}.new"
    fresh.write_text(json.dumps(known, indent=1), encoding="utf-8")
    fresh.replace(notes / FILE)
