# SPDX-License-Identifier: GPL-2.0-or-later
"""The total and CPU time of each subject, and the parts of that time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
from markupsafe import Markup

from delayrig.base.durations import rounded
from delayrig.base.text import counted
from delayrig.features.report.facts import Split
from delayrig.features.report.labels import cell_link
from delayrig.features.report.source import CellOfRun, RunSource, Sources
from delayrig.judge.waste import summed
from delayrig.model.result import CellResult, Verdict
from delayrig.present.console import seconds
from delayrig.present.pages.charts import Chart, Colour, hide_left_axis, label_bar, new_figure
from delayrig.present.pages.page import Section, details, paragraph, table_html
from delayrig.present.tables import Table, words_and_figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PARTS = {
    "busy_ns": ("chip busy", Colour.FIRST),
    "wire_ns": ("wire", Colour.INK),
    "overshoot_ns": ("overshoot", Colour.THIRD),
    "fixed_ns": ("fixed waits", Colour.SECOND),
    "rest_ns": ("the rest", Colour.REST),
}
EXPLAINED = (
    "Chip busy: the part was erasing or programming. Wire: bits were on their way, where the link"
    " has a speed. Overshoot: the part was ready and the subject had not looked yet. Fixed waits:"
    " what this version is known to wait for by the clock alone. The rest: starting, computing, and"
    " round trips to the programmer."
)
PLACES_MAX = 400
VALUES_MAX = 4000
"""The most values in the table of places: places times subjects."""
EXACT = "Virtual time: the same in every run."
MOVING = "Lanes host and live: real time, which differs from run to run."
ROUNDS = (
    "Of several rounds: bars add up each cell's median round; a stroke across them is the total of"
    " one round."
)
GROUPS_MAX = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """The total of one subject in one run, over all comparable cells."""

    name: str
    split: Split
    user_ns: int
    sys_ns: int
    rounds_ns: Sequence[int] = ()
    """The total time of each round in which all of these cells passed, if there were several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Subjects that can be compared, because all of them passed in these places."""

    places: list[str]
    totals: list[Total]

    @property
    def title(self) -> str:
        """Names the subjects, so that each chart of a page has a title of its own."""
        return f"Programming time of {', '.join(total.name for total in self.totals)}"


def totals_section(sources: Sources) -> Section:
    """Returns a chart for each group of subjects, followed by the values of every cell."""
    timed = _timed(sources)
    groups = _groups(timed)
    body = _body(sources, timed, groups) if groups else paragraph("No cell that passed has a time.")
    return Section(key="time", title="Programming time", body=body)


def _body(sources: Sources, timed: "Timed", groups: Sequence[Group]) -> Markup:
    body = paragraph(EXPLAINED) + paragraph(EXACT if sources.is_exact else MOVING)
    if not sources.has_events:
        body += paragraph("Without the cells' events, fixed waits are in the rest.")
    if any(total.rounds_ns for group in groups for total in group.totals):
        body += paragraph(ROUNDS)
    for group in groups:
        cells = counted(len(group.places), "cell")
        scope = f"The {cells} that all of these passed"
        if len(group.totals) == 1:
            scope = f"{group.totals[0].name}: the {cells} that it passed"
        body += _chart(group).html(caption=scope, table=_table(group))
    charted = {total.name for group in groups for total in group.totals}
    missing = [name for name in timed if name not in charted]
    if missing:
        body += paragraph(
            f"Not charted, as no cell passed or there are too many groups: {', '.join(missing)}."
        )
    places = [place for group in groups for place in group.places]
    return body + details("Each place by itself", table_html(_places_table(timed, places)))


def totals_picture(sources: Sources) -> Chart | None:
    """Returns the first chart, or None if no cell that passed has a time."""
    groups = _groups(_timed(sources))
    return _chart(groups[0]) if groups else None


def _chart(group: Group) -> Chart:
    totals = group.totals
    words = "; ".join(map(_in_words, totals))
    return Chart(title=group.title, description=words, figure=_figure(totals))


def _groups(timed: "Timed") -> list[Group]:
    """Returns the comparable groups, starting with the places that most subjects share."""
    groups: list[Group] = []
    rest = dict(timed)
    while rest and len(groups) < GROUPS_MAX:
        places = _common_places(rest)
        totals = [total for name in rest if (total := _total(name, rest[name], places))]
        if not totals:
            break
        groups.append(Group(places=places, totals=totals))
        for total in totals:
            del rest[total.name]
    return groups


Timed = dict[str, dict[str, CellOfRun]]
"""Cells by subject and run, and by place."""


def _timed(sources: Sources) -> Timed:
    found: Timed = {}
    for run in sources.runs:
        for cell in run.results.measured:
            if cell.time_ns.total:
                found.setdefault(run.named(cell.subject_label), {})[cell.place] = (run, cell)
    return found


def _common_places(timed: Timed) -> list[str]:
    """Returns the places in which all passed.

    A subject that shares less than half of the others' places is left out.
    """
    passed = {
        name: {place for place, (_, cell) in cells.items() if cell.verdict is Verdict.PASS}
        for name, cells in timed.items()
    }
    shared: set[str] = set()
    for name in sorted(passed, key=lambda name: -len(passed[name])):
        both = shared & passed[name] if shared else passed[name]
        shared = both if 2 * len(both) >= len(shared) else shared
    first = next(iter(timed.values()), {})
    return [place for place in first if place in shared] + sorted(shared - set(first))


def _total(name: str, cells: dict[str, CellOfRun], places: list[str]) -> Total | None:
    """Returns the total of the places; None if there is none, or if one has not passed."""
    chosen = [cells[place] for place in places if place in cells]
    if not places or [cell.verdict for _, cell in chosen] != [Verdict.PASS] * len(places):
        return None
    (split,) = summed(_split(run, cell) for run, cell in chosen)
    return Total(
        name=name,
        split=split,
        user_ns=sum(cell.cpu_ns.user for _, cell in chosen),
        sys_ns=sum(cell.cpu_ns.sys for _, cell in chosen),
        rounds_ns=_rounds_ns(chosen),
    )


def _rounds_ns(chosen: list[CellOfRun]) -> list[int]:
    spreads = [run.spread[cell.id] for run, cell in chosen if cell.id in run.spread]
    if not spreads or len(spreads) < len(chosen):
        return []
    whole = set.intersection(*(set(spread.total_ns) for spread in spreads))
    return [sum(spread.total_ns[number] for spread in spreads) for number in sorted(whole)]


def _split(run: RunSource, cell: CellResult) -> Split:
    facts = run.facts.get(cell.id)
    if facts is not None:
        return facts.split
    busy_ns = min(cell.chip_busy_ns, cell.time_ns.total)
    overshoot_ns = min(cell.overshoot_ns, cell.time_ns.total - busy_ns)
    return Split(
        busy_ns=busy_ns,
        overshoot_ns=overshoot_ns,
        rest_ns=cell.time_ns.total - busy_ns - overshoot_ns,
    )


def _figure(totals: Sequence[Total]) -> "Figure":
    with new_figure(height_in=1.15 + 0.42 * len(totals)) as figure:
        time, cpu = figure.subplots(1, 2, sharey=True, width_ratios=[3, 1])
        names = [total.name for total in totals]
        edged = {"edgecolor": Colour.GROUND, "linewidth": 0.8}
        left = [0.0] * len(totals)
        for field, (label, colour) in PARTS.items():
            values = [getattr(total.split, field) / 1e9 for total in totals]
            if any(values):
                time.barh(names, values, 0.62, left, color=colour, label=label, **edged)
            left = [a + b for a, b in zip(left, values, strict=True)]
        for at, total in enumerate(totals):
            strokes = [ns / 1e9 for ns in total.rounds_ns]
            if strokes:
                time.plot(strokes, [at] * len(strokes), "|", color=Colour.INK, ms=13, mew=1)
            label_bar(time, f"{left[at]:.3f} s", max([left[at], *strokes]), at)
            spent = (total.user_ns + total.sys_ns) / 1e9
            label_bar(cpu, f"{spent:.3f} s", spent, at)
        user = [total.user_ns / 1e9 for total in totals]
        kernel = [total.sys_ns / 1e9 for total in totals]
        cpu.barh(names, user, 0.62, color=Colour.FIFTH, label="CPU, user")
        cpu.barh(names, kernel, 0.62, user, color=Colour.FOURTH, label="CPU, kernel")
        time.set_xlabel("total time, s")
        cpu.set_xlabel("CPU time, s")
        for axes in (time, cpu):
            axes.grid(axis="x")
            axes.margins(x=0.3 if axes is cpu else 0.14)
            axes.set_xlim(left=0)
            hide_left_axis(axes)
        time.invert_yaxis()
        figure.legend(
            loc="outside upper left", ncols=7, handlelength=1, handleheight=1, columnspacing=1.4
        )
    return figure


def _in_words(total: Total) -> str:
    words = (
        f"{total.name}: {rounded(total.split.total_ns)}, of that chip busy"
        f" {rounded(total.split.busy_ns)}, CPU time {rounded(total.user_ns + total.sys_ns)}"
    )
    if not total.rounds_ns:
        return words
    least, most = min(total.rounds_ns), max(total.rounds_ns)
    rounds = counted(len(total.rounds_ns), "round")
    return f"{words}, {rounded(least)} to {rounded(most)} in {rounds}"


def _table(group: Group) -> Table:
    names = [label for label, _ in PARTS.values()]
    several = any(total.rounds_ns for total in group.totals)
    rounds = ("rounds", "least", "most") if several else ()
    return words_and_figures(
        "All in seconds",
        ["subject"],
        ["cells", "total", *names, "CPU user", "CPU kernel", *rounds],
        [
            [
                *(total.name, f"{len(group.places)}", seconds(total.split.total_ns)),
                *(seconds(part) for part in msgspec.structs.astuple(total.split)),
                *(seconds(total.user_ns), seconds(total.sys_ns)),
                *(_rounds_values(total.rounds_ns) if several else ()),
            ]
            for total in group.totals
        ],
    )


def _rounds_values(rounds_ns: Sequence[int]) -> tuple[str, str, str]:
    least, most = min(rounds_ns, default=None), max(rounds_ns, default=None)
    return f"{len(rounds_ns)}", seconds(least), seconds(most)


def _places_table(timed: Timed, places: list[str]) -> Table:
    """Returns the total time of all subjects in each place, or the verdict if it was no pass."""
    all_places = list(dict.fromkeys(place for cells in timed.values() for place in cells))
    together = set(places)
    shown = sorted(all_places, key=lambda place: place not in together)
    shown = shown[: min(PLACES_MAX, VALUES_MAX // len(timed))]
    left_out = len(all_places) - len(shown)
    note = f"; {left_out} more are in the table of cells" if left_out else ""
    return words_and_figures(
        f"Total time in seconds; CPU time behind the slash{note}",
        ["place"],
        list(timed),
        [[place, *(_figure_of(cells.get(place)) for cells in timed.values())] for place in shown],
    )


def _figure_of(found: CellOfRun | None) -> str | Markup:
    if found is None:
        return "-"
    run, cell = found
    text = f"{seconds(cell.time_ns.total)} / {seconds(cell.total_cpu_ns)}"
    if cell.verdict is not Verdict.PASS:
        text += f" {cell.verdict}"
    spread = run.spread.get(cell.id)
    if spread and len(spread.total_ns) > 1:
        least, most = min(spread.total_ns.values()), max(spread.total_ns.values())
        text += f" ({seconds(least)} to {seconds(most)})"
    return cell_link(run, cell, text)
