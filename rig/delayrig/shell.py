# SPDX-License-Identifier: GPL-2.0-or-later
"""A shell command of the user's: its words, and nothing of it left when we are interrupted."""

import contextlib
import os
import signal
import subprocess

INTERRUPT = {signal.SIGINT}


def run_shell(command: str) -> subprocess.CompletedProcess[str]:
    """Runs it here, in a process group of its own that ends with this function."""
    # An interruption waits until there is something to end.
    signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPT)
    child = subprocess.Popen(
        ["/bin/sh", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
        preexec_fn=_take_interrupts,
    )
    with child:
        try:
            _take_interrupts()
            said, complained = child.communicate()
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(command, child.returncode, said, complained)


def _take_interrupts() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPT)
