# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer in a terminal."""

from rich.console import Console
from rich.markup import escape

from delayrig.analysis.threshold.answer import Answer
from delayrig.analysis.threshold.figures import Cost, Standing
from delayrig.analysis.threshold.words import build_line
from delayrig.present.terminal.table import FittedTable

STYLES = {Standing.SAFE: "green", Standing.UNSAFE: "bold red", Standing.DOUBT: "yellow"}
NUMBERS = ("time s", "slower", "CPU s", "wake-ups", "overshoot ms", "margin us")


def print_answer(answer: Answer, console: Console, *, out: str) -> None:
    """The recommendation, how sure it is and how to build it; then what it rests on."""
    first, *others = answer.lines
    console.print(f"[bold]{escape(first)}[/]", soft_wrap=True)
    if answer.recommended_us is not None:
        console.print(build_line(answer.recommended_us), soft_wrap=True)
    sure = [*answer.sureness, *(f"In doubt: {doubt}" for doubt in answer.doubts)]
    for line in [*others, *sure]:
        console.print(escape(line), soft_wrap=True)
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
    """In the order of NUMBERS."""
    least = min(
        (
            other.time_ns
            for other in answer.costs
            if other.profile == cost.profile and other.standing is Standing.SAFE
        ),
        default=0,
    )
    return (
        f"{cost.time_ns / 1e9:.3f}",
        f"{100 * (cost.time_ns / least - 1):.2f} %" if least else "-",
        f"{cost.cpu_ns / 1e9:.3f}",
        f"{cost.wakeups}",
        f"{cost.overshoot_ns / 1e6:.2f}",
        "-" if cost.margin_ns is None else f"{cost.margin_ns / 1e3:.1f}",
    )
