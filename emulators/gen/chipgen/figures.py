# SPDX-License-Identifier: GPL-2.0-or-later
"""Sources, the figures that they give, and the one rule for figures that no source gives."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from chipgen.table import Table


class Grade(Enum):
    """The grade of a figure's source, from the strongest to the weakest."""

    DATASHEET = "datasheet"
    SECONDARY = "secondary"
    ASSUMED = "assumed"


# Every chip file may name these. `flashrom` means its tables of flash chips at commit b946ca13.
# `assumed` means a value that other parts of the family have: for masks, opcodes and clocks, never
# for a figure.
SHARED = {
    "flashrom": Grade.SECONDARY,
    "assumed": Grade.ASSUMED,
}

# The assumed ratio of the maximum to the typical time if no source gives one. It is one of the
# lower ratios in the datasheets of chips/: a part at an assumed maximum is slow, but some real
# parts are slower. The datasheets give 1.4 to 13.3 for a sector erase (wear lengthens it most), 1.4
# to 5.0 for a chip erase, 3.6 to 7.8 for a page program, 1.4 to 5.0 for a byte program, and 1.3 to
# 11.5 for a status write.
MAX_PER_TYP = 4

# No source gives a minimum. Few give a maximum but no typical time.
TYP_PER_MIN = 2
MAX_PER_TYP_WHEN_TYP_IS_MISSING = 2

# The assumed typical times if no source gives any figure (`assumed = true` in the chip file). They
# are in the middle of the range that the datasheets of chips/ give ("found"). An erase of another
# size takes the time of the next larger one.
PAGE_PROGRAM_NS = 700_000  # found 0.2 to 5 ms
BYTE_PROGRAM_NS = 10_000  # found 2.5 to 35 us
WRITE_STATUS_NS = 10_000_000  # found 1.3 to 15 ms
PAGE_READ_NS = 200_000
PAGE_ERASE_NS = 10_000_000  # found 10 ms: larger figures are those of sectors
SECTOR_ERASE_NS: dict[int, int] = {
    1056: PAGE_ERASE_NS,
    4096: 50_000_000,  # found 18 to 100 ms
    32768: 150_000_000,  # found 18 to 800 ms
    65536: 250_000_000,  # found 18 to 1000 ms
    1 << 26: 500_000_000,
}
CHIP_ERASE_NS_PER_MIB = 2_500_000_000  # found 0.004 to 20 s

# The assumed times that a client must wait. They are long, so that no client that waits too little
# passes.
WAIT_NS: dict[str, int] = {
    "deep_power_down": 10_000,  # found 1 to 20 us
    "release_power_down": 100_000,  # found 3 to 100 us
    "release_power_down_with_id": 100_000,
    "soft_reset": 100_000,  # found 0.04 to 100 us
    "soft_reset_during_program": 100_000,
    "soft_reset_during_erase": 12_000_000,  # found 1 to 500 ms
    "soft_reset_during_write_status": 15_000_000,  # found 15 ms
}

# The assumed times within which a client must continue.
WINDOW_NS: dict[str, int] = {"byte_load": 150_000}  # found 150 and 200 us


def erase_typ_ns(block_bytes: int, part_bytes: int) -> int:
    """Returns the assumed typical time of an erase."""
    if block_bytes == part_bytes:
        return part_bytes * CHIP_ERASE_NS_PER_MIB >> 20
    return next(ns for limit, ns in SECTOR_ERASE_NS.items() if block_bytes <= limit)


@dataclass(frozen=True, slots=True)
class Figure:
    ns: int
    grade: Grade = Grade.ASSUMED

    def __str__(self) -> str:
        """Returns the figure in C."""
        return f"{{ UINT64_C({self.ns}), GRADE_{self.grade.name} }}"


@dataclass(frozen=True, slots=True)
class Sources:
    grades: dict[str, Grade]

    def grade(self, table: Table, key: str = "source") -> Grade:
        """Returns the grade of the source that the table names."""
        return self.grades[table.choice(key, tuple(self.grades))]

    def check_keys(
        self, table: Table, *, required: tuple[str, ...], optional: tuple[str, ...] = ()
    ) -> None:
        """Checks the keys, and that the table names a known source."""
        table.check_keys(required=(*required, "source"), optional=optional)
        self.grade(table)

    def busy_time(self, table: Table, assumed_ns: int, others: tuple[str, ...] = ()) -> str:
        """Reads a row with `typ_us`, `max_us` or both, or `assumed`, and the keys of `others`.

        Returns the busy time in C. Missing figures are graded `assumed`.
        """
        if "assumed" in table.values:
            table.check_keys(required=("assumed", *others))
            table.true("assumed")
            return _busy_time(Figure(assumed_ns), None)
        table.check_keys(
            required=(*others, "source"),
            optional=("typ_us", "max_us", "typ_source", "max_source"),
        )
        typ, longest = (self._figure(table, name) for name in ("typ", "max"))
        if typ and longest and typ.ns > longest.ns:
            raise table.error("typ_us", "is above max_us", remedy="read the datasheet again")
        if not typ:
            if not longest:
                remedy = "add `typ_us` or `max_us`, or write `assumed = true` alone"
                raise table.error("typ_us", "missing key", remedy=remedy)
            typ = Figure(longest.ns // MAX_PER_TYP_WHEN_TYP_IS_MISSING)
        return _busy_time(typ, longest)

    def _figure(self, table: Table, name: str) -> Figure | None:
        """Reads one of the two figures. `NAME_source` is its source if it is not the row's."""
        source = f"{name}_source"
        if f"{name}_us" not in table.values:
            if source in table.values:
                raise table.error(source, "has no figure", remedy=f"add `{name}_us`")
            return None
        return self._known(table, f"{name}_us", source if source in table.values else "source")

    def _known(self, table: Table, key: str, source: str = "source") -> Figure:
        """Reads a figure from a source. Refuses `assumed`: only this module assumes figures."""
        grade = self.grade(table, source)
        if grade is Grade.ASSUMED:
            raise table.error(source, "gives no figure", remedy="write `assumed = true` alone")
        return Figure(table.microseconds_as_ns(key), grade)

    def wait(self, table: Table, name: str) -> str:
        """Reads a row with the longest time that the part may take, or `assumed`."""
        return self._known_or_assumed(table, "max_us", WAIT_NS.get(name))

    def window(self, table: Table, name: str) -> str:
        """Reads a row with the time within which a client has to continue, or `assumed`."""
        return self._known_or_assumed(table, "us", WINDOW_NS.get(name))

    def _known_or_assumed(self, table: Table, key: str, assumed_ns: int | None) -> str:
        if "assumed" not in table.values:
            table.check_keys(required=(key, "source"))
            return str(self._known(table, key))
        table.check_keys(required=("assumed",))
        table.true("assumed")
        if assumed_ns is None:
            raise table.error("assumed", "no rule for it", remedy="find the figure")
        return str(Figure(assumed_ns))


def _busy_time(typ: Figure, longest: Figure | None) -> str:
    shortest = Figure(typ.ns // TYP_PER_MIN)
    return f"{{ {shortest}, {typ}, {longest or Figure(typ.ns * MAX_PER_TYP)} }}"


def read_sources(table: Table) -> Sources:
    names = [grade.value for grade in Grade if grade is not Grade.ASSUMED]
    grades = dict(SHARED)
    for key in table.values:
        source = table.table(key)
        source.check_keys(required=("text", "revision", "grade"))
        source.text("text")
        source.text("revision")
        grades[key] = Grade(source.choice("grade", names))
    return Sources(grades)
