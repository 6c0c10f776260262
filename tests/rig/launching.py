# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions that start the launcher as a user does."""

import os
import shutil
import subprocess
from pathlib import Path

from delayrig.setup.layout import find_layout

from tests.rig.running import run

LAUNCHER = find_layout({}).package_path / "rig"
SYSTEM_PYTHON = Path("/usr/bin/python3")
PRINTS_ITS_WORDS = 'printf \'%s\\n\' "$*" "$FLASHROM_RIG_STATE" "$PYTHONPATH"'


def launch(state: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Starts this checkout's launcher on another state, without a terminal."""
    environment = {**os.environ, "FLASHROM_RIG_STATE": str(state), **more}
    return run(LAUNCHER, *arguments, stdin=subprocess.DEVNULL, env=environment)


def copy_launcher(tmp_path: Path) -> Path:
    """Copies the launcher and its files; returns the folder."""
    copy = tmp_path / "checkout" / "rig"
    shutil.copytree(LAUNCHER.parent / "delayrig" / "setup", copy / "delayrig" / "setup")
    for name in ("__init__.py", "VERSION"):
        shutil.copy(LAUNCHER.parent / "delayrig" / name, copy / "delayrig")
    shutil.copy(LAUNCHER, copy / "rig")
    return copy


def launch_copy(copy: Path, state: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Starts a copied launcher on its own state."""
    environment = {**os.environ, "FLASHROM_RIG_STATE": str(state)}
    return run(copy / "rig", *arguments, env=environment)


def pretend_ready(copy: Path, state: Path, script: str = PRINTS_ITS_WORDS) -> None:
    """Marks each step of set-up as done, and installs a shell script as the rig's Python."""
    python = state / "venv" / "bin" / "python"
    for path in (python, state / "build" / "build.ninja"):
        path.parent.mkdir(parents=True)
    (state / "build" / "build.ninja").touch()
    python.write_text(f"#!/bin/sh\n{script}\n", encoding="ascii")
    python.chmod(0o755)
    mark = (
        "import os; from delayrig.setup.layout import find_layout;"
        "from delayrig.setup.stamp import *; at = find_layout(os.environ);"
        "[write_mark(at.stamp, *pair) for pair in wanted_marks(at).items()]"
    )
    environment = {**os.environ, "FLASHROM_RIG_STATE": str(state), "PYTHONPATH": str(copy)}
    subprocess.run([SYSTEM_PYTHON, "-S", "-P", "-c", mark], env=environment, check=True)
