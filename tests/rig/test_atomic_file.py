# SPDX-License-Identifier: GPL-2.0-or-later
"""A file is written whole or not at all, even if the disk is full."""

import os
import resource
import signal
from pathlib import Path

import pytest
from delayrig.base.atomic_file import place_folder, write_atomically
from delayrig.base.errors import BadInputError

LIMIT = 4096


def failed_at_the_limit(path: Path, content: bytes) -> str:
    """Returns the error of a write in a process whose files are limited to LIMIT bytes."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))
        try:
            write_atomically(path, content)
        except BadInputError as error:
            os.write(theirs, f"{error.message}|{error.hint}".encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as told:
        said = told.read()
    os.waitpid(child, 0)
    return said


def test_file_is_kept_and_nothing_beside_it(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a.json", b"one")
    write_atomically(tmp_path / "a.json", b"two")
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
    assert (tmp_path / "a.json").read_bytes() == b"two"


def test_full_disk_leaves_what_was_there_and_names_file_and_remedy(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_bytes(b"the old one")
    said = failed_at_the_limit(path, b"x" * (LIMIT + 1))
    assert said.startswith(f"{path}: could not be written: File too large|")
    assert "free some space" in said
    assert path.read_bytes() == b"the old one"
    assert [left.name for left in tmp_path.iterdir()] == [path.name]
    assert failed_at_the_limit(path, b"x" * LIMIT) == ""
    assert path.stat().st_size == LIMIT


def test_device_is_written_to_and_not_replaced() -> None:
    with pytest.raises(BadInputError, match="No space left on device"):
        write_atomically(Path("/dev/full"), b"x")
    assert Path("/dev/full").is_char_device()


def test_folder_that_is_not_there_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="No such file or directory"):
        write_atomically(tmp_path / "none" / "a.json", b"x")


def test_folder_that_somebody_else_made_meanwhile_stays(tmp_path: Path) -> None:
    made, folder = tmp_path / "made", tmp_path / "folder"
    for place in (made, folder):
        place.mkdir()
        (place / "whose").write_text(place.name, encoding="utf-8")
    place_folder(made, folder)
    assert (folder / "whose").read_text(encoding="utf-8") == "folder"


def test_folder_that_cannot_be_placed_is_an_error(tmp_path: Path) -> None:
    made = tmp_path / "made"
    made.mkdir()
    with pytest.raises(FileNotFoundError):
        place_folder(made, tmp_path / "nowhere" / "folder")
    place_folder(made, tmp_path / "folder")
    assert (tmp_path / "folder").is_dir()
