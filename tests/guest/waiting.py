# SPDX-License-Identifier: GPL-2.0-or-later
"""Waits for a condition, with a deadline."""

import time
from collections.abc import Callable

LOOK_AGAIN_S = 0.01


def wait_until(condition: Callable[[], object], failure: str, limit_s: float) -> None:
    """Waits until the condition is true; fails the test with that message after the limit."""
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, failure
        time.sleep(LOOK_AGAIN_S)
