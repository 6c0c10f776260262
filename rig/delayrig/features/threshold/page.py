# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of a comparison: the recommendation, the Pareto fronts, and the data behind them."""

from typing import Any

from markupsafe import Markup

from delayrig.features.threshold.answer import Answer
from delayrig.features.threshold.figures import Cost, Standing
from delayrig.features.threshold.recommendation_text import build_note, build_words
from delayrig.features.threshold.terminal import NUMBERS, figures, fit_table
from delayrig.present.pages.charts import SERIES, Chart, Colour, new_figure
from delayrig.present.pages.page import Section, paragraph, paragraphs, render_page, table_html
from delayrig.present.tables import Table, words_and_figures

TITLE = "Time and CPU time of each threshold"
CAPTION = "CPU time over total time by threshold; filled points are on the Pareto front"


def threshold_page(answer: Answer) -> bytes:
    first, *others = answer.lines
    present = [answer.present.words] if answer.present else []
    fronts = front_chart(answer).html(caption=CAPTION, table=_cost_table(answer))
    return render_page(
        title="Which sleep threshold to take",
        summary=paragraphs([*present, first]) + _build(answer.recommended_us),
        sections=[
            Section(key="fronts", title="What each threshold costs", body=fronts),
            Section(key="why", title="Why this one", body=paragraphs(others)),
            Section(key="sure", title="How sure that is", body=_sure(answer)),
            Section(key="alone", title="Each profile alone", body=table_html(fit_table(answer))),
            Section(key="reasoning", title="The proposal's reasoning here", body=_findings(answer)),
            Section(key="sleep", title="What sleeping costs here", body=table_html(_sleep(answer))),
        ],
    )


def _build(value_us: int | None) -> Markup:
    if value_us is None:
        return Markup("")
    block = Markup("<pre>{}</pre>")
    lines = (block.format(line) for line in build_words(value_us))
    return Markup("").join(lines) + paragraph(build_note(value_us))


def _sure(answer: Answer) -> Markup:
    lines = [*answer.sureness, *(f"In doubt: {doubt}" for doubt in answer.doubts)]
    jobs = f"Jobs: {'; '.join(answer.jobs)}. Program: {answer.subject}."
    rule = (
        "The rule: of the values that were safe in every cell, those within 2 % of the quickest in"
        " every profile that is not left out; of these, those within 5 % of the least CPU time; of"
        " these, the smallest whose plain sleeps are late by no more than 10 %."
    )
    return paragraphs([*lines, rule, jobs])


def front_chart(answer: Answer) -> Chart:
    names = list(dict.fromkeys(cost.profile for cost in answer.costs))
    with new_figure(height_in=3.2 * len(names)) as figure:
        for number, name in enumerate(names):
            axes = figure.add_subplot(len(names), 1, number + 1)
            costs = [cost for cost in answer.costs if cost.profile == name]
            _draw_profile(axes, costs, answer, SERIES[number % len(SERIES)])
            axes.set(title=name, ylabel="CPU time, s")
            axes.grid(visible=True)
        axes.set_xlabel("% more time than the fastest; dashed: the 2 % that the rule allows")
    on_front = "; ".join(
        f"{cost.profile}, {cost.value_us} us: {cost.time_ns / 1e9:.3f} s,"
        f" CPU {cost.cpu_ns / 1e9:.3f} s"
        for cost in answer.costs
        if cost.on_front
    )
    return Chart(title=TITLE, description=f"On the front: {on_front}", figure=figure)


def _draw_profile(axes: Any, costs: list[Cost], answer: Answer, colour: Colour) -> None:
    points = _points(costs)
    front = sorted(points[cost.value_us] for cost in costs if cost.on_front)
    if front:
        axes.step(*zip(*front, strict=True), where="post", color=colour, linewidth=1)
    axes.axvline(2, color=Colour.SOFT, linewidth=1, linestyle="--")
    for cost in costs:
        point_colour = colour if cost.standing is Standing.SAFE else Colour.BAD
        chosen = cost.value_us == answer.recommended_us
        axes.plot(
            *([figure] for figure in points[cost.value_us]),
            marker="D" if chosen else "o",
            markersize=9 if chosen else 6,
            markerfacecolor=point_colour if cost.on_front else Colour.GROUND,
            markeredgecolor=point_colour,
            linestyle="",
        )
    for words, point in _labels(points):
        axes.annotate(words, point, xytext=(7, 5), textcoords="offset points", fontsize=8)
    axes.set_xlim(-0.05, 1.15 * max(2.1, *(slower for slower, _ in points.values())))
    axes.set_ylim(0, 1.2 * max(cpu_s for _, cpu_s in points.values()))


def _points(costs: list[Cost]) -> dict[int, tuple[float, float]]:
    """Returns each value's extra time over the fastest in percent, and its CPU time in seconds."""
    least = min(cost.time_ns for cost in costs) or 1
    return {cost.value_us: (100 * (cost.time_ns / least - 1), cost.cpu_ns / 1e9) for cost in costs}


def _labels(points: dict[int, tuple[float, float]]) -> list[tuple[str, tuple[float, float]]]:
    """Returns labels with their positions. Values whose points are close share one label."""
    wide = max(2.1, *(slower for slower, _ in points.values()))
    high = max(cpu_s for _, cpu_s in points.values()) or 1.0
    groups: list[tuple[list[int], tuple[float, float]]] = []
    for value, (slower, cpu_s) in sorted(points.items()):
        for values, (other, other_s) in groups:
            if abs(slower - other) < 0.12 * wide and abs(cpu_s - other_s) < 0.05 * high:
                values.append(value)
                break
        else:
            groups.append(([value], (slower, cpu_s)))
    return [(f"{', '.join(map(str, values))} us", point) for values, point in groups]


def _cost_table(answer: Answer) -> Table:
    return Table(
        caption="Each value in each profile, its jobs summed up",
        columns=("profile", "threshold us", "safe", *NUMBERS, "on the front"),
        figures=("threshold us", *NUMBERS),
        rows=[
            [
                *(cost.profile, f"{cost.value_us}", cost.standing, *figures(cost, answer)),
                "yes" if cost.on_front else "",
            ]
            for cost in answer.costs
        ],
    )


def _findings(answer: Answer) -> Markup:
    if not answer.findings:
        return paragraph("Nothing was measured of it: the plan has no cell of `sleep-facts`.")
    return table_html(
        Table(
            caption="Claims of the proposal, each in each profile",
            columns=("claim", "profile", "holds", "measured"),
            rows=[
                [each.claim, each.profile, "yes" if each.holds else "no", each.words]
                for each in answer.findings
            ],
        )
    )


def _sleep(answer: Answer) -> Table:
    lengths = (1, 100, 1000)
    rows = []
    for profile in answer.profiles:
        facts = profile.sleep
        if facts is None:
            continue
        for way in dict.fromkeys(row.way for row in facts.sleeps):
            late = [facts.sleep(way, length) for length in lengths]
            late_ns = [row.late_ns_p50 if row else None for row in late]
            figures_ns = (*late_ns, facts.yield_ns, facts.switch_ns)
            shown = ("-" if ns is None else f"{ns / 1e3:.1f}" for ns in figures_ns)
            rows.append([profile.name, way, *shown])
    return words_and_figures(
        "How late plain sleeps end in us (medians), sched_yield and a process switch",
        ["profile", "priority, slack"],
        [*(f"{length} us" for length in lengths), "sched_yield", "switch"],
        rows,
    )
