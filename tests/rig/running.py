# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions that run a program to its end: `rig/rig` in this process, others in a new one."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result
from delayrig.base.errors import ExitCode
from delayrig.main import main

from tests.rig.builders import CHECKOUT

OUR_PACKAGES = {"PYTHONPATH": f"{CHECKOUT / 'rig'}:{CHECKOUT}"}


def rig(*words: object) -> Result:
    """Runs `rig/rig` with these words."""
    return CliRunner().invoke(main, [*map(str, words)])


def answer_of(*words: object) -> str:
    """Returns the answer of `rig/rig`, which must pass."""
    done = rig(*words)
    assert done.exit_code == ExitCode.PASS, done.output
    return done.stdout


def refusal_of(*words: object) -> str:
    """Returns the error of `rig/rig`, which must refuse these words as bad input."""
    done = rig(*words)
    assert done.exit_code == ExitCode.BAD_INPUT, done.output
    return done.stderr


def install_script(path: Path, script: str) -> Path:
    """Writes an executable script, and its folder; returns its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(script, encoding="utf-8")
    path.chmod(0o755)
    return path


def run(*words: object, **more: Any) -> subprocess.CompletedProcess[str]:
    """Runs a program; returns its exit code, whatever it is, and its output as text."""
    return subprocess.run([*map(str, words)], capture_output=True, text=True, check=False, **more)


def write_script(path: Path, script: str) -> Path:
    """Writes an executable shell script, and its folder; returns its path."""
    return install_script(path, f"#!/bin/sh\n{script}\n")


def run_python(
    *words: object, within: Sequence[str] = (), **more: Any
) -> subprocess.CompletedProcess[str]:
    """Runs this Python with our packages in its path; `within` is the start of its command line."""
    return run(*within, sys.executable, *words, env=os.environ | OUR_PACKAGES, **more)


def start_python(*words: object, **more: Any) -> subprocess.Popen[str]:
    """Starts this Python with our packages in its path; the test can read its output as text."""
    settings: dict[str, Any] = {"env": os.environ | OUR_PACKAGES, "stdout": subprocess.PIPE}
    return subprocess.Popen([sys.executable, *map(str, words)], text=True, **settings | more)
