# SPDX-License-Identifier: GPL-2.0-or-later
"""What writes took, beside the least that they could have."""

from rich.markup import escape

from delayrig.analysis.figures.results import TimeRow
from delayrig.present.terminal.console import STYLES, seconds
from delayrig.present.terminal.table import FittedTable, plain_table


def time_table(rows: list[TimeRow], *, beside: str) -> FittedTable:
    """What each cell took, and the least that it could have."""
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
