# SPDX-License-Identifier: GPL-2.0-or-later
"""Corners: the busy times that a chip takes, in the words of the emulator."""

import re
from enum import StrEnum

BUSY_FORMS = ("min", "typ", "max", "draw:SEED", "slow:FACTOR")
"""The corners of all cells except floors, which have the corner `zero`."""
FORMS = (*BUSY_FORMS, "zero")
NUMBERS = {"draw": range(2**64), "slow": range(2, 1001)}


class Corner(StrEnum):
    """The corners without a number. `ZERO` is never busy, which shows the other costs of a job."""

    MIN = "min"
    TYP = "typ"
    MAX = "max"
    ZERO = "zero"


def is_corner(words: str) -> bool:
    """Returns True for one of `FORMS`. A number has one spelling, so equal corners are equal text.

    `draw` draws each busy time between the typical and the largest; `slow` takes FACTOR times the
    largest.
    """
    name, _, number = words.partition(":")
    if name not in NUMBERS or not re.fullmatch(r"0|[1-9][0-9]{0,19}", number):
        return words in list(Corner)
    return int(number) in NUMBERS[name]


def is_beyond_the_datasheet(corner: str) -> bool:
    return corner.startswith("slow:")
