# SPDX-License-Identifier: GPL-2.0-or-later
"""Files with their digests beside them: whoever uses them again knows whether they are as made.

Pages of zeros count by their place alone, so holes of a file cost nothing, and may be filled.
It tells of damage, not of malice: whoever may write to the folder may write its digests, too.
"""

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from delayrig.base.atomic_file import replace_file

FILE_NAME = "digests.json"
PAGE_BYTES = 4096
ZEROS = bytes(PAGE_BYTES)


def seal(folder: Path) -> None:
    """Notes the digests of all files there."""
    names = sorted(path.name for path in folder.iterdir() if path.name != FILE_NAME)
    _write(folder, {name: _digest(folder / name) for name in names})


def add_to_seal(folder: Path, file: Path) -> None:
    """Notes that of a file that comes into the folder next, by the same name."""
    _write(folder, _read(folder) | {file.name: _digest(file)})


def damaged(folder: Path, later: Sequence[str] = ()) -> str:
    """The first file that is not as it was made, and how; empty where all are.

    Those of `later` need not be there yet.
    """
    known = _read(folder)
    if not known:
        return f"{FILE_NAME} is missing or damaged"
    for name, digest in known.items():
        path = folder / name
        if not path.is_file() and name in later:
            continue
        if not path.is_file():
            return f"{name} is missing"
        if _digest(path) != digest:
            return f"{name} is not as it was made"
    unknown = sorted({path.name for path in folder.iterdir()} - {*known, FILE_NAME})
    return f"{unknown[0]} has no digest" if unknown else ""


def _write(folder: Path, digests: dict[str, str]) -> None:
    replace_file(folder / FILE_NAME, msgspec.json.encode(digests))


def _read(folder: Path) -> dict[str, str]:
    try:
        return msgspec.json.decode((folder / FILE_NAME).read_bytes(), type=dict[str, str])
    except (OSError, msgspec.DecodeError):
        return {}


def _digest(path: Path) -> str:
    found = hashlib.blake2b(digest_size=32)
    with path.open("rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        found.update(size.to_bytes(8))
        for start, page in _pages(file.fileno(), size):
            if page != ZEROS[: len(page)]:
                found.update(start.to_bytes(8))
                found.update(page)
    return found.hexdigest()


def _pages(file: int, size: int) -> Iterator[tuple[int, bytes]]:
    """Each page in which there is data, with where it begins."""
    at = 0
    while at < size:
        try:
            data = os.lseek(file, at, os.SEEK_DATA)
        except OSError:
            return  # nothing but a hole up to the end
        begin = max(at, data // PAGE_BYTES * PAGE_BYTES)
        hole = os.lseek(file, data, os.SEEK_HOLE)
        at = min(-(-hole // PAGE_BYTES) * PAGE_BYTES, size)
        yield from _pages_between(file, begin, at)


def _pages_between(file: int, begin: int, end: int) -> Iterator[tuple[int, bytes]]:
    stretch = 256 * PAGE_BYTES
    for start in range(begin, end, stretch):
        content = os.pread(file, min(stretch, end - start), start)
        for offset in range(0, len(content), PAGE_BYTES):
            yield start + offset, content[offset : offset + PAGE_BYTES]
