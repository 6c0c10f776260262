# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures, their grades, and the one rule for figures that no source gives."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Grade(Enum):
    """What a figure rests on, from the strongest to the weakest."""

    DATASHEET = "datasheet"
    SECONDARY = "secondary"
    UNSURE = "unsure"
    ASSUMED = "assumed"


class Work(Enum):
    """What keeps a part busy."""

    SECTOR_ERASE = "sector_erase"
    CHIP_ERASE = "chip_erase"
    PAGE_PROGRAM = "page_program"
    BYTE_PROGRAM = "byte_program"
    WRITE_STATUS = "write_status"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    ns: int
    grade: Grade


@dataclass(frozen=True, slots=True, kw_only=True)
class BusyTime:
    min: Figure
    typ: Figure
    max: Figure


# How many times the typical a maximum is taken to be where no source gives one, next to what the
# datasheets of chips/ give. All are 4: low in what is found, so that an assumed slow part is
# slower than a good one without being slower than any real one.
MAX_PER_TYP: dict[Work, int] = {
    Work.SECTOR_ERASE: 4,  # found 4.3 to 13.3: wear lengthens an erase most
    Work.CHIP_ERASE: 4,  # found 1.7 to 5.0: the spread of the sectors averages out
    Work.PAGE_PROGRAM: 4,  # found 3.6 to 7.8
    Work.BYTE_PROGRAM: 4,  # found 1.7 to 4.8
    Work.WRITE_STATUS: 4,  # found 1.3 to 11.5
}

# No source gives minima, and a typical without a maximum is rarer than the other way round.
TYP_PER_MIN = 2
MAX_PER_TYP_WHEN_TYP_IS_MISSING = 2


def busy_time(
    work: Work, *, typ_ns: int | None, max_ns: int | None, grade: Grade
) -> BusyTime | None:
    """Fills in what is missing, graded `assumed`; None if there is nothing to start from."""
    if typ_ns is not None:
        typ = Figure(ns=typ_ns, grade=grade)
    elif max_ns is not None:
        typ = Figure(ns=max_ns // MAX_PER_TYP_WHEN_TYP_IS_MISSING, grade=Grade.ASSUMED)
    else:
        return None
    if max_ns is not None:
        longest = Figure(ns=max_ns, grade=grade)
    else:
        longest = Figure(ns=typ.ns * MAX_PER_TYP[work], grade=Grade.ASSUMED)
    shortest = Figure(ns=typ.ns // TYP_PER_MIN, grade=Grade.ASSUMED)
    return BusyTime(min=shortest, typ=typ, max=longest)
