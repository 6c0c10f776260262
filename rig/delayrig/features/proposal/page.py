# SPDX-License-Identifier: GPL-2.0-or-later
"""The proposal's data on one page: a conclusion, a chart, and tables."""

from markupsafe import Markup

from delayrig.features.proposal.steps import Proposal, StepFigures, advice, conclusion
from delayrig.present.pages.charts import Chart, Colour, new_figure
from delayrig.present.pages.page import Section, paragraph, paragraphs, render_page, table_html
from delayrig.present.tables import Table, words_and_figures

TITLE = "The proposal, step by step"
FIGURES = ("time s", "CPU s", "wake-ups", "overshoot ms", "too short", "cells")


def proposal_page(proposal: Proposal) -> bytes:
    caption = (
        f"Sums over {len(proposal.places)} writes; verdicts over all cells of a step, also of"
        " builds that do not poll the part"
    )
    figures = words_and_figures(
        "Each step on top of those before it", ["step"], FIGURES, map(step_values, proposal.steps)
    )
    steps = proposal_chart(proposal).html(caption=caption, table=figures)
    order = paragraphs(advice(proposal))
    return render_page(
        title=TITLE,
        summary=paragraph(conclusion(proposal)),
        sections=[
            Section(key="steps", title="Each step on top of those before", body=steps),
            Section(key="order", title="In which order to land them", body=order),
            Section(key="cells", title="Speeds, cores and chips", body=_cells(proposal)),
        ],
    )


def proposal_chart(proposal: Proposal) -> Chart:
    panels = (
        ("total time, s", Colour.FIRST, [step.time_ns / 1e9 for step in proposal.steps], "{:.1f}"),
        ("CPU time, s", Colour.SECOND, [step.cpu_ns / 1e9 for step in proposal.steps], "{:.1f}"),
        ("wake-ups", Colour.FIFTH, [float(step.wakeups) for step in proposal.steps], "{:.0f}"),
        ("too short", Colour.BAD, [float(step.too_short) for step in proposal.steps], "{:.0f}"),
    )
    names = [step.title for step in proposal.steps]
    with new_figure(height_in=2.6) as figure:
        for number, (title, colour, values, form) in enumerate(panels):
            axes = figure.add_subplot(1, len(panels), number + 1)
            bars = axes.barh(names, values, color=colour, height=0.6)
            labels = [form.format(value) for value in values]
            axes.bar_label(bars, labels=labels, padding=3, fontsize=8)
            axes.set_title(title)
            axes.set_xlim(0, (max(values) or 1) * 1.35)
            axes.set_xticks([])
            axes.spines["bottom"].set_visible(False)
            axes.invert_yaxis()
            if number:
                axes.set_yticklabels([])
    description = "; ".join(
        f"{step.title}: {step.time_ns / 1e9:.2f} s, CPU {step.cpu_ns / 1e9:.2f} s,"
        f" {step.wakeups} wake-ups, {step.too_short} of {step.judged} too short"
        for step in proposal.steps
    )
    return Chart(title=TITLE, description=description, figure=figure)


def step_values(step: StepFigures) -> list[str]:
    """Returns the step's title and its figures in the order of FIGURES."""
    return [
        step.title,
        *(f"{ns / 1e9:.3f}" for ns in (step.time_ns, step.cpu_ns)),
        f"{step.wakeups}",
        f"{step.overshoot_ns / 1e6:.1f}",
        *(f"{count}" for count in (step.too_short, step.judged)),
    ]


def _cells(proposal: Proposal) -> Markup:
    titles = [step.title for step in proposal.steps]
    times = f"Total time in s, by cell and step: {', '.join(titles)}"
    left_out = paragraphs(f"Left out: {line}" for line in proposal.left_out)
    return (
        table_html(_place_table(proposal, times, "time_ns"))
        + table_html(_place_table(proposal, "CPU time in s, by cell and step", "cpu_ns"))
        + left_out
    )


def _place_table(proposal: Proposal, caption: str, figure: str) -> Table:
    rows = []
    for place in proposal.places:
        marks = ["" if verdict == "pass" else " *" for verdict in place.verdicts]
        pairs = zip(getattr(place, figure), marks, strict=True)
        rows.append([place.words, *(f"{ns / 1e9:.3f}{mark}" for ns, mark in pairs)])
    return words_and_figures(
        f"{caption}; * where waits were too short",
        ["guest and part"],
        [step.title for step in proposal.steps],
        rows,
    )
