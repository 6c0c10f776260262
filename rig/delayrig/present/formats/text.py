# SPDX-License-Identifier: GPL-2.0-or-later
"""The formats that are lines of text: Gerrit, GitHub, Markdown, OpenMetrics and TAP."""

import json
import re
from collections.abc import Callable, Sequence

from delayrig.base.errors import ExitCode
from delayrig.base.text import again, cut_to, one_line, plain
from delayrig.present.formats.report import BAD, Case, Report, State

COMMENT_BYTES_MAX = 16_000
"""The longest comment that Gerrit accepts by default."""
COMMENT_CELLS_MAX = 10
ANNOTATIONS_MAX = 10
"""GitHub keeps ten errors and ten warnings of a step, and silently drops the others."""
LEVELS = {State.FAIL: "error", State.ERROR: "error", State.DOUBT: "warning"}
LEVELS_OF_ANSWERS = {
    ExitCode.PASS: "notice",
    ExitCode.SKIPPED: "notice",
    ExitCode.INCONCLUSIVE: "warning",
}
SUMMARY_BYTES_MAX = 1 << 20
"""The longest summary of a step that GitHub accepts."""
SPECIAL = re.compile(r"[\\`*_\[\]<>|#~&]")
"""The characters that are special in Markdown."""
PREFIX = "flashrom_rig"
GAUGES: tuple[tuple[str, str, Callable[[Case], float]], ...] = (
    ("total_seconds", "The time that flashrom took, by its guest's clock.", lambda c: c.total_s),
    ("cpu_seconds", "The CPU time of flashrom.", lambda c: c.cpu_s),
    ("chip_busy_seconds", "The time that the chip was busy.", lambda c: c.cell.chip_busy_ns / 1e9),
    (
        "overshoot_seconds",
        "The time from the chip being ready to the next command.",
        lambda c: c.cell.overshoot_ns / 1e9,
    ),
)


def as_gerrit(report: Report) -> bytes:
    """Returns a comment on a Gerrit change: the answer, the worst cells, and how to repeat one.

    In a Gerrit comment, blank lines separate paragraphs, `* ` begins a list item, and a line that
    begins with a space is shown unchanged.
    """
    paragraphs = [f"flashrom delay rig, {report.title}"]
    paragraphs += [one_line(line) for line in report.lines]
    bad = report.bad
    if bad:
        shown = bad[:COMMENT_CELLS_MAX]
        lines = [f"* {case.state}: {case.id}: {one_line(case.why)}" for case in shown]
        if len(bad) > len(shown):
            lines.append(f"* and {len(bad) - len(shown)} more")
        paragraphs.append("\n".join(lines))
        head, _, command = again(bad[0].cell.rerun).partition(": ")
        paragraphs.append(f"{head[0].upper()}{head[1:]}:\n\n  {command}")
    run = report.run
    paragraphs.append(one_line(f"Rig {run.rig_version} ({run.commit}), seed {run.seed}"))
    return cut_to("\n\n".join(paragraphs) + "\n", COMMENT_BYTES_MAX)


def as_github(report: Report) -> bytes:
    """Returns GitHub's annotations, commands on a step's output: the answer, then its cells."""
    level = LEVELS_OF_ANSWERS.get(report.code, "error")
    lines = [_annotation(level, f"flashrom delay rig, {report.title}", "\n".join(report.lines))]
    for level in ("error", "warning"):
        cases = [case for case in report.bad if LEVELS[case.state] == level]
        # The answer takes one of the places, and the note on omitted cells another.
        most = ANNOTATIONS_MAX - (1 if len(cases) < ANNOTATIONS_MAX else 2)
        for case in cases[:most]:
            words = [case.why, *case.evidence, again(case.cell.rerun)]
            lines.append(_annotation(level, case.id, "\n".join(words)))
        if most < len(cases):
            lines.append(_annotation(level, "more", f"and {len(cases) - most} cells more"))
    return "".join(f"{line}\n" for line in lines).encode()


def _annotation(level: str, title: str, message: str) -> str:
    escaped_title = _data(title).replace(":", "%3A").replace(",", "%2C")
    return f"::{level} title={escaped_title}::{_data(message)}"


def _data(text: str) -> str:
    """Returns the text with the characters escaped that would end a message."""
    text = plain(text).replace("%", "%25")
    return text.replace("\r", "%0D").replace("\n", "%0A")


def as_markdown(report: Report) -> bytes:
    """Returns Markdown for a job summary (`$GITHUB_STEP_SUMMARY`) or a merge request.

    It has the answer, a table of cells that did not pass, their evidence, and all times.
    """
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
    return cut_to("\n\n".join(parts) + "\n", SUMMARY_BYTES_MAX)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Returns a table in Markdown; special characters must be escaped before."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _evidence(case: Case) -> str:
    """Returns the evidence as an indented block, in which no character is special."""
    lines = [*case.evidence, again(case.cell.rerun)]
    block = "\n".join(f"    {one_line(line)}" for line in lines)
    return f"{escaped(case.id)}\n\n{block}"


def escaped(text: str) -> str:
    """Returns the text for Markdown, in one line."""
    return SPECIAL.sub(r"\\\g<0>", one_line(text))


def as_openmetrics(report: Report) -> bytes:
    """Returns OpenMetrics for GitLab's `reports:metrics`, which compares a branch with its target.

    The labels of a gauge are subject and place, which are the same in both runs.
    """
    lines = []
    measured = [case for case in report.cases if case.cell.time_ns.total > 0]
    for name, about, figure in GAUGES:
        lines += _head(name, about, unit="seconds")
        lines += [f"{PREFIX}_{name}{_labels(case)} {figure(case):.9f}" for case in measured]
    lines += _head("cells", "The number of cells by state.")
    lines += [f'{PREFIX}_cells{{state="{state}"}} {report.count(state)}' for state in State]
    return "\n".join([*lines, "# EOF", ""]).encode()


def _head(name: str, about: str, *, unit: str = "") -> list[str]:
    lines = [f"# TYPE {PREFIX}_{name} gauge"]
    lines += [f"# UNIT {PREFIX}_{name} {unit}"] if unit else []
    return [*lines, f"# HELP {PREFIX}_{name} {about}"]


def _labels(case: Case) -> str:
    subject, cell = (
        one_line(text).replace("\\", "\\\\").replace('"', '\\"')
        for text in (case.cell.subject.name, case.cell.place)
    )
    return f'{{subject="{subject}",cell="{cell}"}}'


def as_tap(report: Report) -> bytes:
    """Returns TAP 14: a line for each cell, and a YAML block below those that did not pass."""
    lines = ["TAP version 14", f"1..{len(report.cases)}"]
    lines += [f"# {one_line(line)}" for line in report.lines]
    for number, case in enumerate(report.cases, start=1):
        good = "not ok" if case.state in BAD else "ok"
        skip = f" # SKIP {_tap_escaped(case.why)}" if case.state is State.SKIP else ""
        lines.append(f"{good} {number} - {_tap_escaped(case.id)}{skip}")
        lines += _block(case) if case.state in BAD else []
    return "\n".join([*lines, ""]).encode()


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


def _tap_escaped(text: str) -> str:
    """Escapes `#`, which begins a directive, and `\\`, which is the escape character."""
    return re.sub(r"[\\#]", r"\\\g<0>", one_line(text))
