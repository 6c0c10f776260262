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
from delayrig.workload import SERPROG_PORT

EMULATOR = "/serprog-emu"
# What it is told before the snapshot; the descriptors are those of images/agent/process.c.
EMULATOR_WORDS = (
    EMULATOR,
    *("--listen", f"tcp:127.0.0.1:{SERPROG_PORT}"),
    *("--clock", "tsc"),
    "--realtime=50",
    *("--cpu", "0"),
    *("--measure-wake", "32"),
    *("--clients", "1"),
    *("--ready-fd", "3"),
    *("--barrier-fds", "4,5"),
    *("--standby", "6,7"),
)
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
    ours = [digest.of_file(paths.agent), digest.of_file(paths.emulator)]
    initrd = folder / f"initrd-{digest.of_value([FORMAT, *ours, EMULATOR_WORDS])[:24]}.cpio"
    if not initrd.is_file():
        _pack(folder, paths, initrd)
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


def _pack(folder: Path, paths: Paths, initrd: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        root = Path(scratch) / "root"
        for name in (*EMPTY_FOLDERS, "bin"):
            (root / name).mkdir(parents=True)
        _install(folder / "busybox", root / "bin/busybox")
        (root / "bin/sh").symlink_to("busybox")
        _install(paths.agent, root / "init")
        _install(paths.emulator, root / EMULATOR.lstrip("/"))
        (root / "emulator").write_text("".join(f"{word}\n" for word in EMULATOR_WORDS))
        archive = Path(scratch) / "initrd"
        write_archive(root, archive)
        archive.rename(initrd)


def _install(program: Path, target: Path) -> None:
    shutil.copyfile(program, target)
    target.chmod(0o755)
