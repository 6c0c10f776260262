# SPDX-License-Identifier: GPL-2.0-or-later
"""The rig's own Python environment: the distribution's Python, and what requirements.lock pins.

What only tests and linters need stands in a lock of its own, and comes with `tests/run`.
"""

import time
from pathlib import Path

from delayrig.setup.command import run_logged, succeeds
from delayrig.setup.console import human_time
from delayrig.setup.context import Context
from delayrig.setup.stamp import ENVIRONMENT, TEST_ENVIRONMENT, drop_mark

SYSTEM_PYTHON = "/usr/bin/python3"


def ensure_environment(context: Context) -> bool:
    """Makes the environment, or checks it where its mark is fresh."""
    context.console.begin("Python environment")
    started_s = time.monotonic()
    if not (context.again and _is_alive(context)):
        drop_mark(context.layout.stamp, ENVIRONMENT)
        drop_mark(context.layout.stamp, TEST_ENVIRONMENT)
        _make(context)
    _fill(context, context.layout.lock_of_python)
    context.console.say(f"ready in {human_time(time.monotonic() - started_s)}")
    return True


def ensure_test_environment(context: Context) -> bool:
    """Adds what tests and linters need to the environment."""
    context.console.begin("Python packages of the tests")
    started_s = time.monotonic()
    _fill(context, context.layout.lock_of_tests)
    context.console.say(f"ready in {human_time(time.monotonic() - started_s)}")
    return True


def _is_alive(context: Context) -> bool:
    return succeeds([str(context.layout.python), "-m", "pip", "--version"])


def _make(context: Context) -> None:
    # The libvirt binding is the distribution's, hence its packages must be seen.
    options = ["--clear", "--system-site-packages"]
    done = run_logged(
        [SYSTEM_PYTHON, "-m", "venv", *options, str(context.layout.venv)],
        log=context.layout.logs / "venv.log",
        console=context.console,
    )
    done.require("making the Python environment", "check that python3-venv is installed")


def _fill(context: Context, lock: Path) -> None:
    options = ["--require-hashes", "--no-deps", "--no-input", "--disable-pip-version-check"]
    done = run_logged(
        [str(context.layout.python), "-m", "pip", "install", *options, "-r", str(lock)],
        log=context.layout.logs / "pip.log",
        console=context.console,
        environment={"PYTHONNOUSERSITE": "1", "PYTHONPATH": ""},
    )
    done.require(
        "installing Python packages",
        "check that pip reaches its index (pip's own configuration is honoured), and start again",
    )
