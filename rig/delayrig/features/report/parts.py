# SPDX-License-Identifier: GPL-2.0-or-later
"""Further pages beside a report, for the cells that do not fit into it.

A browser loads such a page only when a link to it is followed. That needs neither a server nor
JavaScript.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from markupsafe import Markup

from delayrig.base import digest
from delayrig.features.report.cells import all_cells, cells_table, filters_of
from delayrig.features.report.labels import (
    CALM,
    hazards_of,
    report_page,
    speed_of,
    speed_rank,
)
from delayrig.features.report.source import CellOfRun, Sources
from delayrig.present.notable import is_notable
from delayrig.present.pages.page import Section, paragraph, table_html
from delayrig.present.tables import words_and_figures

CELLS_MAX = 2500
"""The most cells of a page. With these it stays below its limit even if their ids are long."""
ANCHOR = re.compile(rb' id="(cell-[^"]+)"')
DIGEST_DIGITS = 8
ANY_PART = f"{'[0-9]' * 4}-{'[0-9a-f]' * DIGEST_DIGITS}.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A page of cells. Its name contains its digest, so no older report links to a newer part."""

    name: str
    content: bytes
    cells: int
    notable: int
    subjects: str
    """The first and the last subject, or the only one; likewise for hazards."""
    hazards: str


def make_parts(sources: Sources, page: str) -> list[Part]:
    """Returns all cells of the page as parts, sorted by run, subject, hazards, speed and cores."""
    listed = _in_order(sources)
    slices = [listed[at : at + CELLS_MAX] for at in range(0, len(listed), CELLS_MAX)]
    return [
        _part(sources, page, number, cells, of=len(slices))
        for number, cells in enumerate(slices, start=1)
    ]


def part_of_anchors(parts: Sequence[Part]) -> dict[str, str]:
    """Returns the part of each cell, by the cell's anchor."""
    return {anchor.decode(): part.name for part in parts for anchor in ANCHOR.findall(part.content)}


def index_of(parts: Sequence[Part], folder: str) -> Markup:
    table = words_and_figures(
        "All cells: by run, subject, hazards, speed and cores",
        ["page", "subjects", "hazards"],
        ["cells", "no plain pass"],
        [
            [
                Markup('<a href="{}/{}">{}</a>').format(folder, part.name, f"Page {number}"),
                *(part.subjects, part.hazards, f"{part.cells:,}", f"{part.notable:,}"),
            ]
            for number, part in enumerate(parts, start=1)
        ],
    )
    note = f"They are in the folder {folder} beside this page: keep both together."
    return table_html(table) + paragraph(note)


def _in_order(sources: Sources) -> list[CellOfRun]:
    """Returns the cells in an order that keeps those of a number in the verdict table together."""
    listed = all_cells(sources)
    subjects = list(dict.fromkeys(cell.subject_label for _, cell in listed))
    runs = {id(run): at for at, run in enumerate(sources.runs)}

    def place(each: CellOfRun) -> tuple[int, int, bool, str, float, int]:
        run, cell = each
        hazards = hazards_of(cell)
        speed = speed_rank(speed_of(cell))
        subject = subjects.index(cell.subject_label)
        return runs[id(run)], subject, hazards != CALM, hazards, speed, cell.guest.cores

    return sorted(listed, key=place)


def _part(sources: Sources, page: str, number: int, cells: Sequence[CellOfRun], *, of: int) -> Part:
    first = (number - 1) * CELLS_MAX + 1
    title = f"Cells {first:,} to {first + len(cells) - 1:,}"
    back = Markup('<a href="../{}">Back to the report</a>').format(quote(page))
    body = cells_table(sources, title, cells)
    content = report_page(
        title=title,
        summary=paragraph(f"Page {number} of {of}. ", back) + filters_of([c for _, c in cells]),
        sections=[Section(key="cells", title="Cells", body=body)],
    )
    name = f"{number:04}-{digest.of_bytes(content)[:DIGEST_DIGITS]}.html"
    return Part(
        name=name,
        content=content,
        cells=len(cells),
        notable=sum(is_notable(cell) for _, cell in cells),
        subjects=_reach(cell.subject_label for _, cell in cells),
        hazards=_reach(hazards_of(cell) for _, cell in cells),
    )


def _reach(words: Iterator[str]) -> str:
    found = list(dict.fromkeys(words))
    return " to ".join(dict.fromkeys((found[0], found[-1])))
