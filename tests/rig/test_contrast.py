# SPDX-License-Identifier: GPL-2.0-or-later
"""Contrasts: in the same cell, one subject must cost a multiple of another."""

from typing import Any

import msgspec
import pytest
from delayrig.base.errors import BadInputError
from delayrig.base.toml import parse_toml
from delayrig.judge.contrast import judge_contrasts
from delayrig.model.cell import Cell
from delayrig.model.phases import TimeSplit
from delayrig.model.result import CellResult, ContrastVerdict, CpuTime, Results, Verdict
from delayrig.plan.schema import Contrast, Plan
from delayrig.present.console import make_console
from delayrig.present.results import contrast_table

from tests.rig.builders import make_cell, make_result, make_run_header
from tests.rig.plan_texts import HEAD, SINGLE, checked

HUNGRY, SHIPPED = "past-mistake:busy-threshold-1s", "control:chip"


def contrast(**changes: Any) -> Contrast:
    bound = {} if "time_at_least" in changes else {"cpu_at_least": 3.0}
    words = {"cell": "pages", "subject": HUNGRY, "against": SHIPPED, "reason": "it polls"}
    return Contrast(**{**words, **bound, **changes})


def check_plan(contrast: Contrast) -> None:
    """Checks a plan of two cells with this contrast."""
    single = SINGLE.replace('"s"', '"sectors"') + SINGLE.replace('"s"', '"pages"')
    plan = parse_toml(HEAD + single, Plan, source="my.toml")
    checked(msgspec.structs.replace(plan, contrast=[contrast]))


def result(subject: str, *, cpu: int = 100, time: int = 1000, **changes: Any) -> CellResult:
    verdict = changes.pop("verdict", Verdict.PASS)
    cell: Cell = make_cell(**{"name": "pages", "subject": subject, **changes})
    user_ns, sys_ns = cpu // 2, cpu - cpu // 2
    return make_result(
        cell,
        verdict=verdict,
        cpu_ns=CpuTime(user=user_ns, sys=sys_ns),
        time_ns=TimeSplit(total=time),
    )


@pytest.mark.parametrize(("cpu", "seen"), [(299, False), (300, True), (100, False), (5000, True)])
def test_cpu_ratio_is_of_user_and_system_time_together(cpu: int, seen: bool) -> None:
    (judged,) = judge_contrasts([contrast()], [result(HUNGRY, cpu=cpu), result(SHIPPED)])
    assert judged.verdict is (ContrastVerdict.SEEN if seen else ContrastVerdict.MISSING)
    assert (judged.figure, judged.ours_ns, judged.theirs_ns) == ("cpu", cpu, 100)
    assert judged.ratio == cpu / 100


@pytest.mark.parametrize(("time", "seen"), [(1999, False), (2000, True)])
def test_time_ratio_is_of_the_total_time(time: int, seen: bool) -> None:
    cells = [result(SHIPPED), result(HUNGRY, time=time, cpu=1)]
    (judged,) = judge_contrasts([contrast(time_at_least=2.0)], cells)
    assert (judged.figure, judged.verdict is ContrastVerdict.SEEN) == ("time", seen)


@pytest.mark.parametrize("verdict", [verdict for verdict in Verdict if verdict != Verdict.PASS])
def test_contrast_with_a_cell_that_did_not_pass_is_unjudged(verdict: Verdict) -> None:
    good = {name: result(name, cpu=900) for name in (HUNGRY, SHIPPED)}
    for name in (HUNGRY, SHIPPED):
        cells = {**good, name: result(name, cpu=900, verdict=verdict)}
        (judged,) = judge_contrasts([contrast()], cells.values())
        assert judged.verdict is ContrastVerdict.UNJUDGED


def test_contrast_with_no_time_is_unjudged() -> None:
    (judged,) = judge_contrasts([contrast()], [result(HUNGRY), result(SHIPPED, cpu=0)])
    assert (judged.verdict, judged.ratio) == (ContrastVerdict.UNJUDGED, None)


def test_subjects_are_compared_in_the_same_cell_only() -> None:
    cells = [
        result(HUNGRY, cpu=900),
        result(HUNGRY, cpu=100, icount_shift=0),
        result(SHIPPED, cpu=90, icount_shift=0),
        result(SHIPPED, cpu=100),
        result(SHIPPED, cpu=1, name="sector"),
        result(HUNGRY, cpu=1, name="sector"),
    ]
    judged = judge_contrasts([contrast()], cells)
    assert [(item.ours_ns, item.theirs_ns) for item in judged] == [(900, 100), (100, 90)]


def test_contrast_with_a_cell_that_did_not_run_or_was_not_provided_is_left_out() -> None:
    gone = result(SHIPPED, verdict=Verdict.SKIPPED)
    gone = msgspec.structs.replace(gone, not_provided="a kernel")
    for cells in ([result(HUNGRY)], [result(SHIPPED)], [result(HUNGRY), gone]):
        assert judge_contrasts([contrast()], cells) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"cpu_at_least": None},
        {"cpu_at_least": 3.0, "time_at_least": 3.0},
        {"cpu_at_least": 1.0},
        {"time_at_least": 0.5},
        {"time_at_least": -2.0},
    ],
)
def test_contrast_needs_exactly_one_bound_above_1(changes: dict[str, Any]) -> None:
    with pytest.raises(BadInputError, match="one bound above 1") as caught:
        check_plan(contrast(**changes))
    assert caught.value.message.startswith("my.toml: key 'contrast[0]'")


def test_table_has_ratio_and_bound() -> None:
    cells = [result(HUNGRY, cpu=900), result(SHIPPED)]
    results = Results(
        run=make_run_header(), cells=cells, contrasts=judge_contrasts([contrast()], cells)
    )
    console = make_console(no_color=True)
    with console.capture() as captured:
        console.print(contrast_table(results))
    (_, row) = captured.get().splitlines()
    assert row.split()[:1] + row.split()[-2:] == ["seen", "9.0", "3"]
    assert SHIPPED in row
