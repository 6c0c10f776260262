# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads what the measuring program wrote (images/latency/lines.h), and cyclictest of rt-tests."""

from collections.abc import Sequence
from typing import Any

import msgspec

from delayrig.analysis.latency.place import Line
from delayrig.analysis.latency.result import Cyclic, Reading, Statistics, Ticks
from delayrig.analysis.latency.series import Series
from delayrig.base.errors import RigFaultError

LINES_SCHEMA = 1
COUNTS = ("early", "overruns", "cpu_ns", "voluntary_switches", "involuntary_switches")
PACE = ("windows", "windows_not_kept")
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


def parse_lines(text: bytes, *, expected: int, source: str) -> list[Line]:
    """Every series has its line, in order; anything else is a fault of the rig."""
    lines: list[Line] = []
    for number, raw in enumerate(text.splitlines()):
        try:
            line = msgspec.json.decode(raw, type=Line)
        except msgspec.DecodeError as error:
            raise RigFaultError(f"{source}: line {number + 1}: {error}: {raw[:200]!r}") from error
        if line.get("schema") != LINES_SCHEMA or line.get("series") != number:
            raise RigFaultError(f"{source}: line {number + 1} is not of series {number}")
        lines.append(line)
    if len(lines) != expected:
        raise RigFaultError(f"{source}: {len(lines)} of {expected} series were measured")
    return lines


def reading_of(series: Series, line: Line) -> Reading:
    if "refused" in line:
        return Reading(series=series, refused=line["refused"], why=line["why"])
    statistics = msgspec.convert(line, Statistics) if "quantiles_ns" in line else None
    return Reading(
        series=series,
        statistics=statistics,
        elapsed_ns=line.get("elapsed_ns", []),
        **{key: line.get(key, 0) for key in (*COUNTS, *PACE)},
    )


def ticks_of(span_ns: int, line: Line) -> Ticks | None:
    """None where the kernel does not count them."""
    if "refused" in line:
        return None
    return Ticks(
        span_ns=span_ns,
        idle_interrupts=line["idle_interrupts"],
        busy_interrupts=line["busy_interrupts"],
    )


def refusals(readings: Sequence[Reading]) -> list[str]:
    """Each refused call once, with the reason."""
    return list(dict.fromkeys(f"{each.refused}: {each.why}" for each in readings if each.refused))


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
