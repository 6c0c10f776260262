# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel and the initial RAM file system that every guest boots."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec

from delayrig import digest
from delayrig.archive import FORMAT, write_archive
from delayrig.images.kernel import take_kernel
from delayrig.images.packages import unpack_packages
from delayrig.images.recipes import GuestRecipe
from delayrig.paths import Paths

EMPTY_FOLDERS = ("dev", "proc", "sys", "tmp", "run", "etc")


class GuestImage(msgspec.Struct, frozen=True, kw_only=True):
    """What to boot."""

    kernel: str
    kernel_sha256: str
    initrd: str
    initrd_sha256: str
    busybox_sha256: str
    packages: dict[str, str]


class _Parts(msgspec.Struct, frozen=True, kw_only=True):
    """What the archive gave: kept so that a new agent does not fetch it all again."""

    kernel_sha256: str
    busybox_sha256: str
    packages: dict[str, str]


def provide_guest_image(
    recipe: GuestRecipe, paths: Paths, preparing: Callable[[str], None]
) -> GuestImage:
    """Kernel and initrd, fetched and packed where they are not there yet."""
    folder = paths.images / "guest" / digest.of_value(["guest", recipe])[:24]
    if not (folder / "parts.json").is_file():
        preparing(f"kernel of {recipe.suite}")
        _fetch(recipe, folder, paths)
    parts = msgspec.json.decode((folder / "parts.json").read_bytes(), type=_Parts)
    agent_sha256 = digest.of_file(paths.agent)
    initrd = folder / f"initrd-{digest.of_value([FORMAT, agent_sha256])[:24]}.cpio"
    if not initrd.is_file():
        _pack(folder, paths.agent, initrd)
    return GuestImage(
        kernel=str(folder / "vmlinuz"),
        kernel_sha256=parts.kernel_sha256,
        initrd=str(initrd),
        initrd_sha256=digest.of_file(initrd),
        busybox_sha256=parts.busybox_sha256,
        packages=parts.packages,
    )


def _fetch(recipe: GuestRecipe, folder: Path, paths: Paths) -> None:
    with tempfile.TemporaryDirectory(dir=paths.state, prefix="unpack-") as scratch:
        root = Path(scratch) / "root"
        versions = unpack_packages(recipe.suite, [recipe.kernel_package, *recipe.packages], root)
        folder.mkdir(parents=True, exist_ok=True)
        take_kernel(root, recipe.kernel_package, folder / "vmlinuz")
        busybox = next(p for p in (root / "bin/busybox", root / "usr/bin/busybox") if p.is_file())
        shutil.copyfile(busybox, folder / "busybox")
    parts = _Parts(
        kernel_sha256=digest.of_file(folder / "vmlinuz"),
        busybox_sha256=digest.of_file(folder / "busybox"),
        packages=versions,
    )
    (folder / "parts.json").write_bytes(msgspec.json.encode(parts))


def _pack(folder: Path, agent: Path, initrd: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        root = Path(scratch) / "root"
        for name in (*EMPTY_FOLDERS, "bin"):
            (root / name).mkdir(parents=True)
        shutil.copyfile(folder / "busybox", root / "bin/busybox")
        (root / "bin/busybox").chmod(0o755)
        (root / "bin/sh").symlink_to("busybox")
        shutil.copyfile(agent, root / "init")
        (root / "init").chmod(0o755)
        archive = Path(scratch) / "initrd"
        write_archive(root, archive)
        archive.rename(initrd)
