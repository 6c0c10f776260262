# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a program in this one's place: its end is ours, and what ends us ends it."""

import signal
import subprocess
from collections.abc import Sequence

FORWARDED = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
BY_KERNEL_MIN = 1
"""si_code of a signal that the terminal sent, which the program has got as well."""


def run_forwarding(argv: Sequence[str]) -> int:
    """The exit code of a program that gets each signal that is sent to this process alone."""
    awaited = FORWARDED | {signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, awaited)

    def unblock() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    try:
        with subprocess.Popen(argv, preexec_fn=unblock) as process:
            while process.poll() is None:
                told = signal.sigwaitinfo(awaited)
                if told.si_signo in FORWARDED and told.si_code < BY_KERNEL_MIN:
                    process.send_signal(told.si_signo)
        return process.returncode if process.returncode >= 0 else 128 - process.returncode
    finally:
        unblock()
