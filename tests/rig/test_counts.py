# SPDX-License-Identifier: GPL-2.0-or-later
"""The lengths of functions that `tests/counts.py` prints."""

from tests.counts import functions


def test_coroutine_counts_as_a_function() -> None:
    text = "async def ask():\n    await one()\n\n    await two()\n"
    assert list(functions("a.py", text)) == [(3, "a.py:1")]
