# SPDX-License-Identifier: GPL-2.0-or-later
"""Our own programs that few cells need: built when the first one does, by the build's own ninja."""

import fcntl
import os
import subprocess
from pathlib import Path

from delayrig.base.children import run_child
from delayrig.base.errors import RigFaultError
from delayrig.base.paths import Paths

RARE_FOLDERS = ("flashrom/past_mistakes/", "flashrom/steps/")
"""Below the build folder; set-up builds all else that cells run on."""
LOCK = "ninja.lock"
TAIL_LINES = 12


def provide_own(built: str, paths: Paths) -> Path:
    """The program or library of that name below the build folder, as new as its sources."""
    if built.startswith(RARE_FOLDERS):
        _build(built, paths)
    return paths.build / built


def _build(built: str, paths: Paths) -> None:
    """One ninja at a time works in the folder."""
    with (paths.state / LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        run_builder(
            ["ninja", "-C", str(paths.build), built],
            programs=paths.state / "venv" / "bin",
            what=f"building {built}",
            hint="see the lines above",
        )


def run_builder(argv: list[str], *, programs: Path, what: str, hint: str) -> None:
    """Runs meson or ninja; raises `RigFaultError` with its last lines where it fails.

    The build's own scripts run on the Python in the folder `programs`.
    """
    path = f"{programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    done = run_child(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PATH": path, "PYTHONPATH": ""},
    )
    if done.returncode != 0:
        tail = "\n".join(done.stdout.splitlines()[-TAIL_LINES:])
        raise RigFaultError(f"{what} failed:\n{tail}", hint=hint)
