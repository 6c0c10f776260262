# SPDX-License-Identifier: GPL-2.0-or-later
"""Every cell: a table of all of them, and below it each with its reasons and its command."""

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from delayrig.base.durations import rounded
from delayrig.judge.judge import describe
from delayrig.model.result import CellResult
from delayrig.present.notable import is_notable, rank
from delayrig.present.pages.page import Section, environment
from delayrig.present.report.cell_rows import all_cells, cells_table
from delayrig.present.report.labels import (
    TEMPLATES,
    cell_anchor,
    hazards_of,
    marks_of,
    seconds,
    verdict_html,
)
from delayrig.present.report.rounds import Spread
from delayrig.present.report.source import Sources, Told
from delayrig.present.terminal.results import subject_name

DETAILS_MAX = 500
"""With more cells only those that did not just pass are told of at length."""
ROWS_MAX = 5000
"""A page with more cells lists only those that did not just pass."""
NOTABLE_MAX = 1000
"""Of them as many, what was not expected first."""


def cells_section(sources: Sources) -> Section:
    """All runs together, in the order of their plans."""
    listed = all_cells(sources)
    told = [each for each in listed if len(listed) <= DETAILS_MAX or is_notable(each[1])]
    return _section(sources, listed, told[:DETAILS_MAX], len(listed), Markup(""))


def notable_section(sources: Sources, index: Markup, *, part: int) -> Section:
    """Of the cells that did not just pass only one of so many, and where the others are."""
    listed = all_cells(sources)
    notable = sorted((each for each in listed if is_notable(each[1])), key=lambda e: rank(e[1]))
    shown = notable[: NOTABLE_MAX // part]
    return _section(sources, shown, shown[: DETAILS_MAX // part], len(listed), index)


def _section(
    sources: Sources, listed: Sequence[Told], told: Sequence[Told], cells: int, index: Markup
) -> Section:
    caption = "Cells that did not just pass" if len(listed) < cells else "All cells"
    at_length = {cell_anchor(run, cell) for run, cell in told}
    body = (
        environment(TEMPLATES)
        .get_template("cells.html")
        .render(
            table=cells_table(sources, caption, listed, at_length),
            unlisted=cells - len(listed),
            index=index,
            told=list(_told(told)),
            left_out=cells - len(told),
        )
    )
    return Section(key="cells", title="Cells", body=Markup(body))


def _told(pairs: Sequence[Told]) -> Iterator[dict[str, object]]:
    for run, cell in pairs:
        yield {
            "run": run.label,
            "id": cell.id,
            "anchor": cell_anchor(run, cell),
            "verdict": verdict_html(cell),
            "marks": marks_of(cell),
            "reason": cell.reason,
            "evidence": [
                f"{item.witness} witness: {describe(item)} [{item.where}]" for item in cell.evidence
            ],
            "facts": [*_rounds(run.spread.get(cell.id)), *_facts(cell)],
            "rerun": cell.rerun,
        }


def _rounds(spread: Spread | None) -> Iterator[tuple[str, str]]:
    if spread is None:
        return
    found = ", ".join(f"{times} {verdict}" for verdict, times in spread.verdicts.items())
    yield "rounds", f"{found}; round {spread.shown} is shown"
    if spread.total_ns:
        least, most = min(spread.total_ns.values()), max(spread.total_ns.values())
        yield "total time where it passed", f"{seconds(least)} to {seconds(most)} s"


def _facts(cell: CellResult) -> Iterator[tuple[str, str]]:
    subject = cell.subject
    yield (
        "subject",
        f"{subject_name(cell)} {subject.version}".strip()
        + (" (its library)" if subject.library else ""),
    )
    yield "part", f"{cell.chip} {cell.corner}, {cell.job} of {cell.region_bytes // 1024} KiB"
    yield "programmer", cell.programmer
    yield "hazards", hazards_of(cell)
    yield "judged", ", ".join(cell.judged) or "nothing"
    yield "unjudged", ", ".join(cell.unjudged) or "nothing"
    if cell.smallest_visible_short_ns is not None:
        yield "smallest shortening that shows", rounded(cell.smallest_visible_short_ns)
    if cell.time_ns.total:
        split = cell.time_ns
        names = ("probe", "read", "erase", "write", "verify")
        yield (
            "time by phase",
            ", ".join(
                f"{name} {rounded(getattr(split, name))}" for name in names if getattr(split, name)
            ),
        )
        yield "transfers", f"{cell.transfers:,}"
    if cell.lane != "virtual":
        yield "lane", f"{cell.lane}: real time"
