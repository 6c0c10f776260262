# SPDX-License-Identifier: GPL-2.0-or-later
"""The inputs of cells: the guest images, the subjects, a snapshot for every shape."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from delayrig.base.errors import BadInputError, LostGuestError, NotProvidedError
from delayrig.base.paths import Paths, Preparing
from delayrig.hazards.of_cell import is_in_library, shape_of
from delayrig.machine.snapshot import drop_damaged, provide_snapshot, snapshot_path
from delayrig.machine.vm_pool import VmPool
from delayrig.model.cell import Cell
from delayrig.model.platform import Arch
from delayrig.model.programmers import device_of
from delayrig.model.result import NotProvided
from delayrig.model.shape import GuestShape
from delayrig.subjects.guest_image import (
    GuestImage,
    Kernel,
    provide_device_image,
    provide_guest_image,
    provide_kernel,
    with_kernel,
)
from delayrig.subjects.own_programs import provide_natives, provide_qemu
from delayrig.subjects.recipes import Recipes
from delayrig.subjects.saved_programs import provide_program, provide_program_library
from delayrig.subjects.subject import BRIDGE, Subject, provide_tool, wrong_machine

SNAPSHOT_BYTES = 110 << 20
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(frozen=True, slots=True, kw_only=True)
class Goods:
    """Images, kernels and programs that are files on this machine."""

    images: dict[Arch, GuestImage]
    device_images: dict[Arch, GuestImage]
    """Images of guests that have a programmer as a device, with the chip behind it."""
    kernels: dict[str, Kernel]
    bridges: dict[Arch, Subject]
    subjects: dict[tuple[str, Arch], Subject]
    """Subjects by name and architecture, without those that the architecture cannot run."""
    libraries: dict[str, Subject]
    """Libraries by subject, without subjects for which no library is known."""

    def image_of(self, shape: GuestShape) -> GuestImage:
        image = (self.device_images if shape.programmer else self.images)[shape.arch]
        return with_kernel(image, self.kernels[shape.kernel]) if shape.kernel else image


@dataclass(frozen=True, slots=True, kw_only=True)
class Supplies(Goods):
    snapshots: "Snapshots"
    missing: dict[Hashable, NotProvided]
    """The parts that the archive did not deliver, by `Need` and key."""

    def missing_for(self, cell: Cell) -> NotProvided | None:
        return next((self.missing[need] for need in needs_of(cell) if need in self.missing), None)

    @property
    def not_provided(self) -> list[NotProvided]:
        return sorted(set(self.missing.values()), key=lambda missing: missing.what)

    def subject_of(self, cell: Cell) -> Subject | None:
        if is_in_library(cell):
            return self.libraries.get(cell.subject)
        return self.subjects.get((cell.subject, cell.arch))

    @property
    def programs(self) -> list[Subject]:
        return [*self.subjects.values(), *self.libraries.values(), *self.bridges.values()]


def supplies_of(
    goods: Goods,
    shapes: Iterable[GuestShape],
    missing: dict[Hashable, NotProvided],
    paths: Paths,
    preparing: Preparing,
) -> Supplies:
    """Returns the goods with snapshots of those shapes, which are made when they are needed."""
    return Supplies(
        **{field.name: getattr(goods, field.name) for field in fields(Goods)},
        snapshots=Snapshots({shape: goods.image_of(shape) for shape in shapes}, paths, preparing),
        missing=missing,
    )


class Need(StrEnum):
    GUEST = "guest"
    KERNEL = "kernel"
    BRIDGE = "bridge"
    SUBJECT = "subject"
    LIBRARY = "library"
    LIVE = "live"
    """The image of guests of the live lane; it has no key."""


def needs_of(cell: Cell) -> list[Hashable]:
    """Returns the inputs of a cell, as keys of `Supplies.missing`."""
    subject: Hashable = (Need.SUBJECT, (cell.subject, cell.arch))
    if is_in_library(cell):
        subject = (Need.LIBRARY, cell.subject)
    needs: list[Hashable] = [(Need.GUEST, cell.arch), subject]
    needs += [(Need.KERNEL, shape_of(cell).kernel)] if shape_of(cell).kernel else []
    return needs + ([(Need.BRIDGE, cell.arch)] if cell.bridged else [])


class CpuPool:
    """Host CPUs to run guests on, each guest on one of them, up to `jobs` guests at a time.

    Guests whose cell has ended wait for another cell, by default as many as can run.
    """

    def __init__(self, jobs: int, cpus: Sequence[int] = (), *, waiting: int = 0) -> None:
        """Takes the CPUs (default: this process's), and how many guests wait (default: `jobs`)."""
        self.jobs = jobs
        self.guests = VmPool(waiting or jobs)
        self.missing: dict[Hashable, NotProvided] = {}
        """The parts that the archive did not deliver. Other runs of this pool do not ask again."""
        cpus = cpus or sorted(os.sched_getaffinity(0))
        self._free: asyncio.Queue[int] = asyncio.Queue()
        for job in range(jobs):
            self._free.put_nowait(cpus[job % len(cpus)])

    @asynccontextmanager
    async def one(self) -> AsyncIterator[int]:
        cpu = await self._free.get()
        try:
            yield cpu
        finally:
            self._free.put_nowait(cpu)


class Snapshots:
    """The snapshot of each shape, booted when the first cell of that shape needs it."""

    def __init__(
        self, images: dict[GuestShape, GuestImage], paths: Paths, preparing: Preparing
    ) -> None:
        self._images = images
        self._paths = paths
        self._preparing = preparing
        self._made: dict[GuestShape, Path | LostGuestError] = {}
        self._locks = {shape: asyncio.Lock() for shape in images}

    @property
    def shapes(self) -> list[GuestShape]:
        return list(self._images)

    async def provide(self, shape: GuestShape, cpu: int) -> Path | None:
        """Returns the path of the shape's snapshot; None for a shape that has none.

        Raises `LostGuestError` if the shape did not boot, also in later calls.
        """
        if shape not in self._images:
            return None
        async with self._locks[shape]:
            if shape not in self._made:
                self._made[shape] = await self._provide(shape, cpu)
        made = self._made[shape]
        if isinstance(made, LostGuestError):
            raise made
        return made

    async def provide_all(self, pool: CpuPool) -> int:
        """Boots missing snapshots, one on each CPU at a time; returns the number of all shapes."""

        async def provide(shape: GuestShape) -> None:
            async with pool.one() as cpu:
                await self.provide(shape, cpu)

        async with asyncio.TaskGroup() as group:
            for shape in self._images:
                group.create_task(provide(shape))
        return len(self._images)

    def check_space(self) -> None:
        """Raises `BadInputError` if the disk has no room for the missing snapshots."""
        images, state = self._images.items(), self._paths.state
        missing = [s for s, image in images if not snapshot_path(s, image, self._paths).is_dir()]
        state.mkdir(parents=True, exist_ok=True)
        needed, free = len(missing) * SNAPSHOT_BYTES, shutil.disk_usage(state).free
        if free < needed:
            raise BadInputError(
                f"{state}: {free >> 20} MiB free, and {len(missing)} snapshots of guests"
                f" need {needed >> 20} MiB",
                hint="free some space, or set FLASHROM_RIG_STATE to a folder that has it",
            )

    async def _provide(self, shape: GuestShape, cpu: int) -> Path | LostGuestError:
        image = self._images[shape]
        path = snapshot_path(shape, image, self._paths)
        if fault := await asyncio.to_thread(drop_damaged, path):
            self._preparing(f"snapshot of {shape.name} again, since it was damaged: {fault}")
        elif not path.is_dir():
            self._preparing(f"snapshot of {shape.name}")
        try:
            return await provide_snapshot(shape, image, self._paths, cpu)
        except LostGuestError as error:
            return error


async def _provide_each(
    missing: dict[Hashable, NotProvided], need: Need, keys: Iterable[K], provide: Callable[[K], V]
) -> dict[K, V]:
    """Provides the inputs of all keys at once: most of the time goes into waiting for downloads.

    Records in `missing` what the archive does not deliver, and does not ask for it again.
    """

    def one(key: K) -> list[V]:
        if (need, key) not in missing:
            try:
                return [provide(key)]
            except NotProvidedError as error:
                missing[need, key] = NotProvided(what=error.what, cause=error.cause)
        return []

    async with asyncio.TaskGroup() as group:
        tasks = {key: group.create_task(asyncio.to_thread(one, key)) for key in dict.fromkeys(keys)}
    return {key: value for key, task in tasks.items() for value in task.result()}


async def provide_supplies(
    *,
    cells: Iterable[Cell],
    with_snapshots: bool = True,
    recipes: Recipes,
    paths: Paths,
    pool: CpuPool,
    preparing: Preparing,
) -> Supplies:
    """Fetches and packs what is missing for those cells.

    The result lacks what the archive did not deliver; cells that need it cannot run.
    """
    cells = list(cells)
    goods = await _provide_goods(cells, recipes, paths, pool.missing, preparing)
    shapes = [
        shape
        for shape in sorted({shape_of(cell) for cell in cells if with_snapshots})
        if shape.platform.can_be_restored
        and shape.arch in goods.images
        and shape.kernel in {"", *goods.kernels}
    ]
    supplies = supplies_of(goods, shapes, dict(pool.missing), paths, preparing)
    supplies.snapshots.check_space()
    return supplies


async def _provide_goods(
    cells: Sequence[Cell],
    recipes: Recipes,
    paths: Paths,
    missing: dict[Hashable, NotProvided],
    preparing: Preparing,
) -> Goods:
    def provide_one(program: tuple[str, Arch]) -> Subject:
        return provide_program(program[0], recipes, paths, preparing, program[1])

    named = [(cell.subject, cell.arch) for cell in cells if not is_in_library(cell)]
    programs = [program for program in named if not wrong_machine(*program)]
    async with asyncio.TaskGroup() as group:

        def each(need: Need, keys: Iterable[K], one: Callable[[K], V]) -> asyncio.Task[dict[K, V]]:
            return group.create_task(_provide_each(missing, need, keys, one))

        guests = each(
            Need.GUEST,
            (cell.arch for cell in cells),
            lambda arch: _provide_guest(arch, recipes, paths, preparing),
        )
        bridges = each(
            Need.BRIDGE,
            (cell.arch for cell in cells if cell.bridged),
            lambda arch: provide_tool(BRIDGE, recipes, paths, preparing, arch),
        )
        fetched = each(
            Need.SUBJECT, (one for one in programs if one[0] in recipes.subjects), provide_one
        )
        libraries = each(
            Need.LIBRARY,
            (cell.subject for cell in cells if is_in_library(cell)),
            lambda name: provide_program_library(name, recipes, paths, preparing),
        )
        kernels = each(
            Need.KERNEL,
            (shape_of(cell).kernel for cell in cells if shape_of(cell).kernel),
            lambda name: provide_kernel(name, recipes.kernels[name], paths, preparing),
        )
    images = guests.result()
    # The subjects that are built here, or that the user named.
    others = (one for one in programs if one[0] not in recipes.subjects and one[1] in images)
    subjects = fetched.result() | await _one_by_one(others, provide_one)
    return Goods(
        images=images,
        # These are made of the parts of guest images.
        device_images=await _one_by_one(
            (cell.arch for cell in cells if device_of(cell) and cell.arch in images),
            lambda arch: provide_device_image(recipes.guest_of(arch), paths, preparing, arch),
        ),
        kernels=kernels.result(),
        bridges=bridges.result(),
        subjects=subjects,
        libraries={name: library for name, library in libraries.result().items() if library},
    )


async def _one_by_one(keys: Iterable[K], provide: Callable[[K], V]) -> dict[K, V]:
    return {key: await asyncio.to_thread(provide, key) for key in dict.fromkeys(keys)}


def _provide_guest(arch: Arch, recipes: Recipes, paths: Paths, preparing: Preparing) -> GuestImage:
    provide_qemu(arch, paths, preparing)
    provide_natives(arch, paths, preparing)
    return provide_guest_image(recipes.guest_of(arch), paths, preparing, arch)
