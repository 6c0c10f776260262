# SPDX-License-Identifier: GPL-2.0-or-later
"""What a gate says of each known-bad build: as lines, and as a page."""

from rich.console import Console

from delayrig.analysis.selfcheck.known_bad import WANTED, Answered, KnownBad
from delayrig.base.errors import ExitCode
from delayrig.images.known_bad import Mistake
from delayrig.present.terminal.console import say


def print_known_bad(answer: KnownBad, console: Console) -> None:
    """A line for each that was not answered by its class, and one for all."""
    for build in answer.builds:
        mark = "as it must be" if build.right else f"wanted {WANTED[build.kind]}"
        say(console, f"{build.outcome:9} {mark:15} {build.kind:8} {build.name}: {reason_of(build)}")
    console.print(f"[bold]{summary(answer)}[/]")


def summary(answer: KnownBad) -> str:
    """One sentence: does the rig see them?"""
    right = sum(build.right for build in answer.builds)
    counts = f"{right} of {len(answer.builds)} builds are answered by their class"
    if answer.accused:
        names = ", ".join(build.name for build in answer.accused)
        return f"The rig accuses what is not unsafe: {names}. {counts}."
    if answer.exit_code is ExitCode.RIG_FAULT:
        return f"A canary or a control was not answered as it must be. {counts}."
    return f"{counts}; none is accused that is not unsafe."


def print_table(mistakes: list[Mistake], console: Console) -> None:
    """The table itself."""
    for mistake in mistakes:
        sight = f" ({mistake.sight})" if mistake.sight != "nobody" else ""
        say(console, f"{mistake.kind:8} {mistake.name}{sight}: {mistake.what}")


def reason_of(build: Answered) -> str:
    """What the worst of its cells said."""
    if not build.cells:
        return "it was run in no cell"
    cell = build.cells[0]
    return f"{cell.id.partition('.')[0]}: {cell.why}"
