# SPDX-License-Identifier: GPL-2.0-or-later
"""Transfers the content of a cell's folder from the worker that ran it."""

import zlib
from pathlib import Path, PurePosixPath

import msgspec

from delayrig.base.errors import RigFaultError
from delayrig.model.result import CellResult
from delayrig.run.resume import RESULT

LEFT_BYTES_MAX = 512 << 20
"""The largest total size of the files that a cell may leave.

A virtual cell leaves at most some 110 MB of events, and three images of its chip.
"""
COMPRESSION_LEVEL = 1


def pack_left(folder: Path) -> bytes:
    """Packs all files below the folder; raises `RigFaultError` if they are too large."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    size_bytes = sum(path.stat().st_size for path in paths)
    if size_bytes > LEFT_BYTES_MAX:
        raise RigFaultError(
            f"{folder.name}: left {size_bytes >> 20} MiB, and no more than"
            f" {LEFT_BYTES_MAX >> 20} MiB are carried",
            hint="run this cell without --cluster",
        )
    files = {str(path.relative_to(folder)): path.read_bytes() for path in paths}
    return zlib.compress(msgspec.msgpack.encode(files), COMPRESSION_LEVEL)


def unpack_left(packed: bytes, folder: Path) -> CellResult:
    """Writes the files into the folder, and returns the result.

    The result is not written, because its file would mark the cell as done. Raises `RigFaultError`
    if the content cannot be read.
    """
    try:
        unpacked = zlib.decompressobj().decompress(packed, 2 * LEFT_BYTES_MAX)
        files = msgspec.msgpack.decode(unpacked, type=dict[str, bytes])
        result = msgspec.json.decode(files.pop(RESULT), type=CellResult)
    except (zlib.error, msgspec.MsgspecError, KeyError) as error:
        raise RigFaultError(f"{folder.name}: the files from its worker are damaged") from error
    for name, content in files.items():
        place = folder / checked_name(name)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return result


def checked_name(name: str) -> PurePosixPath:
    """Returns the name as a path; raises `RigFaultError` if it may lead out of the folder."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise RigFaultError(f"a worker sent a file named {name!r}, which is not allowed")
    return path
