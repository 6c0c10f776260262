# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that repeated cells are exactly the same, under conditions that must not matter."""

import asyncio
import contextlib
import os
import shutil
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import msgspec

from delayrig.base.atomic_file import write_json
from delayrig.base.errors import ExitCode
from delayrig.base.paths import Paths
from delayrig.decision.two_runs import ComparedRun, compare_exactly, compared_run
from delayrig.lanes.header import libvirt_version
from delayrig.machine.arguments import pinned
from delayrig.machine.embedded_libvirt import EMBED
from delayrig.machine.vm_pool import RESET_NOTE
from delayrig.model.programmers import device_of
from delayrig.model.result import RunHeader
from delayrig.plan.request import Request
from delayrig.run.runner import Progress, run_side_by_side

SCHEMA = 1
FILE_NAME = "determinism.json"
SHAPES = Path(__file__).with_name("determinism.toml")
# The first half of a round has every condition; the second has no fresh snapshots, which are slow.
ROUND = 16


class Condition(msgspec.Struct, frozen=True, kw_only=True):
    """The conditions of a repeat that must not matter."""

    loaded: bool
    libvirt: bool
    fresh: bool
    reset: bool = False

    def __str__(self) -> str:
        words = (
            "host loaded" if self.loaded else "no load added",
            "libvirt" if self.libvirt else "plain QEMU",
            "fresh snapshots" if self.fresh else "stored snapshots",
            "guests reset to their snapshot" if self.reset else "",
        )
        return ", ".join(filter(None, words))


class Repeat(msgspec.Struct, frozen=True, kw_only=True):
    """One repeat, compared with the first one, which is compared with itself."""

    number: int
    condition: Condition
    compared: int
    reset: int = msgspec.field(default=0, name="rewound")
    """The number of cells whose guest had run a cell before."""
    differences: list[str] = []
    doubts: list[str] = []


class Determinism(msgspec.Struct, frozen=True, kw_only=True):
    """The whole answer. `not_tried` names the conditions that it does not cover."""

    schema: int = SCHEMA
    seed: int
    shapes: list[str]
    repeats_planned: int
    interrupted: bool
    run: RunHeader | None
    repeats: list[Repeat]
    not_tried: list[str]

    @property
    def exit_code(self) -> ExitCode:
        """Returns the exit code. A rig that is not deterministic is itself at fault."""
        if any(repeat.differences for repeat in self.repeats):
            return ExitCode.RIG_FAULT
        doubtful = self.interrupted or any(repeat.doubts for repeat in self.repeats)
        return ExitCode.INCONCLUSIVE if doubtful else ExitCode.PASS


def condition_of(number: int, *, has_libvirt: bool) -> Condition:
    """Returns the condition of a repeat.

    In a round, half of the repeats run under load, a quarter through libvirt, an eighth from fresh
    snapshots, and three eighths in guests that are reset.
    """
    place = number % ROUND
    return Condition(
        loaded=place % 2 == 1,
        libvirt=has_libvirt and place % 8 in (2, 3),
        fresh=place in (4, 5),
        reset=place in (6, 7, 12, 13, 14, 15),
    )


def untried(repeats: list[Repeat], *, has_libvirt: bool) -> list[str]:
    """Returns the conditions that no repeat had."""
    made = [repeat.condition for repeat in repeats]
    libvirt = "libvirt" if has_libvirt else "libvirt (its binding is not installed)"
    missing = {
        "a loaded host": not any(condition.loaded for condition in made),
        libvirt: not any(condition.libvirt for condition in made),
        "guests reset to their snapshot": not any(repeat.reset for repeat in repeats),
        "fresh snapshots": not any(condition.fresh for condition in made),
        "another host": True,
    }
    return [what for what, is_missing in missing.items() if is_missing]


@contextlib.asynccontextmanager
async def host_load(*, wanted: bool) -> AsyncIterator[None]:
    """Runs a busy loop on every CPU that guests may use, until the context ends, if `wanted`."""
    hogs = [
        await asyncio.create_subprocess_exec(*pinned(cpu, [sys.executable, "-c", "while True: 0"]))
        for cpu in (os.sched_getaffinity(0) if wanted else ())
    ]
    try:
        yield
    finally:
        for hog in hogs:
            hog.kill()
        for hog in hogs:
            await asyncio.shield(hog.wait())


async def repeat_shapes(
    request: Request,
    paths: Paths,
    *,
    repeats: int,
    progress: Progress,
    finished: Callable[[Repeat], None],
) -> Determinism:
    """Repeats all cells of the request. Keeps the results even if it is interrupted."""
    has_libvirt = bool(libvirt_version())
    done: list[Repeat] = []
    header: RunHeader | None = None
    try:
        for number in range(repeats):
            condition = condition_of(number, has_libvirt=has_libvirt)
            header, repeat = await _repeat(request, paths, number, condition, progress)
            done.append(repeat)
            finished(repeat)
    finally:
        answer = Determinism(
            seed=request.seed,
            shapes=[cell.id for cell in request.cells],
            repeats_planned=repeats,
            interrupted=len(done) < repeats,
            run=header,
            repeats=done,
            not_tried=untried(done, has_libvirt=has_libvirt),
        )
        write_json(request.out / FILE_NAME, answer)
    return answer


async def _repeat(
    request: Request, paths: Paths, number: int, condition: Condition, progress: Progress
) -> tuple[RunHeader, Repeat]:
    out = repeat_folder(request.out, number)
    out.mkdir()
    fresh = out / "snapshots"
    again = replace(
        request,
        out=out,
        cells=[cell for cell in request.cells if not (condition.libvirt and device_of(cell))],
        connect=EMBED if condition.libvirt else None,
        reuses_guests=condition.reset,
    )
    # A guest runs each cell twice, so that it is reset before the second.
    before = [replace(again, out=out / "before")] if condition.reset else []
    places = replace(paths, other_snapshots=fresh) if condition.fresh else paths
    try:
        async with host_load(wanted=condition.loaded):
            *_, results = await run_side_by_side([*before, again], places, progress)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    # The first repeat is compared with itself, which shows whether it is complete.
    first = compared_run(repeat_folder(request.out, 0))
    if condition.libvirt:
        first = _without_devices(first, again, results.run)
    comparison = compare_exactly(first, compared_run(out))
    logs = [log for cell in again.cells if (log := out / cell.id / "qemu.log").is_file()]
    reset = sum(log.read_text(errors="replace").startswith(RESET_NOTE) for log in logs)
    if number > 0 and comparison.exit_code is ExitCode.PASS:
        shutil.rmtree(out)
    return results.run, Repeat(
        number=number,
        condition=condition,
        compared=comparison.compared,
        reset=reset,
        differences=comparison.differences,
        doubts=comparison.doubts,
    )


def _without_devices(first: ComparedRun, again: Request, header: RunHeader) -> ComparedRun:
    """Returns the first run without the cells that libvirt, which lacks our devices, cannot run."""
    wanted = {cell.id for cell in again.cells}
    digests = first.results.run.image_digests
    part = msgspec.structs.replace(
        first.results,
        cells=[cell for cell in first.results.cells if cell.id in wanted],
        run=msgspec.structs.replace(
            first.results.run,
            cells_planned=len(wanted),
            image_digests={name: digests[name] for name in digests.keys() & header.image_digests},
        ),
    )
    return replace(first, results=part)


def repeat_folder(out: Path, number: int) -> Path:
    """Returns the folder of a repeat. A later one that is the same as the first is deleted."""
    return out / f"repeat-{number:03}"
