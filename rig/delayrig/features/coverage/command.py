# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig coverage`: which delay sites of a flashrom the cells of a run reached."""

from pathlib import Path

import click

from delayrig.base.errors import BadInputError
from delayrig.base.paths import find_paths
from delayrig.cli.command import RigCommand, say_making
from delayrig.cli.verbosity import make_console, print_json, tables_or_json
from delayrig.decision.decision import FILE_NAME as GATE_FILE
from delayrig.decision.decision import read_decision
from delayrig.decision.request import CANDIDATE, baseline_rounds, rounds_of
from delayrig.features.coverage import runs
from delayrig.features.coverage.terminal import print_coverage


@click.command(cls=RigCommand)
@click.argument("folder", metavar="OUT", type=click.Path(path_type=Path))
@tables_or_json
def coverage(folder: Path) -> None:
    """Tells which delay sites of a flashrom the cells of OUT reached.

    A delay site is a call of a delay function in the program's code. OUT is the --out folder of a
    run or a gate. Of a gate, sites in functions that the change touched are marked with *, and the
    changed waits are named. Exits 0 whatever was reached.
    """
    paths = find_paths()
    if (folder / GATE_FILE).is_file():
        stored = read_decision(folder).baseline.stored
        before = baseline_rounds(folder, stored)
        programs = runs.programs_left(before[0], paths, say_making) if stored else []
        after = rounds_of(folder, CANDIDATE)
        answer = runs.find_gate_coverage(before, after, paths, programs)
    else:
        programs = runs.provide_programs(folder, paths, say_making)
        answer = runs.RunCoverage(coverages=runs.find_coverage([folder], paths, programs))
    if not answer.coverages:
        raise BadInputError(
            f"{folder}: no cell has call chains with addresses",
            hint="run it again with this rig, in guests, with a subject whose delays are found",
        )
    print_json(answer)
    print_coverage(answer.coverages, answer.changed, make_console())
