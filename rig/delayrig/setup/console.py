# SPDX-License-Identifier: GPL-2.0-or-later
"""The output of set-up for people. It goes to stderr, because stdout belongs to the command."""

import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TextIO

from delayrig.setup.errors import SetupError
from delayrig.setup.layout import Layout
from delayrig.setup.stamp import GUEST_STEPS


class Colour(StrEnum):
    """The colour codes of terminals (Select Graphic Rendition)."""

    BOLD = "1"
    DIM = "2"
    RED = "31"
    GREEN = "32"
    YELLOW = "33"


class Level(StrEnum):
    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of one check of the doctor."""

    level: Level
    text: str
    remedy: str = ""


def ok(text: str) -> Finding:
    return Finding(level=Level.OK, text=text)


def note(text: str, remedy: str) -> Finding:
    return Finding(level=Level.NOTE, text=text, remedy=remedy)


def problem(text: str, remedy: str) -> Finding:
    return Finding(level=Level.PROBLEM, text=text, remedy=f"remedy: {remedy}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Console:
    output: TextIO
    input: TextIO
    colours: bool = False
    live: bool = False
    """True if lines may be overwritten, as on a terminal."""
    quiet: bool = False
    """True if the user wants no progress."""

    @property
    def interactive(self) -> bool:
        return self.input.isatty() and self.output.isatty()

    def paint(self, text: str, colour: Colour) -> str:
        return f"\033[{colour}m{text}\033[0m" if self.colours else text

    def begin(self, title: str) -> None:
        self._tell(self.paint(f"set-up: {title}", Colour.BOLD))

    @contextmanager
    def timed(self, title: str, done: str = "ready") -> Iterator[None]:
        """Prints the title, and the time that the block took if it ended well."""
        self.begin(title)
        started_s = time.monotonic()
        yield
        self.say(f"{done} in {human_time(time.monotonic() - started_s)}")

    def say(self, text: str) -> None:
        self._tell(f"  {text}")

    def warn(self, text: str) -> None:
        self._tell(f"  {self.paint('warning:', Colour.YELLOW)} {text}")

    def fail(self, error: SetupError) -> None:
        self.write(f"{self.paint('rig/rig:', Colour.RED)} {error.message}")
        for number, line in enumerate(error.remedy.splitlines()):
            self.write(f"{self.paint('remedy:', Colour.BOLD)} {line}" if number == 0 else line)

    def _tell(self, line: str) -> None:
        if not self.quiet:
            self.write(line)

    def write(self, line: str) -> None:
        self.erase()
        self.output.write(f"{line}\n")
        self.output.flush()

    def glance(self, line: str) -> None:
        """Shows a tool's last line until the next line takes its place."""
        if not self.live or self.quiet:
            return
        width = shutil.get_terminal_size().columns - 3
        shown = "".join(letter for letter in line if letter.isprintable())[:width]
        self.erase()
        self.output.write("  " + self.paint(shown, Colour.DIM))
        self.output.flush()

    def erase(self) -> None:
        """Removes the line that `glance` showed."""
        if self.live:
            self.output.write("\r\033[K")

    def ask(self, question: str) -> bool:
        """Returns False if the user answers no or the input ends, else True."""
        self.erase()
        self.output.write(f"  {question} [Y/n] ")
        self.output.flush()
        answer = self.input.readline()
        return answer != "" and answer.strip().lower() in {"", "y", "yes"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The places and permissions of set-up, and the console that it uses."""

    layout: Layout
    console: Console
    yes: bool = False
    no_install: bool = False
    again: bool = False
    """True to check each step in full, even if its mark is fresh."""
    security: bool = False
    as_json: bool = False
    steps: tuple[str, ...] = GUEST_STEPS
    """The steps to do, in this order."""


def open_console(
    output: TextIO,
    answers: TextIO,
    environment: Mapping[str, str],
    *,
    no_color: bool,
    quiet: bool = False,
) -> Console:
    """Returns a console with colours and live lines if the output is a terminal that shows them."""
    terminal = output.isatty() and environment.get("TERM") != "dumb"
    colours = terminal and not no_color and not environment.get("NO_COLOR")
    return Console(output=output, input=answers, colours=colours, live=terminal, quiet=quiet)


def human_size(size_bytes: int) -> str:
    """Returns the size with three digits at most below 1000 GB: `312 MB`."""
    for unit, unit_bytes in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        size = size_bytes / unit_bytes
        if size >= 0.9995:  # 999.5 of the next smaller unit rounds to 1000.
            return f"{size:.1f} {unit}" if size < 9.95 else f"{size:.0f} {unit}"
    return f"{size_bytes} bytes"


def human_time(seconds: float) -> str:
    """Returns the time as `0.4 s`, `43 s` or `2 min 3 s`."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def sentence(names: list[str]) -> str:
    """Returns the names as `a`, `a and b` or `a, b and c`."""
    *head, last = names
    return f"{', '.join(head)} and {last}" if head else last
