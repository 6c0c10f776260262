# SPDX-License-Identifier: GPL-2.0-or-later
"""Where set-up finds its inputs, and the one folder that it writes to."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

STATE_VARIABLE = "FLASHROM_RIG_STATE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Folders and files of this installation."""

    checkout: Path
    state: Path
    """Everything that set-up makes, distribution packages apart."""
    moved: bool = False
    """True where the user chose the folder of state."""

    @property
    def package_path(self) -> Path:
        """What PYTHONPATH must hold for `import delayrig`."""
        return self.checkout / "rig"

    @property
    def setup(self) -> Path:
        """This package."""
        return self.package_path / "delayrig" / "setup"

    @property
    def reference(self) -> Path:
        """Texts that the rig wrote about itself."""
        return self.package_path / "docs" / "reference"

    @property
    def help_texts(self) -> Path:
        """One file a subcommand: what its `--help` prints."""
        return self.reference / "command-line"

    @property
    def lock_of_python(self) -> Path:
        """Pins every Python package of the rig, with digests."""
        return self.package_path / "requirements.lock"

    @property
    def lock_of_tests(self) -> Path:
        """Pins what only tests and linters need beside that."""
        return self.checkout / "tests" / "requirements.lock"

    @property
    def extras(self) -> Path:
        """A lock for each kind of use that few users have."""
        return self.package_path / "extras"

    def lock_of_extra(self, name: str) -> Path:
        """Pins what that use needs beside the rig's own packages."""
        return self.extras / f"{name}.lock"

    @property
    def wheels(self) -> Path:
        """The Python packages as they were fetched."""
        return self.state / "wheels"

    @property
    def venv(self) -> Path:
        """The Python environment."""
        return self.state / "venv"

    @property
    def python(self) -> Path:
        """The Python that runs the rig."""
        return self.venv / "bin" / "python"

    @property
    def bytecode(self) -> Path:
        """What Python made of the rig's modules and of the packages that it uses."""
        return self.state / "bytecode"

    @property
    def build(self) -> Path:
        """What meson builds."""
        return self.state / "build"

    @property
    def logs(self) -> Path:
        """One log a tool that set-up calls."""
        return self.state / "log"

    @property
    def apt(self) -> Path:
        """Package sources of our own, beside the machine's."""
        return self.state / "apt"

    @property
    def stamp(self) -> Path:
        """Which steps are done, and for which inputs."""
        return self.state / "setup.stamp"

    @property
    def installed(self) -> Path:
        """Names of the distribution packages that set-up asked for, one a line."""
        return self.state / "packages.installed"


def find_layout(environment: Mapping[str, str]) -> Layout:
    """The checkout that this package lies in; $FLASHROM_RIG_STATE moves the state elsewhere."""
    checkout = Path(__file__).resolve().parents[3]
    state = environment.get(STATE_VARIABLE)
    if state:
        return Layout(checkout=checkout, state=Path(state).absolute(), moved=True)
    return Layout(checkout=checkout, state=checkout / ".rig")
