# SPDX-License-Identifier: GPL-2.0-or-later
"""What is kept on disk, with its digests beside it or before it: is it as it was made?

It tells of damage, not of malice: whoever may write to the folder may write its digests, too.
"""

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from delayrig.base import digest
from delayrig.base.atomic_file import replace_file, whole_folder

FILE_NAME = "seal.json"


@contextmanager
def sealed_folder(folder: Path) -> Iterator[Path]:
    """Where to make the folder, which then gets its name with the digests of all its files.

    What is damaged there is thrown away. Where another run was faster, that one's stays.
    """
    if fault_of(folder):
        shutil.rmtree(folder, ignore_errors=True)
    with whole_folder(folder) as made:
        yield made
        write_seal(made / FILE_NAME, made, files_below(made))


def fault_of(folder: Path) -> str:
    """The first file there that is not as it was made, and how; empty where all are."""
    return broken_seal(folder / FILE_NAME, folder)


def again(folder: Path, fault: str) -> str:
    """What follows the name of what is made: why it is made again, if it was there before."""
    return f" again: {fault}" if folder.is_dir() else ""


def sealed(content: bytes) -> bytes:
    return digest.of_bytes(content).encode() + b"\n" + content


def unsealed(kept: bytes) -> bytes | None:
    """The content again; None where it is not as it was made."""
    if kept.startswith(b"{"):
        return kept  # JSON of an older rig, which had no digest before it
    known, _, content = kept.partition(b"\n")
    return content if known == digest.of_bytes(content).encode() else None


def write_seal(seal: Path, folder: Path, names: Iterable[str]) -> None:
    """Notes the digests of those files below `folder`."""
    found = {name: digest.of_file(folder / name) for name in sorted(names)}
    replace_file(seal, msgspec.json.encode(found))


def broken_seal(seal: Path, folder: Path) -> str:
    """The first file that is not as it was made, and how; empty where all are."""
    try:
        known = msgspec.json.decode(seal.read_bytes(), type=dict[str, str])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return f"{seal.name} is missing or damaged"
    for name, expected in known.items():
        path = folder / name
        if not path.is_file():
            return f"{name} is missing"
        if digest.of_file(path) != expected:
            return f"{name} is not as it was made"
    return "" if known else f"{seal.name} is empty"


def files_below(folder: Path) -> list[str]:
    """By their names from there; links are none."""
    found = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sorted(str(path.relative_to(folder)) for path in found)
