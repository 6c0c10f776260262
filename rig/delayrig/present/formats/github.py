# SPDX-License-Identifier: GPL-2.0-or-later
"""GitHub annotations: workflow commands on standard output of a step.

GitHub keeps ten errors and ten warnings of a step, and silently drops the others.
"""

from delayrig.base.errors import ExitCode
from delayrig.base.text import again, plain
from delayrig.present.formats.report import Case, Report, State

KEPT = 10
LEVELS = {State.FAIL: "error", State.ERROR: "error", State.DOUBT: "warning"}
LEVELS_OF_ANSWERS = {
    ExitCode.PASS: "notice",
    ExitCode.SKIPPED: "notice",
    ExitCode.INCONCLUSIVE: "warning",
}


def as_github(report: Report) -> bytes:
    """Returns the answer first, then the cells behind it, up to GitHub's limit."""
    level = LEVELS_OF_ANSWERS.get(report.code, "error")
    lines = [_command(level, f"flashrom delay rig, {report.title}", "\n".join(report.lines))]
    for level in ("error", "warning"):
        cases = [case for case in report.bad if LEVELS[case.state] == level]
        # The answer takes one of the places, and the note on omitted cells another.
        shown = cases[: KEPT - 1] if len(cases) < KEPT else cases[: KEPT - 2]
        lines += [_command(level, case.id, _words(case)) for case in shown]
        if len(shown) < len(cases):
            lines.append(_command(level, "more", f"and {len(cases) - len(shown)} cells more"))
    return "".join(f"{line}\n" for line in lines).encode()


def _words(case: Case) -> str:
    return "\n".join([case.why, *case.evidence, again(case.cell.rerun)])


def _command(level: str, title: str, message: str) -> str:
    return f"::{level} title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    """Returns the text with the characters escaped that would end a message."""
    text = plain(text).replace("%", "%25")
    return text.replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
