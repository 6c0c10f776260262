# SPDX-License-Identifier: GPL-2.0-or-later
"""Exit codes for verdicts, by one table."""

import itertools

import msgspec
import pytest
from delayrig.base.errors import ExitCode
from delayrig.judge.contrast import judge_contrasts
from delayrig.judge.exit_code import exit_code_of, exit_code_of_run
from delayrig.model.cell import Expect, Role
from delayrig.model.result import CellResult, ContrastResult, ContrastVerdict, Verdict
from delayrig.plan.schema import Contrast

from tests.rig.builders import make_cell, make_result

HEADINGS = "pass too_short corrupt op_failed hung inconclusive infra_error skipped"
MEASURE = {
    Expect.PASS: "0 1 1 4 4 4 99 77",
    Expect.TOO_SHORT: "1 0 1 1 1 1 99 77",
    Expect.OP_FAILED: "4 1 1 0 4 4 99 77",
    Expect.CORRUPT: "4 1 0 4 4 4 99 77",
    Expect.ANY: "0 0 1 4 4 0 99 77",
}
# Canaries, controls and floors judge the rig: their unexpected verdicts are its fault.
JUDGING = {
    Expect.PASS: "0 99 99 99 99 99 99 99",
    Expect.TOO_SHORT: "99 0 99 99 99 99 99 99",
    Expect.OP_FAILED: "99 99 99 0 99 99 99 99",
    Expect.CORRUPT: "99 99 0 99 99 99 99 99",
    Expect.ANY: "0 0 99 99 99 0 99 99",
}
TABLES = {Role.MEASURE: MEASURE, Role.CANARY: JUDGING, Role.CONTROL: JUDGING, Role.FLOOR: JUDGING}


def result(verdict: Verdict, expect: Expect = Expect.PASS, role: Role = Role.MEASURE) -> CellResult:
    return make_result(verdict=verdict, expect=expect.value, role=role.value)


def test_table_names_every_verdict() -> None:
    assert sorted(HEADINGS.split()) == sorted(verdict.value for verdict in Verdict)


@pytest.mark.parametrize(("role", "expect"), list(itertools.product(Role, Expect)))
def test_verdict_expectation_and_role_give_the_exit_code(role: Role, expect: Expect) -> None:
    row = dict(zip(HEADINGS.split(), TABLES[role][expect].split(), strict=True))
    got = {name: str(int(exit_code_of(result(Verdict(name), expect, role)))) for name in row}
    assert got == row


@pytest.mark.parametrize("lane", ["live", "host"])
@pytest.mark.parametrize("role", Role)
def test_doubt_in_real_time_is_a_doubt_whatever_the_cell_was_for(role: Role, lane: str) -> None:
    made = make_result(
        verdict=Verdict.INCONCLUSIVE, expect=Expect.TOO_SHORT.value, role=role.value, lane=lane
    )
    assert exit_code_of(made) is ExitCode.INCONCLUSIVE


FAULT = result(Verdict.INFRA_ERROR)
UNSAFE = result(Verdict.TOO_SHORT)
DOUBT = result(Verdict.INCONCLUSIVE)
PASS = result(Verdict.PASS)
SKIPPED = result(Verdict.SKIPPED)


@pytest.mark.parametrize(
    ("cells", "code"),
    [
        ([SKIPPED, PASS, DOUBT, UNSAFE, FAULT], 99),
        ([FAULT, UNSAFE, DOUBT, PASS, SKIPPED], 99),
        ([SKIPPED, PASS, DOUBT, UNSAFE], 1),
        ([UNSAFE, DOUBT, PASS], 1),
        ([SKIPPED, PASS, DOUBT], 4),
        ([DOUBT, PASS], 4),
        ([SKIPPED, DOUBT], 4),
        ([SKIPPED, PASS], 0),
        ([PASS], 0),
        ([SKIPPED, SKIPPED], 77),
    ],
)
def test_run_has_the_exit_code_of_its_gravest_cell(cells: list[CellResult], code: int) -> None:
    assert exit_code_of_run(cells) == code


@pytest.mark.parametrize(
    ("sound", "lost", "code"), [(83, 1, 0), (9, 1, 0), (8, 1, 99), (18, 2, 0), (17, 2, 99)]
)
def test_lost_cells_leave_the_answer_to_the_sound_ones_up_to_a_tenth(
    sound: int, lost: int, code: int
) -> None:
    assert exit_code_of_run([PASS] * sound + [FAULT] * lost) == code


def test_sound_cells_are_believed_beside_a_lost_one() -> None:
    assert exit_code_of_run([PASS] * 20 + [FAULT, UNSAFE]) == 1
    assert exit_code_of_run([PASS] * 20 + [FAULT, DOUBT]) == 4


def test_skipped_cells_do_not_make_lost_ones_few() -> None:
    assert exit_code_of_run([SKIPPED] * 100 + [PASS] * 5 + [FAULT]) == 99


@pytest.mark.parametrize("role", [Role.CANARY, Role.CONTROL, Role.FLOOR])
def test_one_lost_cell_that_judges_the_rig_is_one_too_many(role: Role) -> None:
    assert exit_code_of_run([PASS] * 100 + [result(Verdict.INFRA_ERROR, role=role)]) == 99


def contrast(verdict: ContrastVerdict) -> ContrastResult:
    return ContrastResult(
        cell="a",
        against="b",
        figure="cpu",
        at_least=3.0,
        ours_ns=1,
        theirs_ns=1,
        verdict=verdict,
        reason="it polls",
    )


@pytest.mark.parametrize(
    ("verdict", "code"),
    [
        (ContrastVerdict.SEEN, 0),
        (ContrastVerdict.MISSING, 1),
        (ContrastVerdict.UNJUDGED, 4),
    ],
)
def test_contrast_that_is_missing_counts_as_a_missing_conviction(
    verdict: ContrastVerdict, code: int
) -> None:
    assert exit_code_of_run([PASS], [contrast(verdict)]) == code
    assert exit_code_of_run([FAULT], [contrast(verdict)]) == 99


def test_one_conviction_among_many_passes_is_not_averaged_away() -> None:
    assert exit_code_of_run([*[PASS] * 1000, UNSAFE, *[PASS] * 1000]) == 1


def test_canary_that_is_not_convicted_makes_the_run_a_fault() -> None:
    blind = result(Verdict.PASS, Expect.TOO_SHORT, Role.CANARY)
    assert exit_code_of_run([UNSAFE, PASS, blind]) == 99


def test_canary_that_was_skipped_makes_the_run_a_fault() -> None:
    assert exit_code_of_run([PASS, result(Verdict.SKIPPED, Expect.TOO_SHORT, Role.CANARY)]) == 99


def test_control_that_is_convicted_makes_the_run_a_fault() -> None:
    assert exit_code_of_run([UNSAFE, PASS, result(Verdict.TOO_SHORT, role=Role.CONTROL)]) == 99


def lost(role: Role = Role.MEASURE, expect: Expect = Expect.PASS) -> CellResult:
    """Returns a cell whose kernel the archive did not provide."""
    return make_result(
        verdict=Verdict.SKIPPED, expect=expect.value, role=role.value, not_provided="a kernel"
    )


@pytest.mark.parametrize("expect", Expect)
def test_cell_that_the_archive_gave_nothing_for_is_skipped_whatever_was_expected(
    expect: Expect,
) -> None:
    assert exit_code_of(lost(expect=expect)) == ExitCode.SKIPPED
    assert exit_code_of_run([lost(expect=expect), result(Verdict.PASS)]) == ExitCode.PASS


@pytest.mark.parametrize("role", [Role.CANARY, Role.CONTROL])
def test_one_canary_and_one_control_that_work_are_enough(role: Role) -> None:
    canary = result(Verdict.TOO_SHORT, Expect.TOO_SHORT, Role.CANARY)
    control = result(Verdict.PASS, Expect.PASS, Role.CONTROL)
    cells = [canary, control, result(Verdict.PASS)]
    assert exit_code_of_run([*cells, lost(role)]) == ExitCode.PASS
    others = [cell for cell in cells if cell.role != role]
    assert exit_code_of_run([*others, lost(role)]) == ExitCode.RIG_FAULT


def test_run_that_measured_nothing_is_skipped_though_its_canary_works() -> None:
    canary = result(Verdict.TOO_SHORT, Expect.TOO_SHORT, Role.CANARY)
    assert exit_code_of_run([canary, lost(), lost()]) == ExitCode.SKIPPED


def test_contrast_with_a_cell_that_was_not_provided_is_not_asked_for() -> None:
    contrasts = [
        Contrast(cell="a", subject="x", against="y", reason="", cpu_at_least=2.0),
    ]
    ours = make_result(make_cell(name="a", subject="x"))
    theirs = make_result(make_cell(name="a", subject="y"))
    gone = msgspec.structs.replace(theirs, verdict=Verdict.SKIPPED, not_provided="a kernel")
    assert len(judge_contrasts(contrasts, [ours, theirs])) == 1
    assert judge_contrasts(contrasts, [ours, gone]) == []
