# SPDX-License-Identifier: GPL-2.0-or-later
"""Unpacks distribution packages into a folder, from the archive that this machine's apt uses."""

import os
import shutil
import subprocess
from pathlib import Path
from urllib.parse import unquote

from delayrig.errors import RigFaultError
from delayrig.setup.apt import derive_suite
from delayrig.setup.errors import SetupError
from delayrig.setup.install import read_source_files, read_targets
from delayrig.setup.named_archive import named_archive

LISTING = "packages.txt"


def unpack_packages(
    suite: str, packages: list[str], folder: Path, architecture: str = ""
) -> dict[str, str]:
    """Unpacks `packages` and all they depend on into the new `folder`.

    They are for this machine, or for the `architecture` that is given as dpkg calls it. Returns the
    version of every package unpacked. Nothing is configured and no script runs.
    """
    sources = _sources(suite)
    done = subprocess.run(
        [
            "mmdebstrap",
            "--mode=chrootless",  # nothing is run in there, so nobody need be root
            "--variant=extract",
            *([f"--architectures={architecture}"] if architecture else []),
            f"--include={','.join(packages)}",
            f'--extract-hook=ls "$1"/var/cache/apt/archives > "$1"/{LISTING}',
            suite,
            str(folder),
            "-",
        ],
        input=sources,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RigFaultError(
            f"mmdebstrap could not unpack {', '.join(packages)} of {suite}:\n"
            + "\n".join(done.stderr.splitlines()[-8:]),
            hint="does this machine's archive offer that suite? `rig/rig doctor` tells",
        )
    forget_sources(folder)
    return _versions(folder)


def forget_sources(folder: Path) -> None:
    """Removes what was unpacked from: an address may hold a password."""
    shutil.rmtree(folder / "etc" / "apt" / "sources.list.d", ignore_errors=True)


def _sources(suite: str) -> str:
    """The suite in the archive that this machine's release comes from, as a .sources file."""
    os_release = Path("/etc/os-release").read_text(encoding="utf-8")
    try:
        named = named_archive(os.environ)
        return derive_suite(suite, read_targets(), os_release, read_source_files(), named=named)
    except SetupError as error:
        raise RigFaultError(error.message, hint=error.remedy) from error


def _versions(folder: Path) -> dict[str, str]:
    """From the names of the downloaded packages: NAME_VERSION_ARCH.deb, ':' written as %3a."""
    names = (folder / LISTING).read_text(encoding="utf-8").split()
    packages = [name.split("_") for name in names if name.endswith(".deb")]
    return {package: unquote(version) for package, version, _ in packages}
