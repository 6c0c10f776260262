# SPDX-License-Identifier: GPL-2.0-or-later
"""Our own programs that are built on demand: rare ones, and those for other architectures.

The distribution's cross compilers cannot be installed beside its compiler for 32 bits, so they are
unpacked. They run with this machine's libraries, so they come from the same release. The same
applies to the QEMU of rare guests, which is fetched for the first cell that needs it.
"""

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

from delayrig.base import digest
from delayrig.base.atomic_file import whole_folder
from delayrig.base.errors import NotProvidedError, RigFaultError
from delayrig.base.interruption import run_child
from delayrig.base.paths import Paths, Preparing
from delayrig.model.platform import PLATFORMS, Arch
from delayrig.setup.apt import debian_codename
from delayrig.setup.distribution import this_release
from delayrig.setup.native import GUEST_PROGRAMS, ORIGIN, origin_of
from delayrig.setup.stamp import NATIVE, wanted_marks
from delayrig.subjects.packages import unpack_packages

RARE_FOLDERS = ("flashrom/past_mistakes/", "flashrom/steps/", "flashrom/old_clocks/")
"""The folders of rare programs below the build folder. Set-up builds all others."""
HINT = "see the lines above, then start again"
LOCK = "ninja.lock"
QEMU_PROGRAMS = "usr/bin"
QEMU_BUNDLE = "qemu-bundle"
"""The folder beside QEMU in whose usr/share it looks for firmware (QEMU util/cutils.c)."""
TAIL_LINES = 12
# These are meson's names; a guest's CPU is the plainest of its family.
CPU_FAMILIES = {
    Arch.I386: ("x86", "i686"),
    Arch.ARM64: ("aarch64", "cortex-a53"),
    Arch.ARMHF: ("arm", "cortex-a15"),
    Arch.RISCV64: ("riscv64", "rv64gc"),
}
MORE_OPTIONS = {
    # Before version 13, GCC writes no call frame information for riscv64 by default.
    Arch.RISCV64: "[built-in options]\nc_args = ['-fasynchronous-unwind-tables']\n",
}
CROSS_FILE = """\
[binaries]
c = ['env', 'LD_LIBRARY_PATH={tools}', '{compiler}gcc', '--sysroot={root}']
ar = ['env', 'LD_LIBRARY_PATH={tools}', '{compiler}ar']
strip = ['env', 'LD_LIBRARY_PATH={tools}', '{compiler}strip']
[host_machine]
system = 'linux'
cpu_family = '{family}'
cpu = '{cpu}'
endian = 'little'
"""


def provide_own(built: str, paths: Paths) -> Path:
    """Returns a program or library below the build folder, after building it if it is rare."""
    if built.startswith(RARE_FOLDERS):
        with (paths.state / LOCK).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # Only one ninja at a time may work in the folder.
            words = ["ninja", "-C", str(paths.build), built]
            require_built(run_builder(words, paths), f"building {built}", "see the lines above")
    return paths.build / built


def provide_natives(arch: Arch, paths: Paths, preparing: Preparing) -> None:
    """Builds the guests' programs for another architecture if they are out of date.

    Fetches the cross compiler if it is missing. For x86-64, set-up builds the programs.
    """
    if arch is Arch.X86_64:
        return
    toolchain = _provide_toolchain(arch, paths, preparing)
    mark = digest.of_value([wanted_marks(paths)[NATIVE], str(toolchain)])
    built = paths.build_of(arch) / "built-for"
    if built.is_file() and built.read_text(encoding="utf-8") == mark:
        return
    preparing(f"programs for {arch}")
    _build(arch, toolchain, paths)
    built.write_text(mark, encoding="utf-8")


def provide_qemu(arch: Arch, paths: Paths, preparing: Preparing) -> None:
    """Fetches the QEMU of that architecture if it is fetched on demand and not in the PATH.

    Appends its folder to the PATH. Raises `NotProvidedError` if the archive has none, or if it
    does not run here.
    """
    platform = PLATFORMS[arch]
    if not platform.program_package or shutil.which(platform.program):
        return
    release = debian_codename(this_release())
    key = digest.of_value(["qemu", release, platform.program_package])[:24]
    root = paths.images / "toolchains" / f"qemu-{arch}-{key}"
    if not root.is_dir():
        preparing(f"QEMU for {arch}")
        _fetch_qemu(release, platform.program_package, root)
    _require_running(root / QEMU_PROGRAMS / platform.program)
    os.environ["PATH"] += f"{os.pathsep}{root / QEMU_PROGRAMS}"


def _fetch_qemu(release: str, package: str, root: Path) -> None:
    """Unpacks the package of the release, or of its backports if the release has none."""
    with whole_folder(root) as fresh:
        try:
            unpack_packages(release, [package], fresh)
        except NotProvidedError:
            unpack_packages(f"{release}-backports", [package], fresh, release=release)
        (fresh / QEMU_PROGRAMS / QEMU_BUNDLE).symlink_to("../..")


def _require_running(program: Path) -> None:
    words = [str(program), "--version"]
    try:
        done = run_child(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as error:
        raise NotProvidedError(program.name, error.strerror or str(error)) from error
    if done.returncode != 0:
        raise NotProvidedError(program.name, done.stderr.strip() or "it does not run here")


def library_folders(arch: Arch, paths: Paths) -> tuple[str, ...]:
    """Returns the folders of the libraries that the programs were linked with; none for x86-64."""
    if arch is Arch.X86_64:
        return ()
    return (str(_toolchain(arch, paths) / "usr" / PLATFORMS[arch].gnu / "lib"),)


def _wanted(arch: Arch) -> tuple[str, list[str]]:
    """Returns this machine's release, and the packages of the cross compiler."""
    platform = PLATFORMS[arch]
    packages = [f"gcc-{platform.gnu}", f"libc6-dev-{platform.debian}-cross"]
    return debian_codename(this_release()), packages


def _toolchain(arch: Arch, paths: Paths) -> Path:
    key = digest.of_value(["toolchain", *_wanted(arch)])[:24]
    return paths.images / "toolchains" / f"{arch}-{key}"


def _provide_toolchain(arch: Arch, paths: Paths, preparing: Preparing) -> Path:
    root = _toolchain(arch, paths)
    if root.is_dir():
        return root
    preparing(f"compiler for {arch}")
    with whole_folder(root) as made:
        unpack_packages(*_wanted(arch), made)
        # LD_LIBRARY_PATH of the compiler has only its own libraries, which this machine lacks. The
        # unpacked C library may not work with this machine's dynamic linker.
        (made / "tools").mkdir()
        for library in made.glob(f"usr/lib/*/*-{PLATFORMS[arch].debian}.so*"):
            (made / "tools" / library.name).symlink_to(".." / library.relative_to(made))
    return root


def _build(arch: Arch, toolchain: Path, paths: Paths) -> None:
    build = paths.build_of(arch)
    family, cpu = CPU_FAMILIES[arch]
    text = CROSS_FILE.format(
        root=toolchain,
        tools=toolchain / "tools",
        compiler=toolchain / "usr/bin" / f"{PLATFORMS[arch].gnu}-",
        family=family,
        cpu=cpu,
    )
    text += MORE_OPTIONS.get(arch, "")
    what = "building programs for another architecture"
    origin = origin_of(paths.checkout, [*GUEST_PROGRAMS, text])
    if not is_configured(build, origin):
        configure(build, origin, text, paths, what)
    done = run_builder(["meson", "compile", "-C", str(build), *GUEST_PROGRAMS], paths)
    require_built(done, what, HINT)


def is_configured(build: Path, origin: str) -> bool:
    """Returns True if meson has configured the folder, from that origin (`origin_of()`)."""
    is_whole = all((build / name).is_file() for name in ("build.ninja", ORIGIN))
    return is_whole and (build / ORIGIN).read_text(encoding="utf-8") == origin


def configure(build: Path, origin: str, cross_text: str, paths: Paths, what: str) -> None:
    """Configures the folder anew with that cross file, and records the origin.

    Raises `RigFaultError`, which says `what` failed.
    """
    cross = paths.state / f"{build.name.replace('build', 'cross', 1)}.ini"
    shutil.rmtree(build, ignore_errors=True)
    cross.write_text(cross_text, encoding="utf-8")
    words = ["meson", "setup", str(build), str(paths.checkout), "--cross-file", str(cross)]
    require_built(run_builder(words, paths), what, HINT)
    (build / ORIGIN).write_text(origin, encoding="utf-8")


def run_builder(argv: list[str], paths: Paths) -> subprocess.CompletedProcess[str]:
    """Runs meson or ninja, and the build's own scripts with the environment's Python."""
    path = f"{paths.python.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return run_merged(argv, environment={"PATH": path, "PYTHONPATH": ""})


def require_built(done: subprocess.CompletedProcess[str], what: str, hint: str) -> None:
    """Raises `RigFaultError` with the last lines if a build failed."""
    if done.returncode != 0:
        tail = "\n".join(done.stdout.splitlines()[-TAIL_LINES:])
        raise RigFaultError(f"{what} failed:\n{tail}", hint=hint)


def run_merged(
    argv: list[str], *, environment: dict[str, str], folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end, with standard error in its output."""
    return run_child(
        argv,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, **environment},
    )
