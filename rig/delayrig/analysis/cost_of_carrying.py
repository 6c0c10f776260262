# SPDX-License-Identifier: GPL-2.0-or-later
"""What it costs to carry a cell's folder from a worker to its run: CPU of both, and bytes."""

import time
from pathlib import Path

import msgspec

from delayrig.base.errors import BadInputError
from delayrig.base.scratch import ScratchFolder
from delayrig.model.cell import Cell
from delayrig.run.artifact_transfer import pack_left, unpack_left
from delayrig.run.cell_runner import cell_folder, keep_result
from delayrig.run.resume import CELL, RESULT


class CarryingCost(msgspec.Struct, frozen=True, kw_only=True):
    """Means over the cells of a run."""

    cells: int
    pack_cpu_s: float
    """On the worker."""
    take_cpu_s: float
    """In the run's own process, which takes in the cells of all workers."""
    left_bytes: float
    packed_bytes: float


def measure_carrying(run: Path) -> CarryingCost:
    """Of the cells in the folder of that run, which stays as it is."""
    folders = sorted(path.parent for path in run.glob(f"*/{RESULT}"))
    if not folders:
        raise BadInputError(f"{run}: holds no cell", hint="name the --out folder of a run")
    pack_s = take_s = packed_bytes = left_bytes = 0.0
    with ScratchFolder() as scratch:
        for folder in folders:
            cell = msgspec.json.decode((folder / CELL).read_bytes(), type=Cell)
            began_s = time.process_time()
            packed = pack_left(folder)
            packed_s = time.process_time()
            place = cell_folder(cell, Path(scratch))
            keep_result(unpack_left(packed, place), place)
            pack_s += packed_s - began_s
            take_s += time.process_time() - packed_s
            packed_bytes += len(packed)
            left_bytes += sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return CarryingCost(
        cells=len(folders),
        pack_cpu_s=pack_s / len(folders),
        take_cpu_s=take_s / len(folders),
        left_bytes=left_bytes / len(folders),
        packed_bytes=packed_bytes / len(folders),
    )
