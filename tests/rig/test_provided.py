# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests are skipped if the archive lacks a subject, and fail without a canary or control."""

import pytest
from delayrig.base.errors import ExitCode, NotProvidedError
from delayrig.model.cell import Role
from delayrig.model.result import CellResult, Verdict

from tests.guest.provided import require_provided, skip_if_refused
from tests.rig.builders import make_cell, make_result

WHAT = "flashrom of trixie for i386"


def ran(role: Role = Role.MEASURE) -> CellResult:
    return make_result(make_cell(role=role))


def not_provided(role: Role = Role.MEASURE) -> CellResult:
    return make_result(
        make_cell(role=role),
        verdict=Verdict.SKIPPED,
        reason=f"not provided: {WHAT}",
        not_provided=WHAT,
    )


def refusal(more: str = "") -> str:
    error = NotProvidedError(WHAT, f"Mirror sync in progress?{more}")
    return f"rig/rig: {error}\nremedy: none\n"


def test_cell_that_ran_or_was_skipped_for_another_reason_skips_no_test() -> None:
    require_provided([ran()], [ran(), not_provided()])
    require_provided([make_result(verdict=Verdict.SKIPPED, reason="its own dummy")], [])


def test_cell_that_was_not_provided_skips_its_test_with_the_reason() -> None:
    watching = [ran(Role.CANARY), ran(Role.CONTROL), not_provided(Role.CANARY)]
    with pytest.raises(pytest.skip.Exception, match=f"not provided: {WHAT}"):
        require_provided([ran(), not_provided()], watching)


@pytest.mark.parametrize("role", [Role.CANARY, Role.CONTROL])
def test_run_without_a_canary_or_control_fails_its_test(role: Role) -> None:
    with pytest.raises(pytest.fail.Exception, match=f"no {role} of the run could run"):
        require_provided([not_provided()], [not_provided(role), not_provided()])


def test_only_a_refusal_for_a_missing_subject_skips_a_test() -> None:
    with pytest.raises(pytest.skip.Exception, match=f"not provided: rig/rig: {WHAT}"):
        skip_if_refused(ExitCode.RIG_FAULT, refusal())
    skip_if_refused(ExitCode.RIG_FAULT, "rig/rig: broken\n")
    skip_if_refused(ExitCode.PASS, refusal())
    skip_if_refused(ExitCode.RIG_FAULT, refusal(". Without it no canary runs"))
