# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest from its pause at the snapshot to the results that it leaves."""

from pathlib import Path

from delayrig.base.errors import LostGuestError
from delayrig.machine import parcel
from delayrig.machine.arguments import WINDOW_BYTES, window_address
from delayrig.machine.machine import Machine
from delayrig.model.shape import GuestShape

CELL_LIMIT_S = 300.0

ENTRIES = {
    "agent.jsonl",
    "bridge.log",
    "chip.bin",
    "cyclictest.json",
    "dummy.jsonl",
    "emulator.log",
    "events.jsonl",
    "host.jsonl",
    "image.sparse",
    "read.bin",
    "stdout.txt",
}


async def finish_guest(
    machine: Machine, shape: GuestShape, scratch: Path, *, limit_s: float = CELL_LIMIT_S
) -> dict[str, bytes]:
    """From the pause of the snapshot through its cell; returns what it left for the host."""
    await machine.resume()
    await machine.wait_paused(limit_s=limit_s)
    return await read_results(machine, shape, scratch)


async def read_results(machine: Machine, shape: GuestShape, scratch: Path) -> dict[str, bytes]:
    address, window = window_address(shape), scratch / "window"
    await machine.read_memory(address, parcel.HEADER.size, window)
    used = parcel.parcel_bytes(window.read_bytes(), window_bytes=WINDOW_BYTES)
    await machine.read_memory(address, used, window)
    entries = parcel.unpack(window.read_bytes())
    if unknown := entries.keys() - ENTRIES:
        raise LostGuestError(f"the guest sent {', '.join(sorted(unknown))} without being asked")
    return entries
