# SPDX-License-Identifier: GPL-2.0-or-later
"""Terminals and pipes: what all that is shown there has in common."""

import os
import sys

from rich.console import Console

PIPE_WIDTH = 200


class PatientConsole(Console):
    """Goes on in silence where nobody reads any more: rich would end with 1, which is a verdict."""

    def on_broken_pipe(self) -> None:
        """Of `... | head`."""
        self.quiet = True
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.file.fileno())
        os.close(nowhere)


def make_console(*, stderr: bool = False, no_color: bool = False) -> Console:
    """A console that keeps to NO_COLOR and to --no-color; a pipe is wide."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else PIPE_WIDTH
    return PatientConsole(
        stderr=stderr, no_color=no_color or None, highlight=False, width=width, soft_wrap=False
    )


def say(console: Console, *lines: str, style: str | None = None) -> None:
    """Lines as they are: brackets in them are no markup, and none is wrapped."""
    for line in lines:
        console.print(line, style=style, markup=False, soft_wrap=True)


def seconds(ns: int | None) -> str:
    """To the millisecond; a dash for what is not known."""
    return "-" if ns is None else f"{ns / 1e9:.3f}"
