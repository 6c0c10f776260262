# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest from its pause at the snapshot to the results in its window of memory.

images/agent/cell.h describes the layout of the results.
"""

import struct
from pathlib import Path

from delayrig.base.errors import LostGuestError
from delayrig.machine.arguments import WINDOW_BYTES, window_address
from delayrig.machine.machine import Machine
from delayrig.model.shape import GuestShape

CELL_LIMIT_S = 300.0
MAGIC = b"FDRPARC1"
HEADER = struct.Struct("<8sQQ")
ENTRY = struct.Struct("<QQ")

ENTRIES = {
    *("agent.jsonl", "bridge.log", "chip.bin", "cyclictest.json", "dummy.jsonl", "emulator.log"),
    *("events.jsonl", "host.jsonl", "image.sparse", "read.bin", "stdout.txt"),
}


async def finish_guest(
    machine: Machine, shape: GuestShape, scratch: Path, *, limit_s: float = CELL_LIMIT_S
) -> dict[str, bytes]:
    """Runs the guest from the pause of the snapshot, and returns the results of its cell."""
    await machine.resume()
    await machine.wait_paused(limit_s=limit_s)
    return await read_results(machine, shape, scratch)


async def read_results(machine: Machine, shape: GuestShape, scratch: Path) -> dict[str, bytes]:
    address, window = window_address(shape), scratch / "window"
    await machine.read_memory(address, HEADER.size, window)
    used = parcel_bytes(window.read_bytes(), window_bytes=WINDOW_BYTES)
    await machine.read_memory(address, used, window)
    entries = unpack(window.read_bytes())
    if unknown := entries.keys() - ENTRIES:
        raise LostGuestError(f"the guest sent {', '.join(sorted(unknown))} without being asked")
    return entries


def parcel_bytes(header: bytes, *, window_bytes: int) -> int:
    """Returns the size of the parcel with its header; raises `LostGuestError` without a parcel."""
    if len(header) < HEADER.size:
        raise LostGuestError("the guest's parcel has no header")
    magic, used, _ = HEADER.unpack_from(header)
    if magic != MAGIC:
        raise LostGuestError("the guest stopped without leaving its results")
    if not HEADER.size <= used <= window_bytes:
        raise LostGuestError(f"the guest's parcel claims {used} bytes")
    return int(used)


def unpack(parcel: bytes) -> dict[str, bytes]:
    """Returns every entry by name.

    Raises `LostGuestError` if the parcel is cut short, has a name twice, or has bytes left over.
    """
    if len(parcel) < HEADER.size:
        raise LostGuestError("the guest's parcel has no header")
    _, _, count = HEADER.unpack_from(parcel)
    entries: dict[str, bytes] = {}
    at = HEADER.size
    for _ in range(count):
        if at + ENTRY.size > len(parcel):
            raise LostGuestError("the guest's parcel is cut short")
        name_bytes, content_bytes = ENTRY.unpack_from(parcel, at)
        at += ENTRY.size
        end = at + name_bytes + content_bytes
        if end > len(parcel):
            raise LostGuestError("the guest's parcel is cut short")
        name = parcel[at : at + name_bytes].decode("ascii", errors="replace")
        if name in entries:
            raise LostGuestError(f"the guest's parcel holds {name!r} twice")
        entries[name] = parcel[at + name_bytes : end]
        at = end
    if at != len(parcel):
        raise LostGuestError("the guest's parcel has bytes left over")
    return entries
