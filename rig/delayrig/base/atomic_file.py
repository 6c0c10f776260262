# SPDX-License-Identifier: GPL-2.0-or-later
"""Keeps a file or a folder in one step: a reader sees a whole one, never a half."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from delayrig.base.errors import BadInputError
from delayrig.setup.scratch import scratch_beside


def json_document(value: object) -> bytes:
    """For people as well: indented, with an end of line."""
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


def write_json(path: Path, value: object) -> None:
    """Writes it as such a document, or leaves what was there; raises `BadInputError`."""
    write_atomically(path, json_document(value))


def write_atomically(path: Path, content: bytes) -> None:
    """Writes all of it, or leaves what was there; raises `BadInputError` with the remedy."""
    try:
        replace_file(path, content)
    except OSError as error:
        raise BadInputError(
            f"{path}: could not be written: {os.strerror(error.errno or 0)}",
            hint="free some space there or name another place; what lay there is as it was",
        ) from error


def replace_file(path: Path, content: bytes) -> None:
    """The same; raises `OSError`. Whoever is killed meanwhile leaves what was there, too."""
    if path.exists() and not path.is_file():
        # A pipe or a terminal: nothing to put in its place.
        path.write_bytes(content)
        return
    scratch = path.with_name(f".{path.name}.new")
    try:
        scratch.write_bytes(content)
        scratch.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            scratch.unlink()
        raise


@contextlib.contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Where to make it: it gets its name once it is all there, unless somebody was faster.

    What is made beside that place, in its parent, goes.
    """
    with scratch_beside(folder) as scratch:
        made = scratch / "made"
        made.mkdir()
        yield made
        place_folder(made, folder)


def place_folder(made: Path, folder: Path) -> None:
    """Gives a whole folder its name; where somebody was faster, that one stays.

    For folders whose name says what is in them: either is as good. Raises `OSError`.
    """
    try:
        made.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise
