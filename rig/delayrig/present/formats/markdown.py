# SPDX-License-Identifier: GPL-2.0-or-later
"""Markdown, for a job summary (`$GITHUB_STEP_SUMMARY`) or a merge request."""

import re
from collections.abc import Sequence

from delayrig.base.text import again, cut_to, one_line, plain
from delayrig.present.formats.report import Case, Report, State

LIMIT_BYTES = 1 << 20
"""The longest summary of a step that GitHub accepts."""
SPECIAL = re.compile(r"[\\`*_\[\]<>|#~&]")


def as_markdown(report: Report) -> bytes:
    """Returns the answer, a table of cells that did not pass, their evidence, and their times."""
    first, *others = report.lines
    parts = [f"## Flashrom delay rig: {escaped(report.title)}", f"**{escaped(first)}**"]
    parts += [escaped(line) for line in others]
    if report.bad:
        rows = [(case.state, escaped(case.id), escaped(case.why)) for case in report.bad]
        parts.append(table(("state", "cell", "why"), rows))
        parts += [_evidence(case) for case in report.bad]
    times = [
        (escaped(case.id), case.cell.verdict, f"{case.total_s:.3f}", f"{case.cpu_s:.3f}")
        for case in report.cases
        if case.state is not State.SKIP
    ]
    parts.append("### Times")
    parts.append(table(("cell", "verdict", "total s", "CPU s"), times))
    return cut_to("\n\n".join(parts) + "\n", LIMIT_BYTES)


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _evidence(case: Case) -> str:
    """Returns the evidence as an indented block, in which no character is special."""
    lines = [*case.evidence, again(case.cell.rerun)]
    block = "\n".join(f"    {one_line(plain(line))}" for line in lines)
    return f"{escaped(case.id)}\n\n{block}"


def escaped(text: str) -> str:
    return SPECIAL.sub(r"\\\g<0>", one_line(text))
