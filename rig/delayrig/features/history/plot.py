# SPDX-License-Identifier: GPL-2.0-or-later
"""A chart of a subject's total time over runs."""

import datetime as dt
from collections.abc import Sequence

import numpy as np

from delayrig.features.history.steps import Point, Series
from delayrig.present.pages.charts import SERIES, Chart, new_figure

PLOT_IN, ROW_IN = 3.4, 0.24
"""The heights, in inches, of the plot and of a row of the legend above it."""
LEGEND_COLUMNS = 2


def history_chart(series: Sequence[Series], subject: str) -> Chart:
    """Returns a chart with a line for each series, because series differ in their cells."""
    rows = -(-len(series) // LEGEND_COLUMNS)
    with new_figure(height_in=PLOT_IN + ROW_IN * rows) as figure:
        axes = figure.add_subplot()
        for number, one in enumerate(series):
            axes.plot(
                np.array([_moment(point) for point in one.points]),
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


def _moment(point: Point) -> np.datetime64:
    """Returns the start of the point's run in UTC, without a time zone, as matplotlib needs it."""
    started = dt.datetime.fromisoformat(point.run.started).astimezone(dt.UTC)
    return np.datetime64(started.replace(tzinfo=None), "s")
