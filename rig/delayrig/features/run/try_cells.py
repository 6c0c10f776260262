# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig try`: one cell from flags, or the product of their values."""

import sys
from dataclasses import replace
from pathlib import Path

import click
import msgspec

from delayrig.base.errors import BadInputError, ExitCode
from delayrig.base.paths import Paths, find_paths
from delayrig.cli import command as cli
from delayrig.cli.cells import unconfined_option
from delayrig.cli.option_types import SUBJECT, flag_option, seed_option
from delayrig.cli.verbosity import make_console, note, print_json, tables_or_json
from delayrig.decision.choice import Chosen
from delayrig.decision.two_runs import compare_times
from delayrig.features.repro.command import show_cell
from delayrig.features.repro.look import Look
from delayrig.model.cell import REGION_KIB, WATCHING, Cell, Job, Programmer
from delayrig.model.corner import BUSY_FORMS
from delayrig.model.lane import LaneName
from delayrig.model.platform import Arch
from delayrig.model.result import Results
from delayrig.plan.from_flags import (
    CHIP,
    CORNER,
    MIPS,
    NAME,
    SOURCE,
    Flags,
    in_flags,
    plan_of_flags,
    words_of_cell,
)
from delayrig.plan.request import Request, choose_cells_of
from delayrig.present.comparison import print_beside
from delayrig.present.formats.report import report_of_run
from delayrig.present.results import UNWATCHED, print_results
from delayrig.run.out_folder import checked_out
from delayrig.subjects.delay_function import DelayOptions

VALUES = {
    "chip": ("NAME", f"Chip of `rig/rig chips`.  [default: {CHIP}]"),
    "corner": ("CORNER", f"Busy times of the chip: {', '.join(BUSY_FORMS)}.  [default: {CORNER}]"),
    "mips": (
        "MIPS",
        "Speed of each core: 1000, 500, 250, 125, 62 ... 1; on the live lane any, or one for each"
        f" core: 10:40.  [default: {MIPS[LaneName.VIRTUAL]}; live: {MIPS[LaneName.LIVE]}]",
    ),
    "machine": (
        "NAME",
        "A machine of `rig/rig machines`, or a file of one, in place of --mips and --cores; on the"
        " live lane.",
    ),
    "cores": ("N", "Number of cores: 1, 2 or 4.  [default: 1, or as many as the hazards need]"),
    "hazard": (
        "HAZARDS",
        "Hazards of `rig/rig hazards`; + joins those of one cell, `none` is a cell without one."
        "  [default: none]",
    ),
    "job": ("JOB", f"Job of flashrom: {', '.join(Job)}.  [default: {Job.WRITE}]"),
    "region": ("KIB", f"Size of the region.  [default: {REGION_KIB}]"),
    "programmer": (
        "PROGRAMMER",
        f"How the chip is reached: {', '.join(Programmer)}; releases reach parts that are not on"
        f" SPI by {Programmer.SERPROG_NATIVE_DELAY} and devices of memory buses alone."
        f"  [default: {Programmer.SERPROG_IP}]",
    ),
    "arch": ("ARCH", f"{', '.join(Arch)}.  [default: what FLASHROM is built for]"),
    "lane": ("LANE", f"{', '.join(LaneName)}.  [default: {LaneName.VIRTUAL}]"),
}


def _refuse_format(_context: click.Context, _option: click.Parameter, given: str | None) -> None:
    if given is not None:
        raise click.UsageError(
            f"No such option '--format'. Give --out OUT; then `rig/rig export OUT --format {given}`"
            " writes the results in that format."
        )


@click.command(NAME, cls=cli.RigCommand)
@click.argument("flashrom", type=SUBJECT)
@cli.gathered("flags", Flags, *(flag_option(name, *about) for name, about in VALUES.items()))
@click.option(
    "--against", type=SUBJECT, default="", metavar="OTHER", help="Shows this flashrom beside it."
)
@click.option("--canaries", is_flag=True, help="Runs the canaries and controls of `smoke` as well.")
@seed_option
@click.option("--jobs", type=click.IntRange(1), help="Cells at a time; default: as for `run`.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for results and cells.")
@click.option(
    "--keep", is_flag=True, help="Keeps the folder of a single cell, and prints its path."
)
@click.option("--dry-run", is_flag=True, help="Lists the cells and ends.")
@unconfined_option
@cli.delay_options
@click.option("--format", hidden=True, expose_value=False, callback=_refuse_format)
@tables_or_json
def try_flashrom(
    flashrom: str,
    flags: Flags,
    against: str,
    canaries: bool,
    seed: int,
    jobs: int | None,
    out: Path | None,
    keep: bool,
    dry_run: bool,
    delay: DelayOptions,
) -> None:
    """Runs FLASHROM in one cell that flags describe, without a plan, and explains its result.

    FLASHROM is a subject, or the path of a program. Options that choose the cell may be repeated,
    and all except --hazard accept A,B: then each combination is a cell, and the answer a table.

    \b
      rig/rig try ./flashrom
      rig/rig try ./flashrom --mips 1000,62 --cores 1,4 --hazard none --hazard low-res-timers
      rig/rig try ./flashrom --against debian:trixie --job erase

    Exit codes are those of `run`. A fault of OTHER alone is shown, and is no failure.
    """
    if against == flashrom:
        raise BadInputError(f"--against {against}: is FLASHROM itself", hint="name another one")
    paths = find_paths()
    request = _request(flashrom, against, flags, seed, paths, canaries=canaries)
    if dry_run:
        print_json([cell.id for cell in request.cells])
        for cell in request.cells:
            click.echo(cell.id)
        note(f"{len(request.cells)} cells")
        return
    single = len(request.cells) == 1
    folder = checked_out(out, request.cells, by_default=NAME).absolute()
    request = replace(request, out=folder, jobs=jobs or request.jobs, delay=delay)
    if single:
        sys.exit(_show_one(request, kept=bool(keep or out)))
    results = cli.run_shown(request, paths)
    print_json(results)
    console = make_console()
    report = report_of_run(results)
    print_results(results, report.lines, console, out=str(folder))
    if against:
        console.print(f"\n[bold]first: {against}; second: {flashrom}[/]", soft_wrap=True)
        print_beside(compare_times(_side(results, against), _side(results, flashrom)), console)
    sys.exit(report.code)


def _request(
    flashrom: str, against: str, flags: Flags, seed: int, paths: Paths, *, canaries: bool
) -> Request:
    try:
        plan = plan_of_flags(flashrom, against, flags, canaries=canaries)
        choice = choose_cells_of(plan, source=SOURCE, seed=seed, paths=paths)
    except BadInputError as error:
        raise BadInputError(in_flags(error.message), hint=in_flags(error.hint)) from error
    first = words_of_cell(choice.cells[0])

    def again(cell: Cell) -> list[str]:
        # A canary or control alone would be an ordinary subject, so it comes with the first cell.
        return [*first, "--canaries"] if cell.role in WATCHING else words_of_cell(cell)

    return replace(
        choice.request(NAME, Path(), seed=seed, argv=sys.argv[1:]),
        unconfined=cli.is_unconfined(),
        again=again,
    )


def _show_one(request: Request, *, kept: bool) -> ExitCode:
    (cell,) = request.cells
    request = replace(request, jobs=1, stages=True, retries_lost=False)
    chosen = Chosen(
        cell=cell,
        plan=request.plan,
        chips=request.chips,
        recipes=request.recipes,
        delay=request.delay,
    )
    return show_cell(chosen, request, Look.WATCH, kept=kept, instead=UNWATCHED)


def _side(results: Results, subject: str) -> Results:
    """Returns the cells of one subject."""
    cells = [cell for cell in results.cells if cell.subject.name == subject]
    return msgspec.structs.replace(results, cells=cells)
