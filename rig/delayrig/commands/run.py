# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig run`: a plan, from options to the answer."""

import sys
from pathlib import Path

import click

from delayrig.commands.command import (
    default_out,
    delay_options,
    explained,
    plain_text,
    run_shown,
)
from delayrig.commands.export import format_option, speaks, write_formats
from delayrig.commands.recording import HistoryWish, history_options, own_words, record_run
from delayrig.delay_probe import DelayWish
from delayrig.exit_code import exit_code_of_run
from delayrig.formats.known import wanted_formats
from delayrig.formats.report import report_of_run
from delayrig.lanes import LaneName
from delayrig.paths import find_paths
from delayrig.request import Request, check_connect, check_out, choose_cells, default_jobs
from delayrig.show import make_console, print_results


@click.command()
@click.option("--plan", default="default", show_default=True, help="A plan's name, or a TOML file.")
@click.option(
    "--subject", "subjects", multiple=True, help="Runs this flashrom instead; repeatable."
)
@click.option(
    "--lane",
    type=click.Choice([name.value for name in LaneName]),
    help="Where time comes from; default: what the plan says. `host` needs no QEMU.",
)
@click.option("--cell", "patterns", multiple=True, help="Only cells whose id matches; repeatable.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for results and cells.")
@click.option(
    "--jobs",
    type=click.IntRange(1),
    help="Cells at a time; default: the CPUs, without guests half.",
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="For all data.")
@click.option(
    "--connect", metavar="URI", help="Runs guests through this libvirt; `embed` needs no daemon."
)
@delay_options
@click.option("--dry-run", is_flag=True, help="Lists the cells and ends.")
@format_option(required=False)
@history_options
@plain_text
@explained
def run(
    plan: str,
    subjects: tuple[str, ...],
    lane: str | None,
    patterns: tuple[str, ...],
    out: Path | None,
    jobs: int | None,
    seed: int,
    connect: str | None,
    delay: DelayWish,
    dry_run: bool,
    formats: tuple[str, ...],
    history: HistoryWish,
    no_color: bool,
) -> None:
    """Runs a plan: every cell in its guest, a verdict for each, and the answer."""
    paths = find_paths()
    choice = choose_cells(
        plan=plan,
        subjects=list(subjects),
        patterns=list(patterns),
        seed=seed,
        paths=paths,
        lane=LaneName(lane) if lane else None,
    )
    if dry_run:
        for cell in choice.cells:
            click.echo(f"{cell.id}" + (f"  expect {cell.expect}" if cell.expect != "pass" else ""))
        click.echo(f"{len(choice.cells)} cells", err=True)
        return
    check_connect(connect, choice.cells)
    kept_in = history.address()
    wanted = wanted_formats(formats)
    folder = out or default_out(plan)
    check_out(folder, choice.cells)
    request = Request(
        plan=plan,
        cells=choice.cells,
        contrasts=choice.contrasts,
        chips=choice.chips,
        recipes=choice.recipes,
        out=folder,
        jobs=jobs or default_jobs(choice.lane),
        seed=seed,
        connect=connect,
        argv=own_words(),
        lane=choice.lane,
        delay=delay,
    )
    results = run_shown(request, paths, no_color=no_color)
    code = exit_code_of_run(results.cells, results.contrasts)
    console = make_console(stderr=speaks(wanted), no_color=no_color)
    try:
        print_results(results, code, console, out=str(folder))
        write_formats(wanted, report_of_run(results))
    finally:
        # Also where nobody reads what is printed, or there is no room for it.
        record_run(kept_in, results, folder, no_color=no_color)
    sys.exit(code)
