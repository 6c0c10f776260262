# SPDX-License-Identifier: GPL-2.0-or-later
"""Restores the RAM of a paused QEMU to the snapshot, and keeps its translations.

A guest that resumed from a snapshot maps the file of its RAM privately, so the host's kernel knows
which pages the guest has changed: they are no longer the file's. These are restored from the file.
If another snapshot is restored, the pages in which the two files differ are restored as well. QEMU
must forget its translations of these pages, and only of them. It does so when a device, or a test
tool (qtest), writes to them. All other translations stay, which are most of what a cell runs: the
kernel, the agent, the emulator.

Sources: Linux Documentation/admin-guide/mm/pagemap (bits 61 to 63), process_vm_writev(2); QEMU
docs/devel/testing/qtest.
"""

import contextlib
import ctypes
import errno
import hashlib
import itertools
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from delayrig.base.errors import LostGuestError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PAGE_BYTES = 4096
ENTRY_BYTES = 8
MAPS_FIELDS = 6
OF_FILE, IN_MEMORY = 61, 62
ANSWER = b"OK"
QTEST_LIMIT_S = 60.0
VECTORS_MAX = 1024
"""The number of vectors in one call (UIO_MAXIOV)."""
MEMSET_BYTES = 1 << 16
"""The most bytes of one request. QEMU allocates a buffer of that size, which must be cheap."""
PAGES_MAX = 128 << 20 >> 12
"""The most pages to restore. With more, a new start is as quick, and frees host memory."""
ASKED_AT_ONCE = 512
"""The number of requests at once, few enough that no side blocks on the other's full buffer."""
DIGESTS = "digests"
"""The file beside the RAM with the digest of each of its pages."""
DIGEST_BYTES = 16


_write_to_process = ctypes.CDLL(None).process_vm_writev
_VECTORS = (ctypes.c_void_p, ctypes.c_ulong)
_write_to_process.argtypes = [ctypes.c_int, *_VECTORS, *_VECTORS, ctypes.c_ulong]
_write_to_process.restype = ctypes.c_ssize_t


@dataclass(frozen=True, slots=True)
class Stretch:
    """Adjacent pages of RAM, from `start` bytes of its file on."""

    start: int
    size: int


class CannotResetError(Exception):
    """The guest cannot be reset. Another one can be started instead."""


def write_digests(ram: Path) -> None:
    """Writes the digest of each page, to compare files by. The digest of a page of zeros is 0."""
    zeros = bytes(PAGE_BYTES)
    size = ram.stat().st_size
    with ram.open("rb", buffering=0) as file, ram.with_name(DIGESTS).open("wb") as digests:
        digests.truncate(size // PAGE_BYTES * DIGEST_BYTES)
        for stretch in _data_in(file.fileno(), Stretch(0, size)):
            content = os.pread(file.fileno(), stretch.size, stretch.start)
            for at in range(0, len(content), PAGE_BYTES):
                page = content[at : at + PAGE_BYTES]
                if page != zeros:
                    digests.seek((stretch.start + at) // PAGE_BYTES * DIGEST_BYTES)
                    digests.write(hashlib.blake2b(page, digest_size=DIGEST_BYTES).digest())


def stale_stretches(process: int, ram: Path, content: Path) -> list[Stretch]:
    """Returns the pages of this process that may differ from `content`.

    The process maps the file `ram`; `content` is another such file, or the same.
    """
    import numpy as np  # It takes longer to load than a reset, and most commands do not need it.

    begin, end = _mapping_of(process, ram)
    with Path(f"/proc/{process}/pagemap").open("rb", buffering=0) as file:
        file.seek(begin // PAGE_BYTES * ENTRY_BYTES)
        entries = np.frombuffer(file.read((end - begin) // PAGE_BYTES * ENTRY_BYTES), np.uint64)
    if len(entries) != (end - begin) // PAGE_BYTES:
        raise CannotResetError(f"/proc/{process}/pagemap is too short")
    is_there = (entries >> np.uint64(IN_MEMORY)) != 0
    is_the_files = (entries >> np.uint64(OF_FILE)) & np.uint64(1) != 0
    stale = is_there & ~is_the_files
    if not content.samefile(ram):
        stale |= _differ(ram, content)
    changed = np.nonzero(stale)[0]
    if len(changed) > PAGES_MAX:
        raise CannotResetError(f"{len(changed)} pages have changed")
    rows = np.split(changed, np.nonzero(np.diff(changed) != 1)[0] + 1) if len(changed) else []
    return [Stretch(int(row[0]) * PAGE_BYTES, len(row) * PAGE_BYTES) for row in rows]


def forget_translations(qtest: socket.socket, base: int, stretches: list[Stretch]) -> None:
    """Makes QEMU drop the translations of the stretches, by writing zeros to them. Blocks.

    `base` is the physical address of RAM.
    """
    lines = [
        f"memset {base + at:#x} {min(MEMSET_BYTES, one.start + one.size - at):#x} 0x0\n"
        for one in stretches
        for at in range(one.start, one.start + one.size, MEMSET_BYTES)
    ]
    qtest.settimeout(QTEST_LIMIT_S)
    answered = 0
    with contextlib.suppress(TimeoutError), qtest.makefile("rb") as answers:
        for begin in range(0, len(lines), ASKED_AT_ONCE):
            asked = lines[begin : begin + ASKED_AT_ONCE]
            qtest.sendall("".join(asked).encode())
            for answer in itertools.islice(answers, len(asked)):
                if answer.strip() != ANSWER:
                    raise LostGuestError(f"QEMU's answer to memset is {answer!r}")
                answered += 1
    if answered != len(lines):
        raise LostGuestError(f"QEMU wrote {answered} of {len(lines)} stretches of memory")


def put_back(process: int, ram: Path, stretches: list[Stretch], content: Path) -> None:
    """Writes the stretches of `content` to the process.

    Omits the holes of the file, where `forget_translations` has written zeros.
    """
    import numpy as np

    begin, _ = _mapping_of(process, ram)
    with content.open("rb", buffering=0) as file:
        parts = [part for whole in stretches for part in _data_in(file.fileno(), whole)]
    source = np.memmap(content, np.uint8, mode="r")
    places = np.array([(part.start, part.size) for part in parts], np.uint64).reshape(-1, 2)
    for some in np.split(places, range(VECTORS_MAX, len(places), VECTORS_MAX)):
        # These are addresses with lengths, as in `struct iovec`.
        ours, theirs = (
            some + np.array((address, 0), np.uint64) for address in (source.ctypes.data, begin)
        )
        done = _write_to_process(
            process, ours.ctypes.data, len(ours), theirs.ctypes.data, len(theirs), 0
        )
        if done != some[:, 1].sum():
            raise LostGuestError(f"could not write to the memory of process {process}")


def _data_in(file: int, whole: Stretch) -> Iterator[Stretch]:
    """Yields the parts of the file that are not holes (lseek(2), SEEK_DATA)."""
    at, end = whole.start, whole.start + whole.size
    while at < end:
        try:
            begin = os.lseek(file, at, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # There is no more data.
                return
            raise
        if begin >= end:
            return
        at = min(os.lseek(file, begin, os.SEEK_HOLE), end)
        yield Stretch(begin, at - begin)


def _mapping_of(process: int, ram: Path) -> tuple[int, int]:
    """Returns begin and end of a process's mapping of that file.

    Raises `CannotResetError` if the file is not mapped in one piece.
    """
    for line in Path(f"/proc/{process}/maps").read_text(errors="replace").splitlines():
        fields = line.split(maxsplit=5)
        if len(fields) == MAPS_FIELDS and fields[-1] == str(ram):
            begin, end = (int(address, 16) for address in fields[0].split("-"))
            if end - begin == ram.stat().st_size:
                return begin, end
    raise CannotResetError(f"process {process} does not map {ram} in one piece")


def _differ(ram: Path, other: Path) -> "NDArray[np.bool_]":
    import numpy as np

    one, two = (
        np.memmap(path.with_name(DIGESTS), np.uint64, mode="r").reshape(-1, DIGEST_BYTES // 8)
        for path in (ram, other)
    )
    if one.shape != two.shape:
        raise CannotResetError(f"{ram} and {other} have different sizes")
    differ: NDArray[np.bool_] = (one[:, 0] != two[:, 0]) | (one[:, 1] != two[:, 1])
    return differ
