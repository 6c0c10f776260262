# SPDX-License-Identifier: GPL-2.0-or-later
"""Probes on a subject's delay function: what the guest's kernel is told, and what it recorded.

Each call is stamped by the raw counter as it enters and as it returns, with the core, the first
argument, and the top of the stack. The arguments are fetched before the stamp, so that they cost
the subject time, but not the interval. A function that returns at once is probed alike: what it
seems to take is what a probe costs.

Source: Linux Documentation/trace/uprobetracer and Documentation/trace/ftrace ("x86-tsc").
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import msgspec

from delayrig.errors import BadInputError, LostGuestError
from delayrig.events import Event
from delayrig.images.subject import Subject
from delayrig.images.symbols import StackTop, Symbols, read_symbols
from delayrig.profiles.profile import known_delay_symbols
from delayrig.witness.delay_function import DelayWish

BUFFER_KIB = 8192
"""For each core: room for more than 6,000 calls."""
CLOCK = "x86-tsc"
STACK_WORDS = 128
WORDS_EACH = 64
"""No array of the kernel's may be longer."""

MACHINE = "EM_X86_64"
"""Where a first argument is in %di, as `_probes` has it."""
AGENT = "/init"
STEPPED, PUSHED = "tracing_nothing", "tracing_nothing_pushed"
"""Its functions that do nothing (images/agent/tracing.h)."""
_PUSH = re.compile(rb"\x41?[\x50-\x57]")
ENTER, LEAVE = "enter", "leave"
NOTHING = "nothing_"
"""Before the names of the same on the function that does nothing."""

_LINE = re.compile(
    r"-(?P<tid>[0-9]+) +\[(?P<cpu>[0-9]+)\] \S+ +(?P<at>[0-9]+): (?P<event>[a-z_]+):"
    r" \((?P<ip>0x[0-9a-f]+)[^)]*\)(?P<rest>.*)"
)
_WRITTEN = re.compile(r"entries-in-buffer/entries-written: ([0-9]+)/([0-9]+)")
_VALUE = re.compile(r"([a-z0-9]+)=(\{[^}]*\}|\S+)")


class DelayFunction(msgspec.Struct, frozen=True, kw_only=True):
    """Where a subject's delay function is; `file` lies in the subject's root, `part` here."""

    name: str
    file: str
    part: Path
    offset: int


def find_delay_function(subject: Subject, wish: DelayWish) -> DelayFunction | None:
    """By an offset in the program's file, by a symbol, else by those that profiles know.

    None where no known symbol is there, as in stripped programs. Raises `BadInputError` where what
    was asked for is not there.
    """
    if wish.offset is not None:
        return _at_offset(subject, wish.offset)
    for name in [wish.symbol] if wish.symbol else known_delay_symbols():
        for file, part in subject.parts.items():
            symbols = read_symbols(part)
            address = symbols.function(name)
            if address is not None and symbols.machine == MACHINE:
                return DelayFunction(
                    name=name, file=file, part=part, offset=symbols.file_offset(address)
                )
    if wish.symbol:
        raise BadInputError(
            f"--delay-symbol {wish.symbol}: {subject.name} has no such function, or several",
            hint="`nm` lists its functions; a stripped one takes --delay-offset",
        )
    return _at_known_address(subject)


def _at_known_address(subject: Subject) -> DelayFunction | None:
    """In a library without symbols, where a profile knows the address by the library's digest."""
    libraries = [item for item in subject.parts.items() if "/libflashrom" in item[0]]
    if subject.delay_address is None or not libraries:
        return None
    file, part = libraries[0]
    symbols = read_symbols(part)
    return DelayFunction(
        name=f"address {subject.delay_address:#x}",
        file=file,
        part=part,
        offset=symbols.file_offset(subject.delay_address),
    )


def _at_offset(subject: Subject, offset: int) -> DelayFunction:
    file, part = next((file, part) for file, part in subject.parts.items() if "/lib" not in file)
    try:
        read_symbols(part).address(offset)
    except ValueError as error:
        raise BadInputError(
            f"--delay-offset {offset:#x}: {subject.name} has {error}",
            hint="it is an offset in the program's file, not an address",
        ) from error
    return DelayFunction(name=f"offset {offset:#x}", file=file, part=part, offset=offset)


def trace_lines(function: DelayFunction, *, root: str, agent: Path) -> list[str]:
    """Lines for the guest's agent (images/agent/spec.h)."""
    symbols = read_symbols(agent)
    nothing = symbols.function(_alike(function))
    assert nothing is not None, f"{agent} has no {_alike(function)}"
    told = {
        "trace_clock": [CLOCK],
        "buffer_size_kb": [str(BUFFER_KIB)],
        "uprobe_events": [
            *_probes("", f"{root}{function.file}", function.offset),
            *_probes(NOTHING, AGENT, symbols.file_offset(nothing)),
        ],
        "events/rig/enable": ["1"],
    }
    return [f"trace {file} {value}" for file, values in told.items() for value in values]


def _alike(function: DelayFunction) -> str:
    """The function to measure probes by: its first instruction must cost them the same.

    Of those that functions begin with, the kernel emulates a push, and steps over all others.
    Source: Linux arch/x86/kernel/uprobes.c.
    """
    symbols = read_symbols(function.part)
    begins = symbols.code(symbols.address(function.offset), 2)
    return PUSHED if _PUSH.match(begins) else STEPPED


def _probes(prefix: str, file: str, offset: int) -> list[str]:
    words = ["us=%di:u32", "sp=%sp:x64", "bp=%bp:x64"]
    words += [
        f"s{first}=+{first * 8}(%sp):x64[{WORDS_EACH}]"
        for first in range(0, STACK_WORDS, WORDS_EACH)
    ]
    return [
        f"p:rig/{prefix}{ENTER} {file}:{offset:#x} {' '.join(words)}",
        f"r:rig/{prefix}{LEAVE} {file}:{offset:#x}",
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Record:
    """One line of the trace."""

    event: str
    tid: int
    cpu: int
    at_ns: int
    ip: int
    values: dict[str, str] = field(default_factory=dict)

    def words(self) -> list[int]:
        """The top of the stack."""
        text = ",".join(
            self.values[key].strip("{}") for key in self.values if key[:1] == "s" and key != "sp"
        )
        return [int(word, 16) for word in text.split(",") if word.startswith("0x")]


def read_trace(text: str, function: DelayFunction) -> list[Event]:
    """The events of a trace: each call of the delay function, and what the probe costs.

    Raises `LostGuestError` for a trace that is none.
    """
    written = _WRITTEN.search(text)
    if written is None:
        raise LostGuestError("trace.txt: not a trace of the guest's kernel")
    records = [_record(line) for line in text.splitlines() if line and not line.startswith("#")]
    calls = list(_calls(records, ""))
    first_costs, later_costs = _costs(records)
    if not first_costs or not later_costs:
        raise LostGuestError("trace.txt: nothing tells what the probe costs")
    symbols = read_symbols(function.part)
    probe: Event = {
        "ev": "delay_probe",
        "t_ns": records[0].at_ns,
        "function": function.name,
        "clock": CLOCK,
        "calls": len(calls),
        "lost": int(written[2]) - int(written[1]),
        "clock_step_ns": math.gcd(*(record.at_ns for record in records)),
        "first_cost_ns": _undisturbed(first_costs),
        "cost_ns": _undisturbed(later_costs),
        "call_cost_ns": _whole_cost(records),
    }
    return [probe, *(_delay(entered, left, symbols, function) for entered, left in calls)]


def _record(line: str) -> _Record:
    found = _LINE.search(line)
    if found is None:
        raise LostGuestError(f"trace.txt: {line!r} is no record")
    return _Record(
        event=found["event"],
        tid=int(found["tid"]),
        cpu=int(found["cpu"]),
        at_ns=int(found["at"]),
        ip=int(found["ip"], 16),
        values=dict(_VALUE.findall(found["rest"])),
    )


def _calls(records: Sequence[_Record], prefix: str) -> Iterator[tuple[_Record, _Record | None]]:
    """Each call, and its return where it did return, in the order of the calls."""
    pending: dict[int, list[int]] = {}
    calls: list[tuple[_Record, _Record | None]] = []
    for record in records:
        inside = pending.setdefault(record.tid, [])
        if record.event == f"{prefix}{ENTER}":
            inside.append(len(calls))
            calls.append((record, None))
        elif record.event == f"{prefix}{LEAVE}" and inside:
            number = inside.pop()
            calls[number] = calls[number][0], record
    return iter(calls)


def _costs(records: Sequence[_Record]) -> tuple[list[int], list[int]]:
    """What the probe cost in the first call of each thread, and in the later ones."""
    firsts: dict[int, int] = {}
    later = []
    for entered, left in _calls(records, NOTHING):
        if left is not None:
            cost_ns = left.at_ns - entered.at_ns
            if entered.tid in firsts:
                later.append(cost_ns)
            else:
                firsts[entered.tid] = cost_ns
    return list(firsts.values()), later


def _whole_cost(records: Sequence[_Record]) -> int:
    """What a probed call costs in all, of which most comes before its entry is stamped and after
    its return is: from one entry to the next where calls come one after the other.
    """
    entries = [record.at_ns for record in records if record.event == f"{NOTHING}{ENTER}"]
    return _undisturbed([after - before for before, after in pairwise(entries)] or [0])


def _undisturbed(costs: list[int]) -> int:
    """The largest but a quarter: what an interrupt takes is not the probe's work."""
    return sorted(costs)[(len(costs) - 1) * 3 // 4]


def _delay(
    entered: _Record, left: _Record | None, symbols: Symbols, function: DelayFunction
) -> Event:
    top = StackTop(
        sp=int(entered.values["sp"], 16), bp=int(entered.values["bp"], 16), words=entered.words()
    )
    callers = symbols.callers(top, entered.ip - symbols.address(function.offset))
    return {
        "ev": "delay",
        "t_ns": entered.at_ns,
        "end_ns": left.at_ns if left else None,
        "tid": entered.tid,
        "requested_us": int(entered.values["us"]),
        "cpu_in": entered.cpu,
        "cpu_out": left.cpu if left else None,
        "stack": [symbols.where(address) for address in callers],
    }
