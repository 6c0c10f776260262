# SPDX-License-Identifier: GPL-2.0-or-later
"""What all layers of Python tests share."""

from collections.abc import Iterator

import pytest
from delayrig.history.address import NONE, VARIABLE


@pytest.fixture(scope="session", autouse=True)
def _no_history_but_a_tests_own() -> Iterator[None]:
    """What tests run has no place among the user's own runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, NONE)
        yield
