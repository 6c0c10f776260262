# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer in a terminal."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from delayrig.analysis.threshold.answer import Answer
from delayrig.analysis.threshold.figures import Cost, Standing

STYLES = {Standing.SAFE: "green", Standing.UNSAFE: "bold red", Standing.DOUBT: "yellow"}
NUMBERS = ("time s", "slower", "CPU s", "wake-ups", "overshoot ms", "margin us")


def print_answer(answer: Answer, console: Console, *, out: str) -> None:
    """Tables of what it rests on, then the recommendation and why."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("profile", overflow="fold")
    table.add_column("threshold us", justify="right", no_wrap=True)
    table.add_column("safe", no_wrap=True)
    for name in NUMBERS:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("front", no_wrap=True)
    for cost in answer.costs:
        table.add_row(
            cost.profile,
            f"{cost.value_us}",
            f"[{STYLES[cost.standing]}]{cost.standing}[/]",
            *figures(cost, answer),
            "*" if cost.on_front else "",
        )
    console.print(table)
    console.print()
    for finding in answer.findings:
        word = "holds" if finding.holds else "[yellow]does not hold[/]"
        console.print(
            f"{escape(finding.claim)}: {word} on {escape(finding.profile)}: {escape(finding.words)}"
        )
    console.print()
    for number, line in enumerate(answer.lines):
        console.print(f"[bold]{escape(line)}[/]" if number == 0 else escape(line), soft_wrap=True)
    for line in [*answer.sureness, *(f"In doubt: {doubt}" for doubt in answer.doubts)]:
        console.print(escape(line), soft_wrap=True)
    console.print(f"results: {escape(out)}/threshold.json, threshold.html, pareto.svg")


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
