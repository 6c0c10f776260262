# SPDX-License-Identifier: GPL-2.0-or-later
"""Kinds of damage to files on disk: removed, truncated, a bit flipped, parts swapped."""

import random
from collections.abc import Callable
from pathlib import Path


def remove(path: Path, _draws: random.Random) -> None:
    path.unlink()


def cut(path: Path, draws: random.Random) -> None:
    with path.open("r+b") as file:
        file.truncate(draws.randrange(path.stat().st_size))


def flip(path: Path, draws: random.Random) -> None:
    at = draws.randrange(path.stat().st_size)
    with path.open("r+b") as file:
        file.seek(at)
        (byte,) = file.read(1)
        file.seek(at)
        file.write(bytes([byte ^ 1 << draws.randrange(8)]))


def swap_halves(path: Path, _draws: random.Random) -> None:
    content = path.read_bytes()
    middle = len(content) // 2
    path.write_bytes(content[middle:] + content[:middle])


HARMS: list[Callable[[Path, random.Random], None]] = [remove, cut, flip, swap_halves]
