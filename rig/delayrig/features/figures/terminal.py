# SPDX-License-Identifier: GPL-2.0-or-later
"""The time of writes beside the least possible, and where a flashrom waits without need."""

from collections.abc import Sequence

from rich.markup import escape

from delayrig.features.figures.results import TimeRow
from delayrig.judge.waste import CallSiteWaste, OperationWaste, Waste
from delayrig.present.console import FittedTable, plain_table, seconds
from delayrig.present.notable import STYLES


def time_table(rows: list[TimeRow], *, beside: str) -> FittedTable:
    times = ("total s", "busy s", "floor s", "ratio", "overshoot s")
    table = plain_table(
        ("subject", "chip", "job", "verdict"),
        ("KiB", "MIPS", "cores", *times, "transfers", f"{escape(beside)} s"),
        least=("busy s", "floor s", "transfers"),
    )
    for row in rows:
        table.add_row(
            escape(row.subject),
            f"{row.chip} {row.corner}",
            row.job,
            f"[{STYLES[row.verdict]}]{row.verdict}[/]",
            f"{row.region_bytes / 1024:g}",
            "-" if row.mips is None else f"{round(row.mips)}",
            f"{row.cores}",
            *(seconds(ns) for ns in (row.total_ns, row.chip_busy_ns, row.floor_ns)),
            "-" if row.ratio is None else f"{row.ratio:.3f}",
            seconds(row.overshoot_ns),
            f"{row.transfers}" + (f"/{row.floor_transfers}" if row.floor_transfers else ""),
            seconds(row.beside_ns),
        )
    return table


def waste_tables(waste: Waste) -> list[FittedTable]:
    operations = _table("operation", ("busy s",))
    for row in waste.operations:
        words = escape(row.subject), row.phase, row.operation, f"{row.count}"
        operations.add_row(*words, seconds(row.busy_ns), *_figures(row))
    sites = _table("delay asked for at", ("asked s", "took s"))
    for site in waste.call_sites:
        lines = escape("\n  ".join(site.call_site.split(" < ")))
        words = escape(site.subject), site.phase, lines, f"{site.count}"
        times = seconds(site.requested_ns), seconds(site.actual_ns)
        sites.add_row(*words, *times, *_figures(site))
    return [table for table in (operations, sites) if table.row_count]


def _table(what: str, figures: Sequence[str]) -> FittedTable:
    figures = ("times", *figures, "for nothing s", "each us", "most us")
    return plain_table(("subject", "phase", what), figures, least=figures[1:-3])


def _figures(row: OperationWaste | CallSiteWaste) -> tuple[str, str, str]:
    each_us, most_us = row.waste_ns / row.count / 1000, row.waste_ns_max / 1000
    return f"{row.waste_ns / 1e9:.6f}", f"{each_us:.1f}", f"{most_us:.1f}"
