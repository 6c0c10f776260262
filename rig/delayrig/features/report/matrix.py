# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts by speed and cores: a table for each subject, a row for each set of hazards."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain, groupby
from typing import Any

from markupsafe import Markup

from delayrig.base.text import counted
from delayrig.features.report import labels
from delayrig.features.report.source import RunSource, Sources
from delayrig.model.result import CellResult
from delayrig.present.notable import CLASSES, GRAVITY, rank
from delayrig.present.pages.page import Section, paragraph, rendered, table_html
from delayrig.present.tables import Table

EXPLAINED = (
    "How many cells have which verdict, by speed (MIPS: million guest instructions a second of each"
    " core) and number of cores. A number links to the first of these cells."
)

WATCHERS_MAX = 100
COLUMNS_MAX = 6
"""The largest number of columns that fit a desktop window. If there are more, rows are lists."""
ROWS_MAX = 200
"""The most rows of a subject. If there are more sets of hazards, only the gravest have a row."""


def matrix_section(sources: Sources) -> Section:
    body = [paragraph(EXPLAINED), *(_matrix(run) for run in sources.runs if run.results.measured)]
    watched = [table_html(_watching(run)) for run in sources.runs if run.results.watching]
    if watched:
        heading = Markup('<h3 id="watching" tabindex="-1">How the rig put itself to the test</h3>')
        body += [heading, *watched]
    return Section(key="verdicts", title="Verdicts", body=Markup("").join(body))


Slot = tuple[str, int]
"""A speed, and a number of cores."""
Slots = dict[Slot, list[CellResult]]


def _matrix(run: RunSource) -> Markup:
    cells = run.results.measured
    found: dict[str, dict[str, Slots]] = {}
    for cell in cells:
        row = found.setdefault(cell.subject_label, {}).setdefault(labels.hazards_of(cell), {})
        row.setdefault((labels.speed_of(cell), cell.guest.cores), []).append(cell)
    slots = {slot for rows in found.values() for row in rows.values() for slot in row}
    columns = sorted(slots, key=lambda slot: (labels.speed_rank(slot[0]), *slot))
    label = f"{run.label}: verdicts" if run.label else "Verdicts"
    by_speed = groupby(columns, lambda slot: slot[0])
    return rendered(
        labels.TEMPLATES,
        "matrix.html",
        caption=f"{label} of {counted(len(cells), 'cell')} that measure a subject",
        columns=[(speed, [cores for _, cores in group]) for speed, group in by_speed],
        slots=columns,
        is_listed=len(columns) > COLUMNS_MAX,
        zip=zip,
        subjects=[
            {"name": subject, "rows": _rows(run, rows, columns)} for subject, rows in found.items()
        ],
    )


def _rows(run: RunSource, rows: dict[str, Slots], columns: Sequence[Slot]) -> list[dict[str, Any]]:
    """Returns a row for each set of hazards, the empty set first.

    If there are too many, the gravest have a row, and all others have one together.
    """
    chosen = list(rows)
    if len(chosen) > ROWS_MAX:
        chosen.sort(key=lambda hazards: min(rank(c) for c in chain(*rows[hazards].values())))
    shown = sorted(chosen[:ROWS_MAX], key=lambda each: (each != labels.CALM, each))
    rest = [hazards for hazards in rows if hazards not in shown]
    named = [(hazards, [hazards], rows[hazards]) for hazards in shown]
    if rest:
        together: Slots = {}
        for slot, cells in chain(*(rows[hazards].items() for hazards in rest)):
            together.setdefault(slot, []).extend(cells)
        named.append((f"{len(rest)} other sets of hazards", rest, together))
    return [
        {
            "hazards": name,
            "marks": " ".join(dict.fromkeys("+".join(hazards).split("+"))),
            "slots": [_badges(run, slots.get(slot, [])) for slot in columns],
        }
        for name, hazards, slots in named
    ]


def _badges(run: RunSource, cells: Sequence[CellResult]) -> list[dict[str, str]]:
    """Returns the badges of the verdicts, the gravest first; expected ones are separate badges."""
    kinds = Counter((cell.verdict, cell.is_expected) for cell in cells)
    first = {(cell.verdict, cell.is_expected): cell for cell in reversed(cells)}
    return [
        {
            "css": CLASSES[verdict],
            "text": f"{number} {verdict}",
            "note": labels.expectation_note(verdict, expected),
            "href": f"#{labels.cell_anchor(run, first[verdict, expected])}",
        }
        for (verdict, expected), number in sorted(
            kinds.items(), key=lambda item: (GRAVITY.index(item[0][0]), item[0][1])
        )
    ]


def _watching(run: RunSource) -> Table:
    label = f"{run.label}: canaries" if run.label else "Canaries"
    watchers = run.results.watching
    shown = sorted(watchers, key=lambda cell: cell.is_expected)[:WATCHERS_MAX]
    left_out = len(watchers) - len(shown)
    more = f"; {left_out} more came out as they must, or are under Cells" if left_out else ""
    return Table(
        caption=f"{label} have their waits cut and must be convicted, controls are the same"
        f" cells with whole waits and must be acquitted{more}",
        columns=("cell", "role", "verdict"),
        rows=[
            [labels.cell_link(run, cell), cell.role, labels.verdict_html(cell)] for cell in shown
        ],
    )
