# SPDX-License-Identifier: GPL-2.0-or-later
"""What hazards do to the speeds of a live guest's cores; pure."""

import re
from dataclasses import dataclass
from enum import StrEnum

_MOMENT = re.compile(r"accept(?:\+([1-9][0-9]{0,5}))?|(0|[1-9][0-9]{0,5})")


class Origin(StrEnum):
    BEGIN = "begin"
    """Before the subject starts: what is so from its first instruction on."""
    START = "subject_start"
    ACCEPT = "accept"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """So long after the subject's start, or after the emulator accepted it."""

    origin: Origin
    after_ms: float = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedChange:
    """From then on a core does that part of its own speed."""

    when: Moment
    part: float
    core: int | None = None
    """None: every core."""
    ramp_ms: int = 0
    """How long it takes to get there, at a steady rate."""


BEGIN = Moment(origin=Origin.BEGIN)


def moment_in(text: str) -> Moment:
    """`accept`, `accept+MS`, or `MS` after the start; raises `ValueError` for anything else."""
    match = _MOMENT.fullmatch(text)
    if match is None:
        raise ValueError(text)
    if match[2] is not None:
        return Moment(origin=Origin.START, after_ms=int(match[2]))
    return Moment(origin=Origin.ACCEPT, after_ms=int(match[1] or 0))
