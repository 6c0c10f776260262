# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether virtual times are exact, and what a gate says of each known-bad build."""

from rich.console import Console

from delayrig.analysis.selfcheck.determinism import Determinism, Repeat
from delayrig.analysis.selfcheck.known_bad import WANTED, Answered, KnownBad
from delayrig.base.errors import ExitCode
from delayrig.images.known_bad import Mistake
from delayrig.present.terminal.console import say
from delayrig.present.terminal.progress import ManyRuns


class RepeatProgress(ManyRuns):
    def __init__(self, console: Console, repeats: int) -> None:
        super().__init__(console)
        self._repeats = repeats

    def repeated(self, repeat: Repeat) -> None:
        found = [f"differs: {line}" for line in repeat.differences]
        found += [f"doubt: {line}" for line in repeat.doubts]
        same = "not shown to be the same" if found else "all the same"
        self._console.print(
            f"repeat {repeat.number + 1} of {self._repeats} ({repeat.condition}):"
            f" {repeat.compared} cells, {same}",
            markup=False,
        )
        say(self._console, *(f"  {line}" for line in found))

    def answered(self, answer: Determinism, file: str) -> None:
        """One sentence: are virtual times exact?"""
        cells = sum(repeat.compared for repeat in answer.repeats)
        what = f"{cells} cells, {len(answer.shapes)} shapes {len(answer.repeats)} times"
        match answer.exit_code:
            case ExitCode.PASS:
                verdict = f"Exact: {what}, all the same to the nanosecond."
            case ExitCode.RIG_FAULT:
                verdict = f"Not exact: {what}, and not all are the same."
            case _:
                verdict = f"Not shown to be exact: {what}."
        self._console.print(f"[bold]{verdict}[/]")
        self._console.print(f"Not tried: {', '.join(answer.not_tried)}.", markup=False)
        say(self._console, f"results: {file}")


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
    for mistake in mistakes:
        sight = f" ({mistake.sight})" if mistake.sight != "nobody" else ""
        say(console, f"{mistake.kind:8} {mistake.name}{sight}: {mistake.what}")


def reason_of(build: Answered) -> str:
    """What the worst of its cells said."""
    if not build.cells:
        return "it was run in no cell"
    cell = build.cells[0]
    return f"{cell.id.partition('.')[0]}: {cell.why}"
