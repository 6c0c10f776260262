# SPDX-License-Identifier: GPL-2.0-or-later
"""The launcher's own commands, and the start of the rig after set-up."""

import errno
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from delayrig import __version__
from delayrig.setup import stamp
from delayrig.setup.arguments import (
    ARCHIVE_VARIABLE,
    HELP,
    HELP_OPTIONS,
    OWN_COMMANDS,
    QUIET_OPTIONS,
    VERBOSE_OPTIONS,
    Request,
    named_archive,
    read_request,
)
from delayrig.setup.errors import INTERRUPTED, ExitCode, SetupError, UsageError
from delayrig.setup.layout import Layout, find_layout
from delayrig.setup.lock import note_use
from delayrig.setup.stamp import stale_steps, wanted_marks
from delayrig.setup.start_rig import run_rig

if TYPE_CHECKING:
    from delayrig.setup.console import Context


def main(arguments: Sequence[str]) -> int:
    """Does what the command line says, and returns the exit code."""
    try:
        return _do(find_layout(os.environ), read_request(arguments))
    except UsageError as error:
        sys.stderr.write(f"rig/rig: {error}\nremedy: see `rig/rig --help`\n")
        return ExitCode.BAD_INPUT
    except SetupError as error:
        sys.stderr.write(f"rig/rig: {error}\nremedy: {error.remedy}\n")
        return error.exit_code


def _do(layout: Layout, request: Request) -> int:
    if request.asks:
        return _answer(layout, request)
    if request.archive:
        os.environ[ARCHIVE_VARIABLE] = request.archive
    named_archive(os.environ)
    ours = request.own or request.has("--container") or request.imported
    if not ours and _is_ready(layout, request):
        return run_rig(layout, request.passed)
    return _guarded(layout, request)


def _is_ready(layout: Layout, request: Request) -> bool:
    """Returns True if no step of set-up is to be done.

    Then this process keeps its shared lock, so that no other checkout replaces the programs.
    """
    used = note_use(layout)
    ready = not stale_steps(layout, wanted_marks(layout), steps_of(request))
    if not ready and used >= 0:
        os.close(used)
    return ready


def _answer(layout: Layout, request: Request) -> int:
    """Prints help, the version or a list, which need no set-up beyond the rig's Python."""
    if request.own:
        sys.stdout.write(HELP)
        return ExitCode.PASS
    if not stale_steps(layout, wanted_marks(layout), [stamp.ENVIRONMENT]):
        return run_rig(layout, request.passed)
    from delayrig.setup.reference import check_command, help_text, list_text

    check_command(layout, request.command, OWN_COMMANDS)
    if request.asks_version:
        sys.stdout.write(f"rig/rig, version {__version__}\n")
    elif request.has(*HELP_OPTIONS):
        sys.stdout.write(help_text(layout, request.words))
    elif request.command is None:
        sys.stderr.write(help_text(layout, ()))
        return ExitCode.BAD_INPUT
    else:
        sys.stdout.write(list_text(layout, request.command))
    return ExitCode.PASS


def _guarded(layout: Layout, request: Request) -> int:
    # A start without set-up does not come here, so its time does not include these imports.
    from delayrig.setup.console import Context, open_console
    from delayrig.setup.reference import check_command

    check_command(layout, request.command, OWN_COMMANDS)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # End silently if the reader of the output ends, as other tools do before `head`.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    # Messages of set-up are not output of the command. `doctor` and `clean` are commands
    # themselves.
    output = sys.stdout if request.command in ("doctor", "clean") else sys.stderr
    console = open_console(
        output,
        sys.stdin,
        os.environ,
        no_color=request.has("--no-color"),
        quiet=request.has(*QUIET_OPTIONS),
    )
    context = Context(
        layout=layout,
        console=console,
        yes=request.has("--yes"),
        no_install=request.has("--no-install"),
        again=request.command == "setup" and not request.has("--if-needed"),
        as_json=request.has("--json"),
        security=request.has("--security"),
        steps=steps_of(request),
    )
    try:
        return _dispatch(context, request)
    except SetupError as error:
        if request.has(*VERBOSE_OPTIONS):
            import traceback

            traceback.print_exc()
        console.fail(error)
        return error.exit_code
    except OSError as error:
        console.fail(_explain(error, layout))
    except KeyboardInterrupt:
        console.write("rig/rig: interrupted; the next start goes on from here")
        return INTERRUPTED
    return ExitCode.RIG_FAULT


def steps_of(request: Request) -> tuple[str, ...]:
    """Returns the steps of set-up that the command needs, in order."""
    if request.own and request.has("--packages"):
        return (stamp.PACKAGES, stamp.ACCOUNT)
    if request.own and request.has("--tests"):
        return stamp.TEST_STEPS
    if not request.needs_guests:
        return stamp.HOST_STEPS
    return stamp.EVERY_STEP if request.own else stamp.GUEST_STEPS


def _dispatch(context: "Context", request: Request) -> int:
    if request.has("--container"):
        from delayrig.setup.container import run_in_container

        return run_in_container(context, request)
    from delayrig.setup.clean import clean
    from delayrig.setup.doctor import check_machine, examine
    from delayrig.setup.steps import set_up

    if request.command == "doctor":
        return examine(context)
    if request.command == "clean":
        return clean(context)
    if request.imported:
        # An import comes before set-up, which then needs no network.
        from delayrig.setup.image_archive import import_images

        file = Path(request.imported)
        count = import_images(context.layout, file, sha256=request.sha256)
        context.console.write(f"{file}: {count} files are here now")
        return ExitCode.PASS
    check_machine(context)
    set_up(context)
    if request.extras:
        from delayrig.setup.environment import add_extras

        add_extras(context, request.extras)
    if request.command != "setup":
        layout = context.layout
        note_use(layout)
        if stale_steps(layout, wanted_marks(layout), [stamp.NATIVE]):
            raise SetupError(
                f"{layout.state} was just taken by another checkout",
                "start again, or point $FLASHROM_RIG_STATE at another folder",
            )
        return run_rig(layout, request.passed)
    return ExitCode.PASS


def _explain(error: OSError, layout: Layout) -> SetupError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        from delayrig.setup.command import disk_full

        return disk_full(layout.state)
    what = f"{error.filename or layout.state}: {error.strerror}"
    return SetupError(
        what, "make it writable, or move the state elsewhere with $FLASHROM_RIG_STATE"
    )
