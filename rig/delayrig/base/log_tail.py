# SPDX-License-Identifier: GPL-2.0-or-later
"""The end of a log, for a reason of one line, whoever wrote it and however long its lines are."""

LINES = 6
LINE_MAX = 200


def log_tail(log: bytes, lines: int = LINES) -> str:
    """Its last lines, joined; a long one is cut short. Empty where there are none."""
    text = log[-lines * 4 * LINE_MAX :].decode("utf-8", errors="replace")
    said = [line.strip() for line in text.splitlines() if line.strip()][-lines:]
    return " | ".join(one if len(one) <= LINE_MAX else f"{one[:LINE_MAX]}..." for one in said)
