# SPDX-License-Identifier: GPL-2.0-or-later
"""Disguises our own programs as unknown ones: with another version, without symbols, or both.

A prefix of the subject's name says so: `stripped:renamed:known-bad:coarse-clock`. The judge of such
a build knows neither its version nor its digest, and finds its delay function by its code.
"""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from delayrig import __version__
from delayrig.base import digest
from delayrig.base.errors import RigFaultError
from delayrig.base.paths import Paths
from delayrig.subjects.seal import fault_of, sealed_folder

STRIPPED, RENAMED = "stripped:", "renamed:"
DISGUISES = (STRIPPED, RENAMED)
FOLDER = "disguised"
OWN_VERSION = f"{__version__}-rig".encode()
"""The version that flashrom/meson.build gives our flashrom."""


def split_disguises(name: str) -> tuple[tuple[str, ...], str]:
    """Returns the disguises before a subject's name, and the name."""
    for disguise in DISGUISES:
        if name.startswith(disguise):
            more, plain = split_disguises(name.removeprefix(disguise))
            return (disguise, *more), plain
    return (), name


def disguised(program: Path, disguises: Sequence[str], paths: Paths) -> Path:
    """Returns the program in that disguise, from the cache if it was made before."""
    if not disguises:
        return program
    key = digest.of_value([sorted(set(disguises)), digest.of_file(program)])[:24]
    folder = paths.state / FOLDER / key
    if fault_of(folder):
        with sealed_folder(folder) as made:
            place = made / program.name
            content = program.read_bytes()
            place.write_bytes(_renamed(content, program) if RENAMED in disguises else content)
            if STRIPPED in disguises:
                _strip(place)
            place.chmod(0o755)
    return folder / program.name


def _renamed(content: bytes, program: Path) -> bytes:
    """Replaces the version by one of the same length, so that nothing else moves."""
    if OWN_VERSION not in content:
        raise RigFaultError(
            f"{program}: does not say that it is {OWN_VERSION.decode()}",
            hint="`rig/rig setup` builds it again",
        )
    other = b"9.9-" + b"x" * len(OWN_VERSION)
    return content.replace(OWN_VERSION, other[: len(OWN_VERSION)])


def _strip(program: Path) -> None:
    strip = shutil.which("strip")
    if strip is None:
        raise RigFaultError("strip is not there", hint="install binutils")
    subprocess.run([strip, "--strip-all", str(program)], check=True)
