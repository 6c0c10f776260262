# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost and benefit of each step, computed from the results of plan `proposal`.

Steps are compared in the cells that all of them finished, so that they did the same work. Whether a
step is safe depends on every cell, including those of builds whose busy waits trust their delays
instead of polling the part.
"""

from collections.abc import Sequence

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
    asking = _by_step(results.cells)
    missing = [step for step in STEPS if not asking[step]]
    if missing:
        raise BadInputError(
            f"results.json: has no cell of {', '.join(PREFIX + step for step in missing)}",
            hint="name a run of plan `proposal`, or a folder that is not there yet",
        )
    shared, left_out = _shared(asking)
    return Proposal(
        steps=[_step(step, asking[step], shared, results.cells) for step in STEPS],
        places=[_place(place, asking) for place in shared],
        without_priority=_without_priority(asking),
        left_out=left_out,
        run=results.run,
    )


def _by_step(cells: Sequence[CellResult]) -> dict[str, dict[str, CellResult]]:
    return {
        step: {cell.place: cell for cell in cells if cell.subject.name == f"{PREFIX}{step}"}
        for step in STEPS
    }


def _shared(asking: dict[str, dict[str, CellResult]]) -> tuple[list[str], list[str]]:
    """Returns the places that all steps finished, in the plan's order, and a line for each other.

    A place in which not all steps ran is in neither list.
    """
    kept, left_out = [], []
    for place in asking[STEPS[0]]:
        cells = [asking[step][place] for step in STEPS if place in asking[step]]
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


def _place(place: str, asking: dict[str, dict[str, CellResult]]) -> PlaceFigures:
    cells = [asking[step][place] for step in STEPS]
    return PlaceFigures(
        place=place,
        words=place_words(cells[0]),
        time_ns=[cell.time_ns.total for cell in cells],
        cpu_ns=[cell.total_cpu_ns for cell in cells],
        wakeups=[cell.context_switches for cell in cells],
        verdicts=[cell.verdict for cell in cells],
    )


def place_words(cell: CellResult) -> str:
    """Returns speed, cores, hazards and part of the cell."""
    speed = f"{round(cell.guest.mips[0])} MIPS" if cell.guest.mips else "this machine"
    return ", ".join([speed, counted(cell.guest.cores, "core"), *cell.hazards, cell.chip])


def _without_priority(asking: dict[str, dict[str, CellResult]]) -> list[OrderFigures]:
    """Returns the steps that ran without a real-time priority, summed over the same cells."""
    found: dict[str, dict[str, CellResult]] = {}
    for step, cells in asking.items():
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
