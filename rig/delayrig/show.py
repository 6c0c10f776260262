# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run looks like in a terminal: the progress, the table, the answer."""

import os
import shlex
import sys
from collections.abc import Sequence
from typing import Self

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from delayrig.benchmark import CellBenchmark, JobCost
from delayrig.determinism import Determinism, Repeat
from delayrig.errors import ExitCode
from delayrig.exit_code import exit_code_of, is_expected
from delayrig.fault_campaign import EmulatorEnd, FaultRun
from delayrig.fault_scene import is_finding
from delayrig.guest.platform import Arch, labelled
from delayrig.result import CellResult, ContrastVerdict, Results, Verdict
from delayrig.shrink import Shrunk, Step
from delayrig.times import TimeRow
from delayrig.verdict import describe
from delayrig.waste import CallSiteWaste, OperationWaste, Waste

STYLES = {
    Verdict.PASS: "green",
    Verdict.TOO_SHORT: "bold red",
    Verdict.CORRUPT: "bold red",
    Verdict.OP_FAILED: "red",
    Verdict.HUNG: "red",
    Verdict.INCONCLUSIVE: "yellow",
    Verdict.INFRA_ERROR: "bold magenta",
    Verdict.SKIPPED: "dim",
}
CONTRAST_STYLES = {
    ContrastVerdict.SEEN: "green",
    ContrastVerdict.MISSING: "bold red",
    ContrastVerdict.UNJUDGED: "yellow",
}
PIPE_WIDTH = 200
WIDE = 140
DEAREST = 8
"""Jobs that a benchmark names one by one."""
TIMES = ("total s", "CPU s", "chip busy s", "overshoot s")


class PatientConsole(Console):
    """Goes on in silence where nobody reads any more: rich would end with 1, which is a verdict."""

    def on_broken_pipe(self) -> None:
        """Of `... | head`."""
        self.quiet = True
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.file.fileno())
        os.close(nowhere)


def make_console(*, stderr: bool = False, no_color: bool = False) -> Console:
    """A console that keeps to NO_COLOR and to --no-color; a pipe is wide."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else PIPE_WIDTH
    return PatientConsole(
        stderr=stderr, no_color=no_color or None, highlight=False, width=width, soft_wrap=False
    )


class RunProgress:
    """A live bar on a terminal; a line per cell elsewhere."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._verdicts: dict[Verdict, int] = {}
        self._done = 0
        self._cells = 0
        self._bar = Progress(
            SpinnerColumn(),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )
        self._task = self._bar.add_task("preparing", total=None)

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def preparing(self, what: str) -> None:
        """Says what is made before cells can run."""
        self._bar.update(self._task, description=escape(what))
        self._console.print(f"making {escape(what)}")

    def round_begins(self, number: int, rounds: int) -> None:
        """Of several; each has all cells again."""
        if rounds > 1:
            self._console.print(f"round {number} of {rounds}", markup=False)

    def started(self, cells: int) -> None:
        """The bar has a length from now on."""
        self._done = 0
        self._cells = cells
        self._bar.reset(self._task, total=cells, description="running")

    def finished(self, result: CellResult) -> None:
        """Counts one cell."""
        self._done += 1
        self._verdicts[result.verdict] = self._verdicts.get(result.verdict, 0) + 1
        so_far = " ".join(
            f"[{STYLES[verdict]}]{count} {verdict}[/]" for verdict, count in self._verdicts.items()
        )
        self._bar.update(self._task, advance=1, description=so_far)
        if not self._console.is_terminal:
            self._console.print(
                f"[{self._done}/{self._cells}] {result.verdict} {escape(result.id)}"
                f" ({result.host_s:.2f} s)",
                markup=False,
            )


class ManyRuns(RunProgress):
    """A bar for each of many runs, on a terminal only."""

    def finished(self, result: CellResult) -> None:
        """Counts one cell."""
        if self._console.is_terminal:
            super().finished(result)

    def began(self, what: str) -> None:
        """Says what the next run is."""
        self._console.print(escape(what))


class RepeatProgress(ManyRuns):
    """A line for each repeat."""

    def __init__(self, console: Console, repeats: int) -> None:
        super().__init__(console)
        self._repeats = repeats

    def repeated(self, repeat: Repeat) -> None:
        """One repeat is done: what was found in it."""
        found = [f"differs: {line}" for line in repeat.differences]
        found += [f"doubt: {line}" for line in repeat.doubts]
        same = "not shown to be the same" if found else "all the same"
        self._console.print(
            f"repeat {repeat.number + 1} of {self._repeats} ({repeat.condition}):"
            f" {repeat.compared} cells, {same}",
            markup=False,
        )
        for line in found:
            self._console.print(f"  {line}", markup=False, soft_wrap=True)

    def answered(self, answer: Determinism, file: str) -> None:
        """One sentence: are virtual times exact?"""
        cells = sum(repeat.compared for repeat in answer.repeats)
        what = f"{cells} cells, {len(answer.shapes)} shapes {len(answer.repeats)} times"
        match answer.exit_code:
            case ExitCode.PASS:
                verdict = f"Exact: {what}, all the same to the nanosecond."
            case ExitCode.RIG_FAULT:
                verdict = f"Not exact: {what}, and not all are the same."
            case _:
                verdict = f"Not shown to be exact: {what}."
        self._console.print(f"[bold]{verdict}[/]")
        self._console.print(f"Not tried: {', '.join(answer.not_tried)}.", markup=False)
        self._console.print(f"results: {file}", markup=False, soft_wrap=True)


def cell_table(results: Results, width: int) -> Table:
    """Every cell: what it was, its verdict, programming time and CPU time side by side.

    A narrow terminal gets the columns that matter most, their words folded.
    """
    wide = width >= WIDE
    table = Table(
        box=None, pad_edge=False, header_style="bold", padding=(0, 2 if wide else 1, 0, 0)
    )
    table.add_column("subject", overflow="fold", no_wrap=wide)
    table.add_column("MIPS", justify="right", no_wrap=True)
    table.add_column("cores", justify="right", no_wrap=True)
    for name in ("hazards", "chip"):
        table.add_column(name, overflow="fold", no_wrap=wide)
    table.add_column("job", no_wrap=True)
    table.add_column("verdict", overflow="fold", no_wrap=wide, min_width=9)
    for name in TIMES if wide else TIMES[:2]:
        table.add_column(name, justify="right", no_wrap=True)
    for cell in results.cells:
        table.add_row(
            escape(subject_name(cell)),
            _speeds(cell.guest.mips) or cell.lane,
            str(cell.guest.cores),
            "+".join(cell.hazards) or "-",
            f"{cell.chip} {cell.corner}",
            cell.job,
            f"[{STYLES[cell.verdict]}]{cell.verdict}[/]{expectation(cell)}",
            *(_times(cell) if wide else _times(cell)[:2]),
        )
    return table


def contrast_table(results: Results) -> Table:
    """What had to cost a multiple of another subject's figure in the same cell, and did."""
    names = {cell.id: cell.subject.name for cell in results.cells}
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in ("contrast", "cell", "against"):
        table.add_column(name, overflow="fold")
    for name in ("figure", "s", "against s", "ratio", "at least"):
        table.add_column(name, justify="right", no_wrap=True)
    for contrast in results.contrasts:
        style = CONTRAST_STYLES[contrast.verdict]
        table.add_row(
            f"[{style}]{contrast.verdict}[/]",
            escape(contrast.cell),
            escape(names[contrast.against]),
            contrast.figure,
            _seconds(contrast.ours_ns),
            _seconds(contrast.theirs_ns),
            "-" if contrast.ratio is None else f"{contrast.ratio:.1f}",
            f"{contrast.at_least:g}",
        )
    return table


def print_benchmark(found: CellBenchmark, console: Console) -> None:
    """Where the time of cells goes, and what they cost in other ways."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("stage")
    for name in ("median ms", "total s"):
        table.add_column(name, justify="right")
    for stage in found.stages:
        table.add_row(stage.name, f"{stage.median_s * 1e3:.1f}", f"{stage.total_s:.2f}")
    console.print(table)
    console.print()
    console.print(_dearest_jobs(found.jobs))
    ways = {
        "one at a time": found.alone,
        f"{found.together.jobs} at a time": found.together,
        "a QEMU for each": found.apart,
        "some, restored": found.restored,
        "the same, booted": found.booted,
    }
    console.print()
    for name, cost in ways.items():
        console.print(
            f"{name:16} {cost.cells:4} cells: median {cost.median_s:.3f} s,"
            f" {cost.cells_a_minute:.0f} a minute, {cost.cpu_s / cost.cells:.3f} s of CPU each"
        )
    ratio = found.booted.cpu_s / found.restored.cpu_s
    console.print(f"[bold]A booted cell takes {ratio:.1f} times the CPU of a restored one.[/]")


def _dearest_jobs(jobs: list[JobCost]) -> Table:
    """What cost this host most, beside what it would have taken on a real chip."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("dearest jobs", overflow="fold")
    for name in ("host s", "guest s", "chip busy s", "times faster", "transfers"):
        table.add_column(name, justify="right", no_wrap=True)
    for job in jobs[:DEAREST]:
        seconds = (job.job_s, job.total_s, job.chip_busy_s)
        table.add_row(
            escape(job.cell),
            *(f"{length:.2f}" for length in seconds),
            f"{job.times_faster:.1f}",
            f"{job.transfers}",
        )
    return table


def show_fault_run(run: FaultRun) -> None:
    """One line of a fault campaign; what it found, and how to see it again."""
    scene = run.scene
    told = f"{run.end:8} {run.subject} {scene.run}: {scene.chip} {scene.job} {scene.fault}"
    click.echo(f"{told} ({run.faults} faults, {run.host_s:.1f} s)")
    if is_finding(run.end) or run.emulator is EmulatorEnd.FAILED:
        click.echo(f"    exit code {run.exit_code}, emulator {run.emulator}; it said: {run.said}")
        click.echo(f"    again: {run.rerun}")


def show_step(step: Step) -> None:
    """One attempt to make a cell simpler."""
    click.echo(f"{'kept' if step.kept else 'no  '}  {step.what}: {step.verdict}")


def show_shrunk(shrunk: Shrunk, plan: str) -> None:
    """What was found, why, and the line that runs it."""
    click.echo()
    if not shrunk.complete:
        click.echo("The time was up: there may be a simpler one.")
    click.echo(f"{shrunk.result.verdict} {shrunk.cell.id}")
    click.echo(f"  {shrunk.result.reason}")
    click.echo(shlex.join(["rig/rig", "run", "--plan", plan, "--seed", str(shrunk.cell.seed)]))


def time_table(rows: list[TimeRow], *, beside: str) -> Table:
    """What each cell took, and the least that it could have."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in ("subject", "chip", "job", "verdict"):
        table.add_column(name, overflow="fold")
    for name in ("KiB", "MIPS", "cores", "total s", "busy s", "floor s", "ratio", "overshoot s"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("transfers", justify="right", no_wrap=True)
    table.add_column(f"{escape(beside)} s", justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            escape(row.subject),
            f"{row.chip} {row.corner}",
            row.job,
            f"[{STYLES[row.verdict]}]{row.verdict}[/]",
            f"{row.region_bytes / 1024:g}",
            "-" if row.mips is None else f"{round(row.mips)}",
            f"{row.cores}",
            *(_seconds(ns) for ns in (row.total_ns, row.chip_busy_ns, row.floor_ns)),
            "-" if row.ratio is None else f"{row.ratio:.3f}",
            _seconds(row.overshoot_ns),
            f"{row.transfers}" + (f"/{row.floor_transfers}" if row.floor_transfers else ""),
            _seconds(row.beside_ns),
        )
    return table


def waste_tables(waste: Waste) -> list[Table]:
    """Where a flashrom waits for nothing: by operation, and by who asked for a delay."""
    operations = _waste_table("operation", ("busy s",))
    for row in waste.operations:
        words = escape(row.subject), row.phase, row.operation, f"{row.count}"
        operations.add_row(*words, _seconds(row.busy_ns), *_waste_figures(row))
    sites = _waste_table("delay asked for at", ("asked s", "took s"))
    for site in waste.call_sites:
        lines = escape("\n  ".join(site.call_site.split(" < ")))
        words = escape(site.subject), site.phase, lines, f"{site.count}"
        times = _seconds(site.requested_ns), _seconds(site.actual_ns)
        sites.add_row(*words, *times, *_waste_figures(site))
    return [table for table in (operations, sites) if table.row_count]


def _waste_table(what: str, figures: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in ("subject", "phase", what):
        table.add_column(name, overflow="fold")
    for name in ("times", *figures, "for nothing s", "each us", "most us"):
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _waste_figures(row: OperationWaste | CallSiteWaste) -> tuple[str, str, str]:
    each_us, most_us = row.waste_ns / row.count / 1000, row.waste_ns_max / 1000
    return f"{row.waste_ns / 1e9:.6f}", f"{each_us:.1f}", f"{most_us:.1f}"


def _seconds(ns: int | None) -> str:
    return "-" if ns is None else f"{ns / 1e9:.3f}"


def subject_name(cell: CellResult) -> str:
    """Whose cell it is, and what it is there for where it measures nothing."""
    name = labelled(cell.subject.name, Arch(cell.guest.arch))
    return name if cell.role == "measure" else f"{name} ({cell.role})"


def expectation(cell: CellResult) -> str:
    """What stands behind a verdict that its plan has something to say of."""
    if cell.expect == "pass":
        return ""
    if is_expected(cell):
        return " (expected)" if cell.verdict is not Verdict.PASS else ""
    return f" (expected {cell.expect})"


def _times(cell: CellResult) -> list[str]:
    if cell.time_ns.total == 0:
        return ["-"] * len(TIMES)
    numbers = (cell.time_ns.total, cell.total_cpu_ns, cell.chip_busy_ns, cell.overshoot_ns)
    return [f"{number / 1e9:.3f}" for number in numbers]


def print_results(results: Results, code: ExitCode, console: Console, *, out: str) -> None:
    """The table, the evidence of whatever is not a pass, and the answer."""
    console.print(cell_table(results, console.width))
    for cell in results.cells:
        if cell.verdict is not Verdict.PASS:
            _print_findings(cell, console)
    if results.contrasts:
        console.print()
        console.print(contrast_table(results))
    console.print()
    console.print(f"[bold]{answer(results, code)}[/]")
    for remark in remarks(results):
        console.print(remark)
    if out:
        console.print(f"results: {escape(out)}/results.json")


def _print_findings(cell: CellResult, console: Console) -> None:
    console.print(f"\n[{STYLES[cell.verdict]}]{cell.verdict}[/] {escape(cell.id)}")
    if not cell.evidence:
        console.print(f"  {escape(cell.reason)}")
    for item in cell.evidence:
        times = f" ({item.count} times, the worst shown)" if item.count > 1 else ""
        console.print(f"  {item.witness} witness: {escape(describe(item))}{times}")
    if not is_expected(cell):
        console.print(f"  again: {escape(cell.rerun)}", soft_wrap=True)


def remarks(results: Results) -> list[str]:
    """What is to be borne in mind beside the answer."""
    found = []
    if not {"canary", "control"} <= {cell.role for cell in results.cells}:
        found.append("No canary and control were among the cells: nothing shows that the rig sees.")
    if results.run.lock != "same":
        found.append("lock: differs - the archive has moved on since images/lock.toml was made")
    return found


def answer(results: Results, code: ExitCode) -> str:
    """One sentence: was any operation timed too short?"""
    cells = results.cells
    short = [cell for cell in cells if cell.verdict in (Verdict.TOO_SHORT, Verdict.CORRUPT)]
    expected = [cell for cell in short if exit_code_of(cell) is ExitCode.PASS]
    passed = sum(cell.verdict is Verdict.PASS for cell in cells)
    found = f"{len(short)} too short or corrupt ({len(expected)} of them expected)"
    counts = f"{len(cells)} of {results.run.cells_planned} cells: {passed} pass, {found}"
    match code:
        case ExitCode.PASS:
            return f"Nothing was timed too short but what was expected. {counts}."
        case ExitCode.UNSAFE:
            return f"Something was timed too short, or an expected conviction is missing. {counts}."
        case ExitCode.RIG_FAULT:
            return f"The rig itself failed; this run says nothing. {counts}."
        case ExitCode.SKIPPED:
            return f"Every cell was skipped. {counts}."
        case _:
            return f"In doubt: some cells could not be judged. {counts}."


def _speeds(mips: list[float]) -> str:
    """One figure where all cores are alike, else one for each."""
    alike = len(set(mips)) == 1
    return ":".join(f"{round(speed)}" for speed in (mips[:1] if alike else mips))
