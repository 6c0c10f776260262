# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig repeat`: cells of real time run again until their times are known well enough."""

import sys
from pathlib import Path

import click
from rich.markup import escape
from rich.table import Table

from delayrig.commands.command import default_out, explained, plain_text, run_shown
from delayrig.exit_code import exit_code_of_run
from delayrig.lanes import LaneName
from delayrig.paths import find_paths
from delayrig.repeats.median import Median
from delayrig.repeats.rounds import Budget, repeat
from delayrig.repeats.summary import FILE_NAME, Summary
from delayrig.request import Request, check_connect, check_out, choose_cells, default_jobs
from delayrig.show import make_console

PERCENT = 100
NS_PER_S = 1e9


@click.command("repeat")
@click.option("--plan", default="live", show_default=True, help="A plan's name, or a TOML file.")
@click.option(
    "--subject", "subjects", multiple=True, help="Runs this flashrom instead; repeatable."
)
@click.option(
    "--lane",
    type=click.Choice([name.value for name in LaneName]),
    help="Where time comes from; default: what the plan says.",
)
@click.option("--cell", "patterns", multiple=True, help="Only cells whose id matches; repeatable.")
@click.option(
    "--within",
    "within_pct",
    type=click.FloatRange(0, min_open=True),
    default=5.0,
    show_default=True,
    metavar="PCT",
    help="How well a median of total time is to be known: half of its 95 % interval.",
)
@click.option(
    "--budget-s",
    type=click.FloatRange(0),
    default=600.0,
    show_default=True,
    help="No round begins after that.",
)
@click.option(
    "--rounds", type=click.IntRange(1), default=40, show_default=True, help="The most of them."
)
@click.option("--out", type=click.Path(path_type=Path), help="Folder for rounds and medians.")
@click.option("--jobs", type=click.IntRange(1), help="Cells at a time; default: as for `run`.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="For all data.")
@click.option("--connect", metavar="URI", help="Runs guests through this libvirt.")
@plain_text
@explained
def repeat_cells(
    plan: str,
    subjects: tuple[str, ...],
    lane: str | None,
    patterns: tuple[str, ...],
    within_pct: float,
    budget_s: float,
    rounds: int,
    out: Path | None,
    jobs: int | None,
    seed: int,
    connect: str | None,
    no_color: bool,
) -> None:
    """Runs cells again and again, each until its median total time is known well enough.

    Medians have bootstrap intervals (95 %), from six rounds on. Verdicts are counted and never
    averaged: the exit code is that of a run which holds every round.
    """
    paths = find_paths()
    choice = choose_cells(
        plan=plan,
        subjects=list(subjects),
        patterns=list(patterns),
        seed=seed,
        paths=paths,
        lane=LaneName(lane) if lane else None,
    )
    check_connect(connect, choice.cells)
    folder = out or default_out(f"repeat-{Path(plan).stem}")
    check_out(folder, choice.cells, name=FILE_NAME)
    request = Request(
        plan=plan,
        cells=choice.cells,
        contrasts=[],
        chips=choice.chips,
        recipes=choice.recipes,
        out=folder,
        jobs=jobs or default_jobs(choice.lane),
        seed=seed,
        connect=connect,
        argv=sys.argv[1:],
        lane=choice.lane,
    )
    summary, cells = repeat(
        request,
        Budget(within=within_pct / PERCENT, seconds=budget_s, rounds_max=rounds),
        lambda one: run_shown(one, paths, no_color=no_color),
    )
    console = make_console(no_color=no_color)
    console.print(summary_table(summary))
    ended = "; the budget ended first" if summary.budget_ended else ""
    console.print(f"{summary.rounds} rounds{ended}. {folder / FILE_NAME}", markup=False)
    sys.exit(exit_code_of_run(cells))


def summary_table(summary: Summary) -> Table:
    """A row for each cell."""
    table = Table(box=None, pad_edge=False)
    for name in ("cell", "rounds", "verdicts", "total s", "95 %", "CPU s", "95 %"):
        table.add_column(name, overflow="fold")
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
