# SPDX-License-Identifier: GPL-2.0-or-later
"""`repro heterogeneous`: runs its cells one after another, and explains them as they go."""

import time
from collections.abc import Callable
from dataclasses import replace

from delayrig.analysis.repro.follow_files import Show
from delayrig.analysis.repro.heterogeneous import (
    INTRODUCTION,
    SAME_WITH_OURS,
    Walk,
    describe_answer,
    describe_stage,
    describe_walk,
    read_walk,
)
from delayrig.analysis.repro.look import Look
from delayrig.analysis.repro.watched_lane import opener
from delayrig.base.errors import ExitCode
from delayrig.base.paths import Paths
from delayrig.judge.exit_code import exit_code_of_run
from delayrig.model.cell import Cell
from delayrig.model.result import Verdict
from delayrig.plan.request import Request
from delayrig.run.runner import Quiet, run_request

DOUBTS = (Verdict.INCONCLUSIVE, Verdict.INFRA_ERROR)
LIMIT_S = 85.0
"""A cell that this host could not keep up with is run once more if all can be over by then."""


async def walk_through(
    request: Request, paths: Paths, show: Show, now_s: Callable[[], float] = time.monotonic
) -> ExitCode:
    """Runs the request's cells, the guilty one first; the exit code as of `run`."""
    began_s = now_s()
    walks: list[Walk] = []
    for number, cell in enumerate(request.cells):
        cell_began_s = now_s()
        show(INTRODUCTION if number == 0 else f"\n{SAME_WITH_OURS}")
        show("")
        walk = await _run(cell, request, paths, show, attempt=1)
        tries = len(request.cells) - number
        ends_s = now_s() + tries * (now_s() - cell_began_s)
        if walk.result.verdict in DOUBTS and ends_s - began_s < LIMIT_S:
            show(f"  In doubt: {walk.result.reason}. Once more.")
            walk = await _run(cell, request, paths, show, attempt=2)
        walks.append(walk)
        show("")
        for line in describe_walk(walk):
            show(line)
        show(f"   Verdict:        {walk.result.verdict}")
    show(f"\n{describe_answer(walks)} ({now_s() - began_s:.0f} s)")
    return exit_code_of_run([walk.result for walk in walks])


async def _run(cell: Cell, request: Request, paths: Paths, show: Show, *, attempt: int) -> Walk:
    out = request.out / f"{cell.id}-{attempt}"
    single = replace(request, cells=[cell], out=out, stages=False)

    def told(stage: str, at_s: float) -> None:
        if words := describe_stage(cell, stage, at_s):
            show(words)

    opened = opener(Look.WATCH, _silent, told)
    results = await run_request(single, paths, Quiet(lambda what: show(f"  making {what}")), opened)
    (result,) = results.cells
    return read_walk(cell, result, out / result.id)


def _silent(line: str) -> None:
    """What the console says is of no interest here."""
