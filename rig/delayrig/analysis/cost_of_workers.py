# SPDX-License-Identifier: GPL-2.0-or-later
"""What workers of this machine cost beside cells without them: whole runs, in turn."""

import os
import resource
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from delayrig.base.errors import RigFaultError
from delayrig.base.prctl import become_subreaper
from delayrig.run.resume import RESULT

FIRST = "warm"
"""The folder of the first run, which makes snapshots and is not counted."""


class RunCost(msgspec.Struct, frozen=True, kw_only=True):
    """Of one run, from its first instruction to its last."""

    cells: int
    """That were run, and not skipped."""
    wall_s: float
    cpu_s: float
    under_way_s: float
    """From the first result to the last."""


class WayCost(msgspec.Struct, frozen=True, kw_only=True):
    """Of all runs made in one way."""

    words: list[str]
    runs: list[RunCost]

    @property
    def cells_a_minute(self) -> float:
        """Of whole runs."""
        return 60 * sum(run.cells for run in self.runs) / sum(run.wall_s for run in self.runs)

    @property
    def cells_a_minute_under_way(self) -> float:
        """Once the first cell is done."""
        cells = sum(run.cells - 1 for run in self.runs)
        return 60 * cells / sum(run.under_way_s for run in self.runs)

    @property
    def cpu_s_a_cell(self) -> float:
        """Of whole runs."""
        return sum(run.cpu_s for run in self.runs) / sum(run.cells for run in self.runs)


class WorkersBenchmark(msgspec.Struct, frozen=True, kw_only=True):
    """Both ways."""

    here: WayCost
    workers: WayCost


def benchmark_workers(
    checkout: Path, plan: str, count: int, rounds: int, out: Path, began: Callable[[str], None]
) -> WorkersBenchmark:
    """So many cells at a time, in one process and through so many workers, each in turn."""
    ways = {"here": ["--jobs", f"{count}"], "workers": ["--cluster", f"local:{count}"]}
    run = [str(checkout / "rig" / "rig"), "run", "--plan", plan, "--history", "none", "--out"]
    found: dict[str, list[RunCost]] = {name: [] for name in ways}
    began("warming up")
    measure_run([*run, str(out / FIRST), *ways["here"]], out / FIRST)
    for number in range(1, rounds + 1):
        for name, words in ways.items():
            began(f"round {number} of {rounds}: {' '.join(words)}")
            place = out / f"{name}-{number}"
            found[name].append(measure_run([*run, str(place), *words], place))
    return WorkersBenchmark(
        here=WayCost(words=ways["here"], runs=found["here"]),
        workers=WayCost(words=ways["workers"], runs=found["workers"]),
    )


def measure_run(command: Sequence[str], out: Path) -> RunCost:
    """Of a command that leaves a run there, with all processes that it starts."""
    become_subreaper()  # those that outlive it count, too
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
    try:
        while True:
            os.wait()
    except ChildProcessError:
        return


def _spent_s() -> float:
    """By all children that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime
