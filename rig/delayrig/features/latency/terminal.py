# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer in a terminal, and the progress of the measurement."""

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

from delayrig.features.latency import explain, rows
from delayrig.features.latency.explain import MEANING
from delayrig.features.latency.result import LatencyReport, MachineReport
from delayrig.present.console import BAR_WIDTH, LiveBar, fitted, say


class LatencyProgress(LiveBar):
    """The progress: a live bar on a terminal, one line for each place otherwise."""

    def __init__(self, console: Console) -> None:
        super().__init__(
            console,
            TextColumn("{task.description}"),
            BarColumn(bar_width=BAR_WIDTH),
            MofNCompleteColumn(),
            TextColumn("series"),
            TimeElapsedColumn(),
        )

    def preparing(self, what: str) -> None:
        self._console.print(f"making {escape(what)}")

    def begins(self, name: str, steps: int) -> None:
        self._bar.reset(self._task, total=steps, description=escape(name))
        if not self._console.is_terminal:
            say(self._console, f"measuring {name}: {steps} series")

    def did(self, steps: int) -> None:
        self._bar.update(self._task, advance=steps)


def print_report(report: LatencyReport, console: Console) -> None:
    machines = report.machines
    printed: set[str] = set()
    for machine in machines:
        _print_sentences(machine, printed, console)
    tables = [
        rows.place_rows(machines),
        *(rows.proposal_rows(machines), rows.quantile_rows(machines), rows.clock_rows(machines)),
        *(rows.timer_rows(machines), rows.cyclictest_rows(machines), rows.period_rows(machines)),
        *(rows.slack_rows(machines), rows.jitter_rows(machines), rows.power_rows(machines)),
        rows.energy_rows(machines),
    ]
    for each in tables:
        if each.rows:
            console.print()
            console.print(f"[bold]{escape(each.caption)}[/]")
            console.print(fitted(each, titled=False))
    if any(machine.doubt for machine in machines):
        say(console, f"\n{MEANING}")
    for machine in machines:
        if machine.doubt:
            line = f"in doubt on {machine.title}: {machine.doubt}"
            say(console, line, style="yellow")
        for what in machine.missing:
            line = f"missing on {machine.title}: {what}"
            say(console, line, style="yellow")
    for machine in machines:
        console.print(f"\n[bold]{escape(machine.title)}: {escape(explain.say_verdict(machine))}[/]")


def _print_sentences(machine: MachineReport, printed: set[str], console: Console) -> None:
    """Prints the findings of one machine, and each meaning only the first time that it occurs."""
    early, waits = explain.early_of(machine)
    about = f"{machine.about[:1].upper()}{machine.about[1:]}." if machine.about else ""
    found = [
        explain.say_slack(machine),
        explain.say_growth(machine),
        explain.say_cyclictest(machine),
        explain.say_periods(machine),
    ]
    lines = [about, f"{early} of {waits:,} waits ended early.", machine.timers.sentence]
    for each in filter(None, found):
        meaning = "" if each.meaning in printed else each.meaning
        printed.add(each.meaning)
        lines.append(f"{each.figures} {meaning}".rstrip())
    lines += explain.say_waits(machine)
    console.print(f"\n[bold]{escape(machine.title)}[/], kernel {escape(machine.kernel)}")
    say(console, *(f"  {line}" for line in filter(None, lines)))
