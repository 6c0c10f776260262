# SPDX-License-Identifier: GPL-2.0-or-later
"""Snapshots on disk, and the choice of those to keep."""

import os
from pathlib import Path

import pytest
from delayrig.machine import snapshot
from delayrig.machine.snapshot import UNUSED_DROPPED_AFTER_S, drop_unused

NOW_S = 2_000_000_000


def names(folder: Path) -> set[str]:
    """Returns the names of the snapshots in the folder."""
    return {path.stem for path in folder.glob("*.snapshot")}


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


def test_least_used_go_first_where_all_take_too_much_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "ALL_BYTES_MAX", 2 * 4096)
    for hours in (0, 1, 7, 8, 9):
        folder = tmp_path / f"{hours}h.snapshot"
        folder.mkdir()
        (folder / "ram").write_bytes(bytes(4096))
        os.utime(folder, (0, NOW_S - hours * 3600))
    drop_unused(tmp_path, now_s=NOW_S)
    assert names(tmp_path) == {"0h", "1h"}
    more = tmp_path / "1h.snapshot"
    (more / "more").write_bytes(bytes(4096))
    os.utime(more, (0, NOW_S - 3600))
    drop_unused(tmp_path, now_s=NOW_S)
    assert names(tmp_path) == {"0h", "1h"}, "a run may have asked for it"
