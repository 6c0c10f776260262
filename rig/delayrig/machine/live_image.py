# SPDX-License-Identifier: GPL-2.0-or-later
"""The image of guests of the live lane: the usual kernel, its network driver, our agent."""

import shutil
from pathlib import Path

import msgspec

from delayrig.base import digest
from delayrig.base.archive import FORMAT, write_archive
from delayrig.base.atomic_file import replace_file
from delayrig.base.errors import RigFaultError
from delayrig.base.paths import Paths, Preparing
from delayrig.machine.arguments import CARD
from delayrig.model.platform import PLATFORMS, Arch
from delayrig.setup.scratch import scratch_beside
from delayrig.subjects.guest_image import take_kernel
from delayrig.subjects.packages import unpack_packages
from delayrig.subjects.recipes import GuestRecipe
from delayrig.subjects.seal import FILE_NAME as SEAL
from delayrig.subjects.seal import broken_seal, write_seal

EMPTY_FOLDERS = ("dev", "proc", "sys", "tmp", "run", "etc")
DRIVER = "driver.ko"
PACKAGES = "packages.json"
FETCHED = ("vmlinuz", DRIVER, PACKAGES)


class LiveImage(msgspec.Struct, frozen=True, kw_only=True):
    """The files to boot. Kernel and driver are from the same package."""

    kernel: str
    kernel_sha256: str
    initrd: str
    initrd_sha256: str


def provide_live_image(recipe: GuestRecipe, paths: Paths, preparing: Preparing) -> LiveImage:
    """Returns kernel and initrd, after fetching and packing them if they are missing."""
    package = recipe.kernel_packages[Arch.X86_64]
    folder = paths.images / "live" / digest.of_value(["live", recipe.suite, package, CARD])[:24]
    seal = folder / SEAL
    if (folder / PACKAGES).is_file() and not seal.is_file():
        write_seal(seal, folder, FETCHED)  # An older rig wrote no seal.
    if fault := broken_seal(seal, folder):
        again = f", again: {fault}" if seal.is_file() else ""
        preparing(f"kernel of {recipe.suite}, with its driver {CARD}{again}")
        _fetch(recipe.suite, package, folder, paths)
    made_of = [FORMAT, digest.of_file(paths.live_agent), digest.of_file(folder / DRIVER)]
    initrd = folder / f"initrd-{digest.of_value(made_of)[:24]}.cpio"
    if fault := broken_seal(initrd.with_suffix(".json"), folder):
        if initrd.is_file() or initrd.with_suffix(".json").is_file():
            preparing(f"{initrd.name} again: {fault}")
        _pack(folder, paths.live_agent, initrd)
    return LiveImage(
        kernel=str(folder / "vmlinuz"),
        kernel_sha256=digest.of_file(folder / "vmlinuz"),
        initrd=str(initrd),
        initrd_sha256=digest.of_file(initrd),
    )


def _fetch(suite: str, package: str, folder: Path, paths: Paths) -> None:
    with scratch_beside(paths.images) as scratch:
        root = scratch / "root"
        versions = unpack_packages(suite, [package], root, PLATFORMS[Arch.X86_64].debian)
        modules = f"lib/modules/*/kernel/drivers/net/**/{CARD}.ko"
        drivers = [*sorted(root.glob(modules)), *sorted(root.glob(f"usr/{modules}"))]
        if not drivers:
            raise RigFaultError(
                f"{package} of {suite} has no driver {CARD}.ko",
                hint="name a kernel package that has it in images/recipes.toml",
            )
        folder.mkdir(parents=True, exist_ok=True)
        take_kernel(root, package, folder / "vmlinuz")
        shutil.copyfile(drivers[0], folder / DRIVER)
    replace_file(folder / PACKAGES, msgspec.json.encode(versions))
    write_seal(folder / SEAL, folder, FETCHED)


def _pack(folder: Path, agent: Path, initrd: Path) -> None:
    with scratch_beside(folder) as scratch:
        root = scratch / "root"
        for name in EMPTY_FOLDERS:
            (root / name).mkdir(parents=True)
        shutil.copyfile(agent, root / "init")
        (root / "init").chmod(0o755)
        shutil.copyfile(folder / DRIVER, root / DRIVER)
        archive = scratch / "initrd"
        write_archive(root, archive)
        archive.rename(initrd)
    write_seal(initrd.with_suffix(".json"), folder, [initrd.name])
