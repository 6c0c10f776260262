# SPDX-License-Identifier: GPL-2.0-or-later
"""Finished runs and gates, as they are to be kept."""

from pathlib import Path

from delayrig.analysis.gate.decision import FILE_NAME, Decision, read_decision
from delayrig.analysis.gate.request import BASELINE, CANDIDATE, rounds_of
from delayrig.analysis.history.store import FinishedRun
from delayrig.base.errors import ExitCode
from delayrig.judge.exit_code import exit_code_of_run
from delayrig.model.result import Results, read_results


def finished_run(results: Results) -> FinishedRun:
    return FinishedRun(results=results, code=exit_code_of_run(results.cells, results.contrasts))


def finished_gate(folder: Path) -> tuple[list[FinishedRun], Decision]:
    """All rounds that a gate has left in its folder, with its decision."""
    decision = read_decision(folder)
    sides = [CANDIDATE] if decision.baseline.stored else [BASELINE, CANDIDATE]
    runs = [
        FinishedRun(
            results=read_results(path), code=ExitCode(decision.exit_code), side=side, round=number
        )
        for side in sides
        for number, path in enumerate(rounds_of(folder, side))
    ]
    return runs, decision


def read_finished(out: Path) -> tuple[list[FinishedRun], Decision | None]:
    """Of an --out folder of either; raises `BadInputError` for any other."""
    if (out / FILE_NAME).is_file():
        return finished_gate(out)
    return [finished_run(read_results(out))], None
