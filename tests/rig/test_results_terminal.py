# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines of a finished run about its canaries and controls."""

import io

from delayrig.base.errors import ExitCode
from delayrig.model.cell import Expect, Role
from delayrig.model.result import CellResult, Results, Verdict
from delayrig.present.results import UNWATCHED, print_results
from rich.console import Console

from tests.rig.builders import make_cell, make_result, make_run_header

CANARY = make_cell(name="canary", role=Role.CANARY, expect=Expect.TOO_SHORT)
CONTROL = make_cell(name="control", role=Role.CONTROL)


def printed(*cells: CellResult, code: ExitCode = ExitCode.PASS) -> str:
    results = Results(run=make_run_header(), cells=list(cells))
    console = Console(file=io.StringIO(), width=200)
    print_results(results, code, console, out="out")
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_canary_that_was_convicted_as_it_must_be_is_counted_and_not_listed() -> None:
    convicted = make_result(CANARY, verdict=Verdict.TOO_SHORT)
    acquitted = make_result(CONTROL, verdict=Verdict.PASS)
    said = printed(convicted, acquitted)
    assert f"\ntoo_short {convicted.id}" not in said
    assert "2 canaries and controls are as they must be." in said


def test_control_that_was_convicted_is_listed_with_its_command() -> None:
    canary = make_result(CANARY, verdict=Verdict.TOO_SHORT)
    control = make_result(CONTROL, verdict=Verdict.TOO_SHORT)
    said = printed(canary, control, code=ExitCode.RIG_FAULT)
    assert f"\ntoo_short {control.id}" in said
    assert f"again: {control.rerun}" in said
    assert "as they must be" not in said


def test_conviction_that_a_plan_foresaw_is_still_explained() -> None:
    shown = make_cell(name="demonstration", expect=Expect.TOO_SHORT)
    said = printed(make_result(shown, verdict=Verdict.TOO_SHORT))
    assert f"\ntoo_short {shown.id}" in said
    assert UNWATCHED in said
