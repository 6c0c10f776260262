# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig repeat`: runs a plan's cells until their times are known well enough.

The intervals of median times come from resampling (bootstrap). Verdicts are counted, never
averaged.
"""

import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click
import msgspec
from rich.markup import escape

from delayrig.base.atomic_file import write_json
from delayrig.base.durations import NS_PER_S
from delayrig.base.paths import find_paths
from delayrig.cli import command as cli
from delayrig.cli.cells import CellsOptions, cell_options
from delayrig.cli.option_types import FloatRange, number_option
from delayrig.cli.verbosity import make_console, print_json, tables_or_json
from delayrig.decision.performance import middle_of_draws
from delayrig.judge.exit_code import exit_code_of_run
from delayrig.model.lane import EXACT_LANE
from delayrig.model.result import CellResult, Results, Verdict
from delayrig.plan.request import Request
from delayrig.present.console import FittedTable, plain_table

VALUES_MIN = 6
"""The least number of values for an interval.

All of five values lie on one side of the true median 1 time in 16, which is more than 5 %.
"""
DRAWS = 4_000
CONFIDENCE = 0.95
FILE_NAME = "repeats.json"
SCHEMA = 1
TIMED = (Verdict.PASS, Verdict.TOO_SHORT)
"""The verdicts of cells whose time counts. In an `inconclusive` cell this machine was too slow."""
RunRound = Callable[[Request], Results]
PERCENT = 100


class Median(msgspec.Struct, frozen=True, kw_only=True):
    """A median of times in ns. `low` and `high` are null if there are too few values."""

    value_ns: int
    low_ns: int | None = None
    high_ns: int | None = None

    @property
    def half_width(self) -> float | None:
        """Returns half of the interval as a fraction of the median; None without an interval."""
        if self.low_ns is None or self.high_ns is None or not self.value_ns:
            return None
        return (self.high_ns - self.low_ns) / 2 / self.value_ns

    def is_within(self, part: float) -> bool:
        half = self.half_width
        return half is not None and half <= part


def median_of(values_ns: Sequence[int]) -> Median:
    """Returns the median of at least one value."""
    value = round(statistics.median(values_ns))
    if len(values_ns) < VALUES_MIN:
        return Median(value_ns=value)
    low, high = middle_of_draws(values_ns, statistics.median, draws=DRAWS, confidence=CONFIDENCE)
    return Median(value_ns=value, low_ns=round(low), high_ns=round(high))


class CellSummary(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    subject: str
    lane: str
    rounds: int
    verdicts: dict[str, int]
    """The number of rounds with each verdict."""
    expect: str
    timed: int
    """The number of rounds whose times count for the medians."""
    total: Median | None = None
    cpu: Median | None = None
    rerun: str

    def is_settled(self, part: float) -> bool:
        """Returns True if it needs no more rounds.

        Its time is exact or known well enough, or the cell is skipped in each round.
        """
        if self.lane == EXACT_LANE or set(self.verdicts) == {Verdict.SKIPPED}:
            return True
        return self.total is not None and self.total.is_within(part)


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    schema: int = SCHEMA
    plan: str
    seed: int
    within: float
    budget_s: float
    rounds: int
    budget_ended: bool
    """True if a larger budget would have repeated some cell."""
    cells: list[CellSummary]


def summarise(results: Iterable[CellResult]) -> list[CellSummary]:
    """Returns one summary for each id, in the order of their first appearance."""
    by_id: dict[str, list[CellResult]] = {}
    for result in results:
        by_id.setdefault(result.id, []).append(result)
    return [_summary(rounds) for rounds in by_id.values()]


def _summary(rounds: list[CellResult]) -> CellSummary:
    timed = [result for result in rounds if result.verdict in TIMED]
    return CellSummary(
        id=rounds[0].id,
        subject=rounds[0].subject.name,
        lane=rounds[0].lane,
        rounds=len(rounds),
        verdicts=dict(Counter(result.verdict.value for result in rounds).most_common()),
        expect=rounds[0].expect,
        timed=len(timed),
        total=median_of([result.time_ns.total for result in timed]) if timed else None,
        cpu=median_of([result.total_cpu_ns for result in timed]) if timed else None,
        rerun=rounds[0].rerun,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    within: float
    """The largest accepted half of a median's interval, as a fraction of the median."""
    seconds: float
    rounds_max: int


def repeat(
    request: Request,
    budget: Budget,
    run_round: RunRound,
    clock: Callable[[], float] = time.monotonic,
) -> tuple[Summary, list[CellResult]]:
    """Runs rounds until all cells are settled or the budget ends; writes the summary after each."""
    began_s = clock()
    found: list[CellResult] = []
    left = request.cells
    rounds = 0
    while left:
        rounds += 1
        found += run_round(
            replace(request, cells=left, out=request.out / f"round-{rounds:03}")
        ).cells
        summaries = summarise(found)
        settled = {one.id for one in summaries if one.is_settled(budget.within)}
        left = [cell for cell in left if cell.id not in settled]
        is_over = rounds >= budget.rounds_max or clock() - began_s >= budget.seconds
        summary = Summary(
            plan=request.plan,
            seed=request.seed,
            within=budget.within,
            budget_s=budget.seconds,
            rounds=rounds,
            budget_ended=bool(left) and is_over,
            cells=summaries,
        )
        write_json(request.out / FILE_NAME, summary)
        if is_over:
            break
    return summary, found


@click.command("repeat", cls=cli.RigCommand)
@cell_options(plan="live")
@click.option(
    "--within",
    "within_pct",
    type=FloatRange(0, min_open=True),
    default=5.0,
    show_default=True,
    metavar="PCT",
    help="Half of the 95 % interval of a median of total time at which it is known well enough.",
)
@number_option("--budget-s", 600.0, "No round begins after this time.", FloatRange(0))
@number_option("--rounds", 40, "Maximum number of rounds.")
@tables_or_json
def repeat_cells(cells: CellsOptions, within_pct: float, budget_s: float, rounds: int) -> None:
    """Repeats cells until the median total time of each is known well enough.

    Medians have bootstrap intervals (95 %), from six rounds on. Verdicts are counted and never
    averaged: the exit code is that of a run which holds every round.
    """
    paths = find_paths()
    choice = cells.choose(cells.read_plan(paths))
    named = f"repeat-{Path(cells.plan).stem}"
    request = cells.request(choice, sys.argv[1:], default_out=named, leaves=FILE_NAME)
    request = replace(request, contrasts=[])
    summary, results = repeat(
        request,
        Budget(within=within_pct / PERCENT, seconds=budget_s, rounds_max=rounds),
        lambda one: cli.run_shown(one, paths),
    )
    console = make_console()
    print_json(summary)
    console.print(summary_table(summary))
    ended = "; the budget ended first" if summary.budget_ended else ""
    console.print(f"{summary.rounds} rounds{ended}. {request.out / FILE_NAME}", markup=False)
    sys.exit(exit_code_of_run(results))


def summary_table(summary: Summary) -> FittedTable:
    figures = ("total s", "95 %", "CPU s", "95 %")
    table = plain_table(("cell", "rounds", "verdicts"), figures)
    for cell in summary.cells:
        verdicts = ", ".join(f"{count} {verdict}" for verdict, count in cell.verdicts.items())
        table.add_row(
            escape(cell.id), str(cell.rounds), verdicts, *_words(cell.total), *_words(cell.cpu)
        )
    return table


def _words(median: Median | None) -> tuple[str, str]:
    if median is None:
        return "-", "-"
    value = f"{median.value_ns / NS_PER_S:.3f}"
    if median.low_ns is None or median.high_ns is None:
        return value, "too few"
    return value, f"{median.low_ns / NS_PER_S:.3f} to {median.high_ns / NS_PER_S:.3f}"
