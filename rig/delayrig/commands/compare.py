# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig compare`: two runs, to the nanosecond."""

import sys
from pathlib import Path

import click

from delayrig.commands.command import explained, plain_text
from delayrig.compare import compare_exactly
from delayrig.errors import ExitCode
from delayrig.show import make_console


@click.command()
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
@click.option("--exact", is_flag=True, required=True, help="Everything must be equal to the ns.")
@plain_text
@explained
def compare(first: Path, second: Path, exact: bool, no_color: bool) -> None:  # noqa: ARG001
    """Compares the virtual cells of two runs, given their --out folders.

    Exits 0 where every planned cell is the same in both, 4 where that cannot be said (unequal
    images or seeds, cells or events missing), 99 where equal ones gave unequal results.
    """
    console = make_console(no_color=no_color)
    comparison = compare_exactly(first, second)
    for line in comparison.doubts:
        console.print(f"doubt: {line}", markup=False, soft_wrap=True)
    if comparison.same_inputs:
        for line in comparison.differences:
            console.print(f"differs: {line}", markup=False, soft_wrap=True)
    elif comparison.differences:
        console.print(
            f"{len(comparison.differences)} figures differ, as those of unequal inputs do"
        )
    same = "all the same" if comparison.exit_code is ExitCode.PASS else "not shown to be the same"
    console.print(f"{comparison.compared} cells compared: {same}", markup=False)
    sys.exit(comparison.exit_code)
