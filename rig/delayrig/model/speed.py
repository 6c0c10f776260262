# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes that hazards make to the speeds of a live guest's cores."""

import re
from dataclasses import dataclass
from enum import StrEnum

_MOMENT = re.compile(r"accept(?:\+([1-9][0-9]{0,5}))?|(0|[1-9][0-9]{0,5})")


class Origin(StrEnum):
    START = "start"
    ACCEPT = "accept"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A time after the subject's start, or after the emulator accepted it."""

    origin: Origin
    after_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedChange:
    """A change of a core's speed to a fraction (`part`) of its nominal speed."""

    when: Moment
    part: float
    core: int | None = None
    """The core; None: every core."""
    ramp_ms: int = 0
    """The time over which the speed changes linearly; 0: at once."""


def moment_in(text: str) -> Moment:
    """Parses `accept`, `accept+MS`, or `MS` after the start; raises `ValueError` otherwise."""
    match = _MOMENT.fullmatch(text)
    if match is None:
        raise ValueError(text)
    if match[2] is not None:
        return Moment(origin=Origin.START, after_ms=int(match[2]))
    return Moment(origin=Origin.ACCEPT, after_ms=int(match[1] or 0))
