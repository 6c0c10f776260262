# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel and the initial RAM file system that every guest boots; other kernels on request."""

import functools
import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec

from delayrig.base import digest
from delayrig.base.archive import FORMAT, write_archive
from delayrig.base.atomic_file import replace_file
from delayrig.base.errors import NOT_JSON, RigFaultError
from delayrig.base.paths import Paths, Preparing
from delayrig.model.platform import PLATFORMS, Arch, labelled
from delayrig.model.workload import IN_GUEST
from delayrig.setup.scratch import scratch_beside
from delayrig.subjects.packages import unpack_packages
from delayrig.subjects.recipes import GuestRecipe, KernelRecipe
from delayrig.subjects.seal import again, fault_of, sealed, sealed_folder, unsealed

EMULATOR = "serprog-emu"
FACTS, KERNEL_FACTS = "parts.json", "kernel.json"
MODULES = "modules"
EMPTY_FOLDERS = ("dev", "proc", "sys", "tmp", "run", "etc")


class GuestImage(msgspec.Struct, frozen=True, kw_only=True):
    """The files to boot."""

    kernel: str
    kernel_sha256: str
    initrd: str
    initrd_sha256: str
    busybox_sha256: str
    packages: dict[str, str]


class _Parts(msgspec.Struct, frozen=True, kw_only=True):
    """The digests of the fetched files, which are stored so that a new agent needs no download."""

    kernel_sha256: str
    busybox_sha256: str
    packages: dict[str, str]


def emulator_words(arch: Arch) -> tuple[str, ...]:
    """Returns the command line with which the emulator starts before the snapshot.

    Its descriptors are those of images/agent/agent.c.
    """
    return (
        f"/{EMULATOR}",
        *("--listen", f"tcp:127.0.0.1:{IN_GUEST.port}"),
        *("--clock", PLATFORMS[arch].counter),
        *("--realtime=50", "--cpu", "0", "--measure-wake", "32", "--clients", "1"),
        *("--ready-fd", "3", "--barrier-fds", "4,5", "--standby", "6,7"),
    )


def provide_guest_image(
    recipe: GuestRecipe, paths: Paths, preparing: Preparing, arch: Arch = Arch.X86_64
) -> GuestImage:
    """Returns the kernel and the initrd. Fetches and packs them if they are missing or damaged."""
    programs = {paths.agent_of(arch): "init", paths.emulator_of(arch): EMULATOR}
    return _provide(recipe, paths, preparing, arch, programs, emulator_words(arch))


def provide_device_image(
    recipe: GuestRecipe, paths: Paths, preparing: Preparing, arch: Arch = Arch.X86_64
) -> GuestImage:
    """Returns a kernel and an initrd without the emulator, for guests whose chip is in QEMU."""
    return _provide(recipe, paths, preparing, arch, {paths.device_agent_of(arch): "init"}, ())


def _provide(
    recipe: GuestRecipe,
    paths: Paths,
    preparing: Preparing,
    arch: Arch,
    programs: dict[Path, str],
    words: tuple[str, ...],
) -> GuestImage:
    """Returns an image with our `programs`, each at its path in the guest."""
    folder = paths.images / "guest" / digest.of_value(["guest", recipe, arch])[:24]
    if fault := _fault_of_parts(folder):
        preparing(labelled(f"kernel of {recipe.suite}", arch) + again(folder, fault))
        _fetch(recipe, arch, folder, paths)
    parts = _read_parts(folder)
    made_of = [FORMAT, *(digest.of_file(program) for program in programs), words]
    initrd = folder / f"initrd-{digest.of_value(made_of)[:24]}.cpio"
    seal = initrd.with_suffix(".sha256")
    known = seal.read_bytes() if seal.is_file() else b""
    # A damaged initrd is packed again, which takes less than a second.
    if not (initrd.is_file() and digest.of_file(initrd).encode() == known):
        if initrd.is_file() or seal.is_file():
            preparing(labelled(f"{initrd.name} again: it is not as it was made", arch))
        _pack(folder, programs, words, initrd, seal)
    return GuestImage(
        kernel=str(folder / "vmlinuz"),
        kernel_sha256=parts.kernel_sha256,
        initrd=str(initrd),
        initrd_sha256=digest.of_file(initrd),
        busybox_sha256=parts.busybox_sha256,
        packages=parts.packages,
    )


def _read_parts(folder: Path) -> _Parts:
    return msgspec.json.decode(unsealed((folder / FACTS).read_bytes()) or b"", type=_Parts)


def _fault_of_parts(folder: Path) -> str:
    """Returns why the kernel and busybox must be fetched; empty if they are complete."""
    try:
        parts = _read_parts(folder)
    except FileNotFoundError:
        return f"{FACTS} is missing"
    except NOT_JSON:
        return f"{FACTS} is not as it was made"
    for name, known in {"vmlinuz": parts.kernel_sha256, "busybox": parts.busybox_sha256}.items():
        path = folder / name
        if not path.is_file() or digest.of_file(path) != known:
            return f"{name} is not as it was made"
    return ""


def _fetch(recipe: GuestRecipe, arch: Arch, folder: Path, paths: Paths) -> None:
    with scratch_beside(paths.images) as scratch:
        root = scratch / "root"
        kernel = recipe.kernel_packages[arch]
        wanted = [kernel, *recipe.packages]
        versions = unpack_packages(recipe.suite, wanted, root, PLATFORMS[arch].debian)
        folder.mkdir(parents=True, exist_ok=True)
        take_kernel(root, kernel, folder / "vmlinuz")
        busybox = next(p for p in (root / "bin/busybox", root / "usr/bin/busybox") if p.is_file())
        shutil.copyfile(busybox, folder / "busybox")
    parts = _Parts(
        kernel_sha256=digest.of_file(folder / "vmlinuz"),
        busybox_sha256=digest.of_file(folder / "busybox"),
        packages=versions,
    )
    (folder / FACTS).write_bytes(sealed(msgspec.json.encode(parts)))


def _pack(
    folder: Path, ours: dict[Path, str], words: Sequence[str], initrd: Path, seal: Path
) -> None:
    """Packs the initrd. `ours` maps our programs to the path of each in the guest."""
    with scratch_beside(folder) as scratch:
        root = scratch / "root"
        for name in (*EMPTY_FOLDERS, "bin"):
            (root / name).mkdir(parents=True)
        (root / "bin/sh").symlink_to("busybox")
        for program, place in {folder / "busybox": "bin/busybox", **ours}.items():
            shutil.copyfile(program, root / place)
            (root / place).chmod(0o755)
        (root / "emulator").write_text("".join(f"{word}\n" for word in words))
        archive = scratch / "initrd"
        write_archive(root, archive)
        replace_file(seal, digest.of_file(archive).encode())
        archive.rename(initrd)


class Kernel(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A kernel on disk.

    The stored form has only names of files, because their folder may be moved, and no `arch`.
    """

    path: str
    sha256: str
    packages: dict[str, str]
    modules: str = ""
    """The path of an archive of its modules; empty if guests load none."""
    arch: Arch = Arch.X86_64


def provide_kernel(name: str, recipe: KernelRecipe, paths: Paths, preparing: Preparing) -> Kernel:
    """Returns the kernel of that recipe. Fetches it if it is missing or damaged."""
    folder = paths.images / "kernel" / digest.of_value(["kernel", recipe])[:24]
    if fault := fault_of(folder):
        preparing(f"kernel {name} of {recipe.suite}{again(folder, fault)}")
        with scratch_beside(paths.images) as scratch:
            versions = unpack_packages(
                recipe.suite, [recipe.package], scratch / "root", PLATFORMS[recipe.arch].debian
            )
            with sealed_folder(folder) as made:
                place = made / "vmlinuz"
                take_kernel(scratch / "root", recipe.package, place)
                found = Kernel(
                    path=place.name,
                    sha256=digest.of_file(place),
                    packages=versions,
                    modules=_pack_modules(recipe, scratch, made),
                )
                (made / KERNEL_FACTS).write_bytes(msgspec.json.encode(found))
    kernel = msgspec.json.decode((folder / KERNEL_FACTS).read_bytes(), type=Kernel)
    return msgspec.structs.replace(
        kernel,
        path=str(folder / kernel.path),
        modules=str(folder / kernel.modules) if kernel.modules else "",
        arch=recipe.arch,
    )


def _pack_modules(recipe: KernelRecipe, scratch: Path, made: Path) -> str:
    """Packs the modules of the recipe; returns the archive's name, empty if it has no modules."""
    if not recipe.modules:
        return ""
    folder = scratch / MODULES / MODULES
    folder.mkdir(parents=True)
    for number, name in enumerate(recipe.modules):
        found = sorted((scratch / "root").rglob(f"{name}.ko"))
        if len(found) != 1:
            raise RigFaultError(
                f"{recipe.package} has {len(found)} modules {name}.ko",
                hint="name modules of that kernel in images/recipes.toml",
            )
        shutil.copyfile(found[0], folder / f"{number}-{name}.ko")
    write_archive(scratch / MODULES, made / f"{MODULES}.cpio")
    return f"{MODULES}.cpio"


def with_kernel(image: GuestImage, kernel: Kernel) -> GuestImage:
    """Returns the image with that kernel instead, and with its modules if it has any."""
    initrd = _joined(image.initrd, kernel.modules) if kernel.modules else image.initrd
    return msgspec.structs.replace(
        image,
        kernel=kernel.path,
        kernel_sha256=kernel.sha256,
        initrd=initrd,
        initrd_sha256=digest.of_file(Path(initrd)),
    )


@functools.cache
def _joined(initrd: str, modules: str) -> str:
    """Joins two archives into one file, which the kernel unpacks one after the other.

    Source: Linux Documentation/driver-api/early-userspace/buffer-format.
    """
    content = Path(initrd).read_bytes() + Path(modules).read_bytes()
    name = f"initrd-{digest.of_bytes(content)[:24]}.cpio"
    place = Path(modules).parents[1] / name
    replace_file(place, content)
    return str(place)


def take_kernel(root: Path, package: str, place: Path) -> None:
    """Copies the kernel of `package`, which was unpacked to `root`, to `place`."""
    # The kernels of riscv64 are not compressed, and are called vmlinux.
    kernels = sorted((root / "boot").glob("vmlinu[xz]-*"))
    if len(kernels) != 1:
        raise RigFaultError(
            f"{package} brought {len(kernels)} kernels",
            hint="name a kernel package in images/recipes.toml",
        )
    shutil.copyfile(kernels[0], place)
