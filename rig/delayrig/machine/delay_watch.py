# SPDX-License-Identifier: GPL-2.0-or-later
"""How QEMU is told which delay functions to look at, and where it leaves what it saw.

The plugin of emulators/delays/ maps a file of wishes. A QEMU that is reset goes on with another
subject: what it is to look at is written anew while it is paused, under the number of its cell.
"""

import struct
from dataclasses import dataclass
from pathlib import Path

WISH_BYTES = 1 << 20
"""Room for 16 functions and 4096 marks of theirs."""
CELL_NUMBER = struct.Struct("<Q")


@dataclass(frozen=True, slots=True, kw_only=True)
class DelayWatch:
    plugin: Path
    wish: Path
    """What it is to look at; `write_wish` makes it."""
    out: Path
    """What it saw (emulators/delays/record.h); zeros may follow."""
    is_virtual: bool = True
    """Whether its time is QEMU's count of instructions; else it is this machine's clock."""

    def words(self, machine: str) -> dict[str, str]:
        return {
            "machine": machine,
            "clock": "virtual" if self.is_virtual else "monotonic",
            "wish": str(self.wish),
            "out": str(self.out),
        }

    def saw(self) -> bytes:
        return self.out.read_bytes().partition(b"\0")[0] if self.out.is_file() else b""


def write_wish(path: Path, text: str, cell: int = 1) -> None:
    """Has the plugin look at that from now on; QEMU must be paused, or not started yet.

    The number comes last: QEMU goes by it.
    """
    content = text.encode("ascii") + b"\0"
    if CELL_NUMBER.size + len(content) > WISH_BYTES:
        raise ValueError(f"{path}: no room for {len(content)} bytes")
    with path.open("r+b" if path.is_file() else "w+b") as file:
        file.truncate(WISH_BYTES)
        file.seek(CELL_NUMBER.size)
        file.write(content)
        file.seek(0)
        file.write(CELL_NUMBER.pack(cell))


def read_wish(path: Path) -> str:
    return path.read_bytes()[CELL_NUMBER.size :].partition(b"\0")[0].decode("ascii")
