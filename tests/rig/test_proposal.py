# SPDX-License-Identifier: GPL-2.0-or-later
"""The proposal's steps: figures of cells that all of them finished, verdicts, landing order."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from delayrig.base.errors import BadInputError, ExitCode
from delayrig.features.proposal.command import proposal
from delayrig.features.proposal.steps import (
    TITLES,
    Proposal,
    advice,
    changes_of,
    conclusion,
    fold_proposal,
    landing_order,
)
from delayrig.model.phases import TimeSplit
from delayrig.model.result import CellResult, CpuTime, Results, Verdict, write_results
from delayrig.subjects.subject import STEPS, TRUSTING

from tests.rig.builders import MS, make_cell, make_result, make_run_header, run_of

TIMES_MS = dict(zip(STEPS, (1900, 800, 810, 780, 780), strict=True))
CPU_MS = dict(zip(STEPS, (1800, 700, 400, 390, 400), strict=True))


def result(
    step: str,
    kind: str = "",
    *,
    verdict: Verdict = Verdict.PASS,
    time_ms: int = 0,
    **changes: object,
) -> CellResult:
    return make_result(
        make_cell(subject=f"step:{step}{kind}", **changes),
        verdict=verdict,
        time_ns=TimeSplit(total=(time_ms or TIMES_MS[step]) * MS),
        cpu_ns=CpuTime(user=CPU_MS[step] * MS),
        context_switches=7,
    )


def folded(*more: CellResult) -> Proposal:
    return fold_proposal(run_of(*(result(step) for step in STEPS), *more))


def test_steps_are_compared_in_the_cells_that_all_of_them_finished() -> None:
    found = folded(
        *(result(step, chip="M25P80") for step in STEPS[:-1]),
        result(STEPS[-1], chip="M25P80", verdict=Verdict.OP_FAILED),
        result(STEPS[2], hazards=("no-rt",)),
    )
    assert list(TITLES) == list(STEPS)
    assert [step.time_ns for step in found.steps] == [TIMES_MS[step] * MS for step in STEPS]
    assert len(found.places) == 1
    assert len(found.left_out) == 1


def test_convictions_are_counted_in_all_cells_including_trusting_ones() -> None:
    found = folded(
        result(STEPS[0], TRUSTING, verdict=Verdict.TOO_SHORT, name="t"),
        result(STEPS[1], TRUSTING, name="t"),
    )
    assert [(step.too_short, step.judged) for step in found.steps[:2]] == [(1, 2), (0, 2)]


def test_run_of_another_plan_or_an_interrupted_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="step:os-clock") as caught:
        fold_proposal(run_of(result(STEPS[0])))
    assert "proposal" in caught.value.hint
    header = make_run_header(interrupted=True, cells_planned=112)
    write_results(Results(run=header, cells=[result(STEPS[0])]), tmp_path)
    done = CliRunner().invoke(proposal, [str(tmp_path)])
    assert done.exit_code == ExitCode.BAD_INPUT
    assert "interrupted after 1 of 112 cells" in done.output
    assert "name another folder" in done.output


def test_run_whose_cells_no_step_finished_has_no_change_and_no_best_cell() -> None:
    cells = [result(step, verdict=Verdict.HUNG) for step in STEPS]
    found = fold_proposal(run_of(*cells))
    assert len(found.left_out) == 1
    assert {change.best_place for change in changes_of(found)} == {""}
    assert "the same 0 writes" in conclusion(found)
    assert len(advice(found)) == len(STEPS) - 1


def test_safety_lands_first_and_no_step_before_one_that_it_needs() -> None:
    found = folded(result(STEPS[0], TRUSTING, verdict=Verdict.TOO_SHORT, name="t"))
    order = [change.step for change in landing_order(changes_of(found))]
    assert order == ["os-clock", "threshold-100us", "realtime", "slack-and-hybrid"]
    # Priority saves more than the threshold, and needs it.
    order = [change.step for change in landing_order(changes_of(folded()))]
    assert order.index("threshold-100us") < order.index("realtime")


def test_conclusion_and_advice_have_the_figures() -> None:
    found = folded(
        result("threshold-100us", hazards=("no-rt",), time_ms=1000),
        result("slack-and-hybrid", hazards=("no-rt",), time_ms=900),
    )
    text = conclusion(found)
    assert "0.78 s instead of 1.90 s" in text
    assert "\N{MINUS SIGN}58.9 %" in text
    lines = advice(found)
    assert lines[0].startswith("1. OS clock alone")
    assert any("costs +1.2 % of time; SCHED_FIFO makes up for it" in line for line in lines)
    assert any("is worth having there too" in line for line in lines)
