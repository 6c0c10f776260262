# SPDX-License-Identifier: GPL-2.0-or-later
"""The phases of a job, computed from the events on the bus."""

from collections.abc import Iterator
from typing import Annotated

import msgspec

from delayrig.model.cell import Job
from delayrig.model.events import Event, Transaction, of_kind, transactions
from delayrig.model.kinds.emulator import Busy, Cycle, Spi

PROBE, READ, ERASE, WRITE, VERIFY = "probe", "read", "erase", "write", "verify"
PHASES = (PROBE, READ, ERASE, WRITE, VERIFY)

# The opcodes of SPI parts. NOR flash, SST25VF (0xad), EEPROM and DataFlash (0xe8, 0xd2, 0x81 to
# 0x89 and 0x7c) share this table.
WORK_OF_OPCODE = {
    **dict.fromkeys(("0x03", "0x0b", "0x13", "0x0c", "0xe8", "0xd2"), READ),
    **dict.fromkeys(("0x02", "0x12", "0xad"), WRITE),
    **dict.fromkeys(("0x84", "0x87", "0x83", "0x86", "0x88", "0x89", "0x82", "0x85"), WRITE),
    **dict.fromkeys(("0x20", "0xd7", "0x52", "0xd8", "0xc7", "0x60"), ERASE),
    **dict.fromkeys(("0x21", "0x5c", "0xdc", "0x81", "0x7c"), ERASE),
}
# The opcode 0x50 is an erase only if the command has this name. Other parts use it to enable a
# write of the status register, or to clear a register.
ERASE_BY_NAME = "BLOCK_ERASE"
WRITE_ENABLE = "0x06"

# Parts that are not on an SPI bus are classified by name, because their opcodes mean other things.
WORK_OF_NAME = {
    "READ": READ,
    **dict.fromkeys(("PROGRAM", "PAGE_WRITE"), WRITE),
    **dict.fromkeys(("ERASE", "CHIP_ERASE"), ERASE),
}
POLL_BYTES = 1
"""The size of a read that may be a poll. It does not begin a phase on a bus other than SPI."""


Amount = Annotated[int, msgspec.Meta(ge=0)]
"""A time or a number of things, which cannot be negative."""


class TimeSplit(msgspec.Struct, frozen=True, kw_only=True):
    """The time by phase, in nanoseconds. The phases add up to the total."""

    total: Amount = 0
    probe: Amount = 0
    read: Amount = 0
    erase: Amount = 0
    write: Amount = 0
    verify: Amount = 0


def first_read_of(job: str) -> str:
    """Returns the phase of a job's reads before any other work."""
    return VERIFY if job == Job.VERIFY else READ


def split_time(
    events: list[Event], start_ns: int, end_ns: int, *, first_read: str = READ
) -> TimeSplit:
    """Returns the time of each phase, from the start to the end of the subject."""
    sums = dict.fromkeys(PHASES, 0)
    phase, since_ns = PROBE, start_ns
    for at_ns, following in phase_changes(events, first_read=first_read):
        sums[phase] += at_ns - since_ns
        phase, since_ns = following, at_ns
    sums[phase] += end_ns - since_ns
    return TimeSplit(total=end_ns - start_ns, **sums)


def phase_changes(events: list[Event], *, first_read: str = READ) -> Iterator[tuple[int, str]]:
    """Yields the start and name of each phase.

    A phase begins with its first transaction, or with the write enable directly before that.
    The first phase, probing, is not yielded. `first_read` is that of the job (`first_read_of`).
    """
    phase = PROBE
    commands = transactions(events)
    for index, event in enumerate(commands):
        deciding = event
        enables = isinstance(event, Spi) and event.op == WRITE_ENABLE
        if enables and index + 1 < len(commands):
            deciding = commands[index + 1]
        following = _next_phase(phase, deciding, first_read)
        if following != phase:
            phase = following
            yield event.read_ns, phase


def _work_of(event: Transaction) -> str:
    if isinstance(event, Spi):
        return ERASE if event.name == ERASE_BY_NAME else WORK_OF_OPCODE.get(event.op, "")
    return "" if event.rlen == POLL_BYTES else WORK_OF_NAME.get(event.name, "")


def _next_phase(phase: str, event: Transaction, first_read: str) -> str:
    work = _work_of(event)
    if work in (ERASE, WRITE):
        return work
    if work == READ:
        # Reading back what was just erased is part of erasing it.
        return {PROBE: first_read, WRITE: VERIFY}.get(phase, phase)
    return phase


def chip_busy_ns(events: list[Event]) -> int:
    return sum(busy.until_ns - busy.start_ns for busy in of_kind(events, Busy))


def wire_ns(events: list[Event]) -> int:
    """Returns the sum of the times on the wire, if the emulator models them."""
    return sum(event.wire_ns for event in transactions(events))


class Overshoot(msgspec.Struct, frozen=True, kw_only=True):
    """A busy time of the part, and the time of the subject's first command after it."""

    op: str | None
    kind: str
    busy_ns: int
    ready_ns: int
    noticed_ns: int

    @property
    def length_ns(self) -> int:
        return self.noticed_ns - self.ready_ns


def overshoots(events: list[Event]) -> Iterator[Overshoot]:
    work: Busy | None = None
    for event in events:
        if isinstance(event, Busy):
            work = event
        elif isinstance(event, (Spi, Cycle)) and work and begin_ns(event) >= work.until_ns:
            yield Overshoot(
                op=work.op,
                kind=work.kind,
                busy_ns=work.until_ns - work.start_ns,
                ready_ns=work.until_ns,
                noticed_ns=begin_ns(event),
            )
            work = None


def overshoot_ns(events: list[Event]) -> int:
    """Returns the sum of the times from the part being ready to the subject's next command."""
    return sum(overshoot.length_ns for overshoot in overshoots(events))


def begin_ns(event: Transaction) -> int:
    """Returns the start of a transaction.

    A cycle has its own start, because an O_EXEC may delay before it.
    """
    return event.start_ns if isinstance(event, Cycle) else event.read_ns
