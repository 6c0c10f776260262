# SPDX-License-Identifier: GPL-2.0-or-later
"""One page, one plot, one paragraph: the proposal as its data tells it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from markupsafe import Markup

from delayrig.analysis.proposal.conclusion_text import advice, conclusion
from delayrig.analysis.proposal.steps import PlaceFigures, Proposal, StepFigures
from delayrig.present.pages.charts import Colour, chart_html, new_figure, svg_file, svg_of
from delayrig.present.pages.page import Section, paragraph, render_page, table_html
from delayrig.present.tables import Table, words_and_figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "The proposal, step by step"
HEIGHT_IN = 2.6


def proposal_page(proposal: Proposal) -> bytes:
    """The whole file."""
    return render_page(
        title=TITLE,
        summary=paragraph(conclusion(proposal)),
        sections=[
            Section(key="steps", title="Each step on top of those before", body=_chart(proposal)),
            Section(key="order", title="In which order to land them", body=_advice(proposal)),
            Section(key="cells", title="Speeds, cores and chips", body=_cells(proposal)),
        ],
    )


def proposal_svg(proposal: Proposal) -> bytes:
    """The plot alone, as a file for a README."""
    with new_figure(height_in=HEIGHT_IN) as figure:
        _draw(figure, proposal)
        return svg_file(figure, title=TITLE, description=_description(proposal))


def _chart(proposal: Proposal) -> Markup:
    with new_figure(height_in=HEIGHT_IN) as figure:
        _draw(figure, proposal)
        svg = svg_of(figure, title=TITLE, description=_description(proposal))
    caption = (
        f"Sums over {len(proposal.places)} writes; verdicts over all cells of a step, those whose"
        " busy waits ask nothing among them"
    )
    return chart_html(svg, caption=caption, table=_step_table(proposal))


def _draw(figure: "Figure", proposal: Proposal) -> None:
    panels = (
        ("total time, s", Colour.FIRST, [step.time_ns / 1e9 for step in proposal.steps], "{:.1f}"),
        ("CPU time, s", Colour.SECOND, [step.cpu_ns / 1e9 for step in proposal.steps], "{:.1f}"),
        ("wake-ups", Colour.FIFTH, [float(step.wakeups) for step in proposal.steps], "{:.0f}"),
        ("too short", Colour.BAD, [float(step.too_short) for step in proposal.steps], "{:.0f}"),
    )
    names = [step.title for step in proposal.steps]
    for number, (title, colour, values, form) in enumerate(panels):
        axes = figure.add_subplot(1, len(panels), number + 1)
        bars = axes.barh(names, values, color=colour, height=0.6)
        axes.bar_label(bars, labels=[form.format(value) for value in values], padding=3, fontsize=8)
        axes.set_title(title)
        axes.set_xlim(0, (max(values) or 1) * 1.35)
        axes.set_xticks([])
        axes.spines["bottom"].set_visible(False)
        axes.invert_yaxis()
        if number:
            axes.set_yticklabels([])


def _description(proposal: Proposal) -> str:
    return "; ".join(
        f"{step.title}: {step.time_ns / 1e9:.2f} s, CPU {step.cpu_ns / 1e9:.2f} s,"
        f" {step.wakeups} wake-ups, {step.too_short} of {step.judged} too short"
        for step in proposal.steps
    )


def _step_table(proposal: Proposal) -> Table:
    return words_and_figures(
        "Each step on top of those before it",
        ["step"],
        ["time s", "CPU s", "wake-ups", "overshoot ms", "too short", "cells"],
        [step_values(step) for step in proposal.steps],
    )


def step_values(step: StepFigures) -> list[str]:
    """A step's row of a table."""
    return [
        step.title,
        f"{step.time_ns / 1e9:.3f}",
        f"{step.cpu_ns / 1e9:.3f}",
        f"{step.wakeups}",
        f"{step.overshoot_ns / 1e6:.1f}",
        f"{step.too_short}",
        f"{step.judged}",
    ]


def _advice(proposal: Proposal) -> Markup:
    return Markup("").join(paragraph(line) for line in advice(proposal))


def _cells(proposal: Proposal) -> Markup:
    titles = [step.title for step in proposal.steps]
    parts = [
        _place_table(
            proposal, f"Total time in s, by cell and step: {', '.join(titles)}", "time_ns"
        ),
        _place_table(proposal, "CPU time in s, by cell and step", "cpu_ns"),
    ]
    left = [paragraph(f"Left out: {line}") for line in proposal.left_out]
    return Markup("").join([*parts, *left])


def _place_table(proposal: Proposal, caption: str, figure: str) -> Markup:
    return table_html(
        words_and_figures(
            f"{caption}; * where waits were too short",
            ["guest and part"],
            [step.title for step in proposal.steps],
            [[place.words, *_place_values(place, figure)] for place in proposal.places],
        )
    )


def _place_values(place: PlaceFigures, figure: str) -> Iterator[str]:
    for value, verdict in zip(getattr(place, figure), place.verdicts, strict=True):
        yield f"{value / 1e9:.3f}{'' if verdict == 'pass' else ' *'}"
