# SPDX-License-Identifier: GPL-2.0-or-later
"""Our own flashrom with other thresholds, kept below the folder of state by what it is made of.

One build folder serves all: a threshold is in three sources, and all else is compiled once
(option `compared_thresholds_us` of meson.options).
"""

import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from delayrig.analysis.threshold.candidate import Candidate, candidate_of
from delayrig.base import digest
from delayrig.base.errors import RigFaultError
from delayrig.base.paths import Paths
from delayrig.base.preparing import Preparing

FOLDER = "thresholds"
SOURCES = ("flashrom", "emulators")
BUILD_FILES = ("rig/delayrig/VERSION", "meson.build", "meson.options")
SUFFIXES = {".c", ".h", ".build", ".map", ".py", ".toml"}
TARGET = "flashrom-threshold-{}"
TAIL_LINES = 12


def provide_own(values: Sequence[int], paths: Paths, preparing: Preparing) -> list[Candidate]:
    """A program for each; only what is not there yet is built."""
    with _locked(paths.state / FOLDER) as folder:
        made = folder / source_sha256(paths.checkout)[:16]
        places = {value: made / f"flashrom-{value}" for value in values}
        missing = [value for value in values if not places[value].is_file()]
        if missing:
            preparing(f"flashrom with thresholds of {', '.join(map(str, missing))} us")
            _build(missing, folder / "build", made, paths)
    return [candidate_of(value, place) for value, place in places.items()]


def source_sha256(checkout: Path) -> str:
    """Of all that such a program is built from, the compiler's version included."""
    files = [checkout / name for name in BUILD_FILES]
    for name in SOURCES:
        below = (checkout / name).rglob("*")
        files += sorted(file for file in below if file.suffix in SUFFIXES and file.is_file())
    compiler = subprocess.run(
        [os.environ.get("CC", "cc"), "--version"], capture_output=True, text=True, check=False
    )
    return digest.of_value(
        [
            [[str(file.relative_to(checkout)), digest.of_file(file)] for file in files],
            [compiler.stdout, os.environ.get("CFLAGS", "")],
        ]
    )


@contextmanager
def _locked(folder: Path) -> Iterator[Path]:
    """The folder, for one of us at a time."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


def _build(values: Sequence[int], build: Path, made: Path, paths: Paths) -> None:
    option = f"-Dcompared_thresholds_us={','.join(map(str, values))}"
    targets = [TARGET.format(value) for value in values]
    folders = [option, str(build), str(paths.checkout)]
    if _run(["setup", "--reconfigure", *folders], paths).returncode != 0:
        shutil.rmtree(build, ignore_errors=True)
        _require(_run(["setup", *folders], paths), "configuring")
    _require(_run(["compile", "-C", str(build), *targets], paths), "building")
    made.mkdir(parents=True, exist_ok=True)
    for value, target in zip(values, targets, strict=True):
        scratch = made / f".{target}.new"
        shutil.copy2(build / "flashrom" / target, scratch)
        scratch.replace(made / f"flashrom-{value}")


def _run(arguments: list[str], paths: Paths) -> subprocess.CompletedProcess[str]:
    programs = paths.state / "venv" / "bin"
    path = f"{programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return subprocess.run(
        [str(programs / "meson"), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        check=False,
        env={**os.environ, "PATH": path, "PYTHONPATH": ""},
    )


def _require(done: subprocess.CompletedProcess[str], what: str) -> None:
    if done.returncode != 0:
        tail = "\n".join(f"  {line}" for line in done.stdout.splitlines()[-TAIL_LINES:])
        raise RigFaultError(
            f"{what} our flashrom with other thresholds failed; the last lines:\n{tail}",
            hint="`rig/rig setup` builds everything again and says what is missing",
        )
