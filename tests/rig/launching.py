# SPDX-License-Identifier: GPL-2.0-or-later
"""The launcher, started as a user starts it, and its console."""

import io
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from delayrig.setup.console import Console, Context
from delayrig.setup.layout import Layout, find_layout

from tests.rig.running import run, write_script

LAUNCHER = find_layout({}).package_path / "rig"
SYSTEM_PYTHON = Path("/usr/bin/python3")
PRINTS_ITS_WORDS = 'printf \'%s\\n\' "$*" "$FLASHROM_RIG_STATE" "$PYTHONPATH"'


class Terminal(io.StringIO):
    """A stream that counts as a terminal."""

    def isatty(self) -> bool:
        return True


def context_of(folder: Path, output: io.StringIO | None = None, **more: Any) -> Context:
    """Returns the context of a checkout and its state in that folder, without a terminal."""
    layout = Layout(checkout=folder, state=folder / "state")
    console = Console(output=output or io.StringIO(), input=io.StringIO())
    return Context(**{"layout": layout, "console": console, **more})


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
    write_script(state / "venv" / "bin" / "python", script)
    (state / "build").mkdir(parents=True)
    (state / "build" / "build.ninja").touch()
    mark = (
        "import os; from delayrig.setup.layout import find_layout;"
        "from delayrig.setup.stamp import *; at = find_layout(os.environ);"
        "[write_mark(at.stamp, *pair) for pair in wanted_marks(at).items()]"
    )
    environment = {**os.environ, "FLASHROM_RIG_STATE": str(state), "PYTHONPATH": str(copy)}
    subprocess.run([SYSTEM_PYTHON, "-S", "-P", "-c", mark], env=environment, check=True)
