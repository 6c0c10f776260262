# SPDX-License-Identifier: GPL-2.0-or-later
"""The common parts of all terminal output: lines, tables that fit, and progress bars."""

import os
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Self

from rich import progress
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType, RenderResult
from rich.markup import escape
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from delayrig.base.text import plain
from delayrig.model.result import CellResult, Verdict
from delayrig.present import tables
from delayrig.present.notable import STYLES

PIPE_WIDTH = 200
GAP = 2
BAR_WIDTH = 24


class PatientConsole(Console):
    """A console that ignores a closed pipe. rich would exit with 1, the rig's code for `unsafe`.

    It prints no control characters of subjects and files, which could change the whole terminal.
    """

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yields the segments with all text made plain."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else plain(text), style, control)

    def on_broken_pipe(self) -> None:
        """Drops further output when the reader ends, as in `... | head`."""
        self.quiet = True
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.file.fileno())
        os.close(nowhere)


def make_console(*, stderr: bool = False, no_color: bool = False) -> Console:
    """Returns a console that obeys NO_COLOR and --no-color. On a pipe its lines are wide.

    Without colours it prints no bold text either, which would need the same control sequences.
    """
    stream = sys.stderr if stderr else sys.stdout
    return PatientConsole(
        stderr=stderr,
        color_system=None if no_color or os.environ.get("NO_COLOR") else "auto",
        highlight=False,
        width=None if stream.isatty() else PIPE_WIDTH,
        soft_wrap=False,
    )


def say(console: Console, *lines: str, style: str | None = None) -> None:
    """Prints lines unchanged: brackets are not markup, and no line is wrapped."""
    for line in lines:
        console.print(line, style=style, markup=False, soft_wrap=True)


def seconds(ns: int | None) -> str:
    """Returns the seconds with three decimals; a dash if they are not known."""
    return "-" if ns is None else f"{ns / 1e9:.3f}"


class FittedTable:
    """A table with columns of words, and columns of figures aligned to the right.

    If the terminal is too narrow, it first wraps headings and words between words, then drops the
    least important columns, then prints each row's words on a line above its figures.
    """

    def __init__(
        self,
        columns: Sequence[str],
        *,
        figures: Collection[str] = (),
        least: Collection[str] = (),
        title: str = "",
    ) -> None:
        """Takes the columns, those with figures, and those that may be dropped."""
        self._columns, self._title = tuple(columns), title
        self._figures, self._least = frozenset(figures), frozenset(least)
        self._rows: list[tuple[Text, ...]] = []

    @property
    def row_count(self) -> int:
        return len(self._rows)

    def add_row(self, *cells: str) -> None:
        assert len(cells) == len(self._columns)
        self._rows.append(tuple(Text.from_markup(cell) for cell in cells))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self._title:
            yield Text(self._title, style="italic")
        every = range(len(self._columns))
        decisive = [at for at in every if self._columns[at] not in self._least]
        for shown in (every, decisive):
            widths = self._widths(shown, options.max_width)
            if widths is not None:
                yield self._table(shown, widths, self._rows)
                return
        yield from self._stacked(decisive, options.max_width)

    def _widths(self, shown: Sequence[int], width: int) -> list[int] | None:
        """Returns the widths of the columns; None if they do not fit."""
        wanted = [self._width(at) for at in shown]
        needed = [self._width(at, wrapped=True) for at in shown]
        room = width - GAP * (len(shown) - 1)
        while sum(wanted) > room:
            spare = [want - need for want, need in zip(wanted, needed, strict=True)]
            if not any(spare):
                return None
            # Shrink headings of figures first, because no row becomes taller by that.
            of_figures = [n for n, at in enumerate(shown) if self._is_figure(at) and spare[n]]
            widest = max(of_figures or range(len(shown)), key=lambda n: (spare[n] > 0, wanted[n]))
            wanted[widest] -= 1
        return wanted

    def _width(self, at: int, *, wrapped: bool = False) -> int:
        head = self._columns[at]
        cells = [line for row in self._rows for line in row[at].plain.split("\n")]
        if wrapped:
            head = max(head.split(" "), key=len)
            if not self._is_figure(at):
                cells = [word for cell in cells for word in cell.split(" ")]
        return max(len(head), *(Text(cell).cell_len for cell in cells), 1)

    def _is_figure(self, at: int) -> bool:
        return self._columns[at] in self._figures

    def _table(
        self,
        shown: Sequence[int],
        widths: Sequence[int],
        rows: Iterable[Sequence[Text]],
        *,
        headed: bool = True,
    ) -> Table:
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, GAP, 0, 0))
        table.show_header = headed
        for at, width in zip(shown, widths, strict=True):
            side: JustifyMethod = "right" if self._is_figure(at) else "left"
            table.add_column(self._columns[at], justify=side, width=width)
        for row in rows:
            table.add_row(*(row[at] for at in shown))
        return table

    def _stacked(self, shown: Sequence[int], width: int) -> Iterator[Text | Padding]:
        """Yields each row's words on a line above its figures; a repeated line only once."""
        words = [at for at in shown if not self._is_figure(at)]
        figures = [at for at in shown if self._is_figure(at)]
        widths = self._widths(figures, width - GAP)
        if widths is None:
            widths = [self._width(at, wrapped=True) for at in figures]
        space = Text(" " * GAP)
        yield space.join(Text(self._columns[at], style="bold") for at in words)
        before: list[Text] = []
        for number, row in enumerate(self._rows):
            named = [row[at] for at in words]
            if named != before:
                yield space.join(named)
            before = named
            line = self._table(figures, widths, [row], headed=number == 0)
            yield Padding(line, (0, 0, 0, GAP))


def plain_table(
    words: Iterable[str], figures: Iterable[str], *, least: Collection[str] = ()
) -> FittedTable:
    """Returns a table of words, then of figures. `least` are the columns that may be dropped."""
    words, figures = tuple(words), tuple(figures)
    return FittedTable((*words, *figures), figures=figures, least=least)


def fitted(table: tables.Table, *, titled: bool = True) -> FittedTable:
    """Returns a page's table for the terminal."""
    title = table.caption if titled else ""
    made = FittedTable(table.columns, figures=table.figures, title=title)
    for row in table.whole_rows():
        made.add_row(*(escape(value) for value in row.values))
    return made


class LiveBar:
    """A bar on a terminal, and nothing elsewhere."""

    def __init__(self, console: Console, *columns: progress.ProgressColumn) -> None:
        self._console = console
        self._bar = progress.Progress(*columns, console=console, transient=True)
        self._task = self._bar.add_task("preparing", total=None)

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()


class RunProgress(LiveBar):
    """A live bar on a terminal; a line for each cell elsewhere."""

    def __init__(self, console: Console, *, lines: bool = False) -> None:
        """Makes the bar. `lines` prints a line for each cell on a terminal, too."""
        super().__init__(
            console,
            progress.SpinnerColumn(),
            progress.BarColumn(bar_width=BAR_WIDTH),
            progress.MofNCompleteColumn(),
            progress.TextColumn("{task.description}"),
            progress.TimeElapsedColumn(),
            progress.TextColumn("left"),
            progress.TimeRemainingColumn(),
        )
        self._lines = lines or not console.is_terminal
        self._verdicts: Counter[Verdict] = Counter()

    def preparing(self, what: str) -> None:
        self._bar.update(self._task, description=escape(what))
        self._console.print(f"making {escape(what)}")

    def round_begins(self, number: int, rounds: int) -> None:
        """Prints the number of the round, if there are several."""
        if rounds > 1:
            self._console.print(f"round {number} of {rounds}", markup=False)

    def started(self, cells: int) -> None:
        """Sets the length of the bar."""
        self._bar.reset(self._task, total=cells, description="running")

    def finished(self, result: CellResult) -> None:
        self._verdicts[result.verdict] += 1
        so_far = " ".join(
            f"[{STYLES[verdict]}]{count} {verdict}[/]" for verdict, count in self._verdicts.items()
        )
        self._bar.update(self._task, advance=1, description=so_far)
        if self._lines:
            task = self._bar.tasks[0]
            self._console.print(
                f"[{task.completed:.0f}/{task.total or 0:.0f}] {result.verdict} {escape(result.id)}"
                f" ({result.host_s:.2f} s)",
                markup=False,
            )
