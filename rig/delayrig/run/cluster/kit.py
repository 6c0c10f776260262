# SPDX-License-Identifier: GPL-2.0-or-later
"""The inputs of a worker for the cells of one run: values, and files by their digests."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

import msgspec

from delayrig import __version__
from delayrig.base import digest
from delayrig.base.errors import BadInputError
from delayrig.base.paths import Paths
from delayrig.lanes.choice import Lanes
from delayrig.lanes.header import commit_of
from delayrig.lanes.lane import Lane
from delayrig.lanes.supplies import CpuPool, Goods, Supplies, supplies_of
from delayrig.lanes.virtual_lane import VirtualLane, make_virtual_lane
from delayrig.machine.snapshot import qemu_sha256
from delayrig.model.lane import EXACT_LANE
from delayrig.model.platform import PLATFORMS, Arch, labelled
from delayrig.model.shape import GuestShape
from delayrig.plan.request import Request
from delayrig.run.cell_runner import CellRunner
from delayrig.subjects.debug_files import fetched_file
from delayrig.subjects.delay_function import DelayFunction
from delayrig.subjects.guest_image import GuestImage, Kernel
from delayrig.subjects.subject import Subject

PATH_KEYS = ("archive", "initrd", "kernel", "modules", "path")
"""The keys of images, kernels and subjects that contain paths."""
K = TypeVar("K")
T = TypeVar("T", GuestImage, Kernel, Subject)


@dataclass(frozen=True, slots=True, kw_only=True)
class KitFile:
    """A file below the state folder, the same on every machine."""

    path: str
    sha256: str
    runnable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """The inputs that all cells of a run share."""

    id: str
    request: Request
    """The request without its cells, which come in batches, and without local options."""
    goods: Goods
    """The supplies. Their paths are relative to the state folder."""
    shapes: list[GuestShape]
    """The shapes of the guests whose snapshots a worker makes."""
    watched: Mapping[str, tuple[DelayFunction, ...]]
    chip_names: Mapping[tuple[str, str], str]
    files: list[KitFile]
    needs: dict[str, str]
    """The versions and digests, by name, that a worker must have, because times depend on them."""


def make_kit(cell_runner: CellRunner, paths: Paths) -> Kit:
    """Returns the kit of a run whose lane is open here."""
    lane = _virtual(cell_runner.lane)
    return Kit(
        id=uuid4().hex,
        request=replace(
            cell_runner.request,
            cells=[],
            contrasts=[],
            lane=EXACT_LANE,
            cluster=None,
            again=None,
            first=tuple,
        ),
        goods=_moved(lane.supplies, lambda path: str(Path(path).relative_to(paths.state))),
        shapes=lane.supplies.snapshots.shapes,
        watched=cell_runner.watched,
        chip_names=cell_runner.chip_names,
        files=_files_of(lane.supplies, paths),
        needs=brought_along(paths, list(lane.supplies.images)),
    )


def open_cell_runner(kit: Kit, paths: Paths, pool: CpuPool) -> CellRunner:
    """Returns the run's cell runner on a worker, which has all files by now."""
    goods = _moved(kit.goods, lambda path: str(paths.state / path))
    # Nobody watches a worker, so nobody hears what it prepares.
    supplies = supplies_of(goods, kit.shapes, {}, paths, lambda _: None)
    return CellRunner(
        request=kit.request,
        lane=make_virtual_lane(kit.request, supplies, paths, pool),
        watched=kit.watched,
        chip_names=kit.chip_names,
    )


def brought_along(paths: Paths, archs: list[Arch]) -> dict[str, str]:
    """Returns versions and digests, by name, of local parts on which virtual times depend."""
    qemus = {labelled("qemu", arch): qemu_sha256(PLATFORMS[arch].program) for arch in archs}
    return {
        "rig": f"{__version__} {commit_of(paths)}".strip(),
        "turns": digest.of_file(paths.qemu_preload),
        "delay plugin": digest.of_file(paths.delay_plugin),
        "chip plugin": digest.of_file(paths.chip_plugin),
        **{name: sha256 for name, sha256 in qemus.items() if sha256},
    }


def refusal(needs: Mapping[str, str], brings: Mapping[str, str]) -> str:
    """Returns why times on that worker would differ; empty if they would not."""
    return "; ".join(
        f"its {name} is {brings.get(name, 'missing')}, and this run has {needed}"
        for name, needed in needs.items()
        if brings.get(name) != needed
    )


def _virtual(lane: Lane) -> VirtualLane:
    found = lane.lanes[EXACT_LANE] if isinstance(lane, Lanes) else lane
    if not isinstance(found, VirtualLane) or found.request.connect is not None:
        raise BadInputError(
            "--cluster: these cells are run through libvirt, which works only on this machine",
            hint="leave --connect out",
        )
    return found


def _moved(goods: Goods, change: Callable[[str], str]) -> Goods:
    """Returns the goods with changed paths."""
    names = [field.name for field in fields(Goods)]
    return Goods(**{name: _all_moved(getattr(goods, name), change) for name in names})


def _all_moved(things: Mapping[K, T], change: Callable[[str], str]) -> dict[K, T]:
    def moved(thing: T) -> T:
        keys = [key for key in PATH_KEYS if getattr(thing, key, "")]
        return msgspec.structs.replace(thing, **{key: change(getattr(thing, key)) for key in keys})

    return {key: moved(thing) for key, thing in things.items()}


def _files_of(supplies: Supplies, paths: Paths) -> list[KitFile]:
    """Returns the files, in the order in which a worker gets them.

    An archive comes after its parts, so a worker that has the archive has its parts, too.
    """
    kernels = supplies.kernels.values()
    files = [Path(kernel.path) for kernel in kernels]
    files += [Path(kernel.modules) for kernel in kernels if kernel.modules]
    for image in (*supplies.images.values(), *supplies.device_images.values()):
        files += [Path(image.kernel), Path(image.initrd)]
    for program in supplies.programs:
        parts = program.parts.values()
        files += filter(None, (fetched_file(part, paths.images) for part in parts))
        files += [*parts, Path(program.archive)]
    return [
        KitFile(
            path=str(path.relative_to(paths.state)),
            sha256=digest.of_file(path),
            runnable=bool(path.stat().st_mode & 0o100),
        )
        for path in dict.fromkeys(files)
    ]
