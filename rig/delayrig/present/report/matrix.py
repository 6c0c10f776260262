# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts by speed and cores, a table for each subject, a row for each set of hazards."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from delayrig.judge.exit_code import is_expected
from delayrig.model.cell import Role
from delayrig.model.result import CellResult, Verdict
from delayrig.present.pages.page import Section, environment, paragraph, table_html
from delayrig.present.report.labels import (
    CALM,
    CLASSES,
    HOST_SPEED,
    TEMPLATES,
    cell_anchor,
    cell_link,
    count,
    hazards_of,
    speed_of,
    subject_of,
    verdict_html,
)
from delayrig.present.report.rounds import GRAVITY
from delayrig.present.report.source import RunSource, Sources
from delayrig.present.tables import Table

EXPLAINED = (
    "How many cells came to what, by speed (MIPS: million guest instructions a second of each core)"
    " and number of cores. A number leads to the first of these cells."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Badge:
    """So many cells of one verdict."""

    css: str
    text: str
    note: str
    href: str


def matrix_section(sources: Sources) -> Section:
    """All runs, one below the other."""
    body = [paragraph(EXPLAINED), *(_matrix(run) for run in sources.runs if _measured(run))]
    watched = [run for run in sources.runs if _watchers(run)]
    if watched:
        heading = Markup('<h3 id="watching" tabindex="-1">How the rig put itself to the test</h3>')
        body += [heading, *(_watching(run) for run in watched)]
    return Section(key="verdicts", title="Verdicts", body=Markup("").join(body))


def _measured(run: RunSource) -> list[CellResult]:
    return [cell for cell in run.results.cells if cell.role == Role.MEASURE]


def _matrix(run: RunSource) -> Markup:
    cells = _measured(run)
    columns = [
        (speed, sorted({cell.guest.cores for cell in cells if speed_of(cell) == speed}))
        for speed in sorted({speed_of(cell) for cell in cells}, key=_speed_rank)
    ]
    slots = [(speed, cores) for speed, all_cores in columns for cores in all_cores]
    subjects = [
        {"name": subject, "rows": _rows(run, subject, slots)}
        for subject in dict.fromkeys(subject_of(cell) for cell in cells)
    ]
    label = f"{run.label}: verdicts" if run.label else "Verdicts"
    template = environment(TEMPLATES).get_template("matrix.html")
    made = template.render(
        caption=f"{label} of {count(len(cells), 'cell')} that measure a subject",
        columns=columns,
        slots=len(slots),
        subjects=subjects,
    )
    return Markup(made)


def _rows(run: RunSource, subject: str, slots: Sequence[tuple[str, int]]) -> list[dict[str, Any]]:
    """One for each set of hazards."""
    cells: dict[str, dict[tuple[str, int], list[CellResult]]] = {}
    for cell in _measured(run):
        if subject_of(cell) == subject:
            row = cells.setdefault(hazards_of(cell), {})
            row.setdefault((speed_of(cell), cell.guest.cores), []).append(cell)
    return [
        {
            "hazards": hazards,
            "marks": hazards.replace("+", " "),
            "slots": [_badges(run, cells[hazards].get(slot, [])) for slot in slots],
        }
        for hazards in sorted(cells, key=lambda each: (each != CALM, each))
    ]


def _speed_rank(speed: str) -> float:
    return 0 if speed == HOST_SPEED else -float(speed.partition("/")[0])


def _badges(run: RunSource, cells: Sequence[CellResult]) -> list[_Badge]:
    """The gravest first; expected and unexpected ones apart."""
    kinds = Counter((cell.verdict, is_expected(cell)) for cell in cells)
    first = {(cell.verdict, is_expected(cell)): cell for cell in reversed(cells)}
    return [
        _Badge(
            css=CLASSES[verdict],
            text=f"{number} {verdict}",
            note=_note(verdict, expected),
            href=f"#{cell_anchor(run, first[verdict, expected])}",
        )
        for (verdict, expected), number in sorted(
            kinds.items(), key=lambda item: (GRAVITY.index(item[0][0]), item[0][1])
        )
    ]


def _note(verdict: Verdict, expected: bool) -> str:
    if expected:
        return "" if verdict is Verdict.PASS else "expected"
    return "not expected" if verdict is Verdict.PASS else ""


def _watchers(run: RunSource) -> list[CellResult]:
    return [cell for cell in run.results.cells if cell.role in (Role.CANARY, Role.CONTROL)]


def _watching(run: RunSource) -> Markup:
    """What the rig was put to the test with."""
    label = f"{run.label}: canaries" if run.label else "Canaries"
    return table_html(
        Table(
            caption=f"{label} have their waits cut and must be convicted, controls are the same"
            " cells with whole waits and must be acquitted",
            columns=("cell", "role", "verdict"),
            rows=[[cell_link(run, cell), cell.role, verdict_html(cell)] for cell in _watchers(run)],
        )
    )
