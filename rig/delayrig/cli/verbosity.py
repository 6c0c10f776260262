# SPDX-License-Identifier: GPL-2.0-or-later
"""The output options `-q`, `-v`, `--no-color` and `--json`, which are the same in all commands.

The answer goes to standard output, progress to standard error. With `--json` the answer is one JSON
document, and the text for people is omitted.
"""

import contextlib
import io
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from enum import IntEnum
from functools import wraps
from typing import Any, TextIO, TypeVar

import click
import msgspec
from rich.console import Console

from delayrig.present import console

R = TypeVar("R")
KEY = "delayrig.verbosity"
PLAIN = "delayrig.no_color"
_answer_to: ContextVar[TextIO | None] = ContextVar("answer_to", default=None)
"""The stream for the JSON of the answer; None without `--json`."""


class Verbosity(IntEnum):
    QUIET = -1
    USUAL = 0
    VERBOSE = 1


def verbosity() -> Verbosity:
    """Returns the verbosity of the present command."""
    context = click.get_current_context(silent=True)
    return context.meta.get(KEY, Verbosity.USUAL) if context else Verbosity.USUAL


def noted(key: str) -> Callable[[click.Context, click.Parameter, bool], None]:
    """Returns a callback that records a flag for `was_given()`."""

    def note_it(context: click.Context, _: click.Parameter, given: bool) -> None:
        context.meta[key] = given

    return note_it


def was_given(key: str) -> bool:
    """Returns True if the present command has that flag."""
    context = click.get_current_context(silent=True)
    return context is not None and context.meta.get(key, False)


def is_plain() -> bool:
    return was_given(PLAIN)


plain_text = click.option(
    "--no-color",
    is_flag=True,
    expose_value=False,
    callback=noted(PLAIN),
    help="Plain text; NO_COLOR does the same.",
)


def make_console(*, stderr: bool = False) -> Console:
    return console.make_console(stderr=stderr, no_color=is_plain())


def loud_options() -> list[click.Option]:
    """Returns the options `-q` and `-v`. The last one counts."""

    def option(chosen: Verbosity, names: list[str], text: str) -> click.Option:
        def choose(context: click.Context, _: click.Parameter, given: bool) -> None:
            if given:
                context.meta[KEY] = chosen

        return click.Option(names, is_flag=True, expose_value=False, help=text, callback=choose)

    traced = "Also prints each step, and the traceback of an error."
    return [
        option(Verbosity.QUIET, ["-q", "--quiet"], "Prints only the answer and errors."),
        option(Verbosity.VERBOSE, ["-v", "--verbose"], traced),
    ]


def add_verbosity(command: click.Command) -> None:
    """Adds the options to a command, or to all of a group."""
    if isinstance(command, click.Group):
        for each in command.commands.values():
            add_verbosity(each)
    else:
        command.params += loud_options()


def note(text: str) -> None:
    """Prints a line to standard error, unless `--quiet` is given."""
    if verbosity() is not Verbosity.QUIET:
        click.echo(text, err=True)


def progress_console() -> Console:
    made = make_console(stderr=True)
    made.quiet = verbosity() is Verbosity.QUIET
    return made


def answers(function: Callable[..., R]) -> Callable[..., R]:
    """Adds `--json` to a command, which must also pass its answer to `print_json`."""

    @click.option("--json", "as_json", is_flag=True, help="As JSON, all times in nanoseconds.")
    @wraps(function)
    def inner(*args: Any, as_json: bool, **kwargs: Any) -> R:
        if not as_json:
            return function(*args, **kwargs)
        with _as_json():
            return function(*args, **kwargs)

    return inner


def tables_or_json(function: Callable[..., R]) -> Callable[..., R]:
    """Adds `--json` and `--no-color` to a command with coloured output."""
    return plain_text(answers(function))


def print_json(value: object) -> None:
    """Prints the answer as JSON, if `--json` is given."""
    stream = _answer_to.get()
    if stream is not None:
        content = msgspec.json.encode(value, enc_hook=str)
        stream.write(msgspec.json.format(content, indent=1).decode() + "\n")
        stream.flush()


@contextlib.contextmanager
def _as_json() -> Iterator[None]:
    token = _answer_to.set(sys.stdout)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        _answer_to.reset(token)
