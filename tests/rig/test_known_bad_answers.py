# SPDX-License-Identifier: GPL-2.0-or-later
"""A gate's answer about each known-bad build, computed from one run; and the plan of that run."""

from itertools import groupby
from typing import Any

import pytest
from delayrig.base.errors import ExitCode
from delayrig.decision.decision import Outcome
from delayrig.features.selfcheck.known_bad import (
    KnownBad,
    answer_all,
    choose_for,
    in_disguise,
)
from delayrig.features.selfcheck.known_bad_page import known_bad_page
from delayrig.features.selfcheck.terminal import summary
from delayrig.model.cell import Cell, Role
from delayrig.model.chips import read_chips
from delayrig.model.phases import TimeSplit
from delayrig.model.result import CellResult, CpuTime, Results, SubjectFacts, Verdict
from delayrig.plan.cells import plan_cells
from delayrig.plan.request import check_hazards
from delayrig.plan.schema import find_plan, read_plan
from delayrig.subjects.known_bad import Change, Kind, Mistake, Sight, read_mistakes

from tests.rig.builders import CHECKOUT, SECOND, make_cell, make_result, make_run_header

CHIPS = read_chips(CHECKOUT)
CELLS = plan_cells(
    read_plan(find_plan("known-bad")), source="known-bad", subjects=[], chips=CHIPS, seed=1
)
MISTAKES = read_mistakes(CHECKOUT)
WATCH = [
    make_result(
        make_cell(name="canary", role=Role.CANARY, subject="canary:bus", expect="too_short"),
        verdict=Verdict.TOO_SHORT,
    ),
    make_result(make_cell(name="control", role=Role.CONTROL)),
]


def mistake(kind: Kind, name: str = "x") -> Mistake:
    change = [Change(file="a.c", old="a", new="b")]
    sight = Sight.NOBODY if kind is Kind.LEGAL else Sight.CHIP
    return Mistake(name=name, what="w", origin="o", kind=kind, sight=sight, change=change)


def result(subject: str, total_ns: int = SECOND, **changes: Any) -> CellResult:
    return make_result(
        make_cell(name="a", subject=subject),
        **{
            "subject": SubjectFacts(name=subject, version="1", sha256="b" * 64),
            "time_ns": TimeSplit(total=total_ns),
            "cpu_ns": CpuTime(user=SECOND),
            **changes,
        },
    )


def answered(kind: Kind, *cells: CellResult, watch: list[CellResult] | None = None) -> KnownBad:
    watching = WATCH if watch is None else watch
    run = Results(run=make_run_header(), cells=[result("bundled"), *cells, *watching])
    return answer_all(run, [mistake(kind)])


SHORT: dict[str, Any] = {"verdict": Verdict.TOO_SHORT, "reason": "RDID came too early"}
RIGHT = [
    (Kind.UNSAFE, Outcome.UNSAFE, SHORT),
    (Kind.UNSAFE, Outcome.UNSAFE, {"verdict": Verdict.CORRUPT}),
    (Kind.UNSAFE, Outcome.UNSAFE, {"verdict": Verdict.OP_FAILED}),
    (Kind.WASTEFUL, Outcome.SLOWER, {"total_ns": 2 * SECOND}),
    (Kind.LEGAL, Outcome.PASS, {}),
]
UNSEEN = [
    (Kind.UNSAFE, Outcome.PASS, {}),
    (Kind.UNSAFE, Outcome.DOUBT, {"verdict": Verdict.INCONCLUSIVE}),
    (Kind.WASTEFUL, Outcome.PASS, {}),
    (Kind.LEGAL, Outcome.SLOWER, {"total_ns": 2 * SECOND}),
]


@pytest.mark.parametrize(("kind", "outcome", "changes"), RIGHT)
def test_build_that_is_answered_by_its_class_is_right(
    kind: Kind, outcome: Outcome, changes: dict[str, Any]
) -> None:
    answer = answered(kind, result("known-bad:x", **changes))
    assert [(build.outcome, build.right) for build in answer.builds] == [(outcome, True)]
    assert answer.exit_code is ExitCode.PASS


@pytest.mark.parametrize(("kind", "outcome", "changes"), UNSEEN)
def test_build_that_is_answered_otherwise_leaves_a_doubt(
    kind: Kind, outcome: Outcome, changes: dict[str, Any]
) -> None:
    answer = answered(kind, result("known-bad:x", **changes))
    assert [(build.outcome, build.right) for build in answer.builds] == [(outcome, False)]
    assert answer.exit_code is ExitCode.INCONCLUSIVE


@pytest.mark.parametrize("kind", [Kind.LEGAL, Kind.WASTEFUL])
def test_accused_build_that_is_not_unsafe_is_a_fault_of_the_rig(kind: Kind) -> None:
    answer = answered(kind, result("known-bad:x", **SHORT))
    assert answer.exit_code is ExitCode.RIG_FAULT
    assert "accuses what is not unsafe: x" in summary(answer)


def test_rig_whose_canary_was_acquitted_answers_nothing() -> None:
    blind = [make_result(make_cell(name="c", role=Role.CANARY, expect="too_short")), WATCH[1]]
    answer = answered(Kind.UNSAFE, result("known-bad:x", **SHORT), watch=blind)
    assert answer.exit_code is ExitCode.RIG_FAULT


@pytest.mark.parametrize(
    ("kind", "changes", "right"),
    [
        (Kind.UNSAFE, SHORT, True),
        (Kind.UNSAFE, {"verdict": Verdict.INCONCLUSIVE}, True),
        (Kind.UNSAFE, {}, False),
        (Kind.LEGAL, {"verdict": Verdict.INCONCLUSIVE}, True),
        (Kind.LEGAL, SHORT, False),
    ],
)
def test_stripped_build_may_be_in_doubt_and_an_unsafe_one_never_passes(
    kind: Kind, changes: dict[str, Any], right: bool
) -> None:
    run = Results(
        run=make_run_header(),
        cells=[result("bundled"), result("stripped:known-bad:x", **changes), *WATCH],
    )
    answer = answer_all(run, [mistake(kind)], "stripped:")
    assert [build.right for build in answer.builds] == [right]


def test_known_bad_builds_alone_are_disguised() -> None:
    cells = in_disguise("stripped:", choose_for(["wall-clock"], CELLS))
    assert [cell.subject for cell in cells if cell.role is Role.MEASURE] == [
        "bundled",
        "stripped:known-bad:wall-clock",
    ]


def test_build_that_was_not_run_is_left_out() -> None:
    assert answered(Kind.UNSAFE).builds == []


def test_page_has_a_row_for_each_build_with_what_was_said_of_it() -> None:
    page = known_bad_page(answered(Kind.UNSAFE, result("known-bad:x", **SHORT))).decode()
    assert "Class unsafe" in page
    assert "RDID came too early" in page


def measured() -> list[Cell]:
    return [cell for cell in CELLS if cell.role is Role.MEASURE]


def test_plan_has_a_cell_for_each_build_and_the_shipped_program_in_each() -> None:
    usual = [cell for cell in measured() if "musl" not in cell.subject]
    ran = {cell.subject.removeprefix("known-bad:") for cell in usual}
    assert ran == set(MISTAKES) | {"bundled"}
    for name, same in groupby(usual, key=lambda cell: cell.name):
        assert next(same).subject == "bundled", name


def test_plan_asks_of_no_chip_what_it_cannot_do() -> None:
    for cell in CELLS:
        check_hazards(cell, CHIPS, find_plan("known-bad"))


def test_one_build_alone_takes_its_cells_the_shipped_program_and_what_watches() -> None:
    chosen = choose_for(["wall-clock"], CELLS)
    assert [cell.subject for cell in chosen if cell.role is Role.MEASURE] == [
        "bundled",
        "known-bad:wall-clock",
    ]
    assert {cell.role for cell in chosen} == {Role.MEASURE, Role.CANARY, Role.CONTROL}
