# SPDX-License-Identifier: GPL-2.0-or-later
"""cyclictest of rt-tests: how late a task of 1 ms is woken, by each of the kernel's interfaces."""

from typing import Any

import msgspec

from delayrig.analysis.latency.result import Cyclic
from delayrig.base.errors import RigFaultError

PROGRAM = "cyclictest"
PACKAGE = "rt-tests"
PRIORITY = 99
INTERVAL_US = 1000
INTERFACES = {
    "POSIX timer (timer_create)": ("--posix_timers",),
    "setitimer": ("--posix_timers", "--system"),
    "clock_nanosleep": (),
}
"""Words of cyclictest(8) 2.x; older ones waited by POSIX timers unless told otherwise."""


def cyclictest_words(interface: str, *, loops: int, cpu: int, output: str) -> list[str]:
    """Its command line, without the program."""
    return [
        *("--quiet", "--nsecs", "--mlockall", "--threads=1"),
        *(f"--affinity={cpu}", f"--mainaffinity={cpu}"),
        *("--policy=fifo", f"--priority={PRIORITY}"),
        *(f"--interval={INTERVAL_US}", f"--loops={loops}"),
        f"--json={output}",
        *INTERFACES[interface],
    ]


def read_cyclictest(text: bytes, interface: str, *, loaded: bool, command: str) -> Cyclic:
    """Of its one thread; anything else is a fault of the rig."""
    try:
        thread: dict[str, Any] = msgspec.json.decode(text, type=dict[str, Any])["thread"]["0"]
        return Cyclic(
            interface=interface,
            loaded=loaded,
            cycles=int(thread["cycles"]),
            min_ns=int(thread["min"]),
            mean_ns=round(float(thread["avg"])),
            max_ns=int(thread["max"]),
            command=command,
        )
    except (msgspec.DecodeError, KeyError, TypeError, ValueError) as error:
        raise RigFaultError(
            f"cyclictest's JSON holds no thread 0: {error!r}: {text[:200]!r}",
            hint=f"compare `{command}`",
        ) from error
