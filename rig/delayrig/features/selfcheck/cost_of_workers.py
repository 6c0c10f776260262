# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of workers: runs with and without them in turn, and transferring a cell's folder."""

import os
import resource
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from delayrig.base.die_with_parent import become_subreaper
from delayrig.base.errors import BadInputError, RigFaultError
from delayrig.base.scratch import ScratchFolder
from delayrig.features.selfcheck.benchmark import FIRST
from delayrig.model.cell import Cell
from delayrig.run.artifact_transfer import pack_left, unpack_left
from delayrig.run.cell_runner import cell_folder, keep_result
from delayrig.run.resume import CELL, RESULT


class RunCost(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of one run, from its first instruction to its last."""

    cells: int
    """The cells that were run, and not skipped."""
    wall_s: float
    cpu_s: float
    under_way_s: float
    """The time from the first result to the last."""


class WayCost(msgspec.Struct, frozen=True, kw_only=True):
    words: list[str]
    runs: list[RunCost]

    @property
    def cells_a_minute(self) -> float:
        return 60 * sum(run.cells for run in self.runs) / sum(run.wall_s for run in self.runs)

    @property
    def cells_a_minute_under_way(self) -> float:
        """Returns the throughput after the first cell."""
        cells = sum(run.cells - 1 for run in self.runs)
        return 60 * cells / sum(run.under_way_s for run in self.runs)

    @property
    def cpu_s_a_cell(self) -> float:
        return sum(run.cpu_s for run in self.runs) / sum(run.cells for run in self.runs)


class WorkersBenchmark(msgspec.Struct, frozen=True, kw_only=True):
    here: WayCost
    workers: WayCost


def benchmark_workers(
    checkout: Path, plan: str, count: int, rounds: int, out: Path, began: Callable[[str], None]
) -> WorkersBenchmark:
    """Measures runs of `count` cells at a time, in one process and in `count` workers, in turn.

    Raises `BadInputError` for a plan of one cell, because nothing follows its first.
    """
    ways = {"here": ["--jobs", f"{count}"], "workers": ["--cluster", f"local:{count}"]}
    run = [str(checkout / "rig" / "rig"), "run", "--plan", plan, "--history", "none", "--out"]
    found: dict[str, list[RunCost]] = {name: [] for name in ways}
    began("warming up")
    if measure_run([*run, str(out / FIRST), *ways["here"]], out / FIRST).cells == 1:
        raise BadInputError(f"plan {plan}: runs one cell", hint="name a plan of several cells")
    for number in range(1, rounds + 1):
        for name, words in ways.items():
            began(f"round {number} of {rounds}: {' '.join(words)}")
            place = out / f"{name}-{number}"
            found[name].append(measure_run([*run, str(place), *words], place))
    costs = {name: WayCost(words=words, runs=found[name]) for name, words in ways.items()}
    return WorkersBenchmark(**costs)


def measure_run(command: Sequence[str], out: Path) -> RunCost:
    """Runs a command that leaves a run in `out`, and returns the cost of all its processes."""
    become_subreaper()  # Processes that outlive the command count, too.
    before_s, began_s = _spent_s(), time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wall_s = time.monotonic() - began_s
    _reap_all()
    moments = sorted(path.stat().st_mtime for path in out.glob(f"*/{RESULT}"))
    if not moments:
        raise RigFaultError(f"{' '.join(command)}: {done.stderr.strip()}", hint="rig/rig doctor")
    return RunCost(
        cells=len(moments),
        wall_s=wall_s,
        cpu_s=_spent_s() - before_s,
        under_way_s=moments[-1] - moments[0],
    )


def _reap_all() -> None:
    """Waits for processes whose parent has ended before them."""
    with suppress(ChildProcessError):
        while True:
            os.wait()


def _spent_s() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


class CarryingCost(msgspec.Struct, frozen=True, kw_only=True):
    """Mean costs over the cells of a run."""

    cells: int
    pack_cpu_s: float
    """The CPU time on the worker."""
    take_cpu_s: float
    """The CPU time in the run's own process, which receives the cells of all workers."""
    left_bytes: float
    packed_bytes: float


def measure_carrying(run: Path) -> CarryingCost:
    """Measures the packing and unpacking of the cells of a run, whose folder is not changed."""
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
