# SPDX-License-Identifier: GPL-2.0-or-later
"""A program that takes flashrom's arguments and floods its output or its programmer."""

import subprocess
from enum import StrEnum
from pathlib import Path

SOURCE = Path(__file__).parent / "flood.c"


class Flood(StrEnum):
    """A kind of flood."""

    OUTPUT = "OUTPUT"
    LINE = "LINE"
    """Output of one endless line."""
    NOPS = "NOPS"
    GARBAGE = "GARBAGE"
    STATUS = "STATUS"
    """Endless valid status reads."""
    DEAF = "DEAF"
    """Long reads whose replies the program never receives."""
    STUBBORN = "STUBBORN"
    """NOPs, also after the link was closed."""
    CONSOLE = "CONSOLE"
    """Lines on the console of a guest."""


def build_flood(flood: Flood, folder: Path) -> Path:
    """Builds the program, statically linked, so that it also runs in guests; returns its path."""
    program = folder / f"flood-{flood.lower()}"
    words = ["gcc", "-O1", "-static", f'-DFLOOD="{flood}"', "-o", str(program), str(SOURCE)]
    subprocess.run(words, check=True)
    return program
