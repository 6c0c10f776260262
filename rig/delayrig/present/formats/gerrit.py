# SPDX-License-Identifier: GPL-2.0-or-later
"""Plain text for a comment on a Gerrit change.

There, blank lines separate paragraphs, `* ` begins the entries of a list, and a line that begins
with a space is shown unchanged.
"""

from delayrig.base.text import again, cut_to, one_line
from delayrig.present.formats.report import Report

LIMIT_BYTES = 16_000
"""The longest comment that Gerrit accepts by default."""
SHOWN = 10


def as_gerrit(report: Report) -> bytes:
    """Returns the answer, the worst cells, and the command that repeats the first of them."""
    paragraphs = [f"flashrom delay rig, {report.title}"]
    paragraphs += [one_line(line) for line in report.lines]
    bad = report.bad
    if bad:
        lines = [f"* {case.state}: {case.id}: {one_line(case.why)}" for case in bad[:SHOWN]]
        if len(bad) > SHOWN:
            lines.append(f"* and {len(bad) - SHOWN} more")
        paragraphs.append("\n".join(lines))
        head, _, command = again(bad[0].cell.rerun).partition(": ")
        paragraphs.append(f"{head[0].upper()}{head[1:]}:\n\n  {command}")
    run = report.run
    paragraphs.append(one_line(f"Rig {run.rig_version} ({run.commit}), seed {run.seed}"))
    return cut_to("\n\n".join(paragraphs) + "\n", LIMIT_BYTES)
