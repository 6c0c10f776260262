# SPDX-License-Identifier: GPL-2.0-or-later
"""Replaces a file or makes a folder in one step, so that nobody reads half of it."""

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import msgspec

from delayrig.base.errors import BadInputError
from delayrig.setup.scratch import scratch_beside


def json_document(value: object) -> bytes:
    """Returns the value as indented JSON with a final newline, for people to read as well."""
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


def write_json(path: Path, value: object) -> None:
    """Writes the value as indented JSON in one step.

    If that fails, the old file stays and `BadInputError` is raised.
    """
    write_atomically(path, json_document(value))


def write_atomically(path: Path, content: bytes) -> None:
    """Writes the content in one step.

    If that fails, the old file stays and `BadInputError` is raised, with the remedy.
    """
    try:
        replace_file(path, content)
    except OSError as error:
        raise BadInputError(
            f"{path}: could not be written: {os.strerror(error.errno or 0)}",
            hint="free some space there or name another place; an old file there is unchanged",
        ) from error


def replace_file(path: Path, content: bytes, *, mode: int | None = None) -> None:
    """Writes content and mode in one step: the old or the new file remains. Raises `OSError`.

    Several processes may write the same file.
    """
    if path.exists() and not path.is_file():
        # A pipe or a terminal cannot be replaced, so it is written to.
        path.write_bytes(content)
        return
    scratch = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
    try:
        scratch.write_bytes(content)
        if mode is not None:
            scratch.chmod(mode)
        scratch.replace(path)
    finally:
        with contextlib.suppress(OSError):
            scratch.unlink()


@contextlib.contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Yields a new folder to fill, and renames it to `folder` if the block raises nothing.

    If another process made `folder` meanwhile, that one stays. Files that the block leaves in the
    parent of the yielded folder are removed.
    """
    with scratch_beside(folder) as scratch:
        made = scratch / "made"
        made.mkdir()
        yield made
        place_folder(made, folder)


def place_folder(made: Path, folder: Path) -> None:
    """Renames a finished folder to `folder`. If another process made that first, that one stays.

    The name must determine the contents, so that both are equal. Raises `OSError`.
    """
    try:
        made.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise
