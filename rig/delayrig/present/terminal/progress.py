# SPDX-License-Identifier: GPL-2.0-or-later
"""How far a run is."""

from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from delayrig.model.result import CellResult, Verdict
from delayrig.present.notable import STYLES

BAR_WIDTH = 24


class LiveBar:
    """A bar on a terminal, and nothing elsewhere."""

    def __init__(self, console: Console, *columns: ProgressColumn) -> None:
        self._console = console
        self._bar = Progress(*columns, console=console, transient=True)
        self._task = self._bar.add_task("preparing", total=None)

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()


class RunProgress(LiveBar):
    """A live bar on a terminal; a line per cell elsewhere."""

    def __init__(self, console: Console, *, lines: bool = False) -> None:
        """`lines`: a line per cell also on a terminal."""
        super().__init__(
            console,
            SpinnerColumn(),
            BarColumn(bar_width=BAR_WIDTH),
            MofNCompleteColumn(),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
        )
        self._lines = lines or not console.is_terminal
        self._verdicts: dict[Verdict, int] = {}
        self._done = 0
        self._cells = 0

    def preparing(self, what: str) -> None:
        self._bar.update(self._task, description=escape(what))
        self._console.print(f"making {escape(what)}")

    def round_begins(self, number: int, rounds: int) -> None:
        """Of several; each has all cells again."""
        if rounds > 1:
            self._console.print(f"round {number} of {rounds}", markup=False)

    def started(self, cells: int) -> None:
        """The bar has a length from now on."""
        self._done = 0
        self._cells = cells
        self._bar.reset(self._task, total=cells, description="running")

    def finished(self, result: CellResult) -> None:
        self._done += 1
        self._verdicts[result.verdict] = self._verdicts.get(result.verdict, 0) + 1
        so_far = " ".join(
            f"[{STYLES[verdict]}]{count} {verdict}[/]" for verdict, count in self._verdicts.items()
        )
        self._bar.update(self._task, advance=1, description=so_far)
        if self._lines:
            self._console.print(
                f"[{self._done}/{self._cells}] {result.verdict} {escape(result.id)}"
                f" ({result.host_s:.2f} s)",
                markup=False,
            )


class ManyRuns(RunProgress):
    """A bar for each of many runs, on a terminal only."""

    def finished(self, result: CellResult) -> None:
        if self._console.is_terminal:
            super().finished(result)

    def began(self, what: str) -> None:
        self._console.print(escape(what))
