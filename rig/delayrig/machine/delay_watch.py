# SPDX-License-Identifier: GPL-2.0-or-later
"""The request to QEMU to watch delay functions, and the file with its results.

The plugin of emulators/delay_plugin/ maps a file with the request. A QEMU that is reset continues
with another subject. While it is paused, a new request is written with the number of the new cell.
"""

import struct
from dataclasses import dataclass
from pathlib import Path

REQUEST_BYTES = 1 << 20
"""The size of a request, enough for 64 functions and 4096 marks."""
CELL_NUMBER = struct.Struct("<Q")


@dataclass(frozen=True, slots=True, kw_only=True)
class DelayWatch:
    plugin: Path
    request: Path
    """The file with the request; `write_request` makes it."""
    out: Path
    """The file with the results (emulators/delay_plugin/record.h), which may end in zeros."""
    is_virtual: bool = True
    """True if its time is QEMU's count of instructions, False if it is this machine's clock."""

    def words(self, machine: str) -> dict[str, str]:
        return {
            "machine": machine,
            "clock": "virtual" if self.is_virtual else "monotonic",
            "request": str(self.request),
            "out": str(self.out),
        }

    def saw(self) -> bytes:
        return self.out.read_bytes().partition(b"\0")[0] if self.out.is_file() else b""


def write_request(path: Path, text: str, cell: int = 1) -> None:
    """Writes the request, which is valid from now on. QEMU must be paused, or not yet started.

    The number is written last, because QEMU reacts to it.
    """
    content = text.encode("ascii") + b"\0"
    if CELL_NUMBER.size + len(content) > REQUEST_BYTES:
        raise ValueError(f"{path}: no room for {len(content)} bytes")
    with path.open("r+b" if path.is_file() else "w+b") as file:
        file.truncate(REQUEST_BYTES)
        file.seek(CELL_NUMBER.size)
        file.write(content)
        file.seek(0)
        file.write(CELL_NUMBER.pack(cell))


def read_request(path: Path) -> str:
    return path.read_bytes()[CELL_NUMBER.size :].partition(b"\0")[0].decode("ascii")
