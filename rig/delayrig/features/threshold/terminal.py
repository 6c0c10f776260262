# SPDX-License-Identifier: GPL-2.0-or-later
"""The recommendation of a threshold in a terminal."""

from rich.console import Console
from rich.markup import escape

from delayrig.features.threshold.answer import Answer
from delayrig.features.threshold.figures import Cost, Standing
from delayrig.features.threshold.recommendation_text import build_note, build_words, price_words
from delayrig.present.console import FittedTable, fitted
from delayrig.present.tables import Table, words_and_figures

STYLES = {Standing.SAFE: "green", Standing.UNSAFE: "bold red", Standing.DOUBT: "yellow"}
NUMBERS = ("time s", "slower", "CPU s", "wake-ups", "overshoot ms", "margin us")


def print_answer(answer: Answer, console: Console, *, out: str) -> None:
    """Prints the recommendation, how sure it is and how to build it, and then its data."""
    first, *others = answer.lines
    if answer.present is not None:
        console.print(f"[bold]{escape(answer.present.words)}[/]", soft_wrap=True)
    console.print(f"[bold]{escape(first)}[/]", soft_wrap=True)
    if answer.recommended_us is not None:
        for line in build_words(answer.recommended_us):
            console.print(f"  {line}", soft_wrap=True)
        console.print(build_note(answer.recommended_us), soft_wrap=True)
    sure = [*answer.sureness, *(f"In doubt: {doubt}" for doubt in answer.doubts)]
    for line in [*others, *sure]:
        console.print(escape(line), soft_wrap=True)
    console.print()
    fit = fit_table(answer)
    if len(fit.rows) > 1:
        console.print(fit.caption, soft_wrap=True)
        console.print(fitted(fit, titled=False))
        console.print()
    for profile in dict.fromkeys(cost.profile for cost in answer.costs):
        console.print(f"[bold]{escape(profile)}[/]", soft_wrap=True)
        console.print(_costs(answer, profile))
        console.print()
    for finding in answer.findings:
        word = "holds" if finding.holds else "[yellow]does not hold[/]"
        console.print(
            f"{escape(finding.claim)}: {word} on {escape(finding.profile)}: {escape(finding.words)}"
        )
    console.print(f"results: {escape(out)}/threshold.json, threshold.html, pareto.svg")


def fit_table(answer: Answer) -> Table:
    """Returns the table of profiles; it is empty if nothing is recommended."""
    odd = {each.profile for each in answer.odd}
    shown = [each for each in answer.profiles if each.in_set and answer.recommended_us is not None]
    return words_and_figures(
        "Each profile alone: what the common value costs it beside its own best, and what that"
        " would cost the others at most",
        ["profile"],
        ["weight", "own best us", "time", "CPU", "others' time", "others' CPU"],
        [
            [
                f"{each.name} (odd)" if each.name in odd else each.name,
                f"{each.weight}",
                "none" if each.recommended_us is None else f"{each.recommended_us}",
                *price_words(each.here),
                *price_words(each.others),
            ]
            for each in shown
        ],
    )


def _costs(answer: Answer, profile: str) -> FittedTable:
    table = FittedTable(
        ("threshold us", "safe", *NUMBERS, "front"),
        figures=("threshold us", *NUMBERS),
        least=("wake-ups", "overshoot ms"),
    )
    for cost in (cost for cost in answer.costs if cost.profile == profile):
        table.add_row(
            f"{cost.value_us}",
            f"[{STYLES[cost.standing]}]{cost.standing}[/]",
            *figures(cost, answer),
            "*" if cost.on_front else "",
        )
    return table


def figures(cost: Cost, answer: Answer) -> tuple[str, ...]:
    """Returns the figures in the order of NUMBERS."""
    ours = (other for other in answer.costs if other.profile == cost.profile)
    times_ns = [other.time_ns for other in ours if other.standing is Standing.SAFE]
    least_ns = min(times_ns, default=0)
    return (
        f"{cost.time_ns / 1e9:.3f}",
        f"{100 * (cost.time_ns / least_ns - 1):.2f} %" if least_ns else "-",
        f"{cost.cpu_ns / 1e9:.3f}",
        f"{cost.wakeups}",
        f"{cost.overshoot_ns / 1e6:.2f}",
        "-" if cost.margin_ns is None else f"{cost.margin_ns / 1e3:.1f}",
    )
