# SPDX-License-Identifier: GPL-2.0-or-later
"""The rounds of a gate, made one after another."""

from typing import Protocol

from delayrig.analysis.gate.judge import unanswered
from delayrig.analysis.gate.request import GateRequest
from delayrig.base.paths import Paths
from delayrig.model.result import Results
from delayrig.run.runner import Progress, run_side_by_side


class RoundsProgress(Progress, Protocol):
    """Who watches a gate."""

    def round_begins(self, number: int, rounds: int) -> None:
        """The first one is number 1."""
        ...


async def run_rounds(
    request: GateRequest, paths: Paths, progress: RoundsProgress
) -> list[list[Results]]:
    """The runs of every round, in the order of the request's sides.

    They take turns in who begins, so that what a machine does to whoever comes first is done to
    both.
    """
    runs: list[list[Results]] = []
    for number in range(request.rounds):
        progress.round_begins(number + 1, request.rounds)
        sides = request.round(number, unanswered([each[-1] for each in runs]))
        turn = -1 if number % 2 else 1
        found = await run_side_by_side(sides[::turn], paths, progress)
        runs.append(found[::turn])
    return runs
