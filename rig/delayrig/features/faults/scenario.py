# SPDX-License-Identifier: GPL-2.0-or-later
"""The inputs of one run of a fault campaign, drawn from its seed and number only, and its end."""

import math
import random
from enum import StrEnum

import msgspec

from delayrig.model.cell import Job

# Small parts, so that reading the whole part before and after a write takes little time: SPI parts
# with pages and with words, and a parallel part with pages. All flashroms of the campaign know
# them.
CHIPS = ("M25P10-A", "W25Q16JV", "SST25VF040B", "SST29EE010")
CYCLE_CHIPS = ("SST29EE010",)
JOBS = (Job.PROBE, Job.READ, Job.ERASE, Job.WRITE, Job.VERIFY)
CHANGED_OFFSET_BYTES = 64 * 1024
CHANGED_BYTES = 4096
BLANK = b"\xff"

# The usual counts of a run. The position of a fault is drawn between 1 and the count; its logarithm
# is distributed uniformly.
REPLY_BYTES, REQUEST_BYTES, REQUESTS, BUSY_TIMES = 200_000, 6_000, 400, 20
BYTE_PROBABILITY = (1e-5, 1e-2)
REQUEST_PROBABILITY = (1e-3, 1e-1)
HOLD_US = (1_000, 3_000_000)


class FaultKind(StrEnum):
    """The kind of a fault. Its first word is that of `serprog-emu --fault`."""

    DROP = "drop"
    DROP_IN = "drop in"
    CORRUPT = "corrupt"
    CORRUPT_IN = "corrupt in"
    DUPLICATE = "duplicate"
    DUPLICATE_IN = "duplicate in"
    DELAY = "delay"
    STALL = "stall"
    STALL_FOR_EVER = "stall for ever"
    HANG_UP = "hang-up"
    NAK = "nak"
    STUCK_WIP = "stuck-wip"


OF_BYTES = (
    *(FaultKind.DROP, FaultKind.DROP_IN, FaultKind.CORRUPT),
    *(FaultKind.CORRUPT_IN, FaultKind.DUPLICATE, FaultKind.DUPLICATE_IN),
)


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    """The inputs of a run; `fault` is the value of `--fault`."""

    seed: int
    run: int
    chip: str
    job: Job
    differs: bool
    """True if the file to verify differs from the part in one byte."""
    native_delay: bool
    kind: FaultKind
    fault: str
    fault_seed: int


class End(StrEnum):
    DONE = "done"
    """The flashrom reports success, and part and file are correct."""
    REFUSED = "refused"
    MISLED = "misled"
    """The flashrom reports success, but it received wrong bytes: serprog has no check sum."""
    LIED = "lied"
    """The flashrom reports success, but part, file or verdict is wrong."""
    SILENT = "silent"
    HUNG = "hung"
    """The flashrom waited, or only queried the part's status, when its time was up."""
    SLOW = "slow"
    """The flashrom was at work when its time was up, so nothing is known."""
    CRASHED = "crashed"


class Left(msgspec.Struct, frozen=True, kw_only=True):
    exit_code: int | None
    """The exit code, or the negative number of a signal; None if time was up."""
    at_work: bool = False
    """True if the emulator saw more than status queries at the end."""
    said: str
    content: bytes
    read_back: bytes


def draw_scenario(seed: int, run: int) -> Scenario:
    """Returns the run of that number; the kinds of faults take turns."""
    draw = random.Random(f"fault {seed} {run}")
    kind = list(FaultKind)[run % len(FaultKind)]
    chip = draw.choice(CHIPS)
    # Only these jobs make the part busy.
    jobs = (Job.WRITE, Job.ERASE) if kind is FaultKind.STUCK_WIP else JOBS
    return Scenario(
        seed=seed,
        run=run,
        chip=chip,
        job=draw.choice(jobs),
        differs=draw.random() < 0.5,
        native_delay=chip in CYCLE_CHIPS or draw.random() < 0.25,
        kind=kind,
        fault=_fault(kind, draw),
        fault_seed=draw.getrandbits(31),
    )


def _fault(kind: FaultKind, draw: random.Random) -> str:
    word, _, direction = kind.value.partition(" ")
    if kind in OF_BYTES:
        when = _when(draw, REQUEST_BYTES if direction else REPLY_BYTES, BYTE_PROBABILITY)
        return f"{word}@{'in:' if direction else ''}{when}"
    if kind in (FaultKind.STUCK_WIP, FaultKind.STALL_FOR_EVER):
        return f"{word}@{_nth(draw, BUSY_TIMES if kind is FaultKind.STUCK_WIP else REQUESTS)}"
    if kind in (FaultKind.DELAY, FaultKind.STALL):
        hold_us = round(_between(draw, *HOLD_US))
        return f"{word}:{hold_us}@{_nth(draw, REQUESTS)}"
    return f"{word}@{_when(draw, REQUESTS, REQUEST_PROBABILITY)}"


def _when(draw: random.Random, count: int, probability: tuple[float, float]) -> str:
    if draw.random() < 0.5:
        return str(_nth(draw, count))
    return f"p={_between(draw, *probability):.6f}"


def _nth(draw: random.Random, count: int) -> int:
    return round(_between(draw, 1, count))


def _between(draw: random.Random, low: float, high: float) -> float:
    """Draws a number whose logarithm is distributed uniformly."""
    return math.exp(draw.uniform(math.log(low), math.log(high)))


def content_before(scenario: Scenario, size_bytes: int) -> bytes:
    """Returns the initial content of the part."""
    return random.Random(f"part {scenario.seed}").randbytes(size_bytes)


def file_content(scenario: Scenario, size_bytes: int) -> bytes:
    """Returns the file to write or to verify, with the size of the part."""
    before = content_before(scenario, size_bytes)
    at = CHANGED_OFFSET_BYTES
    if scenario.job is Job.WRITE:
        changed = random.Random(f"file {scenario.seed}").randbytes(CHANGED_BYTES)
        return before[:at] + changed + before[at + CHANGED_BYTES :]
    if scenario.job is Job.VERIFY and scenario.differs:
        return before[:at] + bytes([before[at] ^ 0x10]) + before[at + 1 :]
    return before


def content_after(scenario: Scenario, size_bytes: int) -> bytes:
    match scenario.job:
        case Job.WRITE:
            return file_content(scenario, size_bytes)
        case Job.ERASE:
            return BLANK * size_bytes
        case _:
            return content_before(scenario, size_bytes)


def classify(scenario: Scenario, left: Left, size_bytes: int) -> End:
    if left.exit_code is None:
        return End.SLOW if left.at_work else End.HUNG
    if left.exit_code < 0:
        return End.CRASHED
    if left.exit_code > 0:
        return End.REFUSED if left.said.strip() else End.SILENT
    lied = scenario.job is Job.VERIFY and scenario.differs
    if lied or left.content != content_after(scenario, size_bytes):
        return End.LIED
    if scenario.job is Job.READ and left.read_back != content_before(scenario, size_bytes):
        return End.MISLED if scenario.kind in OF_BYTES else End.LIED
    return End.DONE


def is_finding(end: End) -> bool:
    """Returns True if a flashrom should not end like this."""
    return end not in (End.DONE, End.REFUSED, End.MISLED, End.SLOW)
