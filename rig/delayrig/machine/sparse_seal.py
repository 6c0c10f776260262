# SPDX-License-Identifier: GPL-2.0-or-later
"""Files with their digests beside them, which show damage when they are used again.

Stretches of zeros do not count, so holes of a file cost nothing, and may be filled. A digest is
made of CRCs, because it need not resist attacks (`subjects/seal.py`): they are four times as fast
as a secure hash.
"""

import hashlib
import os
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from delayrig.base.atomic_file import replace_file
from delayrig.subjects.seal import broken_seal, read_seal, write_seal

FILE_NAME = "digests.json"
STRETCH_BYTES = 1 << 16
ZEROS = bytes(STRETCH_BYTES)


def seal(folder: Path) -> None:
    names = [path.name for path in folder.iterdir() if path.name != FILE_NAME]
    write_seal(folder / FILE_NAME, folder, names, _digest)


def add_to_seal(folder: Path, file: Path) -> None:
    """Records the digest of a file that will be put into the folder under the same name."""
    digests = read_seal(folder / FILE_NAME) | {file.name: _digest(file)}
    replace_file(folder / FILE_NAME, msgspec.json.encode(digests))


def damaged(folder: Path, later: Sequence[str] = ()) -> str:
    """Returns the first file that changed, and how; empty if none did.

    Files of `later` may be missing.
    """
    if fault := broken_seal(folder / FILE_NAME, folder, _digest, later):
        return fault
    known = {*read_seal(folder / FILE_NAME), FILE_NAME}
    unknown = sorted({path.name for path in folder.iterdir()} - known)
    return f"{unknown[0]} has no digest" if unknown else ""


def _digest(path: Path) -> str:
    """Returns a digest of the length, and of position and content of all non-zero stretches."""
    with path.open("rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        found = hashlib.blake2b(size.to_bytes(8), digest_size=32)
        for start, content in _stretches(file.fileno(), size):
            if content != ZEROS[: len(content)]:
                found.update(start.to_bytes(8) + zlib.crc32(content).to_bytes(4))
    return found.hexdigest()


def _stretches(file: int, size: int) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < size:
        try:
            data = os.lseek(file, at, os.SEEK_DATA)
        except OSError:
            return  # The rest up to the end is a hole.
        begin = data // STRETCH_BYTES * STRETCH_BYTES
        at = begin + STRETCH_BYTES
        yield begin, os.pread(file, STRETCH_BYTES, begin)
