# SPDX-License-Identifier: GPL-2.0-or-later
"""The common parts of all commands: error messages, an orderly end, a folder for results."""

import asyncio
import errno
import os
import sys
import traceback
from collections.abc import Callable, Collection, Coroutine, Sequence
from dataclasses import replace
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import click

from delayrig.base.bubblewrap import is_unconfined_by_default
from delayrig.base.errors import ExitCode, RigError, RigFaultError
from delayrig.base.interruption import until_signalled
from delayrig.base.paths import Paths, find_paths
from delayrig.base.scratch import NO_ROOM
from delayrig.cli.verbosity import (
    Verbosity,
    make_console,
    note,
    progress_console,
    verbosity,
    was_given,
)
from delayrig.model.cell import Programmer
from delayrig.model.lane import LaneName
from delayrig.model.result import FILE_NAME, Results
from delayrig.plan.cluster import ClusterOptions
from delayrig.plan.request import Request, choose_cells
from delayrig.present.console import RunProgress, say
from delayrig.run.out_folder import checked_out
from delayrig.run.runner import run_request
from delayrig.subjects.delay_function import DelayOptions

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
P = ParamSpec("P")
R = TypeVar("R")

UNCONFINED = "delayrig.unconfined"
"""The key of `--unconfined` in the context of a command."""
INTERRUPTED = 130
SIGPIPE_ENDED = 141


class Hex(click.ParamType[int]):
    """A number written in hexadecimal, with or without 0x."""

    name = "hex"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        try:
            return int(str(value), 16)
        except ValueError:
            self.fail(f"{value!r} is no hexadecimal number", param, ctx)


def gathered(name: str, kind: Callable[..., Any], *options: Decorator) -> Decorator:
    """Adds options to a command, which gets them as one value of type `kind`.

    The value takes the options that are named like a parameter of `kind`; the command gets all
    others itself. `name` is the command's parameter for the value.
    """
    names = list(signature(kind).parameters)

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def inner(*args: Any, **kwargs: Any) -> Any:
            value = kind(**{each: kwargs.pop(each) for each in names})
            return function(*args, **{name: value}, **kwargs)

        decorated: Callable[..., Any] = inner
        for option in reversed(options):
            decorated = option(decorated)
        return decorated

    return decorate


delay_options = gathered(
    "delay",
    DelayOptions,
    click.option(
        "--delay-symbol",
        "symbol",
        default="",
        help="The delay function of path: subjects, or several: A,B.",
    ),
    click.option(
        "--delay-offset",
        "offset",
        metavar="HEX",
        type=Hex(),
        help="The delay function, by its offset in the program's file.",
    ),
)
"""The options for the delay function of `path:` subjects, passed to the command as `delay`."""


def explained(function: Callable[P, R]) -> Callable[P, R]:
    """Prints the rig's own errors with their remedies and exits with their codes.

    An unexpected exception is a fault of the rig, too. Python would exit with 1, which means that
    a flashrom was timed too short.
    """

    @wraps(function)
    def inner(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except BrokenPipeError:
            sys.exit(drop_output())
        except Exception as raised:  # noqa: BLE001 (the last resort, see above)
            sys.exit(print_error(raised))

    return inner


class RigCommand(click.Command):
    """A command that prints the rig's own errors."""

    def invoke(self, ctx: click.Context) -> Any:
        return explained(super().invoke)(ctx)


class RigGroup(click.Group):
    command_class = RigCommand


def drop_output() -> int:
    """Drops further output, whose reader has gone (`| head`); returns the exit code of SIGPIPE."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        # Otherwise Python would try to write again when it ends.
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
    return SIGPIPE_ENDED


def print_error(raised: Exception) -> ExitCode:
    """Prints what went wrong and the remedy, if there is one; returns the exit code."""
    error = first_error(raised)
    if isinstance(error, OSError) and error.errno in (*NO_ROOM, errno.EFBIG):
        error = RigFaultError(
            f"could not write: {error}",
            hint="free some space where the --out folder and standard output are",
        )
    if isinstance(error, MemoryError):
        error = RigFaultError("out of memory", hint="free some, or raise the limit (`ulimit -v`)")
    if not isinstance(error, RigError):
        traceback.print_exception(raised)
        return ExitCode.RIG_FAULT
    if verbosity() is Verbosity.VERBOSE:
        traceback.print_exception(raised)
    console = make_console(stderr=True)
    say(console, f"error: {error.message}", style="bold red")
    if error.hint:
        say(console, f"  {error.hint}")
    return error.exit_code


def first_error(raised: BaseException) -> BaseException:
    """Returns the first exception of a group, or the exception itself."""
    found = raised
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found


resume_option = click.option(
    "--resume", is_flag=True, help="Continues the run in --out; finished cells are kept."
)
HOW_TO_GO_ON = "; the same command with --out and --resume goes on"


def run_progress() -> RunProgress:
    """Returns the display of progress on stderr."""
    return RunProgress(progress_console(), lines=verbosity() is Verbosity.VERBOSE)


def run_shown(request: Request, paths: Paths, *, how_to_go_on: str = "") -> Results:
    """Runs the request with progress on stderr. An interruption prints how to continue."""
    with run_progress() as progress:
        return until_interrupted(
            run_request(request, paths, progress),
            kept=f"finished cells are kept in {request.out}{how_to_go_on}",
        )


def until_interrupted(work: Coroutine[Any, Any, R], *, kept: str) -> R:
    """Returns the work's result; after a signal, prints what is `kept` and ends the program."""
    try:
        return asyncio.run(until_signalled(work))
    except (KeyboardInterrupt, asyncio.CancelledError):
        make_console(stderr=True).print(f"interrupted; {kept}", markup=False)
        sys.exit(INTERRUPTED)


def is_unconfined() -> bool:
    """Returns True if `--unconfined` was given or the environment asks for it."""
    return was_given(UNCONFINED) or is_unconfined_by_default()


def own_request(
    plan: str,
    out: Path | None,
    *,
    by_default: str = "",
    seed: int = 1,
    jobs: int | None = None,
    patterns: Sequence[str] = (),
    subjects: Collection[str] = (),
    lane: LaneName | None = None,
    delay: DelayOptions | None = None,
    leaves: str = FILE_NAME,
    resume: bool = False,
    cluster: ClusterOptions | None = None,
    programmers: tuple[Programmer, ...] = (),
) -> tuple[Request, Paths]:
    """Returns the request of a command that always runs the same plan of the rig.

    `subjects`, if given, replace the plan's. A file `leaves` in `out` shows that an earlier run is
    there, which only `resume` continues. Without `out` it uses a folder named after `by_default`,
    or after the plan.
    """
    paths = find_paths()
    choice = choose_cells(
        plan=plan,
        subjects=subjects,
        patterns=patterns,
        seed=seed,
        paths=paths,
        lane=lane,
        programmers=programmers,
    )
    folder = checked_out(
        out, choice.cells, by_default=by_default or plan, leaves=leaves, resume=resume
    )
    jobs = jobs or len(os.sched_getaffinity(0))
    request = replace(
        choice.request(plan, folder.absolute(), seed=seed, argv=sys.argv[1:], jobs=jobs),
        cluster=cluster,
        unconfined=is_unconfined(),
        delay=delay or DelayOptions(),
        resume=resume,
        programmers=programmers,
    )
    return request, paths


def say_making(what: str) -> None:
    note(f"making {what}")
