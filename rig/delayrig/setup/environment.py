# SPDX-License-Identifier: GPL-2.0-or-later
"""The rig's Python environment: the distribution's Python and the packages of requirements.lock.

Packages are downloaded into the state and installed from there, so the environment can be made
again, or moved to another machine, without a network. The packages of tests and linters have a
separate lock, and `tests/run` installs them; those that few users need have locks in rig/extras.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from delayrig.setup.arguments import EXTRAS
from delayrig.setup.command import Done, run_logged, succeeds
from delayrig.setup.console import Context
from delayrig.setup.errors import SetupError
from delayrig.setup.layout import Layout
from delayrig.setup.stamp import ENVIRONMENT, TEST_ENVIRONMENT, drop_mark

SYSTEM_PYTHON = "/usr/bin/python3"
QUIET = ("--no-input", "--disable-pip-version-check")
PINNED = ("--require-hashes", "--no-deps")
ANSWER_LIMITS = ("--retries", "2", "--timeout", "10")
"""Options that make pip report an unreachable index within a minute."""


def can_make_environment() -> bool:
    """Returns True if this Python can make environments: Debian has that in a separate package."""
    return succeeds([SYSTEM_PYTHON, "-c", "import ensurepip, venv"])


def is_made_here(layout: Layout) -> bool:
    """Returns True if the environment was made at its present path.

    Elsewhere its Python starts, but its scripts do not: their first lines have the old path.
    """
    path = os.path.abspath(layout.venv)  # noqa: PTH100 - venv keeps links, too
    lines: list[str] = []
    with suppress(OSError):
        lines = (layout.venv / "pyvenv.cfg").read_text("utf-8", "surrogateescape").splitlines()
    return any(line.startswith("command = ") and line.endswith(f" {path}") for line in lines)


def ensure_environment(context: Context) -> bool:
    layout = context.layout
    with context.console.timed("Python environment", "Python environment: ready"):
        alive = [str(layout.python), "-m", "pip", "--version"]
        if not (context.again and is_made_here(layout) and succeeds(alive)):
            drop_mark(layout.stamp, ENVIRONMENT)
            drop_mark(layout.stamp, TEST_ENVIRONMENT)
            _make(context)
        _fill(context, [layout.lock_of_python])
    return True


def ensure_test_environment(context: Context) -> bool:
    """Adds the packages of tests and linters, and every extra, to the environment."""
    layout = context.layout
    with context.console.timed("Python packages of the tests"):
        extras = map(layout.lock_of_extra, EXTRAS)
        _fill(context, [layout.lock_of_tests, *extras])
    return True


def add_extras(context: Context, names: Iterable[str]) -> None:
    """Adds the extras of those names to the environment; raises `SetupError` for unknown names."""
    for name in names:
        if name not in EXTRAS:
            raise SetupError(f"there is no extra {name!r}", f"known extras: {', '.join(EXTRAS)}")
        context.console.begin(f"extra {name}")
        _fill(context, [context.layout.lock_of_extra(name)])
        context.console.say("ready")


def _make(context: Context) -> None:
    # The libvirt binding is a package of the distribution, so the environment must see those.
    options = ["--clear", "--system-site-packages"]
    venv = [SYSTEM_PYTHON, "-m", "venv", *options, str(context.layout.venv)]
    run_logged(context, "venv", venv).require(
        "making the Python environment", "check that python3-venv is installed"
    )


def _fill(context: Context, locks: Iterable[Path]) -> None:
    """Installs what the locks name from the downloaded packages, after downloading missing ones."""
    files = [word for lock in locks for word in ("-r", str(lock))]
    wheels = str(context.layout.wheels)
    # Byte code is written when a module is first used: most modules never are.
    install = ["install", "--no-index", "--find-links", wheels, "--no-compile", *PINNED, *files]
    if context.layout.wheels.is_dir() and _pip(context, install).code == 0:
        return
    fetch = ["download", "--dest", wheels, "--find-links", wheels, *ANSWER_LIMITS, *PINNED, *files]
    _pip(context, fetch).require(
        "fetching Python packages",
        "check that pip reaches its index (pip's own configuration is honoured), and start again",
    )
    _pip(context, install).require("installing Python packages", "rig/rig clean, then start again")


def _pip(context: Context, arguments: list[str]) -> Done:
    argv = [str(context.layout.python), "-m", "pip", *arguments, *QUIET]
    return run_logged(context, "pip", argv, {"PYTHONNOUSERSITE": "1", "PYTHONPATH": ""})
