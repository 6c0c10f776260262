# SPDX-License-Identifier: GPL-2.0-or-later
"""Timelines of single cells: the whole job, and a closer view of the worst wait."""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from markupsafe import Markup

from delayrig.base.durations import rounded
from delayrig.base.errors import BadInputError
from delayrig.features.report.cells import all_cells
from delayrig.features.report.facts import CellFacts, WaitMargin, job_of, read_judged
from delayrig.features.report.labels import cell_link, verdict_html
from delayrig.features.report.source import CellOfRun, RunSource, Sources, told_by_events
from delayrig.judge.waste import Watched, phases_of
from delayrig.model.cell import Role
from delayrig.model.result import CellResult, Verdict
from delayrig.present.notable import rank
from delayrig.present.pages.charts import Chart, Colour, hide_left_axis, new_figure
from delayrig.present.pages.page import Section, bullets, details, paragraph
from delayrig.present.tables import Table, words_and_figures
from delayrig.present.trace.timeline import Timeline, Track, timeline_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINES = {
    Track.REQUEST: ("programmer", Colour.FIFTH, ""),
    Track.COMMAND: ("commands", Colour.FIRST, ""),
    Track.BUSY: ("chip busy", Colour.SECOND, ""),
    Track.WAIT: ("waits", Colour.REST, ""),
    Track.DELAY: ("delays", Colour.FOURTH, ""),
    Track.VIOLATION: ("too early", Colour.BAD, "X"),
    Track.FAULT: ("faults", Colour.DOUBT, "v"),
}
"""The name and the colour of each line, and the marker of those that show moments."""
STEPS = 500
"""The number of steps of an axis. Spans less than half a step apart are drawn as one."""
AROUND = 2.5
"""The time shown before and after a wait, in multiples of its length."""
CLOSER_PART_MAX = 0.6
"""The largest fraction of the whole that a closer view shows."""
CAPTION = "The whole job, and enlarged the wait with the least margin"
READ_MAX = 2000
"""The largest number of cells whose events are all read. More would take too long."""
CHOSEN_MAX = 12
CANDIDATES_MAX = 3 * CHOSEN_MAX
PHASES_SAID_MAX = 12
LEFT_OUT_MAX = 100


def worth_reading(sources: Sources, patterns: Sequence[str]) -> list[CellOfRun] | None:
    """Returns the cells whose events should be read; None if there is time to read all.

    These are the cells that match the patterns, else the most interesting by their results.
    """
    known = told_by_events(sources)
    if len(known) <= READ_MAX:
        return None
    if patterns:
        return _matching(known, patterns)[:READ_MAX]
    return _in_turns(sorted(known, key=lambda pair: rank(pair[1])))[:CANDIDATES_MAX]


def choose_cells(sources: Sources, patterns: Sequence[str]) -> list[CellOfRun]:
    """Returns the cells that can be drawn: all that match, else the most interesting first.

    Convicted cells come first, then doubts, then the smallest margins. But the first cell of each
    run, subject and verdict comes before the second cell of any.
    """
    known = [
        (run, cell)
        for run, cell in all_cells(sources)
        if cell.id in run.drawable and cell.role != Role.FLOOR
    ]
    if patterns:
        return _matching(known, patterns)
    return _in_turns(sorted(known, key=lambda pair: _interest(*pair)))


def _matching(known: Sequence[CellOfRun], patterns: Sequence[str]) -> list[CellOfRun]:
    return [each for each in known if any(fnmatchcase(each[1].id, one) for one in patterns)]


def _in_turns(ranked: Sequence[CellOfRun]) -> list[CellOfRun]:
    """Returns one cell for each run, subject and verdict, then a second one, and so on."""
    seen: dict[tuple[str, str, Verdict], int] = {}
    turns = []
    for run, cell in ranked:
        key = (run.label, cell.subject.name, cell.verdict)
        seen[key] = seen.get(key, 0) + 1
        turns.append((seen[key], run, cell))
    turns.sort(key=lambda turn: turn[0])
    return [(run, cell) for _, run, cell in turns]


def _interest(run: RunSource, cell: CellResult) -> tuple[bool, int, float]:
    worst = worst_waits(run.drawable[cell.id])
    margin = worst[0].relative_margin if worst else float("inf")
    order = (Verdict.CORRUPT, Verdict.TOO_SHORT, Verdict.INCONCLUSIVE, Verdict.OP_FAILED)
    rank = order.index(cell.verdict) if cell.verdict in order else len(order)
    return (cell.role != Role.MEASURE, rank, margin)


def worst_waits(facts: CellFacts) -> list[WaitMargin]:
    """Returns the judged waits, if possible only those with a request, the least margin first."""
    judged = [wait for wait in facts.waits if wait.margin_ns is not None]
    with_length = [wait for wait in judged if wait.requested_ns]
    return sorted(with_length or judged, key=lambda wait: wait.relative_margin)


def timeline_picture(sources: Sources, patterns: Sequence[str]) -> Chart:
    """Returns the timeline of the most interesting cell of those that match the patterns.

    Raises `BadInputError` if there is no such cell with events.
    """
    chosen = choose_cells(sources, patterns)
    if not chosen:
        raise BadInputError(
            "--picture: no cell that passed has a time, and none has events",
            hint="name a run's folder, or other cells with --cell",
        )
    chart, _ = _chart(*min(chosen, key=lambda pair: _interest(*pair)))
    return chart


def _chart(run: RunSource, cell: CellResult) -> tuple[Chart, Table]:
    watched = read_judged(run.folder_of(cell), cell)
    timeline = timeline_of(watched.events, watched.delays)
    phases = _phases(watched)
    worst = worst_waits(run.drawable[cell.id])
    chart = Chart(
        title=f"Timeline of {run.named(cell.id)}",
        description=_in_words(timeline, phases, worst[:1]),
        figure=_figure(timeline, phases, worst),
    )
    return chart, _table(timeline, phases)


def draw_cell(run: RunSource, cell: CellResult) -> Markup:
    made, table = _chart(run, cell)
    chart = made.html(caption=CAPTION, table=table)
    where = shlex.join(["rig/rig", "trace", str(run.folder_of(cell)), "-o", "cell.json"])
    return Markup("<h3>{}</h3><p>{} {}. Every event: <code>{}</code></p>{}").format(
        run.named(cell.id),
        verdict_html(cell),
        cell_link(run, cell, "About this cell"),
        where,
        chart,
    )


def timelines_section(drawn: Iterable[Markup], left_out: Sequence[CellOfRun]) -> Section:
    """Returns the timelines that have room, and the names of the other cells."""
    body = paragraph(
        "The lines show the requests to the programmer, the commands to the chip, when the chip was"
        " busy, the waits from a reply to the next request, and the calls of delay functions. The"
        " upper chart is the whole job. The lower one enlarges the wait with the least margin,"
        " shaded from its beginning to its required end. Crosses are commands that came too early."
    )
    body += Markup("").join(drawn)
    if left_out:
        names = paragraph(
            "A page shows only some timelines. --cell PATTERN chooses others, and rig/rig trace"
            " CELL turns any cell into a file for ui.perfetto.dev."
        )
        names += bullets(cell_link(run, cell) for run, cell in left_out[:LEFT_OUT_MAX])
        if len(left_out) > LEFT_OUT_MAX:
            names += paragraph(f"and {len(left_out) - LEFT_OUT_MAX} more")
        body += details(f"{len(left_out)} cells without a timeline here", names)
    return Section(key="timelines", title="Timelines", body=body)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Phase:
    """A phase of the job."""

    name: str
    start_ns: int
    end_ns: int


def _phases(watched: Watched) -> list[_Phase]:
    job = job_of(watched.events)
    if job is None:
        return []
    changes = phases_of(watched, job[0])
    ends = [*(at for at, _ in changes[1:]), job[1]]
    return [
        _Phase(name=name, start_ns=start, end_ns=end)
        for (start, name), end in zip(changes, ends, strict=True)
    ]


def _figure(timeline: Timeline, phases: list[_Phase], worst: list[WaitMargin]) -> "Figure":
    """Returns the whole job above, and below it the worst wait that is short enough to enlarge."""
    tracks = {span.track for span in timeline.spans} | {each.track for each in timeline.instants}
    rows = [track for track in LINES if track in tracks]
    start_ns = phases[0].start_ns if phases else timeline.start_ns
    last_ns = max((span.end_ns for span in timeline.spans), default=timeline.start_ns + 1)
    end_ns = phases[-1].end_ns if phases else last_ns
    windows = ((wait, window_around(wait, start_ns, end_ns)) for wait in worst)
    closer = next(((wait, window) for wait, window in windows if window), None)
    panels = 2 if closer else 1
    with new_figure(height_in=(0.8 + 0.24 * len(rows)) * panels + 0.2) as figure:
        shown = figure.subplots(panels, 1, squeeze=False)[:, 0]
        whole = shown[0]
        _draw(whole, timeline, rows, (start_ns, end_ns), origin_ns=start_ns)
        _draw_phases(whole, phases, start_ns, end_ns)
        if closer is None or closer[0] is not worst[0]:
            for wait in worst[:1]:
                _draw_wait(whole, wait, start_ns)
        if closer:
            wait, window = closer
            _draw(shown[1], timeline, rows, window, origin_ns=start_ns)
            _draw_wait(shown[1], wait, start_ns)
            shown[1].set_title(_wait_words(wait), color=_colour_of(wait))
            whole.axvspan(*(_s(at, start_ns) for at in window), color=Colour.GRID, zorder=0, lw=1.5)
        shown[-1].set_xlabel("seconds since the subject's start")
    return figure


def _s(moment_ns: int, origin_ns: int) -> float:
    return (moment_ns - origin_ns) / 1e9


def window_around(wait: WaitMargin, start_ns: int, end_ns: int) -> tuple[int, int] | None:
    """Returns a window around the wait; None if it exceeds `CLOSER_PART_MAX` of the job.

    For a wait that was too short, the second choice is a window for its observed duration: its
    required one may be longer than the job.
    """
    if wait.opened_ns is None:
        return None
    took_ns = max(wait.actual_ns or (0,))
    lengths_ns = [max(wait.requested_ns or 0, took_ns, abs(wait.margin_ns or 0))]
    if wait.short and took_ns:
        lengths_ns.append(took_ns)
    for length_ns in lengths_ns:
        around_ns = max(int(AROUND * length_ns), 100_000)
        start, end = wait.opened_ns - around_ns, wait.opened_ns + length_ns + around_ns
        window = (max(start, start_ns), min(end, end_ns))
        if 0 < window[1] - window[0] <= CLOSER_PART_MAX * (end_ns - start_ns):
            return window
    return None


def _draw(
    axes: "Axes", timeline: Timeline, rows: list[Track], window: tuple[int, int], *, origin_ns: int
) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    for at, track in enumerate(rows):
        _, colour, marker = LINES[track]
        if marker:
            moments = _thinned([i.start_ns for i in timeline.instants if i.track is track], window)
            seconds = [_s(moment, origin_ns) for moment in moments]
            axes.plot(seconds, [at] * len(moments), marker, ms=5, color=colour, mew=0)
            continue
        boxes = []
        for start, end in _drawn_spans(timeline, track, window):
            left, right = _s(start, origin_ns), _s(end, origin_ns)
            box = [(left, at - 0.36), (right, at - 0.36), (right, at + 0.36), (left, at + 0.36)]
            boxes.append(Path([*box, (0, 0)], [Path.MOVETO, *[Path.LINETO] * 3, Path.CLOSEPOLY]))
        if boxes:
            axes.add_patch(PathPatch(Path.make_compound_path(*boxes), color=colour, lw=0))
    axes.set_yticks(range(len(rows)), [LINES[track][0] for track in rows])
    axes.set_ylim(max(len(rows), 1) - 0.5, -0.5)
    axes.set_xlim(*(_s(moment, origin_ns) for moment in window))
    hide_left_axis(axes)
    axes.grid(axis="x")


def _drawn_spans(
    timeline: Timeline, track: Track, window: tuple[int, int]
) -> list[tuple[int, int]]:
    """Returns the spans as drawn at this scale: each at least a step long, close ones as one."""
    step_ns = max((window[1] - window[0]) // STEPS, 1)
    drawn: list[tuple[int, int]] = []
    for span in timeline.spans:
        if span.track is not track or span.end_ns < window[0] or span.start_ns > window[1]:
            continue
        start, end = max(span.start_ns, window[0]), min(span.end_ns, window[1])
        if track is Track.WAIT:
            # Shorten each wait, so that a gap shows its end. Else the waits between successive
            # requests would look like one long wait.
            end -= step_ns
            if end - start < step_ns:
                continue
        end = max(end, start + step_ns)
        if drawn and start - drawn[-1][1] < step_ns // 2:
            drawn[-1] = (drawn[-1][0], max(end, drawn[-1][1]))
        else:
            drawn.append((start, end))
    return drawn


def _thinned(moments: list[int], window: tuple[int, int]) -> list[int]:
    step_ns = max((window[1] - window[0]) // STEPS, 1)
    kept: list[int] = []
    for moment in moments:
        if window[0] <= moment <= window[1] and (not kept or moment - kept[-1] >= step_ns):
            kept.append(moment)
    return kept


def _draw_phases(axes: "Axes", phases: list[_Phase], start_ns: int, end_ns: int) -> None:
    """Draws the start of each phase, and each name in its longest phase if it fits there."""
    for phase in phases:
        if phase.start_ns > start_ns:
            axes.axvline(_s(phase.start_ns, start_ns), color=Colour.SOFT, lw=0.6, ls=":")
    longest: dict[str, _Phase] = {}
    for phase in phases:
        known = longest.get(phase.name)
        if known is None or phase.end_ns - phase.start_ns > known.end_ns - known.start_ns:
            longest[phase.name] = phase
    for phase in longest.values():
        if phase.end_ns - phase.start_ns > 0.06 * (end_ns - start_ns):
            middle_ns = (phase.start_ns + phase.end_ns) // 2
            axes.annotate(
                phase.name,
                (_s(middle_ns, start_ns), 1),
                xycoords=("data", "axes fraction"),
                xytext=(0, 3),
                textcoords="offset points",
                ha="center",
                color=Colour.SOFT,
            )


def _colour_of(wait: WaitMargin) -> Colour:
    return Colour.BAD if wait.short else Colour.GOOD


def _draw_wait(axes: "Axes", wait: WaitMargin, origin_ns: int) -> None:
    """Draws the wait from `opened_ns` to the moment when it should have ended."""
    if wait.opened_ns is None:
        return
    colour = _colour_of(wait)
    start, until = (
        _s(wait.opened_ns + ns, origin_ns)
        for ns in (0, wait.requested_ns or -(wait.margin_ns or 0))
    )
    axes.axvspan(start, until, color=colour, alpha=0.14, lw=0, zorder=0)
    axes.axvline(until, color=colour, lw=1.2, ls="--")


def _wait_words(wait: WaitMargin) -> str:
    asked = f"{rounded(wait.requested_ns)} asked (shaded), " if wait.requested_ns else ""
    took = f"{wait.took} seen, " if wait.took else ""
    return f"{wait.kind}: {asked}{took}margin {rounded(wait.margin_ns or 0)}"


def _in_words(timeline: Timeline, phases: list[_Phase], worst: list[WaitMargin]) -> str:
    lengths = [f"{phase.name} {rounded(phase.end_ns - phase.start_ns)}" for phase in phases]
    early = sum(each.track is Track.VIOLATION for each in timeline.instants)
    words = [
        f"Phases: {', '.join(lengths[:PHASES_SAID_MAX])}",
        f"{early} commands came too early" if early else "no command came too early",
    ]
    words += [f"the worst margin is that of {_wait_words(wait)}" for wait in worst]
    return "; ".join(words) + "."


def _table(timeline: Timeline, phases: list[_Phase]) -> Table:
    rows = []
    for track, (name, *_) in LINES.items():
        lengths = [span.end_ns - span.start_ns for span in timeline.spans if span.track is track]
        if lengths:
            rows.append(_table_row(name, lengths))
        if number := sum(each.track is track for each in timeline.instants):
            rows.append([name, f"{number:,}", "-", "-"])
    for name in dict.fromkeys(phase.name for phase in phases):
        lengths = [phase.end_ns - phase.start_ns for phase in phases if phase.name == name]
        rows.append(_table_row(f"phase: {name}", lengths))
    return words_and_figures(
        "What is on each line, and how long the phases of the job took",
        ["line"],
        ["times", "in all", "longest"],
        rows,
    )


def _table_row(name: str, lengths: list[int]) -> list[str]:
    return [name, f"{len(lengths):,}", rounded(sum(lengths)), rounded(max(lengths))]
