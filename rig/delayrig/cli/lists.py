# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig plans`, `chips`, `hazards`, `machines` and `subjects`: what there is to name."""

from collections.abc import Iterator

import click

from delayrig.base.paths import Paths, find_paths
from delayrig.cli.command import delay_options, explained, say_making
from delayrig.cli.words import SUBJECT
from delayrig.hazards import KINDS, written
from delayrig.images.delay_function import DelayWish
from delayrig.images.known_bad import PREFIX as KNOWN_BAD_PREFIX
from delayrig.images.library import provide_library
from delayrig.images.recipes import Recipes, read_recipes
from delayrig.images.subject import Subject, check_subject, known_subjects, provide_subject
from delayrig.model.chips import read_chips
from delayrig.model.platform import Arch
from delayrig.plan.machines import budget_mips, find_machine, machine_names, scaled_mips
from delayrig.plan.words import find_plan, plan_names, read_plan
from delayrig.present.terminal.delays import delay_lines


@click.command()
@explained
def plans() -> None:
    """Lists the plans that come with the rig."""
    for name in plan_names():
        click.echo(f"{name:12} {read_plan(find_plan(name)).about}")


@click.command()
@explained
def chips() -> None:
    """Lists the emulated chips."""
    for chip in read_chips(find_paths().checkout).values():
        click.echo(f"{chip.name:12} {chip.vendor:12} {chip.bus:4} {chip.size_bytes >> 10:6} KiB")


@click.command()
@explained
def hazards() -> None:
    """Lists what may happen to a subject while it runs, and how a plan names it."""
    for line in hazard_lines():
        click.echo(line)


def hazard_lines() -> Iterator[str]:
    """One hazard a line."""
    for kind in KINDS:
        yield f"{written(kind):32} {kind.concern:12} {kind.about}"


@click.command()
@explained
def machines() -> None:
    """Lists the machines of the live lane, with the speed of each core here (MIPS)."""
    for name in machine_names():
        machine = find_machine(name)
        here = scaled_mips(machine.core_mips, budget_mips())
        click.echo(f"{name:12} {':'.join(f'{mips:.3g}' for mips in here):44} {machine.about}")


@click.command()
@click.argument("subject", type=SUBJECT, default="")
@click.option(
    "--arch",
    type=click.Choice([arch.value for arch in Arch]),
    default=Arch.X86_64.value,
    help="What it is built for.",
)
@delay_options
@explained
def subjects(subject: str, arch: str, delay: DelayWish) -> None:
    """Lists the flashroms that can be put to the test; of one SUBJECT, its delay functions.

    These are told with where they were found and how, with what callers are seen to ask for, and
    with the waits that go past them.
    """
    paths = find_paths()
    recipes = read_recipes(paths.checkout)
    if subject:
        check_subject(subject, recipes, "SUBJECT")
        for each in _programs(subject, Arch(arch), recipes, paths):
            for line in delay_lines(each, delay):
                click.echo(line)
        return
    for line in subject_lines():
        click.echo(line)


def subject_lines() -> Iterator[str]:
    """One subject a line."""
    names = known_subjects(read_recipes(find_paths().checkout))
    yield from (name for name in names if not name.startswith(KNOWN_BAD_PREFIX))
    yield f"{KNOWN_BAD_PREFIX}NAME (listed by `rig/rig selfcheck known-bad --list`)"


def _programs(name: str, arch: Arch, recipes: Recipes, paths: Paths) -> Iterator[Subject]:
    """The program, and the library of the same build where one is known."""
    yield provide_subject(name, recipes, paths, say_making, arch)
    library = provide_library(name, recipes, paths, say_making) if arch is Arch.X86_64 else None
    if library is not None:
        yield library
