# SPDX-License-Identifier: GPL-2.0-or-later
"""Snapshots on disk: which are kept."""

import os
from pathlib import Path

from delayrig.machine.snapshot import UNUSED_DROPPED_AFTER_S, drop_unused

NOW_S = 2_000_000_000


def test_snapshots_that_nobody_asked_for_lately_are_dropped(tmp_path: Path) -> None:
    ages_s = {"new": 0, "kept": UNUSED_DROPPED_AFTER_S, "old": UNUSED_DROPPED_AFTER_S + 1}
    for name, age_s in ages_s.items():
        folder = tmp_path / f"{name}.snapshot"
        folder.mkdir()
        (folder / "ram").write_bytes(b"x")
        os.utime(folder, (NOW_S - age_s, NOW_S - age_s))
    others = tmp_path / "boot-of-another-run"
    others.mkdir()
    os.utime(others, (0, 0))
    drop_unused(tmp_path, now_s=NOW_S)
    assert {p.name for p in tmp_path.iterdir()} == {"new.snapshot", "kept.snapshot", others.name}


def test_folder_without_snapshots_stays_as_it_is(tmp_path: Path) -> None:
    drop_unused(tmp_path / "none", now_s=NOW_S)
    assert not (tmp_path / "none").exists()
