# SPDX-License-Identifier: GPL-2.0-or-later
"""Our own programs linked with musl, as Alpine and OpenWrt link theirs.

A prefix of the subject's name says so: `musl:bundled`, `musl-static:known-bad:coarse-clock`. This
machine's compiler builds them with the distribution's musl, which is unpacked and not installed.
"""

import fcntl
import shutil
from pathlib import Path

from delayrig.base import digest
from delayrig.base.atomic_file import whole_folder
from delayrig.base.paths import Paths, Preparing
from delayrig.setup.apt import debian_codename
from delayrig.setup.distribution import this_release
from delayrig.setup.native import origin_of
from delayrig.subjects.own_programs import (
    HINT,
    LOCK,
    configure,
    is_configured,
    require_built,
    run_builder,
    run_merged,
)
from delayrig.subjects.packages import unpack_packages

MUSL, MUSL_STATIC = "musl:", "musl-static:"
LIBCS = (MUSL, MUSL_STATIC)
PACKAGES = ("musl-dev", "linux-libc-dev")
"""The C library, and the kernel's headers for drivers that call it."""
TRIPLET = "x86_64-linux-musl"
LOADER = "ld-musl-x86_64.so.1"
CROSS_FILE = """\
[binaries]
c = 'gcc'
ar = 'ar'
strip = 'strip'
[built-in options]
c_args = ['-nostdinc', '-isystem', '{root}/usr/include/{triplet}', '-isystem', '{compilers}',
  '-idirafter', '{root}/usr/include', '-idirafter', '{root}/usr/include/x86_64-linux-gnu']
c_link_args = ['-B', '{root}/usr/lib/{triplet}/', '-L{shared}', '-L{root}/usr/lib/{triplet}',
  '-static-libgcc', '{how}']
[host_machine]
system = 'linux'
cpu_family = 'x86_64'
cpu = 'x86_64'
endian = 'little'
"""


def split_libc(name: str) -> tuple[str, str]:
    """Splits a subject's name into its prefix for musl, which may be empty, and the rest."""
    libc = next((each for each in LIBCS if name.startswith(each)), "")
    return libc, name.removeprefix(libc)


def build_name(libc: str) -> str:
    """Returns the name of the build folder, as `Paths.build_of()` takes it."""
    return libc.rstrip(":")


def provide_with_musl(libc: str, built: str, paths: Paths, preparing: Preparing) -> Path:
    """Returns the program `built` of our build folder, linked with musl, after updating it."""
    root = _provide_musl(paths, preparing)
    build = paths.build_of(build_name(libc))
    with (paths.state / LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _configure(libc, root, build, paths, preparing)
        done = run_builder(["ninja", "-C", str(build), built], paths)
        require_built(done, f"building {built} with musl", HINT)
    return build / built


def musl_folders(paths: Paths) -> tuple[str, ...]:
    """Returns the folder with musl's dynamic linker."""
    return (str(_root(paths) / "loader"),)


def _root(paths: Paths) -> Path:
    key = digest.of_value(["toolchain", *PACKAGES, debian_codename(this_release())])[:24]
    return paths.images / "toolchains" / f"musl-{key}"


def _provide_musl(paths: Paths, preparing: Preparing) -> Path:
    root = _root(paths)
    if root.is_dir():
        return root
    preparing("musl")
    with whole_folder(root) as made:
        unpack_packages(debian_codename(this_release()), list(PACKAGES), made)
        (made / "loader").mkdir()
        shutil.copyfile(_shared_library(made), made / "loader" / LOADER)
    return root


def _shared_library(root: Path) -> Path:
    """Returns musl's libc.so. Only a merged /usr has it beside libc.a."""
    places = (root / place / TRIPLET / "libc.so" for place in ("usr/lib", "lib"))
    return next(place for place in places if place.is_file())


def _configure(libc: str, root: Path, build: Path, paths: Paths, preparing: Preparing) -> None:
    asked = run_merged(["gcc", "-print-file-name=include"], environment={"LC_ALL": "C"})
    text = CROSS_FILE.format(
        root=root,
        triplet=TRIPLET,
        compilers=asked.stdout.strip(),
        shared=_shared_library(root).parent,
        how="-static" if libc == MUSL_STATIC else f"-Wl,-dynamic-linker,/lib/{LOADER}",
    )
    origin = origin_of(paths.checkout, [text])
    if not is_configured(build, origin):
        preparing("programs with musl")
        configure(build, origin, text, paths, "configuring a build with musl")
