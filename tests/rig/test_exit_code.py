# SPDX-License-Identifier: GPL-2.0-or-later
"""Exit codes by verdict; subjects at the time limit; parts that the archive did not provide."""

import itertools

import msgspec
import pytest
from delayrig.base.errors import ExitCode
from delayrig.decision.decision import Outcome
from delayrig.decision.gate_judge import decide
from delayrig.judge.ending import is_unfinished
from delayrig.judge.exit_code import exit_code_of_run, not_provided_lines
from delayrig.lanes.supplies import Need, needs_of
from delayrig.model.cell import Expect, Role
from delayrig.model.events import Event
from delayrig.model.kinds.agent import SubjectEnd, SubjectStart
from delayrig.model.kinds.emulator import Cycle
from delayrig.model.result import CellResult, ContrastVerdict, NotProvided, Results, Verdict
from delayrig.present.formats.report import report_of_run

from tests.rig.builders import CANARY, CONTROL, make_cell, make_contrast, make_result, run_of
from tests.rig.event_builders import changed, cycle, made, subject_end

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


def test_headings_of_the_table_are_all_verdicts() -> None:
    assert sorted(HEADINGS.split()) == sorted(verdict.value for verdict in Verdict)


@pytest.mark.parametrize(("role", "expect"), list(itertools.product(Role, Expect)))
def test_verdict_expectation_and_role_give_the_exit_code(role: Role, expect: Expect) -> None:
    row = dict(zip(HEADINGS.split(), TABLES[role][expect].split(), strict=True))
    codes = {name: str(int(result(Verdict(name), expect, role).exit_code)) for name in row}
    assert codes == row


@pytest.mark.parametrize("lane", ["live", "host"])
@pytest.mark.parametrize("role", Role)
def test_inconclusive_cell_in_real_time_is_a_doubt_in_any_role(role: Role, lane: str) -> None:
    made = make_result(
        verdict=Verdict.INCONCLUSIVE, expect=Expect.TOO_SHORT.value, role=role.value, lane=lane
    )
    assert made.exit_code is ExitCode.INCONCLUSIVE


FAULT = result(Verdict.INFRA_ERROR)
UNSAFE = result(Verdict.TOO_SHORT)
DOUBT = result(Verdict.INCONCLUSIVE)
PASS = result(Verdict.PASS)
SKIPPED = result(Verdict.SKIPPED)
BLIND = result(Verdict.PASS, Expect.TOO_SHORT, Role.CANARY)


@pytest.mark.parametrize(
    ("cells", "code"),
    [
        # The gravest cell decides, in any position.
        ([SKIPPED, PASS, DOUBT, UNSAFE, FAULT], 99),
        ([FAULT, UNSAFE, DOUBT, PASS, SKIPPED], 99),
        ([SKIPPED, PASS, DOUBT, UNSAFE], 1),
        ([UNSAFE, DOUBT, PASS], 1),
        ([*[PASS] * 1000, UNSAFE, *[PASS] * 1000], 1),
        ([SKIPPED, PASS, DOUBT], 4),
        ([DOUBT, PASS], 4),
        ([SKIPPED, DOUBT], 4),
        ([SKIPPED, PASS], 0),
        ([PASS], 0),
        ([SKIPPED, SKIPPED], 77),
        ([], 4),
        # A tenth of the measured cells may be lost; skipped ones do not count.
        ([PASS] * 83 + [FAULT], 0),
        ([PASS] * 9 + [FAULT], 0),
        ([PASS] * 8 + [FAULT], 99),
        ([PASS] * 18 + [FAULT] * 2, 0),
        ([PASS] * 17 + [FAULT] * 2, 99),
        ([PASS] * 20 + [FAULT, UNSAFE], 1),
        ([PASS] * 20 + [FAULT, DOUBT], 4),
        ([SKIPPED] * 100 + [PASS] * 5 + [FAULT], 99),
        # Canaries and controls must not be lost, and must have their expected verdict.
        *(
            ([PASS] * 100 + [result(Verdict.INFRA_ERROR, role=role)], 99)
            for role in (Role.CANARY, Role.CONTROL, Role.FLOOR)
        ),
        ([UNSAFE, PASS, BLIND], 99),
        ([PASS, result(Verdict.SKIPPED, Expect.TOO_SHORT, Role.CANARY)], 99),
        ([UNSAFE, PASS, result(Verdict.TOO_SHORT, role=Role.CONTROL)], 99),
    ],
)
def test_run_has_the_exit_code_of_its_gravest_cell(cells: list[CellResult], code: int) -> None:
    assert exit_code_of_run(cells) == code


@pytest.mark.parametrize(
    ("verdict", "code"),
    [(ContrastVerdict.SEEN, 0), (ContrastVerdict.MISSING, 1), (ContrastVerdict.UNJUDGED, 4)],
)
def test_missing_contrast_counts_as_unsafe(verdict: ContrastVerdict, code: int) -> None:
    contrasts = [make_contrast("a", "b", verdict)]
    assert exit_code_of_run([PASS], contrasts) == code
    assert exit_code_of_run([FAULT], contrasts) == 99


def lost(role: Role = Role.MEASURE, expect: Expect = Expect.PASS) -> CellResult:
    """Returns a cell whose kernel the archive did not provide."""
    return make_result(
        verdict=Verdict.SKIPPED, expect=expect.value, role=role.value, not_provided="a kernel"
    )


@pytest.mark.parametrize("expect", Expect)
def test_cell_that_the_archive_lacks_is_skipped_with_any_expectation(expect: Expect) -> None:
    assert lost(expect=expect).exit_code == ExitCode.SKIPPED
    assert exit_code_of_run([lost(expect=expect), result(Verdict.PASS)]) == ExitCode.PASS


@pytest.mark.parametrize("role", [Role.CANARY, Role.CONTROL])
def test_one_working_canary_and_one_working_control_are_enough(role: Role) -> None:
    canary = result(Verdict.TOO_SHORT, Expect.TOO_SHORT, Role.CANARY)
    control = result(Verdict.PASS, Expect.PASS, Role.CONTROL)
    cells = [canary, control, result(Verdict.PASS)]
    assert exit_code_of_run([*cells, lost(role)]) == ExitCode.PASS
    others = [cell for cell in cells if cell.role != role]
    assert exit_code_of_run([*others, lost(role)]) == ExitCode.RIG_FAULT


def test_run_without_measured_cells_is_skipped_even_if_its_canary_works() -> None:
    canary = result(Verdict.TOO_SHORT, Expect.TOO_SHORT, Role.CANARY)
    assert exit_code_of_run([canary, lost(), lost()]) == ExitCode.SKIPPED


def reads(*addresses: int) -> list[Event]:
    """Makes reads at these addresses, one every 10 ns."""
    return [
        changed([cycle("READ", read=10 * number, rlen=1)], Cycle, addr=address)[0]
        for number, address in enumerate(addresses, start=1)
    ]


SAME, OTHERS = reads(*[0] * 9), reads(*range(9))
EARLY_OTHERS = [*reads(*range(19)), *reads(*[0] * 40)[19:]]
"""Commands that make progress only in the first half of the time."""


@pytest.mark.parametrize(
    ("commands", "timed_out", "unfinished"),
    [
        *((SAME, True, False), (OTHERS, True, True), (OTHERS, False, False)),
        (EARLY_OTHERS, True, False),
    ],
)
def test_subject_is_unfinished_if_its_time_ended_during_new_commands(
    commands: list[Event], timed_out: bool, unfinished: bool
) -> None:
    ended = changed([subject_end(10 * len(commands) + 10)], SubjectEnd, timed_out=timed_out)
    assert is_unfinished([made(SubjectStart, t_ns=0), *commands, *ended]) == unfinished


PART_NAME = "flashrom of trixie for i386"
MISSING = NotProvided(what=PART_NAME, cause="Mirror sync in progress?")


def skipped(cell: CellResult) -> CellResult:
    """Returns the cell as skipped, since the archive did not provide a part of it."""
    return msgspec.structs.replace(
        cell, verdict=Verdict.SKIPPED, reason=f"not provided: {PART_NAME}", not_provided=PART_NAME
    )


def lacking(*cells: CellResult) -> Results:
    """Returns a run in which the archive did not provide a part."""
    return run_of(*cells, not_provided=[MISSING])


def measured(subject: str, name: str = "a") -> CellResult:
    """Returns a cell that passed."""
    return make_result(make_cell(name=name, subject=subject))


def test_missing_part_is_reported_once_with_its_cause_and_its_cells() -> None:
    cells = [skipped(measured("x", "a")), skipped(measured("x", "b")), CANARY, CONTROL]
    (line,) = not_provided_lines([lacking(*cells), lacking(*cells[2:])])
    assert "2 cells were skipped" in line
    assert PART_NAME in line
    assert MISSING.cause in line
    assert line.count("a.x") == 1
    assert report_of_run(lacking(*cells)).lines[1:] == [line]
    assert not_provided_lines([lacking(measured("x"))]) == []


NEW, OLD = measured("new"), measured("old")


@pytest.mark.parametrize(
    ("baseline", "candidate", "outcome"),
    [
        # The archive did not provide it to either side.
        ([OLD, skipped(measured("old", "b"))], [NEW, skipped(measured("new", "b"))], Outcome.PASS),
        # The archive did not provide the candidate.
        ([OLD], [skipped(NEW)], Outcome.DOUBT),
    ],
)
def test_gate_ignores_a_part_that_neither_side_got_and_reports_it(
    baseline: list[CellResult], candidate: list[CellResult], outcome: Outcome
) -> None:
    other = msgspec.structs.replace(skipped(CANARY), id="canary-i386.canary-bus.62mips")
    decision = decide([lacking(*baseline)], [lacking(*candidate, CANARY, CONTROL, other)])
    assert decision.outcome is outcome
    assert any(PART_NAME in line for line in decision.lines)


def test_gate_without_a_working_canary_is_a_fault_of_the_rig() -> None:
    decision = decide([lacking(OLD)], [lacking(NEW, skipped(CANARY), CONTROL)])
    assert decision.outcome is Outcome.RIG_FAULT


def test_cell_needs_guest_and_subject_of_its_architecture_only() -> None:
    cell = make_cell(subject="debian:trixie")
    assert needs_of(cell) == [(Need.GUEST, cell.arch), (Need.SUBJECT, ("debian:trixie", cell.arch))]
