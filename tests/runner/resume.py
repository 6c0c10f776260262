# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of an interrupted release check, which `--resume` continues."""

import hashlib
import json
import subprocess
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from tests.runner.arguments import UsageError
from tests.runner.outcome import Outcome, read_record
from tests.runner.places import Places
from tests.runner.selection import Selection

FILE = "begun.json"
"""The file with tree and layers of the check. It is deleted when the check ends."""


def is_release_check(work: Mapping[str, Selection]) -> bool:
    """Returns True for whole layers with all tiers, which can be resumed."""
    return bool(work) and all(selection.can_be_resumed for selection in work.values())


def begin(places: Places, layers: Iterable[str]) -> None:
    """Notes tree and layers of a check that begins; deletes the notes of an earlier one."""
    places.whole_notes.mkdir(parents=True, exist_ok=True)
    for old in places.whole_notes.iterdir():
        old.unlink()
    begun = {"layers": list(layers), "tree": tree_of(places.checkout)}
    (places.whole_notes / FILE).write_text(json.dumps(begun), encoding="utf-8")


def end(places: Places) -> None:
    """Notes that the check has ended."""
    (places.whole_notes / FILE).unlink(missing_ok=True)


def interrupted_layers(places: Places) -> list[str]:
    """Returns the layers of the check that was interrupted.

    Raises UsageError if none was, or if the tree has changed since.
    """
    try:
        begun = json.loads((places.whole_notes / FILE).read_text(encoding="utf-8"))
        layers, tree = [str(name) for name in begun["layers"]], begun["tree"]
    except (OSError, ValueError, KeyError, TypeError):
        raise UsageError("--resume: no run with --all was interrupted here") from None
    if tree != tree_of(places.checkout):
        raise UsageError("--resume: the tree has changed since; run it anew with --all")
    return layers


def tree_of(checkout: Path) -> str:
    """Returns a digest of the checkout's commit, its changes and its new files."""
    digest = hashlib.sha256()
    for words in (["rev-parse", "HEAD"], ["diff", "--binary", "HEAD"]):
        digest.update(_git(checkout, *words))
    for name in _git(checkout, "ls-files", "-z", "-o", "--exclude-standard").split(b"\0"):
        file = checkout / name.decode("utf-8", "surrogateescape")
        digest.update(name + (file.read_bytes() if name and file.is_file() else b""))
    return digest.hexdigest()


def _git(checkout: Path, *words: str) -> bytes:
    done = subprocess.run(["git", "-C", checkout, *words], capture_output=True, check=False)
    return done.stdout


def without_passed(places: Places, work: Mapping[str, Selection]) -> dict[str, Selection]:
    """Returns the selections without the tests that passed before the interruption."""
    found = {}
    for name, selection in work.items():
        tests = read_record(places.record(name, selection))
        passed = tuple(test for test in tests if test.outcome is Outcome.PASSED)
        found[name] = replace(selection, passed=passed)
    return found


def begin_layer(record: Path) -> float:
    """Notes the time at which the layer of that record begins.

    Returns the seconds that it took before an interruption.
    """
    clock = record.with_suffix(".began")
    before_s = _spent_s(clock, record)
    clock.parent.mkdir(parents=True, exist_ok=True)
    clock.write_text(f"{time.time()} {before_s}", encoding="utf-8")
    return before_s


def _spent_s(clock: Path, record: Path) -> float:
    """Returns the seconds from the start of the layer to the end of its last test."""
    if not (clock.exists() and record.exists()):
        return 0.0
    began_s, before_s = map(float, clock.read_text(encoding="utf-8").split())
    return before_s + max(0.0, record.stat().st_mtime - began_s)
