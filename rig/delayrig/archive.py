# SPDX-License-Identifier: GPL-2.0-or-later
"""Byte-reproducible cpio archives: the same files give the same bytes on every machine.

The format is cpio's "newc", as the Linux kernel reads it (Documentation/driver-api/early-userspace/
buffer-format). GNU cpio would write it, too, but until 2.14 it stores the link counts of folders,
which file systems and their contents decide.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from delayrig.errors import RigFaultError

# Raised when archives come out otherwise, so that caches of older ones are not taken for newer.
FORMAT = 2
MAGIC = b"070701"
TRAILER = b"TRAILER!!!"
ALIGNMENT = 4
# One modification time of an initrd's file moved virtual time by a millisecond.
TIMESTAMP_S = 1_700_000_000
RUNNABLE, READABLE = 0o755, 0o644


def write_archive(folder: Path, archive: Path) -> None:
    """Packs everything below `folder`, in the order of names, into the new file `archive`.

    Owners are root, modes 755 or 644, times the same for all; hard links become files.
    """
    try:
        with archive.open("wb") as output:
            for inode, path in enumerate(_below(folder), start=1):
                mode, content = _mode_and_content(path)
                _write_entry(output, os.fsencode(path.relative_to(folder)), inode, mode, content)
            _write_entry(output, TRAILER, 0, 0, b"")
    except OSError as error:
        raise RigFaultError(
            f"could not write {archive}: {error.strerror}", hint="is the disk full?"
        ) from error


def _below(folder: Path) -> Iterator[Path]:
    yield from sorted(folder.rglob("*"), key=lambda path: os.fsencode(path.relative_to(folder)))


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
