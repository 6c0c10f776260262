# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig images`: what guests are made of."""

import asyncio
import os

import click

from delayrig.commands.command import explained, say_making
from delayrig.images.kernel import Kernel, provide_kernel
from delayrig.images.lock import lock_entries, lock_state, lock_text
from delayrig.images.recipes import read_recipes
from delayrig.paths import Paths, find_paths
from delayrig.run.request import choose_cells
from delayrig.run.supplies import CpuPool, Supplies, provide_supplies


@click.command()
@click.option("--update-lock", is_flag=True, help="Writes images/lock.toml anew.")
@explained
def images(update_lock: bool) -> None:
    """Fetches and packs what guests are made of, and boots the snapshots of the shipped plans.

    The rig's own libvirt asks QEMU what it can do, so that no run has to wait for that.
    """
    paths = find_paths()
    supplies = asyncio.run(_provide_images(paths))
    _make_libvirt_ready(paths)
    kernels = _every_kernel(paths) if update_lock else supplies.kernels
    entries = lock_entries(supplies.images, supplies.programs, kernels)
    if update_lock:
        (paths.checkout / "images" / "lock.toml").write_text(lock_text(entries), "utf-8")
    click.echo(
        f"kernel, {len(supplies.programs)} programs, {len(supplies.snapshots)} snapshots;"
        f" lock: {lock_state(entries, paths.checkout)}"
    )


PREPARED_PLANS = ("smoke", "default")


async def _provide_images(paths: Paths) -> Supplies:
    recipes = read_recipes(paths.checkout)
    cells = []
    for plan in PREPARED_PLANS:
        choice = choose_cells(plan=plan, subjects=[], patterns=[], seed=1, paths=paths)
        cells += choice.cells
    return await provide_supplies(
        cells=cells,
        recipes=recipes,
        paths=paths,
        pool=CpuPool(len(os.sched_getaffinity(0))),
        preparing=say_making,
    )


def _make_libvirt_ready(paths: Paths) -> None:
    """Where it is installed: without it all lanes run on plain QEMU."""
    try:
        from delayrig.guest.libvirt_machine import learn_about_qemu
    except ImportError:
        return
    learn_about_qemu(paths)


def _every_kernel(paths: Paths) -> dict[str, Kernel]:
    """Also those that no shipped plan's set-up needs: the lock names them all."""
    recipes = read_recipes(paths.checkout).kernels
    return {
        name: provide_kernel(name, recipe, paths, say_making) for name, recipe in recipes.items()
    }
