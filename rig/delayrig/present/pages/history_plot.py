# SPDX-License-Identifier: GPL-2.0-or-later
"""A subject's total time over runs, as a drawing."""

import datetime as dt
from collections.abc import Sequence

import numpy as np

from delayrig.analysis.history.steps import Point, Series
from delayrig.present.pages.charts import SERIES, new_figure, svg_file

HEIGHT_IN = 3.6


def drawn(series: Sequence[Series], subject: str) -> bytes:
    """SVG: a line for each series, as only its own runs are of the same cells."""
    with new_figure(height_in=HEIGHT_IN) as figure:
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
        axes.legend()
        figure.autofmt_xdate()
        return svg_file(
            figure, title=f"Total time of {subject}", description=_described(series, subject)
        )


def _moment(point: Point) -> np.datetime64:
    """matplotlib takes it for UTC."""
    started = dt.datetime.fromisoformat(point.run.started).astimezone(dt.UTC)
    return np.datetime64(started.replace(tzinfo=None), "s")


def _described(series: Sequence[Series], subject: str) -> str:
    parts = [
        f"{one.name}: {len(one.points)} runs, {one.points[0].total_ns / 1e9:.3f} s first,"
        f" {one.points[-1].total_ns / 1e9:.3f} s last"
        for one in series
    ]
    return f"{subject}. " + "; ".join(parts)
