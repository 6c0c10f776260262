# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels of the distribution other than the usual one, for the cells that ask for them."""

import shutil
import tempfile
from pathlib import Path

import msgspec

from delayrig.base import digest
from delayrig.base.errors import RigFaultError
from delayrig.base.paths import Paths
from delayrig.base.preparing import Preparing
from delayrig.images.packages import unpack_packages
from delayrig.images.recipes import KernelRecipe


class Kernel(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel on disk. What is kept of it names the file alone: its folder may be carried."""

    path: str
    sha256: str
    packages: dict[str, str]


def provide_kernel(name: str, recipe: KernelRecipe, paths: Paths, preparing: Preparing) -> Kernel:
    """The kernel of that recipe, fetched where it is not there yet."""
    folder = paths.images / "kernel" / digest.of_value(["kernel", recipe])[:24]
    facts = folder / "kernel.json"
    if not facts.is_file():
        preparing(f"kernel {name} of {recipe.suite}")
        facts.write_bytes(msgspec.json.encode(_fetch(recipe, folder, paths)))
    kernel = msgspec.json.decode(facts.read_bytes(), type=Kernel)
    return msgspec.structs.replace(kernel, path=str(folder / kernel.path))


def _fetch(recipe: KernelRecipe, folder: Path, paths: Paths) -> Kernel:
    with tempfile.TemporaryDirectory(dir=paths.state, prefix="unpack-") as scratch:
        root = Path(scratch) / "root"
        versions = unpack_packages(recipe.suite, [recipe.package], root)
        folder.mkdir(parents=True, exist_ok=True)
        take_kernel(root, recipe.package, folder / "vmlinuz")
    kernel = folder / "vmlinuz"
    return Kernel(path=kernel.name, sha256=digest.of_file(kernel), packages=versions)


def take_kernel(root: Path, package: str, place: Path) -> None:
    """Copies the one kernel that `package` brought to `root`."""
    kernels = sorted((root / "boot").glob("vmlinuz-*"))
    if len(kernels) != 1:
        raise RigFaultError(
            f"{package} brought {len(kernels)} kernels",
            hint="name a kernel package in images/recipes.toml",
        )
    shutil.copyfile(kernels[0], place)
