# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of cells on this host: by stage, alone and together, restored and booted.

It also measures the stages from a first start to the first verdict; a stage ends when the next one
begins. It measures the cost of workers by runs with and without them in turn, and the transfer of
cells' folders.
"""

import os
import re
import resource
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import msgspec

from delayrig.base.atomic_file import write_json
from delayrig.base.die_with_parent import become_subreaper
from delayrig.base.errors import BadInputError, ExitCode, RigFaultError
from delayrig.base.paths import Paths
from delayrig.base.scratch import ScratchFolder
from delayrig.lanes.stages import ENDED as JOB
from delayrig.lanes.stages import FILE_NAME as STAGES_FILE
from delayrig.lanes.stages import STAGES
from delayrig.model.cell import Cell
from delayrig.model.result import HostFacts, Results, Verdict
from delayrig.plan.request import Request
from delayrig.run.artifact_transfer import pack_left, unpack_left
from delayrig.run.cell_runner import cell_folder, keep_result
from delayrig.run.resume import CELL, RESULT
from delayrig.run.runner import Progress, run_request
from delayrig.setup.layout import STATE_VARIABLE

SCHEMA = 2
FILE_NAME = "benchmark.json"
FIRST = "warm"
"""The folder of the first run, which makes snapshots and is not counted."""
BEGINNINGS = (("set-up: ", None), ("making snapshot ", "snapshots"), ("making ", "images"))
"""The prefix of a line that begins a stage, and the stage's name; None: the rest of the line."""
LAUNCHER = "launcher"
VERDICT = re.compile(r"\[1/[0-9]+\] ")
ANSWERS = (ExitCode.PASS, ExitCode.UNSAFE, ExitCode.INCONCLUSIVE, ExitCode.SKIPPED)
"""The exit codes of a run that was finished."""
SELF_AND_CHILDREN = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
END_S = 60
"""The time that a run may take to end after the signal."""


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of one way to run cells: host time of the median cell and of all, and CPU time."""

    cells: int
    median_s: float
    wall_s: float
    cpu_s: float
    jobs: int

    @property
    def cells_a_minute(self) -> float:
        """Returns the throughput, including judging."""
        return 60 * self.cells / self.wall_s


class Stage(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    median_s: float
    total_s: float


class JobCost(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of one cell that was run alone: its job on the host, and the chip's work."""

    cell: str
    job_s: float
    """Host time from the subject's connection to its end."""
    total_s: float
    """Guest time of the subject's whole run."""
    chip_busy_s: float
    transfers: int

    @property
    def times_faster(self) -> float:
        """Returns the busy time of the chip, divided by the host time of the job."""
        return self.chip_busy_s / self.job_s


class CellBenchmark(msgspec.Struct, frozen=True, kw_only=True):
    schema: int = SCHEMA
    plan: str
    host: HostFacts
    alone: Cost
    stages: list[Stage]
    jobs: list[JobCost]
    """The cost of each cell, the longest on the host first."""
    together: Cost
    apart: Cost
    """The cost of the same cells, as many at a time, with a QEMU for each."""
    restored: Cost
    """The cost of the cells of `booted`, restored one at a time, with a QEMU for each."""
    booted: Cost


async def benchmark_cells(
    request: Request, paths: Paths, *, boots: int, progress: Progress, began: Callable[[str], None]
) -> CellBenchmark:
    """Runs all cells several times, and boots some of them; writes the measurements."""

    async def measure(name: str, what: str, asked: Request) -> tuple[Results, Cost]:
        began(what)
        return await _measure(replace(asked, out=request.out / name), paths, progress)

    # Before the measurement, make the snapshots and fill the page cache.
    await measure(FIRST, "warming up", request)
    alone_request = replace(request, jobs=1, stages=True)
    first, alone = await measure("alone", "one cell at a time", alone_request)
    at_once = f"{request.jobs} cells at a time"
    _, together = await measure("together", at_once, request)
    apart_request = replace(request, reuses_guests=False)
    _, apart = await measure("apart", f"{at_once}, a QEMU for each", apart_request)
    some = replace(apart_request, jobs=1, cells=sample(request.cells, boots))
    _, restored = await measure("restored", "some of them restored, one at a time", some)
    _, booted = await measure("booted", "the same booted", replace(some, from_boot=True))
    lengths = read_stages(request.out / "alone", first)
    answer = CellBenchmark(
        plan=request.plan,
        host=first.run.host,
        alone=alone,
        stages=fold_stages(list(lengths.values())),
        jobs=job_costs(lengths, first),
        together=together,
        apart=apart,
        restored=restored,
        booted=booted,
    )
    write_json(request.out / FILE_NAME, answer)
    return answer


def sample(cells: list[Cell], wanted: int) -> list[Cell]:
    """Returns that many cells, evenly spread."""
    return cells[:: max(len(cells) // wanted, 1)][:wanted]


def read_stages(out: Path, results: Results) -> dict[str, dict[str, float]]:
    """Returns the seconds of each stage by cell, for cells that recorded them."""
    files = {cell.id: out / cell.id / STAGES_FILE for cell in results.cells}
    return {
        cell: msgspec.json.decode(file.read_bytes(), type=dict[str, float])
        for cell, file in files.items()
        if file.is_file()
    }


def fold_stages(cells: list[dict[str, float]]) -> list[Stage]:
    found = {name: [cell[name] for cell in cells if name in cell] for name in STAGES}
    return [
        Stage(name=name, median_s=statistics.median(lengths), total_s=sum(lengths))
        for name, lengths in found.items()
        if lengths
    ]


def job_costs(stages: dict[str, dict[str, float]], results: Results) -> list[JobCost]:
    """Returns the host cost of each job, the most expensive first."""
    costs = [
        JobCost(
            cell=cell.id,
            job_s=stages[cell.id][JOB],
            total_s=cell.time_ns.total / 1e9,
            chip_busy_s=cell.chip_busy_ns / 1e9,
            transfers=cell.transfers,
        )
        for cell in results.cells
        if stages.get(cell.id, {}).get(JOB, 0) > 0
    ]
    return sorted(costs, key=lambda cost: cost.job_s, reverse=True)


async def _measure(request: Request, paths: Paths, progress: Progress) -> tuple[Results, Cost]:
    request.out.mkdir()
    began_s, began_cpu_s = time.monotonic(), _cpu_s(*SELF_AND_CHILDREN)
    results = await run_request(request, paths, progress)
    wall_s, cpu_s = time.monotonic() - began_s, _cpu_s(*SELF_AND_CHILDREN) - began_cpu_s
    times = [cell.host_s for cell in results.cells if cell.verdict is not Verdict.SKIPPED]
    if not times:
        raise BadInputError(
            "benchmark: every cell was skipped",
            hint=f"{request.out}/results.json says why; name cells that this machine can run",
        )
    return results, Cost(
        cells=len(times),
        median_s=statistics.median(times),
        wall_s=wall_s,
        cpu_s=cpu_s,
        jobs=request.jobs,
    )


def _cpu_s(*whose: int) -> float:
    """Returns the CPU time of this process, of all children that it waited for, or of both."""
    usages = [resource.getrusage(who) for who in whose]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


class StartStage(NamedTuple):
    name: str
    took_s: float


def measure_start(checkout: Path, plan: str, folder: Path) -> list[StartStage]:
    """Starts the rig with a new state below `folder`; returns the stages up to a verdict."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="start-") as scratch:
        words = ["run", "--plan", plan, "--out", f"{scratch}/out", "--history", "none"]
        began_s = time.monotonic()
        with subprocess.Popen(
            [str(checkout / "rig" / "rig"), "--yes", *words, "--no-color"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, STATE_VARIABLE: f"{scratch}/state"},
        ) as process:
            assert process.stderr is not None
            try:
                timed = ((time.monotonic(), line.rstrip()) for line in process.stderr)
                return list(stages_of(timed, began_s))
            finally:
                process.send_signal(signal.SIGINT)
                try:
                    process.communicate(timeout=END_S)
                except subprocess.TimeoutExpired:
                    process.kill()


def stages_of(lines: Iterable[tuple[float, str]], began_s: float) -> Iterator[StartStage]:
    """Yields the stages of a run from its timed lines of output, up to the first verdict."""
    name, since_s, last_line = LAUNCHER, began_s, ""
    for now_s, line in lines:
        last_line = line
        if VERDICT.match(line):
            yield StartStage(name, now_s - since_s)
            return
        begun = _stage_begun(line)
        if begun and begun != name:
            yield StartStage(name, now_s - since_s)
            name, since_s = begun, now_s
    raise RigFaultError(
        f"the start ended before its first verdict: {last_line}", hint="rig/rig doctor"
    )


def _stage_begun(line: str) -> str:
    for beginning, name in BEGINNINGS:
        if line.startswith(beginning):
            found = name or line.removeprefix(beginning)
            return "handing over" if found.startswith("done in") else found
    return ""


class RunCost(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of one run, from its first instruction to its last."""

    cells: int
    """The number of cells that were run, and not skipped."""
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

    Raises `BadInputError` for a plan of one cell: it has no throughput after the first cell.
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
    before_s, began_s = _cpu_s(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wall_s = time.monotonic() - began_s
    with suppress(ChildProcessError):
        while True:  # Wait for processes whose parent has ended before them.
            os.wait()
    ended_s = sorted(path.stat().st_mtime for path in out.glob(f"*/{RESULT}"))
    if done.returncode not in ANSWERS or not ended_s:
        raise RigFaultError(f"{' '.join(command)}: {done.stderr.strip()}", hint="rig/rig doctor")
    return RunCost(
        cells=len(ended_s),
        wall_s=wall_s,
        cpu_s=_cpu_s(resource.RUSAGE_CHILDREN) - before_s,
        under_way_s=ended_s[-1] - ended_s[0],
    )


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
