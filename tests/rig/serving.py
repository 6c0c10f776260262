# SPDX-License-Identifier: GPL-2.0-or-later
"""Schedulers and workers that run during a test."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

END_LIMIT_S = 120


@contextmanager
def serving(*words: str, environment: Mapping[str, str] | None = None) -> Iterator[int]:
    """Runs a subcommand until the block ends; yields its process id.

    Without TLS it does not start if another user has a process here, unless an option allows that.
    """
    allowing = [] if "--tls" in words else ["--trust-everyone-here"]
    process = subprocess.Popen(
        [sys.executable, "-m", "delayrig", *words, *allowing],
        env={**os.environ, **(environment or {})},
    )
    try:
        yield process.pid
    finally:
        process.terminate()
        try:
            process.wait(END_LIMIT_S)
        finally:
            process.kill()


def free_address() -> str:
    """Returns a free address on loopback."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"
