# SPDX-License-Identifier: GPL-2.0-or-later
"""flashrom's `dummy` programmer in a guest: a flash part that the subject's process emulates.

In our flashrom it runs the emulators' model and writes the events by which flashrom is judged. In
other flashroms it skips every delay by design: their time is recorded, but they are not judged.
"""

import msgspec

from delayrig.model.cell import Cell
from delayrig.model.chips import ChipFacts
from delayrig.model.events import encode_events, first, parse_events
from delayrig.model.kinds.agent import ClockRate
from delayrig.model.workload import BLANK, GRANULE_BYTES, IN_GUEST, Places, Region
from delayrig.subjects.subject import knows_string, may_know

TIME_ALONE = "flashrom's own dummy programmer skips every delay: only the time was recorded"
TIME_KEYS = ("t_ns", "empty_ns", "read_ns", "reply_ns", "start_ns", "until_ns", "busy_until_ns")
"""The keys of events whose values are times of the clock, not durations."""


def keeps_busy_times(program: bytes) -> bool:
    """Returns True if its dummy programmer has busy times and records events."""
    # Only a programmer with the emulators' model has such a parameter.
    return knows_string(program, "corner")


def refusal(chip: ChipFacts, program: bytes) -> str:
    """Returns why its dummy programmer cannot have that part; empty if it can."""
    if keeps_busy_times(program) or may_know(program, chip.name):
        return ""
    return f"the dummy programmer of this flashrom has no part {chip.name}"


def argument(cell: Cell, program: bytes, places: Places = IN_GUEST) -> str:
    """Returns the value of `-p`."""
    words = [f"emulate={cell.chip}", f"image={places.dummy_image}"]
    if keeps_busy_times(program):
        words += [f"corner={cell.corner}", f"seed={cell.seed}", f"events={places.dummy_events}"]
    return f"dummy:{','.join(words)}"


def on_the_clock_of(agent: bytes, dummy: bytes) -> bytes:
    """Returns the dummy's events with all times on the agent's clock, the raw counter.

    The dummy uses CLOCK_MONOTONIC. The agent's `clock_rate` event has the times of both clocks,
    read within about a microsecond. Durations and margins are not changed.
    """
    rate = first(parse_events(agent, source="the agent's events"), ClockRate)
    if rate is None:
        return b""
    ahead_ns = rate.t_ns - rate.monotonic_at_ns
    moved = []
    for event in parse_events(dummy, source="the dummy programmer's events"):
        # 0 means that there is no such time.
        times = {key: at + ahead_ns for key in TIME_KEYS if (at := getattr(event, key, 0))}
        moved.append(msgspec.structs.replace(event, **times))
    return encode_events(moved)


def sparse_image(raw: bytes, region: Region) -> bytes:
    """Returns the dummy's image in the emulator's form, without blank granules.

    Before the job, bytes outside of the region are zero. If all still are, they count as blank.
    """
    before, after = raw[: region.offset_bytes], raw[region.end_bytes :]
    if any(before) or any(after):
        plain = raw
    else:
        content = raw[region.offset_bytes : region.end_bytes]
        plain = BLANK * len(before) + content + BLANK * len(after)
    blank = BLANK * GRANULE_BYTES
    return b"".join(
        address.to_bytes(8, "little") + plain[address : address + GRANULE_BYTES]
        for address in range(0, len(plain), GRANULE_BYTES)
        if plain[address : address + GRANULE_BYTES] != blank
    )
