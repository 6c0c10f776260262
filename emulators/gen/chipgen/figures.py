# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures, their grades, and the one rule for figures that no source gives."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Grade(Enum):
    """The source of a figure, from the strongest to the weakest."""

    DATASHEET = "datasheet"
    SECONDARY = "secondary"
    ASSUMED = "assumed"


class Work(Enum):
    """The kind of work that keeps a part busy."""

    SECTOR_ERASE = "sector_erase"
    CHIP_ERASE = "chip_erase"
    PAGE_PROGRAM = "page_program"
    BYTE_PROGRAM = "byte_program"
    WRITE_STATUS = "write_status"
    PAGE_READ = "page_read"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    ns: int
    grade: Grade


@dataclass(frozen=True, slots=True, kw_only=True)
class BusyTime:
    min: Figure
    typ: Figure
    max: Figure


# The assumed ratio of maximum and typical if no source gives one, beside the ratios in the
# datasheets of chips/. All are 4, which is low among them, so that an assumed slow part is slower
# than a good one without being slower than any real one.
MAX_PER_TYP: dict[Work, int] = {
    Work.SECTOR_ERASE: 4,  # found 4.3 to 13.3: wear lengthens an erase most
    Work.CHIP_ERASE: 4,  # found 1.7 to 5.0: the spread of the sectors averages out
    Work.PAGE_PROGRAM: 4,  # found 3.6 to 7.8
    Work.BYTE_PROGRAM: 4,  # found 1.7 to 4.8
    Work.WRITE_STATUS: 4,  # found 1.3 to 11.5
    Work.PAGE_READ: 4,  # none found
}

# No source gives minima, and a typical without a maximum is rarer than the other way round.
TYP_PER_MIN = 2
MAX_PER_TYP_WHEN_TYP_IS_MISSING = 2

# The assumed typicals if no source gives any figure (`assumed = true` in the chip file), in the
# middle of what the datasheets of chips/ give for such work. An erase that is not here takes the
# next larger one.
TYP_NS: dict[Work, int] = {
    Work.PAGE_PROGRAM: 700_000,  # found 0.12 to 1.4 ms
    Work.BYTE_PROGRAM: 10_000,  # found 7 to 30 us
    Work.WRITE_STATUS: 10_000_000,  # found 1.3 to 40 ms
    Work.PAGE_READ: 200_000,
}
SECTOR_ERASE_TYP_NS: dict[int, int] = {
    1056: 10_000_000,  # pages, found 10 ms: larger figures are those of sectors
    4096: 50_000_000,  # found 18 to 250 ms
    32768: 150_000_000,  # found 18 to 500 ms
    65536: 250_000_000,  # found 18 to 1000 ms
    1 << 26: 500_000_000,
}
CHIP_ERASE_TYP_NS_PER_MIB = 2_500_000_000  # found 1.2 to 10 s

# The assumed waits that a client owes. They are long, because too short a wait must not look good.
WAIT_NS: dict[str, int] = {
    "deep_power_down": 10_000,  # found 1 to 20 us
    "release_power_down": 100_000,  # found 3 to 100 us
    "release_power_down_with_id": 100_000,
    "soft_reset": 100_000,  # found 0.04 to 100 us
    "soft_reset_during_program": 100_000,
    "soft_reset_during_erase": 12_000_000,  # found 1 to 500 ms
    "soft_reset_during_write_status": 15_000_000,  # found 15 ms
}

# The assumed times within which a client has to go on.
WINDOW_NS: dict[str, int] = {"byte_load": 150_000}  # found 150 and 200 us


def assumed_typ_ns(work: Work, size_bytes: int) -> int:
    """Returns the typical time. Only for erases it depends on the size."""
    if work is Work.CHIP_ERASE:
        return size_bytes * CHIP_ERASE_TYP_NS_PER_MIB >> 20
    if work is Work.SECTOR_ERASE:
        return next(ns for limit, ns in SECTOR_ERASE_TYP_NS.items() if size_bytes <= limit)
    return TYP_NS[work]


def busy_time(work: Work, *, typ: Figure | None, longest: Figure | None) -> BusyTime:
    """Returns the busy time from at least one of the two; what is missing is graded `assumed`."""
    if typ is None:
        assert longest is not None
        typ = _assumed(longest.ns // MAX_PER_TYP_WHEN_TYP_IS_MISSING)
    if longest is None:
        longest = _assumed(typ.ns * MAX_PER_TYP[work])
    return BusyTime(min=_assumed(typ.ns // TYP_PER_MIN), typ=typ, max=longest)


def _assumed(ns: int) -> Figure:
    return Figure(ns=ns, grade=Grade.ASSUMED)


def assumed_busy_time(work: Work, size_bytes: int) -> BusyTime:
    """Returns the busy time if no source gives any figure."""
    return busy_time(work, typ=_assumed(assumed_typ_ns(work, size_bytes)), longest=None)


def assumed_wait(name: str) -> Figure | None:
    """Returns the assumed wait; None: there is no rule for that wait, so it has to be known."""
    return _assumed(WAIT_NS[name]) if name in WAIT_NS else None


def assumed_window(name: str) -> Figure | None:
    """Returns the assumed window; None: there is no rule for it, so it has to be known."""
    return _assumed(WINDOW_NS[name]) if name in WINDOW_NS else None
