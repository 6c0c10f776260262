# SPDX-License-Identifier: GPL-2.0-or-later
"""The sources of a chip file, and the rows of figures that name them."""

from __future__ import annotations

from dataclasses import dataclass

from chipgen.figures import BusyTime, Figure, Grade, Work, busy_time
from chipgen.table import Table


@dataclass(frozen=True, slots=True)
class Sources:
    grades: dict[str, Grade]

    def grade(self, table: Table) -> Grade:
        """That of the table's own `source`."""
        return self.grades[table.choice("source", tuple(self.grades))]

    def busy_time(self, table: Table, work: Work) -> BusyTime:
        """Of a row with `typ_us`, `max_us` or both."""
        typ_ns = table.microseconds_as_ns("typ_us") if "typ_us" in table.values else None
        max_ns = table.microseconds_as_ns("max_us") if "max_us" in table.values else None
        if typ_ns is not None and max_ns is not None and typ_ns > max_ns:
            raise table.error("typ_us", "is above max_us", remedy="read the datasheet again")
        busy = busy_time(work, typ_ns=typ_ns, max_ns=max_ns, grade=self.grade(table))
        if busy is None:
            raise table.error("typ_us", "missing key", remedy="add `typ_us` or `max_us`")
        return busy

    def wait(self, table: Table) -> Figure:
        """Of a row with the longest time that the part may take."""
        table.check_keys(required=("max_us", "source"))
        return Figure(ns=table.microseconds_as_ns("max_us"), grade=self.grade(table))


def read_sources(table: Table) -> Sources:
    names = [grade.value for grade in Grade if grade is not Grade.ASSUMED]
    grades: dict[str, Grade] = {}
    for key in table.values:
        source = table.table(key)
        source.check_keys(required=("text", "revision", "grade"))
        source.text("text")
        source.text("revision")
        grades[key] = Grade(source.choice("grade", names))
    if not grades:
        raise table.error("main", "missing key", remedy="add a table `[sources.main]`")
    return Sources(grades)
