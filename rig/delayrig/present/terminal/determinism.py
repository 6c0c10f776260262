# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether virtual times are exact, repeat by repeat."""

from rich.console import Console

from delayrig.analysis.selfcheck.determinism import Determinism, Repeat
from delayrig.base.errors import ExitCode
from delayrig.present.terminal.console import say
from delayrig.present.terminal.progress import ManyRuns


class RepeatProgress(ManyRuns):
    """A line for each repeat."""

    def __init__(self, console: Console, repeats: int) -> None:
        super().__init__(console)
        self._repeats = repeats

    def repeated(self, repeat: Repeat) -> None:
        """One repeat is done: what was found in it."""
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
