# SPDX-License-Identifier: GPL-2.0-or-later
"""Skips the tests of a subject that the archive did not provide, with the archive's reason.

If no canary or no control could run, nothing proves that the rig sees faults: the test fails.
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
"""A part of the message if no canary or no control can run without the missing part."""


def require_provided(wanted: Iterable[CellResult], run: Sequence[CellResult]) -> None:
    """Skips the test if the archive did not provide a part that one of the cells needs."""
    missing = next((cell for cell in wanted if cell.not_provided), None)
    if missing is None:
        return
    blind = [role for role in WATCHING if is_unwatched(run, role)]
    if blind:
        pytest.fail(f"no {blind[0]} of the run could run: {missing.reason}")
    pytest.skip(missing.reason)


def skip_if_refused(exit_code: int, said: str) -> None:
    """Skips the test if a command ended because a part was not provided, except for a canary's."""
    lost = next((line for line in said.splitlines() if LOST in line), "")
    if exit_code == ExitCode.RIG_FAULT and lost and BLIND not in said:
        pytest.skip(f"not provided: {lost.strip()}")
