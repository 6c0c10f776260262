# SPDX-License-Identifier: GPL-2.0-or-later
"""The whole report: its sections in order, and as many timelines as there is room for."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from delayrig.base.errors import BadInputError
from delayrig.present.pages.page import Assets, Section, render_page
from delayrig.present.report.cells import cells_section, filters_of
from delayrig.present.report.deciding import decision_section
from delayrig.present.report.differences import differences_section
from delayrig.present.report.environment import environment_section
from delayrig.present.report.labels import TEMPLATES
from delayrig.present.report.margins import margins_section
from delayrig.present.report.matrix import matrix_section
from delayrig.present.report.source import Sources
from delayrig.present.report.summary import findings_section, summary_of, title_of
from delayrig.present.report.timelines import (
    CHOSEN_MAX,
    Chosen,
    Drawn,
    choose_cells,
    draw_cell,
    timelines_section,
)
from delayrig.present.report.totals import totals_section
from delayrig.present.report.waiting import waiting_section

LIMIT_BYTES = 2_000_000
PRINTED = ("decision", "findings", "verdicts")
"""Of a gate: what a reviewer reads on paper. The rest is for looking things up."""
LIST_BYTES = 20_000
"""What the names of cells without a timeline may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """The page, and what was put into it."""

    content: bytes
    timelines: int
    left_out: int


def document_of(sources: Sources, *, patterns: Sequence[str] = ()) -> Document:
    """The page. `patterns` choose the cells whose timelines are shown."""
    sections = [
        *([decision_section(sources)] if sources.gates else []),
        *([differences_section(sources)] if _are_comparable(sources) else []),
        findings_section(sources),
        matrix_section(sources),
        totals_section(sources),
        waiting_section(sources),
        margins_section(sources),
    ]
    after = [cells_section(sources), environment_section(sources)]
    fits = len(_page(sources, [*sections, *after])) <= LIMIT_BYTES - LIST_BYTES
    if not fits:
        after[0] = cells_section(sources, all_rows=False)
    chosen = choose_cells(sources, patterns)
    room = LIMIT_BYTES - LIST_BYTES - len(_page(sources, [*sections, *after]))
    if room < 0:
        raise BadInputError(
            f"a page of {sum(len(run.results.cells) for run in sources.runs)} cells is larger than"
            f" {LIMIT_BYTES} bytes",
            hint="name fewer runs; `rig/rig compare` sets two of them side by side",
        )
    most = len(chosen) if patterns else CHOSEN_MAX
    drawn = _fitting(chosen[:most], room)
    shown = {(each.run.label, each.cell.id) for each in drawn}
    left_out = [pair for pair in chosen if (pair[0].label, pair[1].id) not in shown]
    if chosen:
        sections.append(timelines_section(drawn, left_out))
    sections += after
    if sources.gates:
        sections = [replace(each, is_printed=each.key in PRINTED) for each in sections]
    content = _page(sources, sections)
    if not fits:
        content = _without_dead_links(content)
    return Document(content=content, timelines=len(drawn), left_out=len(left_out))


def _are_comparable(sources: Sources) -> bool:
    """Several runs; the two sides of a gate are told of by its decision."""
    return len(sources.runs) > 1 and not sources.gates


def _without_dead_links(page: bytes) -> bytes:
    """Links to cells that are left out become plain words."""
    ids = set(re.findall(rb'\sid="([^"]+)"', page))

    def kept(link: re.Match[bytes]) -> bytes:
        words = b"<span%b>%b</span>" % (link[1], link[3])
        return link[0] if link[2] in ids else words

    return re.sub(rb'<a((?: class="[^"]*")?) href="#([^"]+)">(.*?)</a>', kept, page)


def _fitting(chosen: Sequence[Chosen], room_bytes: int) -> list[Drawn]:
    """In their order, until the room is used up."""
    drawn: list[Drawn] = []
    for run, cell in chosen:
        made = draw_cell(run, cell)
        room_bytes -= len(made.html.encode())
        if room_bytes < 0:
            break
        drawn.append(made)
    return drawn


def _page(sources: Sources, sections: Sequence[Section]) -> bytes:
    style, script = (
        (TEMPLATES / f"report.{kind}").read_text(encoding="utf-8") for kind in ("css", "js")
    )
    return render_page(
        title=title_of(sources),
        summary=summary_of(sources) + filters_of(sources),
        sections=sections,
        assets=Assets(style=style, script=script),
    )
