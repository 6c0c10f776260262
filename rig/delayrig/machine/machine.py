# SPDX-License-Identifier: GPL-2.0-or-later
"""The one small interface behind which guests stand."""

from pathlib import Path
from typing import Protocol


class Machine(Protocol):
    """A guest from power-on to its end. Every wait takes a limit in seconds of host time.

    All methods raise `LostGuestError` where the guest dies, hangs or answers nonsense.
    """

    async def start(self) -> None:
        """Starts the machine: it boots, or loads its snapshot and stays paused."""
        ...

    async def resume(self) -> None:
        """Lets a paused machine go on."""
        ...

    async def wait_paused(self, *, limit_s: float) -> None:
        """Waits until the guest pauses itself."""
        ...

    async def wake(self) -> None:
        """Has QEMU look at what is due; nothing changes in the guest."""
        ...

    async def save(self, path: Path, *, whole: bool, limit_s: float) -> None:
        """Writes the paused machine to the file `path`; not RAM in a file, unless `whole`."""
        ...

    async def read_memory(self, address: int, size_bytes: int, path: Path) -> None:
        """Copies physical memory of the paused machine to the file `path`."""
        ...

    async def stop(self) -> None:
        """Ends the machine and everything that belongs to it; never fails, may be repeated."""
        ...
