# SPDX-License-Identifier: GPL-2.0-or-later
"""The rig's checks of itself: exact times, answers to known-bad builds, and its cost."""

from rich.console import Console
from rich.markup import escape

from delayrig.base.errors import ExitCode
from delayrig.features.selfcheck.benchmark import CellBenchmark, JobCost, WorkersBenchmark
from delayrig.features.selfcheck.determinism import Determinism, Repeat
from delayrig.features.selfcheck.known_bad import WANTED, KnownBad, reason_of, summary
from delayrig.model.result import CellResult
from delayrig.present.console import FittedTable, RunProgress, plain_table, say
from delayrig.subjects.known_bad import Mistake

DEAREST = 8
"""The number of jobs that are named one by one."""


class ManyRuns(RunProgress):
    """A bar for each of many runs, on a terminal only."""

    def finished(self, result: CellResult) -> None:
        if self._console.is_terminal:
            super().finished(result)

    def began(self, what: str) -> None:
        self._console.print(escape(what))


class RepeatProgress(ManyRuns):
    def __init__(self, console: Console, repeats: int) -> None:
        super().__init__(console)
        self._repeats = repeats

    def repeated(self, repeat: Repeat) -> None:
        found = [f"differs: {line}" for line in repeat.differences]
        found += [f"doubt: {line}" for line in repeat.doubts]
        same = "not shown to be the same" if found else "all the same"
        self._console.print(
            f"repeat {repeat.number + 1} of {self._repeats} ({repeat.condition}):"
            f" {repeat.compared} cells, {same}",
            markup=False,
        )
        say(self._console, *(f"  {line}" for line in found))

    def answered(self, answer: Determinism, file: str) -> None:
        """Prints whether virtual times are exact, what was not tried, and the file of results."""
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
        say(self._console, f"results: {file}")


def print_known_bad(answer: KnownBad, console: Console) -> None:
    """Prints the outcome for each build, and a summary."""
    for build in answer.builds:
        mark = "as it must be" if build.right else f"wanted {WANTED[build.kind]}"
        say(console, f"{build.outcome:9} {mark:15} {build.kind:8} {build.name}: {reason_of(build)}")
    console.print(f"[bold]{summary(answer)}[/]")


def print_table(mistakes: list[Mistake], console: Console) -> None:
    for mistake in mistakes:
        sight = f" ({mistake.sight})" if mistake.sight != "nobody" else ""
        say(console, f"{mistake.kind:8} {mistake.name}{sight}: {mistake.what}")


def print_benchmark(found: CellBenchmark, console: Console) -> None:
    """Prints the time of each stage of cells, and the cost of other ways to run them."""
    table = plain_table(["stage"], ("median ms", "total s"))
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


def _dearest_jobs(jobs: list[JobCost]) -> FittedTable:
    """Returns the table of jobs that cost this host most, beside their time on a real chip."""
    table = plain_table(
        ["dearest jobs"], ("host s", "guest s", "chip busy s", "times faster", "transfers")
    )
    for job in jobs[:DEAREST]:
        seconds = (job.job_s, job.total_s, job.chip_busy_s)
        table.add_row(
            escape(job.cell),
            *(f"{length:.2f}" for length in seconds),
            f"{job.times_faster:.1f}",
            f"{job.transfers}",
        )
    return table


def print_workers(found: WorkersBenchmark, console: Console) -> None:
    here, workers = found.here, found.workers
    for way in (here, workers):
        console.print(
            f"{' '.join(way.words):18} {way.runs[0].cells} cells:"
            f" {way.cells_a_minute:.0f} a minute, {way.cells_a_minute_under_way:.0f} once the"
            f" first is done, {way.cpu_s_a_cell:.3f} s of CPU each",
            soft_wrap=True,
        )
    whole = workers.cells_a_minute / here.cells_a_minute
    steady = workers.cells_a_minute_under_way / here.cells_a_minute_under_way
    cpu = workers.cpu_s_a_cell / here.cpu_s_a_cell
    console.print(
        f"[bold]Workers make {whole:.2f} times the cells a minute, {steady:.2f} times once the"
        f" first is done, for {cpu:.2f} times the CPU.[/]",
        soft_wrap=True,
    )
