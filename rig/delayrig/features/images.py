# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig images`: the parts of guests, prepared here or exported by another machine."""

import asyncio
import os
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import distributions
from itertools import chain
from pathlib import Path

import click
import msgspec
from click.decorators import FC

from delayrig import __version__
from delayrig.base.atomic_file import write_atomically
from delayrig.base.errors import BadInputError, NotProvidedError
from delayrig.base.paths import Paths, find_paths
from delayrig.cli.command import RigCommand, say_making
from delayrig.cli.option_types import PLAN_NAME
from delayrig.lanes.supplies import CpuPool, Supplies, provide_supplies
from delayrig.machine.live_image import provide_live_image
from delayrig.model.platform import Arch
from delayrig.plan.request import choose_cells
from delayrig.setup.errors import SetupError
from delayrig.setup.image_archive import export_images
from delayrig.subjects.guest_image import provide_kernel
from delayrig.subjects.lock import LOCK, lock_entries, lock_state, update_lock
from delayrig.subjects.recipes import read_recipes
from delayrig.subjects.sbom import bill_of_materials, image_components, python_components
from delayrig.subjects.subject import CYCLICTEST, provide_tool

PREPARED_PLANS = ("smoke", "default")


def _file_option(name: str, key: str, about: str) -> Callable[[FC], FC]:
    kind = click.Path(path_type=Path, dir_okay=False)
    return click.option(name, key, metavar="FILE", type=kind, help=about)


@click.command(cls=RigCommand)
@click.option(
    "--plan",
    "plans",
    type=PLAN_NAME,
    multiple=True,
    help="Prepares what this plan needs; repeatable.  [default: smoke and default]",
)
@click.option(
    "--all",
    "on_demand",
    is_flag=True,
    help="Prepares also what is fetched when it is first used: other kernels, gdbserver, cyclictest"
    " and the guest of the live lane.",
)
@click.option(
    "--update-lock", "updating", is_flag=True, help=f"Writes into {LOCK} what it fetched."
)
@_file_option(
    "--export", "exported", "Writes all prepared images to FILE, for another machine or a cache."
)
@_file_option(
    "--import",
    "imported",
    "Takes images from FILE. Needs no network. The digests in FILE show damage, not who wrote it.",
)
@click.option(
    "--sha256",
    metavar="DIGEST",
    help="Refuses a FILE of --import with another SHA-256, which you know from elsewhere.",
)
@_file_option(
    "--sbom",
    "bill",
    "Writes what the images and the Python environment are made of, as CycloneDX 1.6.",
)
def images(
    plans: tuple[str, ...],
    on_demand: bool,
    updating: bool,
    bill: Path | None,
    exported: Path | None,
    imported: Path | None,
    sha256: str | None,
) -> None:
    """Prepares the parts of guests: kernels, programs, and the snapshots of booted guests.

    It also makes the rig's own libvirt ask QEMU for its capabilities, so that no run has to wait.
    """
    if imported:  # The launcher does the import, before anything is set up.
        raise BadInputError(
            "--import stands alone", hint=f"rig/rig images --import {imported}, then the rest"
        )
    if sha256:
        raise BadInputError("--sha256 stands with --import", hint="add --import FILE")
    paths = find_paths()
    if plans or on_demand or updating or bill or not exported:
        _prepare(plans or PREPARED_PLANS, paths, updating=updating, bill=bill)
    if on_demand:
        prepare_on_demand(paths)
    if exported:
        try:
            click.echo(f"{exported}: {export_images(paths, exported)} files written")
        except SetupError as error:
            raise BadInputError(error.message, hint=error.remedy) from error


def _prepare(plans: Sequence[str], paths: Paths, *, updating: bool, bill: Path | None) -> None:
    supplies, snapshots = asyncio.run(_provide_images(plans, paths))
    _make_libvirt_ready(paths)
    kernels = supplies.kernels
    if updating:  # The lock has the kernels of all recipes, also those that no prepared plan needs.
        recipes = read_recipes(paths.checkout).kernels.items()
        kernels = {name: provide_kernel(name, each, paths, say_making) for name, each in recipes}
    entries = lock_entries(supplies.images, supplies.programs, kernels)
    if updating:
        update_lock(entries, paths.checkout)
    if bill:
        images = image_components(supplies.images, supplies.programs, supplies.kernels)
        made_of = chain(images, python_components(distributions()))
        content = msgspec.json.encode(bill_of_materials(made_of, version=__version__))
        write_atomically(bill, msgspec.json.format(content, indent=1) + b"\n")
    for missing in supplies.not_provided:
        _warn(missing.what, missing.cause)
    click.echo(
        f"{len(supplies.images)} kernels, {len(supplies.programs)} programs,"
        f" {snapshots} snapshots; lock: {lock_state(entries, paths.checkout)}"
    )


def prepare_on_demand(paths: Paths) -> None:
    """Prepares what is fetched on demand, and warns of what the archive lacks."""
    recipes = read_recipes(paths.checkout)
    wanted: list[Callable[[], object]] = [
        partial(provide_kernel, name, recipe, paths, say_making)
        for name, recipe in recipes.kernels.items()
    ]
    wanted.append(partial(provide_live_image, recipes.guest, paths, say_making))
    for arch in Arch:
        for name in (CYCLICTEST, *recipes.tools):
            wanted.append(partial(provide_tool, name, recipes, paths, say_making, arch))
    for provide in wanted:
        try:
            provide()
        except NotProvidedError as error:
            _warn(error.what, error.cause)


def _warn(what: str, cause: str) -> None:
    click.echo(f"warning: the archive did not give {what}: {cause}", err=True)


async def _provide_images(plans: Sequence[str], paths: Paths) -> tuple[Supplies, int]:
    """Returns the supplies that the plans need, and the number of their snapshots."""
    cells = [cell for plan in plans for cell in choose_cells(plan=plan, paths=paths).cells]
    pool = CpuPool(len(os.sched_getaffinity(0)))
    supplies = await provide_supplies(
        cells=cells,
        recipes=read_recipes(paths.checkout),
        paths=paths,
        pool=pool,
        preparing=say_making,
    )
    return supplies, await supplies.snapshots.provide_all(pool)


def _make_libvirt_ready(paths: Paths) -> None:
    """Prepares libvirt if it is installed. Without it all lanes run on plain QEMU."""
    try:
        from delayrig.machine.libvirt_machine import learn_about_qemu
    except ImportError:
        return
    learn_about_qemu(paths)
