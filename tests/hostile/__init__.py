# SPDX-License-Identifier: GPL-2.0-or-later
"""A program that takes flashrom's arguments and tries what a subject must not be able to do."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

SOURCE = Path(__file__).parent / "hostile.c"


def build_hostile(folder: Path, *, calls: Sequence[int] = (), **macros: int | str) -> Path:
    """Builds the program, statically linked; returns its path.

    `calls` are numbers of further system calls to try. `macros` are defined when hostile.c is
    compiled.
    """
    program = folder / "hostile"
    options = [
        f'-D{name}="{value}"' if isinstance(value, str) else f"-D{name}={value}"
        for name, value in macros.items()
    ]
    options += [f"-DCALLS={','.join(map(str, calls))}"] if calls else []
    words = ["gcc", "-D_GNU_SOURCE", "-O1", "-static", *options, "-o", str(program), str(SOURCE)]
    subprocess.run(words, check=True)
    return program


def refusals(output: str) -> dict[str, int]:
    """Returns the error number of each attempt; 0 if it succeeded."""
    lines = [line.split() for line in output.splitlines() if line.startswith("tried ")]
    return {name: int(number) for _, name, number in lines}
