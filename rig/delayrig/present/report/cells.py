# SPDX-License-Identifier: GPL-2.0-or-later
"""Every cell: a table of all of them, and below it each with its reasons and its command."""

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from delayrig.base.durations import rounded
from delayrig.judge.exit_code import is_expected
from delayrig.judge.judge import describe
from delayrig.model.cell import Role
from delayrig.model.result import CellResult, Verdict
from delayrig.present.pages.page import Section, environment
from delayrig.present.report.labels import (
    TEMPLATES,
    cell_anchor,
    hazards_of,
    marks_of,
    seconds,
    subject_of,
    verdict_html,
)
from delayrig.present.report.rounds import Spread
from delayrig.present.report.source import RunSource, Sources
from delayrig.present.terminal.results import subject_name

DETAILS_MAX = 500
"""With more cells only those that did not just pass are told of at length."""


def cells_section(sources: Sources, *, all_rows: bool = True) -> Section:
    """All runs together, in the order of their plans; or those alone that did not just pass."""
    pairs = [(run, cell) for run in sources.runs for cell in run.results.cells]
    listed = [pair for pair in pairs if all_rows or _is_notable(pair[1])]
    told = [pair for pair in pairs if len(pairs) <= DETAILS_MAX or _is_notable(pair[1])]
    at_length = {cell_anchor(run, cell) for run, cell in told[:DETAILS_MAX]}
    template = environment(TEMPLATES).get_template("cells.html")
    body = template.render(
        rows=_rows(listed, at_length),
        unlisted=len(pairs) - len(listed),
        several=len(sources.runs) > 1,
        real_time=not sources.is_exact,
        told=list(_told(told[:DETAILS_MAX])),
        left_out=len(pairs) - len(at_length),
    )
    return Section(key="cells", title="Cells", body=Markup(body))


def filters_of(sources: Sources) -> Markup:
    """The controls, which appear where JavaScript makes them work."""
    cells = [cell for run in sources.runs for cell in run.results.cells]
    hazards = sorted({hazard for cell in cells for hazard in cell.hazards})
    template = environment(TEMPLATES).get_template("filters.html")
    return Markup(
        template.render(
            choices={
                "subject": list(dict.fromkeys(subject_of(cell) for cell in cells)),
                "verdict": [
                    verdict for verdict in Verdict if any(c.verdict is verdict for c in cells)
                ],
                "hazards": ["none", *hazards] if hazards else [],
            },
            cells=len(cells),
        )
    )


def _is_notable(cell: CellResult) -> bool:
    if is_expected(cell):
        return cell.verdict is not Verdict.PASS
    return cell.verdict is not Verdict.SKIPPED or cell.role != Role.MEASURE


def _rows(
    pairs: Sequence[tuple[RunSource, CellResult]], at_length: set[str]
) -> Iterator[dict[str, object]]:
    for run, cell in pairs:
        key = cell_anchor(run, cell)
        yield {
            "run": run.label,
            "id": cell.id,
            "anchor": key,
            "told": key in at_length,
            "verdict": verdict_html(cell),
            "marks": marks_of(cell),
            "figures": [
                seconds(ns if cell.time_ns.total else None)
                for ns in (
                    cell.time_ns.total,
                    cell.total_cpu_ns,
                    cell.chip_busy_ns,
                    cell.overshoot_ns,
                )
            ],
        }


def _told(pairs: Sequence[tuple[RunSource, CellResult]]) -> Iterator[dict[str, object]]:
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
