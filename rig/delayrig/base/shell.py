# SPDX-License-Identifier: GPL-2.0-or-later
"""A shell command of the user's: its words, and nothing of it left when we are told to end."""

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Iterator

from delayrig.base.interruption import ENDING

STANDARD_ERROR = 2


def run_shell(command: str, *, shown: bool = False) -> subprocess.CompletedProcess[str]:
    """Runs it here, in a process group of its own that ends with this function.

    Its words are kept; those that are `shown` go to standard error as they come, and are not.
    Raises `KeyboardInterrupt` after any signal to end.
    """
    where = STANDARD_ERROR if shown else subprocess.PIPE
    with _interrupted_by_all():
        # An interruption waits until there is something to end.
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        child = subprocess.Popen(
            ["/bin/sh", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=where,
            stderr=where,
            text=True,
            errors="replace",
            start_new_session=True,
            preexec_fn=_take_signals,
        )
        with child:
            try:
                _take_signals()
                said, complained = child.communicate()
            except BaseException:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
                raise
    return subprocess.CompletedProcess(command, child.returncode, said or "", complained or "")


def _take_signals() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


@contextlib.contextmanager
def _interrupted_by_all() -> Iterator[None]:
    """SIGTERM ends us as Control-C does: the command is in another group, and would live on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {
        number: signal.signal(number, signal.default_int_handler)
        for number in ENDING
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
