# SPDX-License-Identifier: GPL-2.0-or-later
"""Skips tests of subjects that the archive did not provide, and says why.

If no canary or no control could run, nothing proves that the rig sees faults, so the test fails.
"""

from collections.abc import Iterable, Sequence

import pytest
from delayrig.base.errors import ExitCode
from delayrig.judge.exit_code import is_unwatched
from delayrig.model.cell import WATCHING
from delayrig.model.result import CellResult

LOST = " could not be fetched: "
"""A part of the message of `NotProvidedError`."""
BLIND = "Without it no "
"""The beginning of a sentence of that message: without the part no canary or control can run."""


def require_provided(wanted: Iterable[CellResult], run: Sequence[CellResult]) -> None:
    """Skips the test if the archive did not provide a part that one of the cells needs."""
    missing = next((cell for cell in wanted if cell.not_provided), None)
    if missing is None:
        return
    blind = [role for role in WATCHING if is_unwatched(run, role)]
    if blind:
        pytest.fail(f"no {blind[0]} of the run could run: {missing.reason}")
    pytest.skip(missing.reason)


def skip_if_refused(exit_code: int, output: str) -> None:
    """Skips the test if a command ended because a part was not provided.

    Does not skip it if no canary or no control can run without the part.
    """
    refusal = next((line for line in output.splitlines() if LOST in line), "")
    if exit_code == ExitCode.RIG_FAULT and refusal and BLIND not in output:
        pytest.skip(f"not provided: {refusal.strip()}")
