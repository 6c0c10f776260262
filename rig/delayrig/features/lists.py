# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig plans`, `chips`, `hazards`, `machines` and `subjects`: lists of names."""

from collections.abc import Iterator

import click
import msgspec

from delayrig.base.durations import UNITS
from delayrig.base.paths import Paths, find_paths
from delayrig.base.text import counted
from delayrig.cli.command import RigCommand, delay_options, say_making
from delayrig.cli.option_types import SUBJECT
from delayrig.cli.verbosity import answers, print_json
from delayrig.hazards import KINDS, written
from delayrig.model.chips import read_chips
from delayrig.model.platform import Arch
from delayrig.model.programmers import programmers_of
from delayrig.plan.machines import budget_mips, find_machine, machine_names, scaled_mips
from delayrig.plan.schema import find_plan, plan_names, read_plan
from delayrig.subjects.delay_function import (
    DelayOptions,
    direct_waits,
    find_delay_functions,
)
from delayrig.subjects.known_bad import PREFIX as KNOWN_BAD_PREFIX
from delayrig.subjects.library import provide_library
from delayrig.subjects.recipes import Recipes, read_recipes
from delayrig.subjects.subject import (
    FORMS,
    Subject,
    check_subject,
    known_subjects,
    provide_subject,
)

FUNCTION_KEYS = (
    *("name", "file", "address", "size", "argument", "unit_ns", "found_by", "doubt", "counters"),
)
"""The keys of a delay function in JSON."""
NONE_FOUND = (
    "none: its delays cannot be judged; build it unstripped, or name its delay function with"
    " --delay-symbol or --delay-offset"
)


@click.command(cls=RigCommand)
@answers
def plans() -> None:
    """Lists the plans that come with the rig."""
    about = {name: read_plan(find_plan(name)).about for name in plan_names()}
    print_json([{"name": name, "about": text} for name, text in about.items()])
    for name, text in about.items():
        click.echo(f"{name:12} {text}")


@click.command(cls=RigCommand)
@answers
def chips() -> None:
    """Lists the emulated chips, and the programmers by which each is reached."""
    known = list(read_chips(find_paths().checkout).values())
    reached = {chip.name: programmers_of(chip) for chip in known}
    print_json([{**msgspec.to_builtins(chip), "programmers": reached[chip.name]} for chip in known])
    for chip in known:
        size = f"{chip.size_bytes >> 10:6} KiB"
        programmers = " ".join(reached[chip.name])
        click.echo(f"{chip.name:16} {chip.vendor:12} {chip.bus:8} {size}  {programmers}")


@click.command(cls=RigCommand)
@answers
def hazards() -> None:
    """Lists the hazards that act on a subject while it runs, and their names in plans."""
    print_json(
        [{"word": written(kind), "concern": kind.concern, "about": kind.about} for kind in KINDS]
    )
    for line in hazard_lines():
        click.echo(line)


def hazard_lines() -> Iterator[str]:
    for kind in KINDS:
        yield f"{written(kind):32} {kind.concern:12} {kind.about}"


@click.command(cls=RigCommand)
@answers
def machines() -> None:
    """Lists the machines of the live lane, with the speed of each core here (MIPS)."""
    found = {name: find_machine(name) for name in machine_names()}
    speeds = {name: scaled_mips(m.core_mips, budget_mips()) for name, m in found.items()}
    print_json([{"name": n, "core_mips": speeds[n], "about": m.about} for n, m in found.items()])
    for name, machine in found.items():
        here = speeds[name]
        click.echo(f"{name:12} {':'.join(f'{mips:.3g}' for mips in here):44} {machine.about}")


@click.command(cls=RigCommand)
@click.argument("subject", type=SUBJECT, default="")
@click.option(
    "--arch",
    type=click.Choice([arch.value for arch in Arch]),
    default=Arch.X86_64.value,
    help="The architecture of SUBJECT.",
)
@delay_options
@answers
def subjects(subject: str, arch: str, delay: DelayOptions) -> None:
    """Lists the flashroms that can be tested; for one SUBJECT, its delay functions.

    It prints where each function is, how it was found and which times its callers request, then the
    waits outside of delay functions.
    """
    paths = find_paths()
    recipes = read_recipes(paths.checkout)
    if subject:
        check_subject(subject, recipes, "SUBJECT")
        programs = list(_programs(subject, Arch(arch), recipes, paths))
        print_json([_facts(each, delay) for each in programs])
        lines = (line for each in programs for line in delay_lines(each, delay))
    else:
        print_json(known_subjects(recipes))
        lines = (line for line in subject_lines())
    for line in lines:
        click.echo(line)


def _facts(subject: Subject, delay: DelayOptions) -> dict[str, object]:
    return {
        "subject": subject.label,
        "sha256": subject.program_sha256,
        "delay_functions": [
            {key: getattr(found, key) for key in FUNCTION_KEYS}
            for found in find_delay_functions(subject, delay)
        ],
        "direct_waits": direct_waits(subject, delay),
    }


def subject_lines() -> Iterator[str]:
    names = known_subjects(read_recipes(find_paths().checkout))
    yield from (name for name in names if not name.startswith(KNOWN_BAD_PREFIX))
    yield from FORMS
    yield f"{KNOWN_BAD_PREFIX}NAME (listed by `rig/rig selfcheck known-bad --list`)"


def _programs(name: str, arch: Arch, recipes: Recipes, paths: Paths) -> Iterator[Subject]:
    """Yields the program, then the library of the same build if there is one."""
    yield provide_subject(name, recipes, paths, say_making, arch)
    library = provide_library(name, recipes, paths, say_making) if arch is Arch.X86_64 else None
    if library is not None:
        yield library


def delay_lines(subject: Subject, options: DelayOptions) -> Iterator[str]:
    """Yields lines about the program, or about the library that a program uses."""
    found = find_delay_functions(subject, options)
    yield f"{subject.label}: {counted(len(found), 'delay function')}"
    if not found:
        yield f"  {NONE_FOUND}"
    for each in found:
        sure = f"in doubt, {each.doubt}" if each.doubt else "sure"
        asked = f"; it asks the CPU: {', '.join(each.counters)}" if each.counters else ""
        yield (
            f"  {each.name} in {each.file}, found by {each.found_by}: {each.size} bytes at"
            f" {each.address:#x}, argument {each.argument + 1} in {UNITS[each.unit_ns]};"
            f" {sure}{asked}"
        )
    for file, waits in direct_waits(subject, options).items():
        for wait in waits:
            kind = "cannot be judged" if wait.why_not else "a direct wait"
            asks = "" if wait.asks is None else str(wait.asks)
            why = f": {wait.why_not}" if wait.why_not else ""
            yield f"  {kind}: {wait.called}({asks}) in {file} at {wait.site:#x}{why}"
