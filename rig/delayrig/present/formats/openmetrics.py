# SPDX-License-Identifier: GPL-2.0-or-later
"""OpenMetrics text: for GitLab's `reports:metrics`, which compares a branch with its target."""

from collections.abc import Callable

from delayrig.base.text import one_line
from delayrig.present.formats.report import Case, Report, State

PREFIX = "flashrom_rig"
GAUGES: tuple[tuple[str, str, Callable[[Case], float]], ...] = (
    ("total_seconds", "How long flashrom took, by its guest's clock.", lambda c: c.total_s),
    ("cpu_seconds", "Its CPU time.", lambda c: c.cpu_s),
    ("chip_busy_seconds", "How long the part was busy.", lambda c: c.cell.chip_busy_ns / 1e9),
    ("overshoot_seconds", "From ready to noticed.", lambda c: c.cell.overshoot_ns / 1e9),
)


def as_openmetrics(report: Report) -> bytes:
    """Returns gauges by subject and place, so that equal places of two runs have equal names."""
    lines = []
    measured = [case for case in report.cases if case.cell.time_ns.total > 0]
    for name, about, figure in GAUGES:
        lines += _head(name, about, unit="seconds")
        lines += [f"{PREFIX}_{name}{_labels(case)} {figure(case):.9f}" for case in measured]
    lines += _head("cells", "Cells by what they came to.")
    lines += [f'{PREFIX}_cells{{state="{state}"}} {report.count(state)}' for state in State]
    return "\n".join([*lines, "# EOF", ""]).encode()


def _head(name: str, about: str, *, unit: str = "") -> list[str]:
    lines = [f"# TYPE {PREFIX}_{name} gauge"]
    lines += [f"# UNIT {PREFIX}_{name} {unit}"] if unit else []
    return [*lines, f"# HELP {PREFIX}_{name} {about}"]


def _labels(case: Case) -> str:
    labels = {"subject": case.cell.subject.name, "cell": case.cell.place}
    return "{" + ",".join(f'{key}="{_escaped(value)}"' for key, value in labels.items()) + "}"


def _escaped(text: str) -> str:
    return one_line(text).replace("\\", "\\\\").replace('"', '\\"')
