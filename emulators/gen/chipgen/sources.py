# SPDX-License-Identifier: GPL-2.0-or-later
"""The sources of a chip file, and the rows of figures that name them."""

from __future__ import annotations

from dataclasses import dataclass

from chipgen.figures import (
    BusyTime,
    Figure,
    Grade,
    Work,
    assumed_busy_time,
    assumed_wait,
    assumed_window,
    busy_time,
)
from chipgen.table import Table

# Every file may name these. `flashrom` is its tables of flash chips at commit b946ca13; `assumed`
# is what parts of the family have, where no source tells: for masks, opcodes and clocks, never for
# a figure.
SHARED = {
    "flashrom": Grade.SECONDARY,
    "assumed": Grade.ASSUMED,
}


@dataclass(frozen=True, slots=True)
class Sources:
    grades: dict[str, Grade]

    def grade(self, table: Table, key: str = "source") -> Grade:
        """Returns the grade of the source that the table names."""
        return self.grades[table.choice(key, tuple(self.grades))]

    def figure_grade(self, table: Table, key: str = "source") -> Grade:
        """Returns the grade of a figure's source; only the rule may invent figures."""
        grade = self.grade(table, key)
        if grade is Grade.ASSUMED:
            raise table.error(key, "gives no figure", remedy="write `assumed = true` alone")
        return grade

    def check_keys(
        self, table: Table, *, required: tuple[str, ...], optional: tuple[str, ...] = ()
    ) -> None:
        """Checks the keys, and the source that the table has to name."""
        table.check_keys(required=(*required, "source"), optional=optional)
        self.grade(table)

    def busy_time(
        self, table: Table, work: Work, *, size_bytes: int = 0, others: tuple[str, ...] = ()
    ) -> BusyTime:
        """Reads a row with `typ_us`, `max_us` or both, or `assumed`, and the keys of `others`."""
        if "assumed" in table.values:
            table.check_keys(required=("assumed", *others))
            table.true("assumed")
            return assumed_busy_time(work, size_bytes)
        table.check_keys(
            required=(*others, "source"),
            optional=("typ_us", "max_us", "typ_source", "max_source"),
        )
        typ, longest = (self._figure(table, name) for name in ("typ", "max"))
        if typ and longest and typ.ns > longest.ns:
            raise table.error("typ_us", "is above max_us", remedy="read the datasheet again")
        if typ is None and longest is None:
            remedy = "add `typ_us` or `max_us`, or write `assumed = true` alone"
            raise table.error("typ_us", "missing key", remedy=remedy)
        return busy_time(work, typ=typ, longest=longest)

    def _figure(self, table: Table, name: str) -> Figure | None:
        """Reads one of the two figures. `NAME_source` is its source if it is not the row's."""
        source = f"{name}_source"
        if f"{name}_us" not in table.values:
            if source in table.values:
                raise table.error(source, "has no figure", remedy=f"add `{name}_us`")
            return None
        key = source if source in table.values else "source"
        grade = self.figure_grade(table, key)
        return Figure(ns=table.microseconds_as_ns(f"{name}_us"), grade=grade)

    def wait(self, table: Table, name: str) -> Figure:
        """Reads a row with the longest time that the part may take, or `assumed`."""
        return self._known_or_assumed(table, "max_us", assumed_wait(name))

    def window(self, table: Table, name: str) -> Figure:
        """Reads a row with the time within which a client has to go on, or `assumed`."""
        return self._known_or_assumed(table, "us", assumed_window(name))

    def _known_or_assumed(self, table: Table, key: str, assumed: Figure | None) -> Figure:
        if "assumed" not in table.values:
            table.check_keys(required=(key, "source"))
            return Figure(ns=table.microseconds_as_ns(key), grade=self.figure_grade(table))
        table.check_keys(required=("assumed",))
        table.true("assumed")
        if assumed is None:
            raise table.error("assumed", "no rule for it", remedy="find the figure")
        return assumed


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
