# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU for rare guests, which is fetched for the first cell, and not installed.

It runs with this machine's libraries, as the cross compilers do.
"""

import os
import shutil
import subprocess
from pathlib import Path

from delayrig.base import digest
from delayrig.base.atomic_file import whole_folder
from delayrig.base.children import run_child
from delayrig.base.errors import NotProvidedError
from delayrig.base.paths import Paths, Preparing
from delayrig.model.platform import PLATFORMS, Arch
from delayrig.setup.apt import debian_codename
from delayrig.setup.distribution import this_release
from delayrig.subjects.packages import unpack_packages

PROGRAMS = "usr/bin"
BUNDLE = "qemu-bundle"
"""The folder beside QEMU in whose usr/share it looks for firmware (QEMU util/cutils.c)."""


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
        _fetch(release, platform.program_package, root)
    _require_running(root / PROGRAMS / platform.program)
    os.environ["PATH"] += f"{os.pathsep}{root / PROGRAMS}"


def _fetch(release: str, package: str, root: Path) -> None:
    """Unpacks the package of the release, or of its backports if the release has none."""
    with whole_folder(root) as fresh:
        try:
            unpack_packages(release, [package], fresh)
        except NotProvidedError:
            unpack_packages(f"{release}-backports", [package], fresh, release=release)
        (fresh / PROGRAMS / BUNDLE).symlink_to("../..")


def _require_running(program: Path) -> None:
    done = run_child([str(program), "--version"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise NotProvidedError(program.name, done.stderr.strip() or "it does not run here")
