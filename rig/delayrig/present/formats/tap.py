# SPDX-License-Identifier: GPL-2.0-or-later
"""TAP 14: a line for each cell, and a YAML block below those that did not pass."""

import json
import re

from delayrig.base.text import again, one_line
from delayrig.present.formats.report import BAD, Case, Report, State

# These characters begin a directive, or prevent it.
SPECIAL = re.compile(r"[\\#]")


def as_tap(report: Report) -> bytes:
    """Returns the lines, with the answer as a comment at the top."""
    lines = ["TAP version 14", f"1..{len(report.cases)}"]
    lines += [f"# {one_line(line)}" for line in report.lines]
    for number, case in enumerate(report.cases, start=1):
        lines += _lines(number, case)
    return "\n".join([*lines, ""]).encode()


def _lines(number: int, case: Case) -> list[str]:
    good = "not ok" if case.state in BAD else "ok"
    skip = f" # SKIP {_escaped(case.why)}" if case.state is State.SKIP else ""
    line = f"{good} {number} - {_escaped(case.id)}{skip}"
    return [line, *_block(case)] if case.state in BAD else [line]


def _block(case: Case) -> list[str]:
    """Returns YAML whose values are JSON strings, which are valid in YAML."""
    values = {
        "message": case.why,
        "severity": "fail" if case.state is State.FAIL else "comment",
        "verdict": case.cell.verdict,
    }
    key, _, value = again(case.cell.rerun).partition(": ")
    values[key] = value
    lines = [f"{key}: {json.dumps(one_line(value))}" for key, value in values.items()]
    lines += ["evidence:", *(f"  - {json.dumps(one_line(item))}" for item in case.evidence)]
    if not case.evidence:
        lines[-1] += " []"
    return [f"  {line}" for line in ["---", *lines, "..."]]


def _escaped(text: str) -> str:
    return SPECIAL.sub(r"\\\g<0>", one_line(text))
