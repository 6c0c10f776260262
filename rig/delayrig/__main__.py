# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig` ends up here once set-up is done."""

import os
import signal

INTERRUPTED = 130


def _end(_number: int, _frame: object) -> None:
    """Ends at once. Nothing has begun yet, so there is nothing to clean up."""
    os.write(2, b"interrupted; nothing was begun\n")
    os._exit(INTERRUPTED)


def start() -> None:
    """Imports what takes a while, and runs the command."""
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, _end)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # the launcher held it back
    from delayrig.cli.main import main

    if ours:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    main(prog_name="rig/rig", complete_var="_RIG_COMPLETE")


if __name__ == "__main__":
    start()
