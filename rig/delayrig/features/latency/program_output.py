# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the output of the measuring program (images/latency/readings.h) and of cyclictest.

Only root may read /proc/timer_list. Without it, clock_getres() shows if timers have high
resolution, and a CPU's number of timer interrupts shows if its tick stops. Source: Linux,
kernel/time/timer_list.c, Documentation/timers/no_hz.rst, highres.rst.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from delayrig.base.durations import rounded
from delayrig.base.errors import NOT_JSON, RigFaultError
from delayrig.features.latency.place import Line
from delayrig.features.latency.result import Cyclic, Reading, Series, Ticks, Timers

LINES_SCHEMA = 1
PROGRAM = "cyclictest"
PACKAGE = "rt-tests"
PRIORITY = 99
INTERVAL_US = 1000
INTERFACES = {
    "POSIX timer (timer_create)": ("--posix_timers",),
    "setitimer": ("--posix_timers", "--system"),
    "clock_nanosleep": (),
}
"""The options of cyclictest(8) 2.x. Older versions use POSIX timers by default."""
TIMER_LIST = "/proc/timer_list"
PERIODIC, IDLE, FULL = "periodic", "idle", "full"
FIELD = re.compile(r"\.(hres_active|highres|nohz_mode|nohz)\s*:\s*(\d+)")
HEADING = re.compile(r"^(?:cpu: |Tick Device)", re.MULTILINE)
"""The heading of the part about a CPU, which ends at the next, or at the devices."""
HANDLER = re.compile(r"event_handler:\s*(\w+)")
FEW = 0.3
"""If less than this fraction of the expected ticks came, the tick was stopped."""


def parse_lines(text: bytes, *, expected: int, source: str) -> list[Line]:
    """Returns the line of each series, in order; raises `RigFaultError` for any other output."""
    lines: list[Line] = []
    for number, raw in enumerate(text.splitlines()):
        try:
            line = msgspec.json.decode(raw, type=Line)
        except NOT_JSON as error:
            raise RigFaultError(f"{source}: line {number + 1}: {error}: {raw[:200]!r}") from error
        if line.get("schema") != LINES_SCHEMA or line.get("series") != number:
            raise RigFaultError(f"{source}: line {number + 1} is not of series {number}")
        lines.append(line)
    if len(lines) != expected:
        raise RigFaultError(f"{source}: {len(lines)} of {expected} series were measured")
    return lines


def reading_of(series: Series, line: Line) -> Reading:
    statistics = line if "quantiles_ns" in line else None
    return msgspec.convert({**line, "series": series, "statistics": statistics}, Reading)


def ticks_of(span_ns: int, line: Line) -> Ticks | None:
    """Returns the interrupts of the line; None if the kernel does not count them."""
    return None if "refused" in line else msgspec.convert({**line, "span_ns": span_ns}, Ticks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One run of cyclictest."""

    interface: str
    eaters: int
    loops: int
    cpu: int

    @property
    def words(self) -> list[str]:
        """Returns the command line, without the program and its output file."""
        return [
            *("--quiet", "--nsecs", "--mlockall", "--threads=1"),
            *(f"--affinity={self.cpu}", f"--mainaffinity={self.cpu}"),
            *("--policy=fifo", f"--priority={PRIORITY}"),
            *(f"--interval={INTERVAL_US}", f"--loops={self.loops}"),
            *INTERFACES[self.interface],
        ]


def read_cyclictest(text: bytes, taken: Round) -> Cyclic:
    """Reads the result of the only thread; raises `RigFaultError` if there is none."""
    command = " ".join([PROGRAM, *taken.words])
    try:
        thread: dict[str, Any] = msgspec.json.decode(text, type=dict[str, Any])["thread"]["0"]
        return Cyclic(
            interface=taken.interface,
            loaded=taken.eaters > 0,
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


def timers_of(line: Line, ticks: Ticks | None, cpu: int) -> Timers:
    """Returns the timers described by the line of the series `facts`."""
    listed = line.get("timer_list", "")
    parts = HEADING.split(listed)
    of_cpu = next((part for part in parts if re.match(rf"{cpu}\b", part)), "")
    fields = {key: int(value) for key, value in FIELD.findall(of_cpu)}
    resolution_ns, jiffy_ns = line["resolution_ns"], line["coarse_resolution_ns"]
    source = TIMER_LIST
    high = bool(fields.get("hres_active", fields.get("highres", 0)))
    if not fields:
        source = f"clock_getres() ({TIMER_LIST}: {line.get('timer_list_error', 'says nothing')})"
        high = resolution_ns < jiffy_ns
    tick = _tick(fields, ticks, cpu, line)
    handlers = sorted(set(HANDLER.findall(listed)))
    resolution = _say_resolution(high, resolution_ns, jiffy_ns, handlers)
    return Timers(
        resolution_ns=resolution_ns,
        jiffy_ns=jiffy_ns,
        high_resolution=high,
        tick=tick,
        event_handlers=handlers,
        source=source,
        sentence=f"{resolution} {_say_tick(tick, ticks)}",
    )


def parse_cpus(text: str) -> set[int]:
    """Parses a list of CPUs as the kernel writes it: `1-3,5`."""
    found: set[int] = set()
    for part in re.findall(r"(\d+)(?:-(\d+))?", text):
        found.update(range(int(part[0]), int(part[1] or part[0]) + 1))
    return found


def _tick(fields: dict[str, int], ticks: Ticks | None, cpu: int, line: Line) -> str:
    nohz = fields.get("nohz", fields.get("nohz_mode"))
    if nohz == 0:
        return PERIODIC
    if cpu in parse_cpus(line.get("nohz_full", "")):
        return FULL
    if nohz is not None:
        return IDLE
    if ticks is None:
        return ""
    expected = ticks.span_ns / line["coarse_resolution_ns"]
    return IDLE if ticks.idle_interrupts < FEW * expected else ""


def _say_resolution(high: bool, resolution_ns: int, jiffy_ns: int, handlers: Sequence[str]) -> str:
    basis = f"clock_getres() says {rounded(resolution_ns)}"
    serving = [name for name in handlers if "broadcast" not in name]
    if serving:
        basis += f", the timer interrupt is served by {' and '.join(serving)}"
    if high:
        return (
            f"High-resolution timers are on ({basis}): a sleep ends when its time is up,"
            " not at the next tick."
        )
    return (
        f"High-resolution timers are off ({basis}): every sleep ends at a tick, and they come"
        f" every {rounded(jiffy_ns)}."
    )


def _say_tick(tick: str, ticks: Ticks | None) -> str:
    meaning = {
        PERIODIC: "The tick is periodic: it interrupts each CPU at every jiffy, idle or not",
        IDLE: "The tick stops while a CPU is idle (NO_HZ idle), and comes at every jiffy while it"
        " is not",
        FULL: "The tick stops while the CPU is idle and also while it runs a single task (full"
        " NO_HZ)",
    }.get(tick, "Nothing here says whether the tick stops on idle CPUs")
    if ticks is None:
        return f"{meaning}."
    return (
        f"{meaning}: in {ticks.span_ns // 1_000_000} ms the timer interrupted it"
        f" {ticks.idle_interrupts} times while this program slept, and {ticks.busy_interrupts}"
        " times while it computed."
    )
