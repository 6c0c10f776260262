# SPDX-License-Identifier: GPL-2.0-or-later
"""The inputs of set-up, and the one folder that it writes to."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

STATE_VARIABLE = "FLASHROM_RIG_STATE"


class Place:
    """An attribute that is a path below another attribute of the same object."""

    def __init__(self, below: str, *parts: str) -> None:
        self._below, self._parts = below, parts

    def __get__(self, owner: object, _kind: type) -> Path:
        return Path(getattr(owner, self._below), *self._parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    checkout: Path
    state: Path
    """The folder of everything that set-up makes, except distribution packages."""
    moved: bool = False
    """True if the user chose the folder of state."""

    package_path = Place("checkout", "rig")
    """The value of PYTHONPATH for `import delayrig`."""
    setup = Place("package_path", "delayrig", "setup")
    reference = Place("package_path", "docs", "reference")
    """The reference texts that `rig/rig reference` generates."""
    help_texts = Place("reference", "command-line.txt")
    """The outputs of `--help`, one after the other."""
    lock_of_python = Place("package_path", "requirements.lock")
    """The lock of every Python package of the rig, with digests."""
    lock_of_tests = Place("checkout", "tests", "requirements.lock")
    """The lock of packages that only tests and linters need."""
    extras = Place("package_path", "extras")
    """The folder of locks for uses that few users have."""

    wheels = Place("state", "wheels")
    """The downloaded Python packages."""
    venv = Place("state", "venv")
    python = Place("venv", "bin", "python")
    bytecode = Place("state", "bytecode")
    """The byte code of the rig's modules and of the packages that it uses."""
    build = Place("state", "build")
    logs = Place("state", "log")
    apt = Place("state", "apt")
    """The folder of our own package sources."""
    stamp = Place("state", "setup.stamp")
    """The steps that are done, and the digests of their inputs."""
    installed = Place("state", "packages.installed")
    """The names of the distribution packages that set-up installed, one a line."""

    def lock_of_extra(self, name: str) -> Path:
        return self.extras / f"{name}.lock"


def data_home(environment: Mapping[str, str]) -> Path:
    """Returns the folder of the user's data, with the history; may raise `RuntimeError`."""
    base = Path(environment.get("XDG_DATA_HOME", ""))
    return base if base.is_absolute() else Path("~/.local/share").expanduser()


def find_layout(environment: Mapping[str, str]) -> Layout:
    """Returns the layout of this package's checkout. $FLASHROM_RIG_STATE moves the state."""
    checkout = Path(__file__).resolve().parents[3]
    state = environment.get(STATE_VARIABLE)
    if state:
        return Layout(checkout=checkout, state=Path(state).absolute(), moved=True)
    return Layout(checkout=checkout, state=checkout / ".rig")
