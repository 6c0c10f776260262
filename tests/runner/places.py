# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the runner finds its tools, and the one folder that it writes to."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from tests.runner.children import Children, Ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """A checkout, the folder of state that belongs to it, and what runs there."""

    checkout: Path
    state: Path
    output: TextIO | None = None
    """What layers and their programs write to; None for the terminal."""
    children: Children = field(default_factory=Children)

    @property
    def python(self) -> Path:
        """The Python that runs rig and tests."""
        return self.state / "venv" / "bin" / "python"

    @property
    def meson(self) -> Path:
        """The environment's meson."""
        return self.tool("meson")

    def tool(self, name: str) -> Path:
        """A program of the environment."""
        return self.state / "venv" / "bin" / name

    @property
    def build(self) -> Path:
        """What set-up built: the programs as they are used."""
        return self.state / "build"

    @property
    def sanitized_build(self) -> Path:
        """The same with ASan and UBSan."""
        return self.state / "build-sanitizers"

    @property
    def notes(self) -> Path:
        """What runs of the tests leave for the next one."""
        return self.state / "tests"

    def fresh_record(self, layer: str) -> Path:
        """A file that is not there yet, for what becomes of the tests of a layer."""
        record = self.notes / f"{layer}.jsonl"
        record.parent.mkdir(parents=True, exist_ok=True)
        record.unlink(missing_ok=True)
        return record

    def environment(self, **more: str) -> dict[str, str]:
        """What tests and rig are started with; byte code stays out of the checkout."""
        own = {
            "PYTHONPATH": str(self.checkout / "rig"),
            "PYTHONDONTWRITEBYTECODE": "",
            "PYTHONPYCACHEPREFIX": str(self.state / "bytecode"),
        }
        return os.environ | own | more

    def run(self, command: Sequence[str | Path], **more: str) -> Ended:
        """A layer's program, with `more` in its environment; it may write."""
        env = self.environment(**more)
        return self.children.run(command, cwd=self.checkout, env=env, output=self.output)


def find_places() -> Places:
    """The checkout that this file lies in; $FLASHROM_RIG_STATE moves the state elsewhere."""
    checkout = Path(__file__).resolve().parents[2]
    state = os.environ.get("FLASHROM_RIG_STATE")
    return Places(checkout=checkout, state=Path(state).absolute() if state else checkout / ".rig")
