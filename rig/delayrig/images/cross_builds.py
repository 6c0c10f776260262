# SPDX-License-Identifier: GPL-2.0-or-later
"""Our own programs for guests of another architecture than this machine's.

The distribution's cross compilers cannot be installed beside its compiler for 32 bits, so they are
unpacked, of the same release as this machine: they run on its libraries.
"""

import os
import shutil
from pathlib import Path

from delayrig.base import digest
from delayrig.base.paths import Paths
from delayrig.base.preparing import Preparing
from delayrig.images.own_programs import run_builder
from delayrig.images.packages import unpack_packages
from delayrig.model.platform import PLATFORMS, Arch
from delayrig.setup.apt import read_codename
from delayrig.setup.install import OS_RELEASE
from delayrig.setup.layout import Layout
from delayrig.setup.native import GUEST_PROGRAMS
from delayrig.setup.stamp import NATIVE, wanted_marks

# meson's names; a guest's CPU is the plainest of its family.
CPU_FAMILIES = {Arch.I386: ("x86", "i686"), Arch.ARM64: ("aarch64", "cortex-a53")}
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


def provide_natives(arch: Arch, paths: Paths, preparing: Preparing) -> None:
    """Builds what is older than its sources, with a compiler that is fetched where it is not there.

    Set-up does the same for x86-64, where these are this machine's own programs.
    """
    if arch is Arch.X86_64:
        return
    toolchain = _provide_toolchain(arch, paths, preparing)
    layout = Layout(checkout=paths.checkout, state=paths.state)
    mark = digest.of_value([wanted_marks(layout)[NATIVE], str(toolchain)])
    built = paths.build_of(arch) / "built-for"
    if built.is_file() and built.read_text(encoding="utf-8") == mark:
        return
    preparing(f"programs for {arch}")
    _build(arch, toolchain, paths, layout)
    built.write_text(mark, encoding="utf-8")


def library_folders(arch: Arch, paths: Paths) -> tuple[str, ...]:
    """Where the libraries are that the programs were linked with; none for this machine's own."""
    if arch is Arch.X86_64:
        return ()
    return (str(_toolchain(arch, paths) / "usr" / PLATFORMS[arch].gnu / "lib"),)


def _release() -> str:
    return read_codename(OS_RELEASE.read_text(encoding="utf-8"))


def _packages(arch: Arch) -> list[str]:
    platform = PLATFORMS[arch]
    return [f"gcc-{platform.gnu}", f"libc6-dev-{platform.debian}-cross"]


def _toolchain(arch: Arch, paths: Paths) -> Path:
    key = digest.of_value(["toolchain", _release(), _packages(arch)])[:24]
    return paths.images / "toolchains" / f"{arch}-{key}"


def _provide_toolchain(arch: Arch, paths: Paths, preparing: Preparing) -> Path:
    root = _toolchain(arch, paths)
    tools = root / "tools"
    if tools.is_dir():
        return root
    preparing(f"compiler for {arch}")
    shutil.rmtree(root, ignore_errors=True)
    root.parent.mkdir(parents=True, exist_ok=True)
    unpack_packages(_release(), _packages(arch), root)
    # Of its own libraries it shall see those alone that this machine does not have: a C library of
    # another build would not run here.
    fresh = root / "tools.new"
    fresh.mkdir()
    for library in root.glob(f"usr/lib/*/*-{PLATFORMS[arch].debian}.so*"):
        (fresh / library.name).symlink_to(Path(os.path.relpath(library, fresh)))
    fresh.rename(tools)
    return root


def _cross_text(arch: Arch, toolchain: Path) -> str:
    family, cpu = CPU_FAMILIES[arch]
    return CROSS_FILE.format(
        root=toolchain,
        tools=toolchain / "tools",
        compiler=toolchain / "usr/bin" / f"{PLATFORMS[arch].gnu}-",
        family=family,
        cpu=cpu,
    )


def _build(arch: Arch, toolchain: Path, paths: Paths, layout: Layout) -> None:
    build = paths.build_of(arch)
    cross = paths.state / f"cross-{arch}.ini"
    text = _cross_text(arch, toolchain)
    configured = (build / "build.ninja").is_file() and (build / "checkout").is_file()
    # meson looks for targets in what it knows from before, so a new one needs a new folder.
    origin = "\n".join([str(paths.checkout), *GUEST_PROGRAMS, text])
    if not configured or (build / "checkout").read_text(encoding="utf-8") != origin:
        shutil.rmtree(build, ignore_errors=True)
        cross.write_text(text, encoding="utf-8")
        _meson(layout, "setup", str(build), str(paths.checkout), "--cross-file", str(cross))
        (build / "checkout").write_text(origin, encoding="utf-8")
    _meson(layout, "compile", "-C", str(build), *GUEST_PROGRAMS)


def _meson(layout: Layout, *arguments: str) -> None:
    programs = layout.venv / "bin"
    run_builder(
        [str(programs / "meson"), *arguments],
        programs=programs,
        what="building programs for another architecture",
        hint="see the lines above, then start again",
    )
