# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of a survey, for terminals and pages alike."""

from collections.abc import Iterable

from rich.console import Console
from rich.markup import escape

from delayrig.features.survey.survey import Requested, Survey, answer_of, class_us
from delayrig.present.console import fitted
from delayrig.present.tables import Table, words_and_figures

BOUNDS = "bounds from the bus"


def tables_of(survey: Survey) -> list[Table]:
    """Returns the tables that have rows."""
    made = [_calls(survey), _known(survey), _bus(survey), _agreements(survey)]
    return [table for table in made if table.rows]


def _calls(survey: Survey) -> Table:
    made = []
    for (*words, _), rows in classed(survey.calls).items():
        low, high = min(r.requested_us for r in rows), max(r.requested_us for r in rows)
        count, beyond = sum(r.count for r in rows), sum(r.beyond_ns for r in rows)
        took = sum(r.took_ns for r in rows)
        lengths = f"{low}" if low == high else f"{low} to {high}"
        sums = f"{took / 1e6:.3f}", f"{beyond / 1e6:.3f}", f"{beyond / count / 1e3:.2f}"
        made.append([*words, lengths, f"{count}", *sums])
    return words_and_figures(
        caption="Waits asked for, call by call (delay witness)",
        words=("subject", "chip", "job"),
        figures=("asked us", "times", "took ms", "beyond ms", "beyond each us"),
        rows=made,
    )


def classed(calls: Iterable[Requested]) -> dict[tuple[str, str, str, int], list[Requested]]:
    """Groups requests by source, part, job and class of length (1, 2, 5, 10, ... us)."""
    classes: dict[tuple[str, str, str, int], list[Requested]] = {}
    for row in calls:
        key = (name_of(row), row.chip, row.job, class_us(row.requested_us))
        classes.setdefault(key, []).append(row)
    return classes


def name_of(row: Requested) -> str:
    return f"{row.subject} (library)" if row.library else row.subject


def _known(survey: Survey) -> Table:
    return words_and_figures(
        caption=f"Waits that the profile of a version knows ({BOUNDS})",
        words=("subject", "chip", "job", "wait"),
        figures=("asked us", "times", "gaps at least ms", "at most ms"),
        rows=[
            [
                *(row.subject, row.chip, row.job, row.what),
                *(f"{row.requested_us}", f"{row.count}"),
                *(f"{row.at_least_ns / 1e6:.3f}", f"{row.at_most_ns / 1e6:.3f}"),
            ]
            for row in survey.known
        ],
    )


def _bus(survey: Survey) -> Table:
    return words_and_figures(
        caption=f"All gaps between requests, by what is above the service time ({BOUNDS})",
        words=("subject", "chip", "job"),
        figures=("from us", "times", "at most ms", "above service ms", "service us"),
        rows=[
            [
                *(row.subject, row.chip, row.job),
                *(f"{row.from_us}" if row.from_us else "no sign of a wait", f"{row.count}"),
                *(f"{row.at_most_ns / 1e6:.3f}", f"{row.above_service_ns / 1e6:.3f}"),
                f"{row.service_ns / 1e3:.1f}",
            ]
            for row in survey.bus
        ],
    )


def _agreements(survey: Survey) -> Table:
    return words_and_figures(
        caption="Two witnesses of the same cell: the calls, and the bus less service time",
        words=("subject", "chip", "job"),
        figures=("calls", "calls took ms", "by the bus ms", "off %"),
        rows=[
            [
                *(row.subject, row.chip, row.job, f"{row.calls}"),
                *(f"{row.calls_ns / 1e6:.3f}", f"{row.bus_ns / 1e6:.3f}", f"{row.off_pct:+.3f}"),
            ]
            for row in survey.agreements
        ],
    )


def print_survey(survey: Survey, console: Console) -> None:
    console.print(f"[bold]{answer_of(survey.calls)}[/]", "", soft_wrap=True)
    for made in tables_of(survey):
        console.print(fitted(made), "")
    for line in survey.lines:
        console.print(escape(line), soft_wrap=True)
