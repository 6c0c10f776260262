# SPDX-License-Identifier: GPL-2.0-or-later
"""The end of a log as one line, whoever wrote the log and however long its lines are."""

from delayrig.base.text import shown

LINES = 6
LINE_MAX = 200


def log_tail(log: bytes, lines: int = LINES) -> str:
    """Returns the last lines of a log, joined; empty if there are none. A long line is cut."""
    text = shown(log[-lines * 4 * LINE_MAX :].decode("utf-8", errors="replace"))
    said = [line.strip() for line in text.splitlines() if line.strip()][-lines:]
    return " | ".join(one if len(one) <= LINE_MAX else f"{one[:LINE_MAX]}..." for one in said)
