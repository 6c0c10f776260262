# SPDX-License-Identifier: GPL-2.0-or-later
"""Where set-up finds its inputs, and the one folder that it writes to."""

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
    """Everything that set-up makes, distribution packages apart."""
    moved: bool = False
    """True where the user chose the folder of state."""

    package_path = Place("checkout", "rig")
    """What PYTHONPATH must hold for `import delayrig`."""
    setup = Place("package_path", "delayrig", "setup")
    reference = Place("package_path", "docs", "reference")
    """Texts that the rig wrote about itself."""
    help_texts = Place("reference", "command-line")
    """One file a subcommand: what its `--help` prints."""
    lock_of_python = Place("package_path", "requirements.lock")
    """Pins every Python package of the rig, with digests."""
    lock_of_tests = Place("checkout", "tests", "requirements.lock")
    """Pins what only tests and linters need beside that."""
    extras = Place("package_path", "extras")
    """A lock for each kind of use that few users have."""

    wheels = Place("state", "wheels")
    """The Python packages as they were fetched."""
    venv = Place("state", "venv")
    python = Place("venv", "bin", "python")
    bytecode = Place("state", "bytecode")
    """What Python made of the rig's modules and of the packages that it uses."""
    build = Place("state", "build")
    logs = Place("state", "log")
    apt = Place("state", "apt")
    """Package sources of our own, beside the machine's."""
    stamp = Place("state", "setup.stamp")
    """Which steps are done, and for which inputs."""
    installed = Place("state", "packages.installed")
    """Names of the distribution packages that set-up asked for, one a line."""

    def lock_of_extra(self, name: str) -> Path:
        return self.extras / f"{name}.lock"


def data_home(environment: Mapping[str, str]) -> Path:
    """Where the user's data are, and with them the history of runs; perhaps `RuntimeError`."""
    base = Path(environment.get("XDG_DATA_HOME", ""))
    return base if base.is_absolute() else Path("~/.local/share").expanduser()


def find_layout(environment: Mapping[str, str]) -> Layout:
    """The checkout that this package lies in; $FLASHROM_RIG_STATE moves the state elsewhere."""
    checkout = Path(__file__).resolve().parents[3]
    state = environment.get(STATE_VARIABLE)
    if state:
        return Layout(checkout=checkout, state=Path(state).absolute(), moved=True)
    return Layout(checkout=checkout, state=checkout / ".rig")
