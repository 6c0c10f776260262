# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost and benefit of each step of plan `proposal`, as figures and in sentences.

Steps are compared in the cells that all of them finished, so that they did the same work. Whether a
step is safe depends on every cell, including those of builds whose busy waits trust their delays
instead of polling the part.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import msgspec

from delayrig.base.errors import BadInputError
from delayrig.base.text import counted
from delayrig.model.result import UNSAFE, CellResult, Results, RunHeader, Verdict
from delayrig.subjects.subject import STEPS, TRUSTING

SCHEMA = 1
FILE_NAME = "proposal.json"
PREFIX = "step:"
TITLES = {
    "calibrated-loop": "calibrated loop",
    "os-clock": "OS clock alone, threshold 100 ms",
    "threshold-100us": "threshold 100 us",
    "realtime": "SCHED_FIFO",
    "slack-and-hybrid": "timer slack and hybrid",
}
FINISHED = (Verdict.PASS, Verdict.TOO_SHORT)
NO_PRIORITY = "no-rt"
CHANGE_PCT_MIN = 1.0
"""Smaller changes count as none. The phase of ticks changes totals by up to 0.5 %."""
NEEDS = {"realtime": "threshold-100us", "slack-and-hybrid": "os-clock"}
"""The step that each of these requires.

A build that polls the clock for longer than 10 ms does not ask for a real-time priority, so
`realtime` requires a small threshold.
"""


class StepFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One step: sums over the cells that all steps finished, and verdicts over all of its own."""

    step: str
    title: str
    time_ns: int
    cpu_ns: int
    wakeups: int
    overshoot_ns: int
    too_short: int
    judged: int


class PlaceFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One cell, with the figures in the order of the steps."""

    place: str
    words: str
    time_ns: list[int]
    cpu_ns: list[int]
    wakeups: list[int]
    verdicts: list[Verdict]


class OrderFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The sums of one step over the cells without a real-time priority that all steps finished."""

    step: str
    time_ns: int
    cpu_ns: int


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """The content of `proposal.json`: figures, without conclusion and advice."""

    schema: int = SCHEMA
    steps: list[StepFigures]
    places: list[PlaceFigures]
    """The cells that are compared."""
    without_priority: list[OrderFigures]
    left_out: list[str]
    """The cells that all steps ran, but not all finished, each with the first bad verdict."""
    run: RunHeader


def fold_proposal(results: Results) -> Proposal:
    """Computes the figures; raises `BadInputError` for a run of another plan."""
    polling = {
        step: {each.place: each for each in results.cells if each.subject.name == f"{PREFIX}{step}"}
        for step in STEPS
    }
    missing = [step for step in STEPS if not polling[step]]
    if missing:
        raise BadInputError(
            f"results.json: has no cell of {', '.join(PREFIX + step for step in missing)}",
            hint="name a run of plan `proposal`, or a folder that is not there yet",
        )
    shared, left_out = _shared(polling)
    return Proposal(
        steps=[_step(step, polling[step], shared, results.cells) for step in STEPS],
        places=[_place(place, [polling[step][place] for step in STEPS]) for place in shared],
        without_priority=_without_priority(polling),
        left_out=left_out,
        run=results.run,
    )


def _shared(polling: dict[str, dict[str, CellResult]]) -> tuple[list[str], list[str]]:
    """Returns the places that all steps finished, in the plan's order, and lines on the others.

    A place in which not all steps ran is in neither list.
    """
    kept, left_out = [], []
    for place in polling[STEPS[0]]:
        cells = [polling[step][place] for step in STEPS if place in polling[step]]
        unfinished = [cell for cell in cells if cell.verdict not in FINISHED]
        if len(cells) == len(STEPS) and unfinished:
            left_out.append(f"{unfinished[0].id}: {unfinished[0].verdict}")
        elif len(cells) == len(STEPS):
            kept.append(place)
    return kept, left_out


def _step(
    step: str, own: dict[str, CellResult], shared: Sequence[str], cells: Sequence[CellResult]
) -> StepFigures:
    compared = [own[place] for place in shared]
    trusting = [cell for cell in cells if cell.subject.name == f"{PREFIX}{step}{TRUSTING}"]
    judged = [*own.values(), *trusting]
    return StepFigures(
        step=step,
        title=TITLES[step],
        time_ns=sum(cell.time_ns.total for cell in compared),
        cpu_ns=sum(cell.total_cpu_ns for cell in compared),
        wakeups=sum(cell.context_switches for cell in compared),
        overshoot_ns=sum(cell.overshoot_ns for cell in compared),
        too_short=sum(cell.verdict in UNSAFE for cell in judged),
        judged=len(judged),
    )


def _place(place: str, cells: Sequence[CellResult]) -> PlaceFigures:
    guest = cells[0].guest
    speed = f"{round(guest.mips[0])} MIPS" if guest.mips else "this machine"
    words = [speed, counted(guest.cores, "core"), *cells[0].hazards, cells[0].chip]
    return PlaceFigures(
        place=place,
        words=", ".join(words),
        time_ns=[cell.time_ns.total for cell in cells],
        cpu_ns=[cell.total_cpu_ns for cell in cells],
        wakeups=[cell.context_switches for cell in cells],
        verdicts=[cell.verdict for cell in cells],
    )


def _without_priority(polling: dict[str, dict[str, CellResult]]) -> list[OrderFigures]:
    """Returns the steps that ran without a real-time priority, summed over the same cells."""
    found: dict[str, dict[str, CellResult]] = {}
    for step, cells in polling.items():
        if own := {place: c for place, c in cells.items() if NO_PRIORITY in c.hazards}:
            found[step] = own
    places = [
        place
        for place in next(iter(found.values()), {})
        if all(place in cells and cells[place].verdict in FINISHED for cells in found.values())
    ]
    return [
        OrderFigures(
            step=step,
            time_ns=sum(cells[place].time_ns.total for place in places),
            cpu_ns=sum(cells[place].total_cpu_ns for place in places),
        )
        for step, cells in found.items()
        if places
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The effect of a step compared with the previous step, in percent; negative is less."""

    step: str
    title: str
    time_pct: float
    cpu_pct: float
    wakeups_pct: float
    too_short: int
    """The number of additional convictions; negative if there are fewer."""
    best_place: str
    """The cell with the largest reduction of time, which is `best_pct`."""
    best_pct: float


def changes_of(proposal: Proposal) -> list[Change]:
    """Returns the changes of every step but the first."""
    found = []
    for number, (before, after) in enumerate(pairwise(proposal.steps)):
        places = [
            (place.words, _pct(*place.time_ns[number : number + 2])) for place in proposal.places
        ]
        best_place, best_pct = min(places, key=lambda place: place[1], default=("", 0.0))
        change = Change(
            step=after.step,
            title=after.title,
            time_pct=_pct(before.time_ns, after.time_ns),
            cpu_pct=_pct(before.cpu_ns, after.cpu_ns),
            wakeups_pct=_pct(before.wakeups, after.wakeups),
            too_short=after.too_short - before.too_short,
            best_place=best_place,
            best_pct=best_pct,
        )
        found.append(change)
    return found


def _pct(before: int, after: int) -> float:
    return 100 * (after - before) / before if before else 0.0


def landing_order(changes: Sequence[Change]) -> list[Change]:
    """Returns the changes by worth, but each one after the step that it requires.

    The worth is in verdicts that the change removes, then in time and CPU time saved.
    """
    left = sorted(changes, key=lambda each: (each.too_short, each.time_pct + each.cpu_pct))
    order: list[Change] = []
    while left:
        landed = {change.step for change in order}
        able = [c for c in left if NEEDS.get(c.step) in (None, *landed)] or left
        order.append(able[0])
        left.remove(able[0])
    return order


def conclusion(proposal: Proposal) -> str:
    """Returns one paragraph: the effect of all steps, and of each."""
    first, last = proposal.steps[0], proposal.steps[-1]
    total = (
        f"All changes together: the same {len(proposal.places)} writes take"
        f" {last.time_ns / 1e9:.2f} s instead of {first.time_ns / 1e9:.2f} s"
        f" ({_signed(_pct(first.time_ns, last.time_ns))}), {last.cpu_ns / 1e9:.2f} s of CPU time"
        f" instead of {first.cpu_ns / 1e9:.2f} s ({_signed(_pct(first.cpu_ns, last.cpu_ns))}), and"
        f" wake up {last.wakeups} times instead of {first.wakeups}."
    )
    safety = (
        f" Waits were too short in {first.too_short} of {first.judged} cells of the first step"
        f" and in {last.too_short} of {last.judged} of the last."
    )
    return total + safety + "".join(f" {_sentence(change)}" for change in changes_of(proposal))


def _sentence(change: Change) -> str:
    parts = [
        f"{_signed(pct)} of {what}"
        for what, pct in (("time", change.time_pct), ("CPU time", change.cpu_pct))
        if abs(pct) >= CHANGE_PCT_MIN
    ]
    if change.too_short:
        parts.insert(0, _verdicts(change.too_short))
    what = ", ".join(parts) or "nothing that these cells show"
    return f"{change.title[0].upper()}{change.title[1:]}: {what}."


def _verdicts(more: int) -> str:
    return f"{counted(abs(more), 'verdict')} of too short {'less' if more < 0 else 'more'}"


def _signed(pct: float) -> str:
    return f"{pct:+.1f} %".replace("-", "\N{MINUS SIGN}")


def advice(proposal: Proposal) -> list[str]:
    """Returns the order in which to land the changes, with reasons and remarks."""
    changes = changes_of(proposal)
    order = enumerate(landing_order(changes), 1)
    lines = [f"{number}. {change.title}: {_reason(change)}" for number, change in order]
    return [*lines, *_together(changes), *_for_the_unprivileged(proposal)]


def _reason(change: Change) -> str:
    # A sum hides what helps only some machines, so the cell with the best effect is named.
    is_best = change.best_pct <= -CHANGE_PCT_MIN
    is_best = is_best and change.best_pct < change.time_pct - CHANGE_PCT_MIN
    best = f"; most on {change.best_place}: time {_signed(change.best_pct)}"
    costs = (
        f"time {_signed(change.time_pct)}, CPU time {_signed(change.cpu_pct)}, wake-ups"
        f" {_signed(change.wakeups_pct)}{best if is_best else ''}."
    )
    if change.too_short >= 0:
        return costs
    why = "it is the one about safety" if change.too_short < -1 else "it is about safety"
    return f"{why} ({_verdicts(change.too_short)}); {costs}"


def _together(changes: Sequence[Change]) -> list[str]:
    """Names steps that cost time, and for each the next step that saves time."""
    lines = []
    for number, change in enumerate(changes):
        if change.time_pct < CHANGE_PCT_MIN:
            continue
        mending = next((c for c in changes[number + 1 :] if c.time_pct <= -CHANGE_PCT_MIN), None)
        tail = f"; {mending.title} makes up for it, so land both in one release" if mending else ""
        lines.append(f"{TITLES[change.step]} costs {_signed(change.time_pct)} of time{tail}.")
    return lines


def _for_the_unprivileged(proposal: Proposal) -> list[str]:
    """Says what the later steps bring if no real-time priority is available."""
    found = {figures.step: figures for figures in proposal.without_priority}
    if not {"threshold-100us", "slack-and-hybrid"} <= set(found):
        return []
    before, after = found["threshold-100us"], found["slack-and-hybrid"]
    time_pct, cpu_pct = _pct(before.time_ns, after.time_ns), _pct(before.cpu_ns, after.cpu_ns)
    worth = "is worth having there too" if time_pct <= -CHANGE_PCT_MIN else "brings little there"
    return [
        "Who may not take a real-time priority gets nothing from SCHED_FIFO; timer slack and hybrid"
        f" {worth}: time {_signed(time_pct)}, CPU time {_signed(cpu_pct)}."
    ]
