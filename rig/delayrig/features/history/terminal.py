# SPDX-License-Identifier: GPL-2.0-or-later
"""A history in a terminal, as values for other programs, and as a chart."""

import datetime as dt
from collections.abc import Sequence

import numpy as np
from rich.console import Console
from rich.markup import escape

from delayrig.base.text import counted
from delayrig.features.history.steps import Found, Point, Series, Step
from delayrig.features.history.store import Summary
from delayrig.present.console import FittedTable
from delayrig.present.notable import STYLES
from delayrig.present.pages.charts import SERIES, Chart, new_figure

BAR_WIDTH = 30
CELLS_SHOWN = 3
PLOT_IN, ROW_IN = 3.4, 0.24
"""The heights, in inches, of the plot and of a row of the legend above it."""
LEGEND_COLUMNS = 2


def listed(summary: Summary) -> dict[str, object]:
    """Returns the values of a run that `--json` prints."""
    run, gate = summary.run, summary.run.gate
    return {
        "number": run.id,
        "started": run.started,
        "plan": run.plan,
        "lane": run.lane,
        "seed": run.seed,
        "subjects": {kind.subject: kind.subject_version for kind in summary.measured},
        "cells": summary.verdicts.total(),
        "cells_planned": run.cells_planned,
        "interrupted": run.interrupted,
        "verdicts": dict(summary.verdicts),
        "total_ns": summary.total_ns,
        "exit_code": run.exit_code,
        "rig_version": run.rig_version,
        "commit": run.rig_commit,
        "qemu_version": run.qemu_version,
        "host": run.host,
        "gate": gate.gate if gate else None,
        "side": gate.side if gate else "",
        "outcome": gate.outcome if gate else "",
    }


def plotted(series: Sequence[Series]) -> list[dict[str, object]]:
    """Returns the values of a plot that `--json` prints."""
    return [
        {
            "plan": one.plan,
            "lane": one.lane,
            "cells": list(one.points[0].cells),
            "points": [
                {
                    "run": point.run.id,
                    "started": point.run.started,
                    "program": point.program,
                    "total_ns": point.total_ns,
                    "cpu_ns": point.cpu_ns,
                }
                for point in one.points
            ],
        }
        for one in series
    ]


def list_table(runs: Sequence[Summary]) -> FittedTable:
    table = FittedTable(
        (
            *("run", "started (UTC)", "plan", "lane", "subjects", "verdicts", "gate"),
            *("cells", "total s", "exit"),
        ),
        figures=("run", "cells", "total s", "exit"),
        least=("lane", "gate"),
    )
    for each in runs:
        run, gate, cells = each.run, each.run.gate, each.verdicts.total()
        whole = cells == run.cells_planned and not run.interrupted
        table.add_row(
            f"{run.id}",
            when(run.started),
            escape(run.plan),
            run.lane,
            escape(", ".join(dict.fromkeys(kind.subject for kind in each.measured))) or "-",
            " ".join(
                f"[{STYLES.get(verdict, 'none')}]{count} {escape(verdict)}[/]"  # type: ignore[call-overload]
                for verdict, count in each.verdicts.items()
            ),
            f"{gate.gate}: {gate.side}, {gate.outcome}" if gate else "-",
            f"{cells}" if whole else f"[yellow]{cells} of {run.cells_planned}[/]",
            f"{each.total_ns / 1e9:.3f}",
            f"{run.exit_code}",
        )
    return table


def print_plot(series: Sequence[Series], console: Console) -> None:
    block = "█" if console.encoding.lower().startswith("utf") else "#"
    for one in series:
        console.print(f"\n[bold]{escape(one.name)}[/]")
        longest = max(point.total_ns for point in one.points)
        table = FittedTable(
            ("run", "started (UTC)", "program", "total s", "CPU s", "total"),
            figures=("run", "total s", "CPU s"),
            least=("CPU s", "total"),
        )
        for point in one.points:
            table.add_row(
                f"{point.run.id}",
                when(point.run.started),
                escape(point.program),
                f"{point.total_ns / 1e9:.3f}",
                f"{point.cpu_ns / 1e9:.3f}",
                block * max(1, round(BAR_WIDTH * point.total_ns / longest)),
            )
        console.print(table)


def print_steps(found: Found, unlike: dict[int, list[str]], console: Console) -> None:
    """Prints each step and what changed there. `unlike` names the changed inputs, by run."""
    for step in found.steps:
        style = "red" if step.after_ns > step.before_ns else "green"
        chance = "" if step.p is None else f", p = {step.p:.4f}"
        console.print(
            f"[bold]run {step.run}[/] {when(step.started)} {escape(step.plan)}, {step.lane}:"
            f" {step.before_ns / 1e9:.3f} s -> {step.after_ns / 1e9:.3f} s"
            f" [{style}]({step.pct:+.2f} %)[/] against run {step.previous}{chance}",
            soft_wrap=True,
        )
        console.print(f"  {escape(reason(step, unlike.get(step.run, [])))}", soft_wrap=True)
        for cell in step.cells[:CELLS_SHOWN]:
            console.print(f"  {cell.pct:+8.2f} %  {escape(cell.cell)}", soft_wrap=True)
        if len(step.cells) > CELLS_SHOWN:
            console.print(f"  and {counted(len(step.cells) - CELLS_SHOWN, 'more cell')}")
    for few in found.too_few:
        console.print(
            f"{escape(few.plan)} on {escape(few.host)}: {few.runs} runs in real time are too few to"
            f" find a step; {few.runs_min} are needed",
            soft_wrap=True,
        )
    if not found.steps:
        console.print(f"no step in {found.runs} runs of {escape(found.subject)}")
    if any(step.p is not None for step in found.steps) or found.too_few:
        console.print(f"real time: by a change-point test, {100 * found.confidence:g} % confidence")


def reason(step: Step, unlike: Sequence[str]) -> str:
    """Returns what changed at the step: program, inputs, or neither."""
    program = (
        "the same program"
        if step.same_program
        else f"another program: {step.previous_program} -> {step.program}"
    )
    if step.same_inputs is None:
        return f"{program}; other changes are unknown, as an older rig recorded one of the runs"
    if not step.same_inputs:
        return f"{program}; also new: {', '.join(unlike) or 'what it ran with'}"
    fault = ", so this is a fault of the rig" if step.is_fault else ""
    return f"{program}; all else that decides exact times is equal{fault}"


def when(started: str) -> str:
    """Returns the time to the minute."""
    return started[:16].replace("T", " ")


def history_chart(series: Sequence[Series], subject: str) -> Chart:
    """Returns a chart with a line for each series, because series differ in their cells."""
    rows = -(-len(series) // LEGEND_COLUMNS)
    with new_figure(height_in=PLOT_IN + ROW_IN * rows) as figure:
        axes = figure.add_subplot()
        for number, one in enumerate(series):
            axes.plot(
                np.array([_started_utc(point) for point in one.points]),
                [point.total_ns / 1e9 for point in one.points],
                color=SERIES[number % len(SERIES)].value,
                marker="os^Dv"[number % 5],
                label=one.name,
            )
        axes.set_ylabel("total time in s")
        axes.set_ylim(bottom=0)
        axes.grid(axis="y")
        figure.legend(loc="outside upper left", ncols=LEGEND_COLUMNS)
        figure.autofmt_xdate()
    described = "; ".join(
        f"{one.name}: {len(one.points)} runs, {one.points[0].total_ns / 1e9:.3f} s first,"
        f" {one.points[-1].total_ns / 1e9:.3f} s last"
        for one in series
    )
    title = f"Total time of {subject}"
    return Chart(title=title, description=f"{subject}. {described}", figure=figure)


def _started_utc(point: Point) -> np.datetime64:
    """Returns the start of the point's run in UTC, without a time zone, as matplotlib needs it."""
    started = dt.datetime.fromisoformat(point.run.started).astimezone(dt.UTC)
    return np.datetime64(started.replace(tzinfo=None), "s")
