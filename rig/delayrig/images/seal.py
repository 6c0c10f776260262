# SPDX-License-Identifier: GPL-2.0-or-later
"""What is kept of subjects and live images, with its digests beside it: is it as it was made?

It tells of damage, not of malice: whoever may write to the folder may write its digests, too.
"""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from delayrig.base import digest
from delayrig.base.atomic_file import replace_file


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
