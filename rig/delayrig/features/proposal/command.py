# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig proposal`: the proposal's changes enabled one after the other."""

import sys
from pathlib import Path

import click

from delayrig.base.atomic_file import write_atomically, write_json
from delayrig.base.errors import BadInputError
from delayrig.cli.cells import ClusterGiven, cluster_options
from delayrig.cli.command import RigCommand, own_request, run_shown
from delayrig.cli.option_types import seed_option
from delayrig.cli.verbosity import make_console, print_json, tables_or_json
from delayrig.features.proposal.steps import FILE_NAME, advice, conclusion, fold_proposal
from delayrig.judge.exit_code import exit_code_of_run
from delayrig.model.result import FILE_NAME as RESULTS
from delayrig.model.result import Results, read_results
from delayrig.present.console import plain_table, say
from delayrig.run.resume import FILE_NAME as BEGUN

PLAN = "proposal"


@click.command(cls=RigCommand)
@click.argument("out", metavar="OUT", type=click.Path(path_type=Path))
@click.option("--jobs", type=click.IntRange(1), help="Cells at a time; default: the CPUs.")
@seed_option
@cluster_options
@tables_or_json
def proposal(out: Path, jobs: int | None, seed: int, cluster: ClusterGiven) -> None:
    """Shows the cost and benefit of each change of the proposal, and the order to land them in.

    OUT is a folder. If it contains a run of plan `proposal`, that is used; if it does not exist,
    the plan is run into it first; an interrupted run is resumed. `proposal.html`, `proposal.svg`
    and `proposal.json` are written there.
    """
    results = _results(out, jobs, seed, cluster)
    found = fold_proposal(results)
    write_json(out / FILE_NAME, found)
    # matplotlib takes longer to load than most commands take.
    from delayrig.features.proposal.page import FIGURES, proposal_chart, proposal_page, step_values

    write_atomically(out / "proposal.html", proposal_page(found))
    write_atomically(out / "proposal.svg", proposal_chart(found).svg_file())
    print_json(found)
    table = plain_table(["step"], FIGURES)
    for step in found.steps:
        table.add_row(*step_values(step))
    console = make_console()
    console.print(table)
    console.print()
    say(console, conclusion(found), *advice(found))
    say(console, f"results: {out}/proposal.html, proposal.svg, {FILE_NAME}")
    sys.exit(exit_code_of_run(results.cells, results.contrasts))


def _results(out: Path, jobs: int | None, seed: int, cluster: ClusterGiven) -> Results:
    begun = (out / BEGUN).is_file()
    if (out / RESULTS).exists() or out.is_file():
        results = read_results(out)
        if not results.run.interrupted:
            return results
        if not begun:
            raise BadInputError(
                f"{out}: its run was interrupted after {len(results.cells)} of"
                f" {results.run.cells_planned} cells",
                hint="name another folder, or move that one away and start again",
            )
    options = cluster.options()
    request, paths = own_request(PLAN, out, seed=seed, jobs=jobs, resume=begun, cluster=options)
    return run_shown(request, paths, how_to_go_on="; the same command goes on")
