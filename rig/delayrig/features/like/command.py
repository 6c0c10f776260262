# SPDX-License-Identifier: GPL-2.0-or-later
"""The command `rig/rig like`."""

import shlex
import tomllib
from collections.abc import Sequence
from pathlib import Path

import click

from delayrig.base.atomic_file import write_atomically
from delayrig.base.errors import BadInputError
from delayrig.base.paths import find_paths
from delayrig.base.text import counted
from delayrig.cli.command import RigCommand
from delayrig.cli.verbosity import answers, print_json
from delayrig.features.like.cell import Known, Likeness, likeness, words_of_search
from delayrig.features.like.facts import Facts, read_lines
from delayrig.features.like.flashrom_log import read_flashrom_log
from delayrig.features.like.machine_text import read_device_tree, read_machine_text
from delayrig.model.chips import read_chips
from delayrig.plan.from_flags import SOURCE, plan_of_flags, plan_text
from delayrig.plan.machines import find_machine, machine_names
from delayrig.plan.request import choose_cells_of
from delayrig.subjects.recipes import read_recipes

READERS = (read_flashrom_log, read_machine_text, read_device_tree)
SEED = 1


@click.command(cls=RigCommand)
@click.argument(
    "files",
    metavar="FILE...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@click.option(
    "--plan-out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Writes the same cells as a plan.",
)
@answers
def like(files: tuple[Path, ...], plan_out: Path | None) -> None:
    """Reads what a bug report has attached, and prints a `try` line that is like it.

    FILE is text of any of them, also several in one: the output of flashrom (best with -V), of
    lscpu, dmesg, uname -a, cpupower frequency-info, /proc/cpuinfo, a device tree's source.

    What the report does not say is listed, and stays as `try` has it by default. Nothing is run.
    """
    paths = find_paths()
    facts = Facts(fact for file in files for read in READERS for fact in read(read_lines(file)))
    if not facts.all:
        raise BadInputError(
            f"{', '.join(map(str, files))}: nothing that flashrom, lscpu, dmesg, cpupower,"
            " /proc/cpuinfo or a device tree says",
            hint="attach their output as it was printed",
        )
    known = Known(
        chips=read_chips(paths.checkout),
        machines={name: find_machine(name) for name in machine_names()},
        releases=releases(paths.checkout),
    )
    found = likeness(facts, known)
    plan = plan_of_flags(found.subject, "", found.flags)
    cells = choose_cells_of(plan, source=SOURCE, seed=SEED, paths=paths).cells
    if plan_out is not None:
        write_atomically(plan_out, plan_text(plan).encode())
    search = words_of_search(found, facts)
    print_json(
        {
            "line": ["rig/rig", *found.words],
            "cells": [cell.id for cell in cells],
            "reasons": [{"option": option, "why": why} for option, why in found.reasons],
            "not_told": [{"what": what, "why": why} for what, why in found.open],
            "search": search,
            "symptoms": [fact.value for fact in facts.of("symptom")],
        }
    )
    _print(found, facts, search, len(cells))
    if plan_out is not None:
        click.echo(f"{plan_out}: the same as a plan: rig/rig run --plan {plan_out}")


def releases(checkout: Path) -> dict[str, str]:
    """Returns the subjects that are releases of a distribution, by version in `lock.toml`."""
    text = (checkout / "images" / "lock.toml").read_text(encoding="utf-8")
    images = tomllib.loads(text)["image"]
    subjects = read_recipes(checkout).subjects
    return {images[name]["version"]: name for name in subjects if name in images}


def _print(found: Likeness, facts: Facts, search: Sequence[str], cells: int) -> None:
    click.echo(shlex.join(["rig/rig", *found.words]))
    click.echo(f"  {counted(cells, 'cell')}")
    for symptom in facts.of("symptom"):
        click.echo(f"  symptom: {symptom.value} ({symptom.where})")
    if search:
        click.echo(f"  if no cell shows it: {shlex.join(search)}")
    click.echo("\nFrom the report:")
    for option, why in found.reasons:
        click.echo(f"  {option}: {why}")
    if found.open:
        click.echo("\nLeft open:")
        for what, why in found.open:
            click.echo(f"  {what}: {why}")
