# SPDX-License-Identifier: GPL-2.0-or-later
"""What the kernel says of its timers, and what that means, in a sentence.

Only root may read /proc/timer_list. Without it, clock_getres() tells of high-resolution timers, and
how often the timer interrupts a CPU tells what the tick does.
Source: Linux kernel/time/timer_list.c, Documentation/timers/no_hz.rst, highres.rst.
"""

import re
from collections.abc import Sequence

from delayrig.analysis.latency.place import Line
from delayrig.analysis.latency.result import Ticks, Timers

TIMER_LIST = "/proc/timer_list"
PERIODIC, IDLE, FULL = "periodic", "idle", "full"
FIELD = re.compile(r"\.(hres_active|highres|nohz_mode|nohz)\s*:\s*(\d+)")
HANDLER = re.compile(r"event_handler:\s*(\w+)")
FEW = 0.3
"""Of the ticks that a span would hold: fewer mean that the tick was stopped."""


def timers_of(line: Line, ticks: Ticks | None, cpu: int) -> Timers:
    """From the line of the series `facts`."""
    text = _of_cpu(line.get("timer_list", ""), cpu)
    fields = {key: int(value) for key, value in FIELD.findall(text)}
    resolution_ns, jiffy_ns = line["resolution_ns"], line["coarse_resolution_ns"]
    source = TIMER_LIST
    high = bool(fields.get("hres_active", fields.get("highres", 0)))
    if not fields:
        source = f"clock_getres() ({TIMER_LIST}: {line.get('timer_list_error', 'says nothing')})"
        high = resolution_ns < jiffy_ns
    tick = _tick(fields, ticks, cpu, line)
    handlers = sorted(set(HANDLER.findall(line.get("timer_list", ""))))
    said = _say_resolution(high, resolution_ns, jiffy_ns, handlers)
    return Timers(
        resolution_ns=resolution_ns,
        jiffy_ns=jiffy_ns,
        high_resolution=high,
        tick=tick,
        event_handlers=handlers,
        source=source,
        sentence=f"{said} {_say_tick(tick, ticks)}",
    )


def _of_cpu(text: str, cpu: int) -> str:
    """The part about one CPU: from its heading to the next, or to the devices."""
    parts = re.split(r"^(?:cpu: |Tick Device)", text, flags=re.MULTILINE)
    return next((part for part in parts if re.match(rf"{cpu}\b", part)), "")


def parse_cpus(text: str) -> set[int]:
    """A list of CPUs as the kernel writes it: `1-3,5`."""
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
    said = f"clock_getres() says {_length(resolution_ns)}"
    serving = [name for name in handlers if "broadcast" not in name]
    if serving:
        said += f", the timer interrupt is served by {' and '.join(serving)}"
    if high:
        return (
            f"High-resolution timers are on ({said}): a sleep ends when its time is up,"
            " not at the next tick."
        )
    return (
        f"High-resolution timers are off ({said}): every sleep ends at a tick, and they come"
        f" every {_length(jiffy_ns)}."
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


def _length(ns: int) -> str:
    return f"{ns} ns" if ns < 1000 else f"{ns / 1e6:g} ms"
