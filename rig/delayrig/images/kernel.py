# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels of the distribution other than the usual one, for the cells that ask for them."""

import shutil
from pathlib import Path

import msgspec

from delayrig.base import digest
from delayrig.base.errors import RigFaultError
from delayrig.base.paths import Paths
from delayrig.base.preparing import Preparing
from delayrig.images.packages import unpack_packages
from delayrig.images.recipes import KernelRecipe
from delayrig.images.seal import again, fault_of, sealed_folder
from delayrig.setup.scratch import scratch_beside

FACTS = "kernel.json"


class Kernel(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel on disk. What is kept of it names the file alone: its folder may be carried."""

    path: str
    sha256: str
    packages: dict[str, str]


def provide_kernel(name: str, recipe: KernelRecipe, paths: Paths, preparing: Preparing) -> Kernel:
    """The kernel of that recipe, fetched where it is not there yet."""
    folder = paths.images / "kernel" / digest.of_value(["kernel", recipe])[:24]
    if fault := fault_of(folder):
        preparing(f"kernel {name} of {recipe.suite}{again(folder, fault)}")
        with scratch_beside(paths.images) as scratch:
            versions = unpack_packages(recipe.suite, [recipe.package], scratch / "root")
            with sealed_folder(folder) as made:
                place = made / "vmlinuz"
                take_kernel(scratch / "root", recipe.package, place)
                found = Kernel(path=place.name, sha256=digest.of_file(place), packages=versions)
                (made / FACTS).write_bytes(msgspec.json.encode(found))
    kernel = msgspec.json.decode((folder / FACTS).read_bytes(), type=Kernel)
    return msgspec.structs.replace(kernel, path=str(folder / kernel.path))


def take_kernel(root: Path, package: str, place: Path) -> None:
    """Copies the one kernel that `package` brought to `root`."""
    kernels = sorted((root / "boot").glob("vmlinuz-*"))
    if len(kernels) != 1:
        raise RigFaultError(
            f"{package} brought {len(kernels)} kernels",
            hint="name a kernel package in images/recipes.toml",
        )
    shutil.copyfile(kernels[0], place)
