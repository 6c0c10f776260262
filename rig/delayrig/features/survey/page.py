# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of a survey: the requested waits, their numbers and their durations."""

import textwrap
from collections.abc import Callable
from typing import Any

from delayrig.base.durations import rounded
from delayrig.features.survey.survey import Survey, answer_of, class_us
from delayrig.features.survey.terminal import BOUNDS, name_of, tables_of
from delayrig.present.pages.charts import SERIES, Chart, Colour, new_figure
from delayrig.present.pages.page import Section, paragraph, paragraphs, render_page, table_html

TITLE = "Waits by length"
CAPTION = "How many waits of which length, and how long they were in sum, over all jobs"
COLUMNS: tuple[tuple[str, Callable[[int], str]], ...] = (("times", str), ("sum", rounded))
"""The charts of a row: what the height of a bar is, and its label."""
ROW_IN = 2.2
HEADING_LETTERS = 100
"""The longest heading that fits above both charts of a row."""


def survey_page(survey: Survey) -> bytes:
    tables = tables_of(survey)
    if tables:
        lengths = survey_chart(survey).html(caption=CAPTION, table=tables[0])
    else:
        lengths = paragraph("Nothing was seen: every cell was skipped or failed.")
    return render_page(
        title="Which waits are asked for",
        summary=paragraphs([answer_of(survey.calls), *survey.lines]),
        sections=[
            Section(key="lengths", title=TITLE, body=lengths),
            *(
                Section(
                    key=f"table-{number}",
                    title=made.caption,
                    body=table_html(made, is_titled=True),
                )
                for number, made in enumerate(tables, 1)
            ),
        ],
    )


def survey_chart(survey: Survey) -> Chart:
    histograms = _histograms(survey)
    with new_figure(height_in=ROW_IN * max(len(histograms), 1)) as figure:
        for number, (name, bars) in enumerate(histograms.items()):
            colour = SERIES[number % len(SERIES)]
            for at, (what, label) in enumerate(COLUMNS):
                axes = figure.add_subplot(len(histograms), 2, 2 * number + at + 1)
                heights = {of_us: bar[at] for of_us, bar in bars.items()}
                _draw_bars(axes, heights, colour, label)
                axes.set_ylabel(what)
                if at == 0:  # One heading stands above both charts.
                    axes.set_title(textwrap.fill(name, HEADING_LETTERS))
    description = "; ".join(
        f"{name}: "
        + ", ".join(f"{count} from {_words(us)}" for us, (count, _) in sorted(b.items()))
        for name, b in histograms.items()
    )
    return Chart(title=TITLE, description=description, figure=figure)


def _histograms(survey: Survey) -> dict[str, dict[int, list[int]]]:
    """Returns counts and sums in ns, by name and class in us. Bus waits exclude service time."""
    bars = [
        (name_of(call), class_us(call.requested_us), call.count, call.took_ns)
        for call in survey.calls
    ]
    seen = {call.subject for call in survey.calls if not call.library}
    bars += [
        (f"{bound.subject}: {BOUNDS}", bound.from_us, bound.count, bound.above_service_ns)
        for bound in survey.bus
        if bound.subject not in seen and bound.from_us
    ]
    found: dict[str, dict[int, list[int]]] = {}
    for name, of_us, count, ns in bars:
        bar = found.setdefault(name, {}).setdefault(of_us, [0, 0])
        bar[0] += count
        bar[1] += ns
    return found


def _draw_bars(
    axes: Any, bars: dict[int, int], colour: Colour, label: Callable[[int], str]
) -> None:
    names = [_words(of_us) for of_us in sorted(bars)]
    heights = [bars[of_us] for of_us in sorted(bars)]
    drawn = axes.bar(names, heights, color=colour, width=0.7)
    axes.bar_label(drawn, labels=[label(height) for height in heights], fontsize=6, padding=2)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.margins(y=0.2)
    axes.tick_params(axis="x", labelsize=7, labelrotation=45)


def _words(us: int) -> str:
    if us >= 1_000_000:
        return f"{us // 1_000_000} s"
    return f"{us // 1000} ms" if us >= 1000 else f"{us} us"
