# SPDX-License-Identifier: GPL-2.0-or-later
"""A program that takes flashrom's words, and tries what no subject has any business to."""

import subprocess
from pathlib import Path

SOURCE = Path(__file__).parent / "hostile.c"


def build_hostile(folder: Path, **wants: int | str) -> Path:
    """The program, which needs nothing of the machine that it runs on; `wants` are its macros."""
    program = folder / "hostile"
    macros = [
        f'-D{name}="{value}"' if isinstance(value, str) else f"-D{name}={value}"
        for name, value in wants.items()
    ]
    words = ["gcc", "-D_GNU_SOURCE", "-O1", "-static", *macros, "-o", str(program), str(SOURCE)]
    subprocess.run(words, check=True)
    return program


def refusals(said: str) -> dict[str, int]:
    """What it tried, with the number of the error that it got; 0: it could."""
    lines = [line.split() for line in said.splitlines() if line.startswith("tried ")]
    return {name: int(number) for _, name, number in lines}
