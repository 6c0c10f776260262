# SPDX-License-Identifier: GPL-2.0-or-later
"""The runner's tools, and the folder to which it writes."""

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from tests.runner.children import Children, Ended
from tests.runner.outcome import write_record
from tests.runner.selection import Selection


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """A checkout, its folder of state, and the programs that run there."""

    checkout: Path
    state: Path
    output: TextIO | None = None
    """The output of layers and their programs; None for the terminal."""
    children: Children = field(default_factory=Children)

    @property
    def python(self) -> Path:
        """Returns the Python that runs the rig and the tests."""
        return self.state / "venv" / "bin" / "python"

    @property
    def meson(self) -> Path:
        """Returns the environment's meson."""
        return self.tool("meson")

    def tool(self, name: str) -> Path:
        """Returns a program of the environment."""
        return self.state / "venv" / "bin" / name

    @property
    def build(self) -> Path:
        """Returns the folder of the build that set-up makes."""
        return self.state / "build"

    @property
    def sanitized_build(self) -> Path:
        """Returns the folder of the build with ASan and UBSan."""
        return self.state / "build-sanitizers"

    @property
    def notes(self) -> Path:
        """Returns the folder of the layers' records and other notes for the next run."""
        return self.state / "tests"

    @property
    def whole_notes(self) -> Path:
        """Returns the folder of the release check's records; other runs do not change it."""
        return self.notes / "all"

    def record(self, layer: str, selection: Selection) -> Path:
        """Returns the path of the record of a layer's tests."""
        folder = self.whole_notes if selection.can_be_resumed else self.notes
        return folder / f"{layer}.jsonl"

    def fresh_record(self, layer: str, selection: Selection) -> Path:
        """Starts a new record with the tests that passed before; returns its path."""
        record = self.record(layer, selection)
        record.parent.mkdir(parents=True, exist_ok=True)
        record.unlink(missing_ok=True)
        for test in selection.passed:
            write_record(record, test)
        return record

    def environment(self, **more: str) -> dict[str, str]:
        """Returns the environment of tests and rig, which keeps bytecode out of the checkout."""
        own = {
            "PYTHONPATH": str(self.checkout / "rig"),
            "PYTHONDONTWRITEBYTECODE": "",
            "PYTHONPYCACHEPREFIX": str(self.state / "bytecode"),
        }
        return os.environ | own | more

    def run(self, command: Sequence[str | Path], **more: str) -> Ended:
        """Runs a layer's program until it ends, with `more` in its environment."""
        env = self.environment(**more)
        return self.children.run(command, cwd=self.checkout, env=env, output=self.output)

    def lines_of(self, command: Sequence[str | Path]) -> list[str]:
        """Returns the lines that a program prints."""
        done = subprocess.run(
            command,
            cwd=self.checkout,
            env=self.environment(),
            check=False,
            capture_output=True,
            text=True,
        )
        return done.stdout.splitlines()


def find_places() -> Places:
    """Returns the checkout of this file. $FLASHROM_RIG_STATE moves the state elsewhere."""
    checkout = Path(__file__).resolve().parents[2]
    state = os.environ.get("FLASHROM_RIG_STATE")
    return Places(checkout=checkout, state=Path(state).absolute() if state else checkout / ".rig")
