# SPDX-License-Identifier: GPL-2.0-or-later
"""The whole report: its sections in order, as many timelines as fit, and the runs' inputs."""

import contextlib
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

from delayrig.base.atomic_file import write_atomically
from delayrig.base.errors import BadInputError
from delayrig.features.report import cells, comparison, matrix, summary, timelines, totals, waits
from delayrig.features.report.labels import report_page
from delayrig.features.report.parts import ANY_PART, Part, index_of, make_parts, part_of_anchors
from delayrig.features.report.source import PAGE, CellOfRun, RunSource, Sources
from delayrig.present.pages.page import Section, code, paragraph

LIMIT_BYTES = 2_000_000
PRINTED = ("decision", "findings", "verdicts")
"""The sections of a gate's report that are printed on paper. The others are for reference."""
LIST_BYTES = 20_000
"""The space for the names of cells without a timeline."""
SHOWN_DIGITS = 16
ARCHIVE = {
    "same": "as locked",
    "differs": "has moved on since it was locked",
    "incomplete": "not all of it is locked",
}
NOTABLE_PARTS = (1, 2, 4, 8, 16, 32)
"""The page lists NOTABLE_MAX / N notable cells; N is the first of these with which it fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """The page, and how much of the runs it contains."""

    content: bytes
    timelines: int
    left_out: int
    folder: str
    parts: Sequence[Part]
    """Further pages in `folder` beside it; empty if the page has room for all cells."""


def document_of(sources: Sources, *, patterns: Sequence[str] = (), name: str = PAGE) -> Document:
    """Returns the report as a page of that name. `patterns` choose the cells with timelines."""
    folder = f"{Path(name).stem}.cells"
    draft = _Draft(sources)
    # The decision describes the two sides of a gate.
    are_comparable = len(sources.runs) > 1 and not sources.gates
    before = [
        *([comparison.decision_section(sources)] if sources.gates else []),
        *([comparison.differences_section(sources)] if are_comparable else []),
        summary.findings_section(sources),
        matrix.matrix_section(sources),
        totals.totals_section(sources),
        waits.waiting_section(sources),
        waits.margins_section(sources),
    ]
    coverage = comparison.coverage_section(sources)
    after = [*([coverage] if coverage else []), environment_section(sources)]
    listed, parts = _cells(draft, [*before, *after], name, quote(folder))
    after = [listed, *after]
    chosen = timelines.choose_cells(sources, patterns)
    most = len(chosen) if patterns else timelines.CHOSEN_MAX
    shown = set(map(_key, comparison.worst_cells(sources)))
    further = [pair for pair in chosen[:most] if _key(pair) not in shown]
    drawn = _fitting(further, draft.room([*before, *after]))
    shown.update(map(_key, further[: len(drawn)]))
    left_out = [pair for pair in chosen if _key(pair) not in shown]
    needed = bool(drawn or left_out)
    shown_at_length = [timelines.timelines_section(drawn, left_out)] if needed else []
    content = draft.page([*before, *shown_at_length, *after])
    if parts:
        content = _lead_to_parts(content, part_of_anchors(parts), quote(folder))
    return Document(
        content=content,
        timelines=len(chosen) - len(left_out),
        left_out=len(left_out),
        folder=folder,
        parts=parts,
    )


def write_document(made: Document, place: Path) -> None:
    """Writes the parts and then the page, or raises `BadInputError`; removes older parts."""
    folder = place.with_name(made.folder)
    if made.parts:
        # If this fails, writing into the folder fails below and reports why.
        with contextlib.suppress(OSError):
            folder.mkdir(exist_ok=True)
    for part in made.parts:
        write_atomically(folder / part.name, part.content)
    write_atomically(place, made.content)
    for path in folder.glob(ANY_PART):
        if path.name not in {part.name for part in made.parts}:
            path.unlink()
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


class _Draft:
    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        everything = [cell for _, cell in cells.all_cells(sources)]
        self.cells = len(everything)
        self._title = summary.title_of(sources)
        self._summary = summary.summary_of(sources) + cells.filters_of(everything)

    def page(self, sections: Sequence[Section]) -> bytes:
        if self.sources.gates:
            sections = [replace(each, is_printed=each.key in PRINTED) for each in sections]
        return report_page(title=self._title, summary=self._summary, sections=sections)

    def room(self, sections: Sequence[Section]) -> int:
        """Returns the number of bytes that the page has left beside those sections."""
        return LIMIT_BYTES - LIST_BYTES - len(self.page(sections))


def _cells(
    draft: _Draft, others: Sequence[Section], page: str, folder: str
) -> tuple[Section, list[Part]]:
    """Returns the section of all cells.

    If the page has no room for it, returns that of as many notable cells as fit, and the parts.
    """
    # A page has no room for more cells, however short their ids are.
    if draft.cells <= cells.ROWS_MAX:
        section = cells.cells_section(draft.sources)
        if draft.room([*others, section]) >= 0:
            return section, []
    parts = make_parts(draft.sources, page)
    index = index_of(parts, folder)
    for part in NOTABLE_PARTS:
        section = cells.cells_section(draft.sources, index, part=part)
        if draft.room([*others, section]) >= 0:
            return section, parts
    raise BadInputError(
        f"a page of {draft.cells} cells is larger than {LIMIT_BYTES} bytes",
        hint="name fewer runs; `rig/rig compare` sets two of them side by side",
    )


def _lead_to_parts(page: bytes, parts: Mapping[str, str], folder: str) -> bytes:
    """Redirects links to cells that are not on the page to the part that contains them."""
    ids = set(re.findall(rb'\sid="([^"]+)"', page))

    def redirected(link: re.Match[bytes]) -> bytes:
        if link[2] in ids:
            return link[0]
        part = f"{folder}/{parts[link[2].decode()]}".encode()
        return b'<a%b href="%b#%b">' % (link[1], part, link[2])

    return re.sub(rb'<a((?: class="[^"]*")?) href="#(cell-[^"]+)">', redirected, page)


def _key(pair: CellOfRun) -> tuple[str, str]:
    run, cell = pair
    return run.label, cell.id


def _fitting(chosen: Sequence[CellOfRun], room_bytes: int) -> list[Markup]:
    """Draws the cells in order until the room is used up."""
    drawn: list[Markup] = []
    for run, cell in chosen:
        made = timelines.draw_cell(run, cell)
        room_bytes -= len(made.encode())
        if room_bytes < 0:
            break
        drawn.append(made)
    return drawn


def environment_section(sources: Sources) -> Section:
    body = paragraph(
        "Equal digests, seed and plan give equal times in guests, to the nanosecond: ",
        code("rig/rig compare --exact RUN1 RUN2"),
        " says whether two runs are the same. Below each cell stands the command that runs it"
        " again.",
    )
    for run in sources.runs:
        title = run.named(run.path.name) or "The run"
        again = shlex.join(["rig/rig", *_without_out(run.results.run.argv)])
        facts = map(Markup("<div><dt>{0[0]}</dt><dd>{0[1]}</dd></div>").format, _facts(run))
        body += Markup("<h3>{}</h3><pre>{}</pre><dl>{}</dl>").format(
            title, again, Markup("").join(facts)
        )
    return Section(key="environment", title="Environment", body=body)


def _without_out(argv: list[str]) -> list[str]:
    """Returns the arguments without --out, because a folder with results takes no others."""
    kept = [word for word in argv if not word.startswith("--out=")]
    if "--out" in kept:
        at = kept.index("--out")
        del kept[at : at + 2]
    return kept


def _facts(run: RunSource) -> Iterator[tuple[str, str]]:
    header = run.results.run
    host = header.host
    yield "plan", header.plan
    yield "started", header.started
    yield "cells", f"{len(run.results.cells)} of {header.cells_planned}"
    yield "rig", f"{header.rig_version} ({header.commit or 'no commit known'})"
    yield "seed", f"{header.seed}"
    yield "QEMU", header.qemu_version or "none"
    yield "libvirt", header.libvirt_version or "none"
    yield "host", f"{host.os}, kernel {host.kernel}, {host.machine}, {host.cpus} CPUs"
    yield "host's clock", host.clocksource or "not known"
    for cpu in host.cpu:
        facts = [
            f"capacity {cpu.capacity}" if cpu.capacity else "",
            f"{cpu.khz_min or 0} to {cpu.khz_max} kHz" if cpu.khz_max else "",
            f"governor {cpu.governor}" if cpu.governor else "",
            f"idle states {', '.join(cpu.idle_states)}" if cpu.idle_states else "",
        ]
        yield f"CPU {cpu.cpu}", "; ".join(filter(None, facts)) or "nothing known"
    yield "archive", ARCHIVE.get(header.lock, header.lock)
    for kernel in dict.fromkeys(c.guest.kernel for c in run.results.cells if c.guest.kernel):
        yield "kernel of cells", kernel
    for name, sha256 in header.image_digests.items():
        yield f"SHA-256 of {name}", sha256[:SHOWN_DIGITS]
