# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig run`: every cell of a plan once."""

import sys
from dataclasses import replace

import click

from delayrig.base.paths import find_paths
from delayrig.cli import command as cli
from delayrig.cli.cells import CellsOptions, cell_options
from delayrig.cli.verbosity import make_console, note, print_json, tables_or_json
from delayrig.features.export import format_option, speaks, write_formats
from delayrig.features.history import recording
from delayrig.plan.cells import count_cells
from delayrig.present.formats.known import wanted_formats
from delayrig.present.formats.report import report_of_run
from delayrig.present.results import print_results
from delayrig.subjects.delay_function import DelayOptions

LISTED_MAX = 100_000
"""The largest plan whose cells a dry run lists. Making each takes a few microseconds."""


@click.command(cls=cli.RigCommand)
@cell_options(plan="default")
@cli.delay_options
@click.option("--dry-run", is_flag=True, help="Lists the cells and ends.")
@cli.resume_option
@click.option(
    "--no-reuse",
    is_flag=True,
    help="Virtual lane: starts a QEMU for each cell. Takes longer; all else is the same.",
)
@format_option(required=False)
@recording.history_options
@tables_or_json
def run(
    cells: CellsOptions,
    delay: DelayOptions,
    dry_run: bool,
    resume: bool,
    no_reuse: bool,
    formats: tuple[str, ...],
    history: recording.HistoryOptions,
) -> None:
    """Runs a plan: every cell in its guest, a verdict for each, and the answer."""
    paths = find_paths()
    plan = cells.read_plan(paths)
    if dry_run and not cells.patterns and (count := count_cells(plan)) > LISTED_MAX:
        print_json({"cells_at_most": count})
        note(f"{count:,} cells at most, too many to list: --cell PATTERN lists some of them")
        return
    choice = cells.choose(plan)
    if dry_run:
        print_json([cell.id for cell in choice.cells])
        for cell in choice.cells:
            click.echo(f"{cell.id}" + (f"  expect {cell.expect}" if cell.expect != "pass" else ""))
        note(f"{len(choice.cells)} cells")
        return
    kept_in = history.address()
    wanted = wanted_formats(formats)
    request = cells.request(choice, recording.own_words(), delay=delay, resume=resume)
    request = replace(request, reuses_guests=not no_reuse)
    results = cli.run_shown(request, paths, how_to_go_on=cli.HOW_TO_GO_ON)
    print_json(results)
    report = report_of_run(results)
    console = make_console(stderr=speaks(wanted))
    try:
        print_results(results, report.lines, console, out=str(request.out))
        write_formats(wanted, report)
    finally:
        # Keep the run even if printing fails.
        recording.record(kept_in, request.out, results)
    sys.exit(report.code)
