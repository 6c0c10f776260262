# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that a gate answers each known-bad build as its class requires.

All builds run once, beside the shipped program. Each is judged by its own cells and those of the
shipped program. The answers are also a page.
"""

from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from delayrig.base.errors import ExitCode
from delayrig.decision.decision import GateCell, Outcome
from delayrig.decision.gate_judge import decide
from delayrig.model.cell import WATCHING, Cell, Role
from delayrig.model.result import Results, RunHeader, Verdict
from delayrig.present.tables import Table
from delayrig.subjects.disguise import STRIPPED
from delayrig.subjects.known_bad import PREFIX, Kind, Mistake, Sight
from delayrig.subjects.subject import BUNDLED

SCHEMA = 1
FILE_NAME = "known-bad.json"
PAGE_NAME = "known-bad.html"
PLAN = "known-bad"

WANTED = {Kind.UNSAFE: Outcome.UNSAFE, Kind.WASTEFUL: Outcome.SLOWER, Kind.LEGAL: Outcome.PASS}
COLUMNS = ("name", "what is wrong", "class", "who sees it", "wanted", "answered", "right", "cell")


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    what: str
    kind: Kind
    sight: Sight
    outcome: Outcome
    right: bool
    """True if that is the answer that its class requires."""
    cells: list[GateCell]


class KnownBad(msgspec.Struct, frozen=True, kw_only=True):
    schema: int = SCHEMA
    run: RunHeader
    disguise: str = ""
    """The prefix of the subjects' names (subjects/disguise.py)."""
    watched: bool
    """True if canaries and controls showed that the rig detects mistakes."""
    builds: list[Answered]

    @property
    def accused(self) -> list[Answered]:
        """Returns the legal and wasteful builds that were called unsafe: the rig is wrong."""
        builds = self.builds
        return [b for b in builds if b.kind is not Kind.UNSAFE and b.outcome is Outcome.UNSAFE]

    @property
    def unanswered(self) -> list[Answered]:
        """Returns the other builds that were not answered as their class requires."""
        return [build for build in self.builds if not build.right and build not in self.accused]

    @property
    def exit_code(self) -> ExitCode:
        """Returns 99 for `accused` or without `watched`, 4 for `unanswered`, else 0."""
        if self.accused or not self.watched:
            return ExitCode.RIG_FAULT
        return ExitCode.INCONCLUSIVE if self.unanswered else ExitCode.PASS


def subjects_of(names: Sequence[str]) -> list[str]:
    """Returns the shipped program and these builds, as subjects of any plan."""
    return [BUNDLED, *(f"{PREFIX}{name}" for name in names)]


def choose_for(names: Sequence[str], cells: Iterable[Cell]) -> list[Cell]:
    """Returns cells of these builds, of the shipped program beside them, canaries and controls."""
    subjects = {f"{PREFIX}{name}" for name in names}
    chosen = list(cells)
    places = {cell.name for cell in chosen if cell.subject in subjects}
    return [
        cell
        for cell in chosen
        if cell.role is not Role.MEASURE
        or cell.subject in subjects
        or (cell.subject == BUNDLED and cell.name in places)
    ]


def in_disguise(disguise: str, cells: Iterable[Cell]) -> list[Cell]:
    return [
        replace(cell, subject=f"{disguise}{cell.subject}")
        if cell.subject.startswith(PREFIX)
        else cell
        for cell in cells
    ]


def answer_all(results: Results, mistakes: Iterable[Mistake], disguise: str = "") -> KnownBad:
    """Computes the answers from a run of the plan; a build that was not run is left in doubt."""
    are_right = all(cell.expect == cell.verdict for cell in results.watching)
    return KnownBad(
        run=results.run,
        disguise=disguise,
        watched=are_right and {cell.role for cell in results.watching} == set(WATCHING),
        builds=[_answer(results, mistake, disguise) for mistake in mistakes],
    )


def _answer(results: Results, mistake: Mistake, disguise: str) -> Answered:
    subject = f"{disguise}{PREFIX}{mistake.name}"
    ours = [cell for cell in results.measured if cell.subject.name == subject]
    places = {cell.place for cell in ours}
    theirs = [c for c in results.measured if c.subject.name == BUNDLED and c.place in places]
    candidate = replace(results, cells=[*ours, *results.watching])
    decision = decide([replace(results, cells=theirs)], [candidate])
    cells = [cell for cell in decision.cells if cell.role == Role.MEASURE]
    ran = any(cell.candidate is not Verdict.SKIPPED for cell in cells)
    return Answered(
        name=mistake.name,
        what=mistake.what,
        kind=mistake.kind,
        sight=mistake.sight,
        outcome=decision.outcome,
        right=ran and is_right(mistake.kind, decision.outcome, stripped=STRIPPED in disguise),
        cells=cells,
    )


def is_right(kind: Kind, outcome: Outcome, *, stripped: bool = False) -> bool:
    """Returns True for the answer of that class, and for a doubt about a stripped build."""
    if stripped and outcome is Outcome.DOUBT:
        return True
    return outcome is WANTED[kind]


def known_bad_page(answer: KnownBad) -> bytes:
    # Pages load slowly.
    from delayrig.present.pages.page import Section, paragraph, render_page, table_html

    kinds = dict.fromkeys(str(build.kind) for build in answer.builds)
    return render_page(
        title="Known-bad builds, and what a gate says of them",
        summary=paragraph(summary(answer)),
        sections=[
            Section(
                key=f"{kind}-builds", title=f"Class {kind}", body=table_html(_table(answer, kind))
            )
            for kind in kinds
        ],
    )


def _table(answer: KnownBad, kind: str) -> Table:
    return Table(
        caption=f"Builds of class {kind}: what a gate has to answer, and what it answered",
        columns=COLUMNS,
        rows=[
            [
                *(build.name, build.what, build.kind, build.sight, WANTED[build.kind]),
                *(build.outcome, "yes" if build.right else "no", reason_of(build)),
            ]
            for build in answer.builds
            if build.kind == kind
        ],
    )


def summary(answer: KnownBad) -> str:
    """Returns a summary that says whether the rig detects known-bad builds."""
    right = sum(build.right for build in answer.builds)
    counts = f"{right} of {len(answer.builds)} builds got the answer of their class"
    if answer.accused:
        names = ", ".join(build.name for build in answer.accused)
        return f"The rig accused safe builds: {names}. {counts}."
    if answer.exit_code is ExitCode.RIG_FAULT:
        return f"A canary or a control did not get the required answer. {counts}."
    return f"{counts}; no safe build was accused."


def reason_of(build: Answered) -> str:
    """Returns the reason of the build's worst cell."""
    if not build.cells:
        return "it was run in no cell"
    cell = build.cells[0]
    return f"{cell.id.partition('.')[0]}: {cell.why}"
