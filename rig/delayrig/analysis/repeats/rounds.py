# SPDX-License-Identifier: GPL-2.0-or-later
"""Round after round, each a run of its own, until every cell is settled or the time is up."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import msgspec

from delayrig.analysis.repeats.summary import FILE_NAME, Summary, summarise
from delayrig.base.atomic_file import write_atomically
from delayrig.model.result import CellResult, Results
from delayrig.plan.request import Request

RunRound = Callable[[Request], Results]


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """When to stop."""

    within: float
    """Half of the interval of a median, as a part of it."""
    seconds: float
    rounds_max: int


def repeat(
    request: Request,
    budget: Budget,
    run_round: RunRound,
    clock: Callable[[], float] = time.monotonic,
) -> tuple[Summary, list[CellResult]]:
    """Runs at least one round; what is known after each is kept in `request.out`."""
    began_s = clock()
    found: list[CellResult] = []
    left = request.cells
    rounds = 0
    while left:
        rounds += 1
        found += run_round(
            replace(request, cells=left, out=request.out / f"round-{rounds:03}")
        ).cells
        summaries = summarise(found)
        settled = {one.id for one in summaries if one.is_settled(budget.within)}
        left = [cell for cell in left if cell.id not in settled]
        is_over = rounds >= budget.rounds_max or clock() - began_s >= budget.seconds
        summary = Summary(
            plan=request.plan,
            seed=request.seed,
            within=budget.within,
            budget_s=budget.seconds,
            rounds=rounds,
            budget_ended=bool(left) and is_over,
            cells=summaries,
        )
        write_atomically(request.out / FILE_NAME, msgspec.json.format(msgspec.json.encode(summary)))
        if is_over:
            break
    return summary, found
