# SPDX-License-Identifier: GPL-2.0-or-later
"""The program that `rig/rig` starts once set-up is done."""

import os
import signal
import sys
from collections.abc import Callable

RIG_FAULT = 99
INTERRUPTED = 130
SIGPIPE_ENDED = 141


def _end(_number: int, _frame: object) -> None:
    """Ends at once. Nothing has begun yet, so there is nothing to clean up."""
    os.write(2, b"interrupted; nothing was begun\n")
    os._exit(INTERRUPTED)


def start() -> int:
    """Runs the rig and returns its exit code.

    The launcher gets SAYS_UNSAFE instead of 1, because Python itself exits with 1 after an error.
    """
    try:
        code = _run()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        code = SIGPIPE_ENDED
    except (MemoryError, ImportError, OSError) as error:
        code = _cannot_go_on(error)
    started_by = sys._xoptions.get("started_by")  # noqa: SLF001 (the only way to read -X)
    if started_by is None or code != 1:
        return code
    from delayrig.setup.start_rig import SAYS_UNSAFE

    return SAYS_UNSAFE


def _cannot_go_on(error: Exception) -> int:
    """Prints the error in one line, which needs little memory, and returns the exit code."""
    os.write(2, f"rig/rig: cannot go on: {type(error).__name__}: {error}\n".encode())
    return RIG_FAULT


def _run() -> int:
    """Imports the command line, which takes a while, and runs it."""
    is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_default:
        signal.signal(signal.SIGINT, _end)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # The launcher blocked it.
    _die_with_launcher()
    main = _import_main()
    if is_default:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        main(prog_name="rig/rig", complete_var="_RIG_COMPLETE")
    except SystemExit as ended:
        sys.stdout.flush()
        return ended.code if isinstance(ended.code, int) else RIG_FAULT if ended.code else 0
    return 0


def _import_main() -> Callable[..., None]:
    """Returns the function that runs the command line.

    Ends the process at once if memory is too small for the import. Python then raises one of
    several exceptions (`SystemError` is one), and a normal exit would print further errors.
    """
    try:
        from delayrig.main import main
    except (MemoryError, SystemError, OSError) as error:
        os._exit(_cannot_go_on(error))
    return main


def _die_with_launcher() -> None:
    """Makes this process end with the launcher, even if the launcher is killed."""
    started_by = sys._xoptions.get("started_by")  # noqa: SLF001
    if started_by is None:
        return
    from delayrig.base.die_with_parent import PR_SET_PDEATHSIG, prctl

    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(started_by):
        os._exit(RIG_FAULT)


if __name__ == "__main__":
    sys.exit(start())
