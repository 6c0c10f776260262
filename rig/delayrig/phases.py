# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the time of a job went, seen from the bus; pure folds over the events."""

import msgspec

from delayrig.events import Event, of_kind

PROBE, READ, ERASE, WRITE, VERIFY = "probe", "read", "erase", "write", "verify"
PHASES = (PROBE, READ, ERASE, WRITE, VERIFY)

READ_OPCODES = ("0x03", "0x0b")
PROGRAM_OPCODES = ("0x02",)
ERASE_OPCODES = ("0x20", "0x52", "0xd8", "0xc7", "0x60")
WRITE_ENABLE = "0x06"


class TimeSplit(msgspec.Struct, frozen=True, kw_only=True):
    """Virtual time by phase; the phases add up to the total."""

    total: int = 0
    probe: int = 0
    read: int = 0
    erase: int = 0
    write: int = 0
    verify: int = 0


def split_time(events: list[Event], start_ns: int, end_ns: int) -> TimeSplit:
    """Each stretch of time belongs to the phase of the transaction that began it."""
    sums = dict.fromkeys(PHASES, 0)
    phase, since_ns = PROBE, start_ns
    transactions = of_kind(events, "spi")
    for index, event in enumerate(transactions):
        deciding = event
        if event["op"] == WRITE_ENABLE and index + 1 < len(transactions):
            deciding = transactions[index + 1]
        following = _next_phase(phase, str(deciding["op"]))
        if following != phase:
            sums[phase] += event["read_ns"] - since_ns
            phase, since_ns = following, event["read_ns"]
    sums[phase] += end_ns - since_ns
    return TimeSplit(total=end_ns - start_ns, **sums)


def _next_phase(phase: str, opcode: str) -> str:
    if opcode in ERASE_OPCODES:
        return ERASE
    if opcode in PROGRAM_OPCODES:
        return WRITE
    if opcode in READ_OPCODES:
        # Reading back what was just erased is part of erasing it.
        return {PROBE: READ, WRITE: VERIFY}.get(phase, phase)
    return phase


def chip_busy_ns(events: list[Event]) -> int:
    """How long the part was busy in all."""
    return sum(event["until_ns"] - event["start_ns"] for event in of_kind(events, "busy"))


def wire_ns(events: list[Event]) -> int:
    """How long bits took on the wire, where the emulator models that."""
    return sum(event["wire_ns"] for event in of_kind(events, "spi"))


def overshoot_ns(events: list[Event]) -> int:
    """From the part being ready until the subject read a status that said so, summed."""
    total = 0
    ready_ns: int | None = None
    for event in events:
        if event["ev"] == "busy":
            ready_ns = event["until_ns"]
        elif event["ev"] == "spi" and ready_ns is not None and event["read_ns"] >= ready_ns:
            total += event["read_ns"] - ready_ns
            ready_ns = None
    return total
