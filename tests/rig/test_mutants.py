# SPDX-License-Identifier: GPL-2.0-or-later
"""The changes that `tests/mutants.py` tries."""

from pathlib import Path

from tests.mutants import Source


def test_coroutine_is_changed_too(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("async def ask():\n    return 1 < two\n", encoding="utf-8")
    found = {change.text for change in Source(str(tmp_path / "a.py")).mutants()}
    assert {" <= ", "(None)"} <= found
