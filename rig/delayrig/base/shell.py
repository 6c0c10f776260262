# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a user's shell command, and leaves nothing of it behind if this process is ended."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from delayrig.base.interruption import ENDING

STANDARD_ERROR = 2
OWN_PROGRAMS = Path(sys.executable).parent
"""The folder of the rig's environment, which has a meson that is new enough."""


def run_shell(command: str, *, shown: bool = False) -> subprocess.CompletedProcess[str]:
    """Runs the command in a new session, which is killed if this function is interrupted.

    Its output is kept; if `shown`, it goes to standard error at once and is not kept. Programs of
    the rig's environment are used if the user has none of that name. Raises `KeyboardInterrupt`
    after any signal to end.
    """
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), str(OWN_PROGRAMS)])
    where = STANDARD_ERROR if shown else subprocess.PIPE
    with _interrupted_by_all():
        # An interruption is deferred until the child exists, so that it can be killed.
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        try:
            child = subprocess.Popen(
                ["/bin/sh", "-c", command],
                stdin=subprocess.DEVNULL,
                stdout=where,
                stderr=where,
                env={**os.environ, "PATH": path},
                text=True,
                errors="replace",
                start_new_session=True,
                preexec_fn=_unblock_signals,
            )
        except BaseException:
            _unblock_signals()
            raise
        with child:
            try:
                _unblock_signals()
                output, errors = child.communicate()
            except BaseException:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
                raise
    return subprocess.CompletedProcess(command, child.returncode, output or "", errors or "")


def _unblock_signals() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


@contextlib.contextmanager
def _interrupted_by_all() -> Iterator[None]:
    """Makes SIGTERM and SIGHUP raise `KeyboardInterrupt` within the block, in the main thread.

    The command is in another process group and would otherwise live on.
    """
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
