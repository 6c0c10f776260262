# SPDX-License-Identifier: GPL-2.0-or-later
"""A program that takes flashrom's arguments and tries all that a subject must not be able to do."""

import subprocess
from pathlib import Path

SOURCE = Path(__file__).parent / "hostile.c"


def build_hostile(folder: Path, **wants: int | str) -> Path:
    """Builds the program, statically linked; `wants` become its macros. Returns its path."""
    program = folder / "hostile"
    macros = [
        f'-D{name}="{value}"' if isinstance(value, str) else f"-D{name}={value}"
        for name, value in wants.items()
    ]
    words = ["gcc", "-D_GNU_SOURCE", "-O1", "-static", *macros, "-o", str(program), str(SOURCE)]
    subprocess.run(words, check=True)
    return program


def refusals(said: str) -> dict[str, int]:
    """Returns the error number of each thing that it tried; 0 if it succeeded."""
    lines = [line.split() for line in said.splitlines() if line.startswith("tried ")]
    return {name: int(number) for _, name, number in lines}
