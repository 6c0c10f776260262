# SPDX-License-Identifier: GPL-2.0-or-later
"""What cells are run with: the guest image, the subjects, a snapshot for every shape."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec

from delayrig.cell import Cell
from delayrig.errors import BadInputError
from delayrig.guest.kept import KeptGuests
from delayrig.guest.platform import Arch
from delayrig.guest.shape import GuestShape
from delayrig.guest.snapshot import provide_snapshot, snapshot_path
from delayrig.images.foreign import provide_natives
from delayrig.images.guest_image import GuestImage, provide_guest_image
from delayrig.images.kernel import Kernel, provide_kernel
from delayrig.images.library import provide_library
from delayrig.images.recipes import Recipes
from delayrig.images.subject import Subject, provide_bridge, provide_subject, wrong_machine
from delayrig.paths import Paths

SNAPSHOT_BYTES = 110 << 20
K = TypeVar("K")
V = TypeVar("V")


class Preparing(Protocol):
    """Is told what is being provided."""

    def __call__(self, what: str) -> None:
        """`what` is about to be made."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Supplies:
    """Everything that a cell needs and that is the same for many cells."""

    images: dict[Arch, GuestImage]
    kernels: dict[str, Kernel]
    bridges: dict[Arch, Subject]
    subjects: dict[tuple[str, Arch], Subject]
    """But for those that guests of that architecture cannot run."""
    libraries: dict[str, Subject]
    """By subject, but for those of which no library is known."""
    snapshots: dict[GuestShape, Path]

    def image_of(self, shape: GuestShape) -> GuestImage:
        """What guests of that shape boot."""
        return image_with(self.images[shape.arch], self.kernels, shape)

    def subject_of(self, cell: Cell) -> Subject | None:
        """What is put to the test there; None where there is no such thing."""
        if cell.in_library:
            return self.libraries.get(cell.subject)
        return self.subjects.get((cell.subject, cell.arch))

    @property
    def programs(self) -> list[Subject]:
        """All that was packed."""
        return [*self.subjects.values(), *self.libraries.values(), *self.bridges.values()]


def image_with(image: GuestImage, kernels: dict[str, Kernel], shape: GuestShape) -> GuestImage:
    """The image with the kernel that the shape asks for."""
    if not shape.kernel:
        return image
    kernel = kernels[shape.kernel]
    return msgspec.structs.replace(image, kernel=kernel.path, kernel_sha256=kernel.sha256)


class CpuPool:
    """Host CPUs to run guests on: each guest keeps to one, up to `jobs` guests at a time.

    Of those that came to the end of their cell, so many wait for another one as can run.
    """

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self.guests = KeptGuests(jobs)
        cpus = sorted(os.sched_getaffinity(0))
        self._free: asyncio.Queue[int] = asyncio.Queue()
        for job in range(jobs):
            self._free.put_nowait(cpus[job % len(cpus)])

    @asynccontextmanager
    async def one(self) -> AsyncIterator[int]:
        """Waits for a free CPU and lends it."""
        cpu = await self._free.get()
        try:
            yield cpu
        finally:
            self._free.put_nowait(cpu)


async def provide_supplies(
    *,
    cells: Iterable[Cell],
    with_snapshots: bool = True,
    recipes: Recipes,
    paths: Paths,
    pool: CpuPool,
    preparing: Preparing,
) -> Supplies:
    """Fetches, packs and boots what is not there yet, for those cells."""
    cells = list(cells)
    guest_images = await _for_each(
        dict.fromkeys(cell.arch for cell in cells),
        lambda arch: _provide_guest(arch, recipes, paths, preparing),
    )
    bridges = await _for_each(
        dict.fromkeys(cell.arch for cell in cells if cell.bridged),
        lambda arch: provide_bridge(recipes, paths, preparing, arch),
    )
    programs = dict.fromkeys((cell.subject, cell.arch) for cell in cells if not cell.in_library)
    packed = await _for_each(
        (program for program in programs if not wrong_machine(*program)),
        lambda program: provide_subject(program[0], recipes, paths, preparing, program[1]),
    )
    libraries = await _for_each(
        dict.fromkeys(cell.subject for cell in cells if cell.in_library),
        lambda name: provide_library(name, recipes, paths, preparing),
    )
    shapes = sorted({cell.shape for cell in cells if with_snapshots})
    kernels = {
        name: await asyncio.to_thread(provide_kernel, name, recipes.kernels[name], paths, preparing)
        for name in sorted({shape.kernel for shape in shapes if shape.kernel})
    }
    images = {shape: image_with(guest_images[shape.arch], kernels, shape) for shape in shapes}
    snapshots = await _provide_snapshots(images, paths, pool, preparing)
    return Supplies(
        images=guest_images,
        kernels=kernels,
        bridges=bridges,
        subjects=packed,
        libraries={name: library for name, library in libraries.items() if library},
        snapshots=snapshots,
    )


async def _for_each(keys: Iterable[K], provide: Callable[[K], V]) -> dict[K, V]:
    """All at once: what has to be fetched is mostly waited for."""
    async with asyncio.TaskGroup() as group:
        tasks = {key: group.create_task(asyncio.to_thread(provide, key)) for key in keys}
    return {key: task.result() for key, task in tasks.items()}


def _provide_guest(arch: Arch, recipes: Recipes, paths: Paths, preparing: Preparing) -> GuestImage:
    """What guests of that architecture boot, with our own programs for it."""
    provide_natives(arch, paths, preparing)
    return provide_guest_image(recipes.guest, paths, preparing, arch)


async def _provide_snapshots(
    images: dict[GuestShape, GuestImage], paths: Paths, pool: CpuPool, preparing: Preparing
) -> dict[GuestShape, Path]:
    missing = [s for s, image in images.items() if not snapshot_path(s, image, paths).is_dir()]
    _check_space(len(missing), paths)

    async def provide(shape: GuestShape) -> Path:
        async with pool.one() as cpu:
            if shape in missing:
                preparing(f"snapshot of {shape.name}")
            return await provide_snapshot(shape, images[shape], paths, cpu)

    async with asyncio.TaskGroup() as group:
        tasks = {shape: group.create_task(provide(shape)) for shape in images}
    return {shape: task.result() for shape, task in tasks.items()}


def _check_space(snapshots: int, paths: Paths) -> None:
    paths.state.mkdir(parents=True, exist_ok=True)
    needed, free = snapshots * SNAPSHOT_BYTES, shutil.disk_usage(paths.state).free
    if free < needed:
        raise BadInputError(
            f"{paths.state}: {free >> 20} MiB free, and {snapshots} snapshots of guests"
            f" need {needed >> 20} MiB",
            hint="free some space, or set FLASHROM_RIG_STATE to a folder that has it",
        )
