# SPDX-License-Identifier: GPL-2.0-or-later
"""Coverage of delay sites and changed waits, in words and as a table for the terminal."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.console import Console
from rich.markup import escape

from delayrig.base.text import counted
from delayrig.decision.request import BASELINE
from delayrig.features.coverage.coverage import (
    ChangedWait,
    ChangedWaits,
    Coverage,
    SiteCoverage,
)
from delayrig.present.console import FittedTable, plain_table, say

RELEASE_PARTS = 10
"""If more than one in RELEASE_PARTS functions changed, the candidate counts as another release."""
WAITS_MAX = 8
"""The largest number of changed waits with a line each."""
_LINE = re.compile(r" \([^ (]+:\d+\)$")
_FILE = re.compile(r"([^ (]+):\d+\)?$")


def coverage_sentence(coverage: Coverage) -> str:
    """Returns a sentence, such as `61 of 212 delay sites were reached by 47 cells`."""
    what = f"{len(coverage.reached)} of {counted(len(coverage.sites), 'delay site')}"
    return f"{what} were reached by {counted(coverage.cells, 'cell')}"


def print_coverage(
    coverages: Sequence[Coverage], changed: ChangedWaits | None, console: Console
) -> None:
    for number, coverage in enumerate(coverages):
        label = f"{coverage.subject}: " if len(coverages) > 1 else ""
        say(console, f"{label}{coverage_sentence(coverage)}", style="bold")
        if changed and number == 0:
            say(console, *changed_wait_lines(changed))
        console.print(_table(coverage.sites))


def source_of(site: SiteCoverage) -> str:
    """Returns the site's source file; empty without debug information."""
    found = _FILE.search(site.where)
    return found[1] if found else ""


def by_source(sites: Iterable[SiteCoverage]) -> list[tuple[str, list[SiteCoverage]]]:
    """Returns the sites of each source file, in the order of their addresses."""
    found = sorted(sites, key=lambda site: (source_of(site), site.file, site.address))
    return [(source, list(group)) for source, group in groupby(found, key=source_of)]


def _table(sites: Sequence[SiteCoverage]) -> FittedTable:
    """Returns a table of the sites by file. Without known files it has no column for them."""
    has_files = any(map(source_of, sites))
    words = ("function", "place", "first cell")
    table = plain_table((*(["file"] * has_files), *words), ("cells",), least=("place",))
    for source, group in by_source(sites):
        for number, site in enumerate(group):
            file = [source if number == 0 else ""] * has_files
            function = site.function + ("*" if site.changed else "")
            first = site.cells[0] if site.cells else "-"
            table.add_row(*map(escape, (*file, function, site.where, first)), f"{len(site.cells)}")
    return table


def changed_wait_text(wait: ChangedWait) -> str:
    """Returns a clause, such as `the changed wait in spi_init was reached in 2 cells`."""
    is_one = wait.sites <= 1
    number, what, was = ("", "wait", "was") if is_one else (f"{wait.sites} ", "waits", "were")
    cells = counted(len(wait.cells), "cell")
    reached = f"{was} reached in {cells if wait.cells else 'none'}"
    place = _LINE.search(wait.file_line)
    function = f"{wait.function}{place[0]}" if is_one and place else wait.function
    if wait.around:
        return f"the {number}{what} in {function}, which changed, {reached}"
    word = "removed" if wait.side == BASELINE else "changed"
    return f"the {number}{word} {what} in {function} {reached}"


def changed_wait_lines(changed: ChangedWaits) -> list[str]:
    """Returns a clause for each of the first waits, and one that counts the others."""
    if changed.why_not:
        return [f"changed waits are unknown: {changed.why_not}"]
    lines = [changed_wait_text(wait) for wait in changed.waits[:WAITS_MAX]]
    left = changed.waits[WAITS_MAX:]
    unreached = sum(not wait.cells for wait in left)
    return [*lines, *([f"and {len(left)} more, of which {unreached} in none"] if left else [])]


@dataclass(frozen=True, slots=True)
class ChangedWords:
    """Clauses about changed waits: those that cells reached, and those that stay in doubt."""

    reached: list[str]
    unreached: list[str]


def changed_wait_words(changed: ChangedWaits) -> ChangedWords:
    """Returns the clauses of a gate's answer about changed waits.

    Another release or compiler changes many functions at once, and no plan reaches all drivers. So
    the waits that no cell reached are only counted then, and raise no doubt. If the program of a
    side is missing, that raises a doubt, because what changed is unknown.
    """
    if changed.why_not:
        lines = changed_wait_lines(changed)
        return ChangedWords([], lines) if changed.is_doubt else ChangedWords(lines, [])
    unreached = changed.unreached
    words = [changed_wait_text(wait) for wait in unreached[:WAITS_MAX]]
    if len(unreached) > WAITS_MAX:
        words.append(f"{len(unreached) - WAITS_MAX} more changed waits were reached in none")
    seen = [wait for wait in changed.waits if wait.cells]
    reached = [changed_wait_text(wait) for wait in seen[:WAITS_MAX]]
    if changed.changed * RELEASE_PARTS > changed.functions:
        total = f"{changed.changed} functions changed: {len(seen)} changed waits were reached"
        return ChangedWords([f"{total}, {len(unreached)} in no cell"], [])
    return ChangedWords(reached, words)
