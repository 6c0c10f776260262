# SPDX-License-Identifier: GPL-2.0-or-later
"""Byte-reproducible cpio archives: the same files give the same bytes on every machine.

The format is cpio's "newc", as the Linux kernel reads it (Documentation/driver-api/early-userspace/
buffer-format). GNU cpio writes it, too, but up to 2.14 it stores the link counts of folders, which
differ between file systems.
"""

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from delayrig.base.errors import RigFaultError

# Raise this number when `write_archive` packs files differently: cached archives are then remade.
FORMAT = 2
MAGIC = b"070701"
TRAILER = b"TRAILER!!!"
ALIGNMENT = 4
HEADER_FIELDS = 13
HEADER_BYTES = len(MAGIC) + 8 * HEADER_FIELDS
HEADER = re.compile(MAGIC + rb"([0-9A-Fa-f]{8})" * HEADER_FIELDS)
# All files get this time: one file's modification time moved virtual time by a millisecond.
TIMESTAMP_S = 1_700_000_000
RUNNABLE, READABLE = 0o755, 0o644


def write_archive(folder: Path, archive: Path) -> None:
    """Packs everything below `folder`, in the order of names, into the new file `archive`.

    All files belong to root, have mode 755 or 644 and the same time. A hard link becomes a separate
    file.
    """
    try:
        with archive.open("wb") as output:
            below = {os.fsencode(path.relative_to(folder)): path for path in folder.rglob("*")}
            for inode, (name, path) in enumerate(sorted(below.items()), start=1):
                _write_entry(output, name, inode, *_mode_and_content(path))
            _write_entry(output, TRAILER, 0, 0, b"")
    except OSError as error:
        raise RigFaultError(
            f"could not write {archive}: {error.strerror}", hint="is the disk full?"
        ) from error


def unpack_archive(archive: Path, folder: Path) -> None:
    """Unpacks an archive of `write_archive` into `folder`, which must exist."""
    folder.chmod(RUNNABLE)
    for name, mode, content in _entries(memoryview(archive.read_bytes())):
        place = folder / os.fsdecode(name)
        if stat.S_ISLNK(mode):
            place.symlink_to(os.fsdecode(bytes(content)))
        elif stat.S_ISDIR(mode):
            place.mkdir()
            place.chmod(RUNNABLE)  # in spite of the umask: other users read it, too
        else:
            place.write_bytes(content)
            place.chmod(stat.S_IMODE(mode))


def _entries(archive: memoryview) -> Iterator[tuple[bytes, int, memoryview]]:
    """Yields the name, mode and content of each entry."""
    at = 0
    while True:
        header = HEADER.fullmatch(archive, at, at + HEADER_BYTES)
        if header is None:
            raise _damaged()
        fields = [int(field, 16) for field in header.groups()]
        mode, size, name_size = fields[1], fields[6], fields[11]
        name_at = at + HEADER_BYTES
        name = bytes(archive[name_at : name_at + name_size - 1])
        if name == TRAILER:
            return
        content_at = name_at + name_size
        content_at += -(content_at - at) % ALIGNMENT
        content = archive[content_at : content_at + size]
        if len(content) < size:
            raise _damaged()
        yield name, mode, content
        at = content_at + size + -size % ALIGNMENT


def _damaged() -> RigFaultError:
    return RigFaultError(
        "an archive of a subject is damaged", hint="run `rig/rig clean`, and start again"
    )


def _mode_and_content(path: Path) -> tuple[int, bytes]:
    if path.is_symlink():
        return stat.S_IFLNK | 0o777, os.fsencode(path.readlink())
    if path.is_dir():
        return stat.S_IFDIR | RUNNABLE, b""
    runnable = path.stat().st_mode & stat.S_IXUSR
    return stat.S_IFREG | (RUNNABLE if runnable else READABLE), path.read_bytes()


def _write_entry(output: BinaryIO, name: bytes, inode: int, mode: int, content: bytes) -> None:
    links = 2 if stat.S_ISDIR(mode) else 1
    owner = group = device = 0
    fields = (
        *(inode, mode, owner, group, links, TIMESTAMP_S if mode else 0, len(content)),
        *(device, device, device, device, len(name) + 1, 0),
    )
    header = MAGIC + b"".join(b"%08X" % field for field in fields) + name + b"\0"
    output.write(header + _padding(len(header)))
    output.write(content)
    output.write(_padding(len(content)))


def _padding(size: int) -> bytes:
    return bytes(-size % ALIGNMENT)
