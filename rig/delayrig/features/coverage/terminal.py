# SPDX-License-Identifier: GPL-2.0-or-later
"""Coverage of delay sites in the terminal: totals in a sentence, then sites by source file."""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from rich.console import Console
from rich.markup import escape

from delayrig.features.coverage.changed_wait_text import changed_wait_lines
from delayrig.features.coverage.coverage import ChangedWaits, Coverage, SiteCoverage
from delayrig.present.console import FittedTable, plain_table, say

_FILE = re.compile(r"([^ (]+):\d+\)?$")


def coverage_sentence(coverage: Coverage) -> str:
    """Returns `61 of 212 delay sites were reached by 47 cells`."""
    sites, cells = len(coverage.sites), coverage.cells
    what = f"{len(coverage.reached)} of {sites} delay site{'' if sites == 1 else 's'}"
    return f"{what} were reached by {cells} cell{'' if cells == 1 else 's'}"


def print_coverage(
    coverages: Sequence[Coverage], changed: ChangedWaits | None, console: Console
) -> None:
    for coverage in coverages:
        label = f"{coverage.subject}: " if len(coverages) > 1 else ""
        say(console, f"{label}{coverage_sentence(coverage)}", style="bold")
        say(console, *(changed_wait_lines(changed) if changed else ()))
        console.print(_table(coverage.sites))


def source_of(site: SiteCoverage) -> str:
    """Returns its source file, or nothing if no debug information tells it."""
    found = _FILE.search(site.where)
    return found[1] if found else ""


def by_source(sites: Iterable[SiteCoverage]) -> list[tuple[str, list[SiteCoverage]]]:
    """Returns sites by source file, in the order of addresses within."""
    found = sorted(sites, key=lambda site: (source_of(site), site.file, site.address))
    return [(source, list(group)) for source, group in groupby(found, key=source_of)]


def _table(sites: Sequence[SiteCoverage]) -> FittedTable:
    """Makes a table by file, without that column if no file is known."""
    has_files = any(map(source_of, sites))
    words = ("function", "place", "first cell")
    table = plain_table((*(["file"] * has_files), *words), ("cells",), least=("place",))
    for source, group in by_source(sites):
        for number, site in enumerate(group):
            file = [escape(source) if number == 0 else ""] * has_files
            table.add_row(*file, *_row(site))
    return table


def _row(site: SiteCoverage) -> tuple[str, str, str, str]:
    function = site.function + ("*" if site.changed else "")
    first = site.cells[0] if site.cells else "-"
    return escape(function), escape(site.where), escape(first), f"{len(site.cells)}"
