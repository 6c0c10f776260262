# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of scheduling alone, measured with cells that do nothing."""

import asyncio
import resource
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from delayrig.base.paths import Paths
from delayrig.plan.cluster import ClusterOptions
from delayrig.run.cluster.connection import connect

LEFT_BYTES = 40_000
"""The size of a small cell's folder, compressed."""
PAGE_BYTES = resource.getpagesize()


class NoWork(msgspec.Struct, frozen=True, kw_only=True):
    """The measurements."""

    workers: int
    cells: int
    batch_cells: int
    took_s: float
    client_mib: list[float]
    """The memory of the process with client and scheduler, at each tenth of the work."""

    @property
    def tasks_a_s(self) -> float:
        """Returns the throughput of the scheduler."""
        return self.cells / self.batch_cells / self.took_s

    @property
    def cells_a_s(self) -> float:
        """Returns the throughput of cells."""
        return self.cells / self.took_s


async def do_nothing(batch: Sequence[int]) -> list[bytes]:
    """Returns the files of cells that do nothing."""
    return [bytes(LEFT_BYTES) for _ in batch]


async def measure_no_work(workers: int, cells: int, batch_cells: int, paths: Paths) -> NoWork:
    """Measures local workers, with one batch at a time for each."""
    left = iter(range(cells // batch_cells))
    tenth = max(cells // batch_cells // 10, 1)
    memory: list[float] = []

    async with connect(ClusterOptions(address="", local_workers=workers), workers, paths) as client:

        async def slot() -> None:
            for number in left:
                future = client.submit(do_nothing, range(batch_cells), pure=False)
                await future
                future.release()
                if number % tenth == 0:
                    memory.append(_own_mib())

        began_s = time.monotonic()
        async with asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(slot())
        took_s = time.monotonic() - began_s
    return NoWork(
        workers=workers,
        cells=cells,
        batch_cells=batch_cells,
        took_s=took_s,
        client_mib=memory,
    )


def _own_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * PAGE_BYTES / (1 << 20)
