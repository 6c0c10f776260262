# SPDX-License-Identifier: GPL-2.0-or-later
"""Corners: which of a chip's busy times it takes, in the words that the emulator reads too."""

import re
from enum import StrEnum

FORMS = ("min", "typ", "max", "zero", "draw:SEED", "slow:FACTOR")
SEED_MAX = 2**64 - 1
FACTORS = range(2, 1001)


class Corner(StrEnum):
    """Those without a number; `ZERO` is never busy, and stands for what a job costs besides."""

    MIN = "min"
    TYP = "typ"
    MAX = "max"
    ZERO = "zero"


def is_corner(words: str) -> bool:
    """Whether it is one of `FORMS`, its number in plain digits: equal corners are equal words.

    `draw` draws each busy time between the part's least and largest; `slow` takes FACTOR times
    the largest.
    """
    name, colon, number = words.partition(":")
    if not colon:
        return name in list(Corner)
    if not re.fullmatch(r"0|[1-9][0-9]{0,19}", number):
        return False
    match name:
        case "draw":
            return int(number) <= SEED_MAX
        case "slow":
            return int(number) in FACTORS
        case _:
            return False


def is_beyond_the_datasheet(corner: str) -> bool:
    return corner.startswith("slow:")
