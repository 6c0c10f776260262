# SPDX-License-Identifier: GPL-2.0-or-later
"""What witnesses say: observed waits, and evidence of what was too short."""

from enum import StrEnum

import msgspec


class Witness(StrEnum):
    """Who saw it."""

    CHIP = "chip"
    BUS = "bus"
    DELAY = "delay"
    IMAGE = "image"


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """One finding; `actual_ns` is [shortest, longest], `margin_ns` negative where too short."""

    what: str
    witness: Witness
    requested_ns: int | None
    actual_ns: tuple[int, int] | None
    margin_ns: int | None
    grade: str
    where: str
    count: int = 1


class ObservedWait(msgspec.Struct, frozen=True, kw_only=True):
    """One gap on the bus that a profile knows to be a wait."""

    kind: str
    what: str
    requested_ns: int
    shortest_ns: int
    longest_ns: int
    opened_ns: int
    clock_error_ns: int = 0
    """A difference smaller than that is none."""

    @property
    def is_short(self) -> bool:
        """Convicted: even the longest that it may have been is too short."""
        short_by_ns = self.requested_ns - self.longest_ns
        return short_by_ns > 0 and short_by_ns >= self.clock_error_ns

    @property
    def is_judged(self) -> bool:
        """Either way, without doubt.

        Long enough on the bus is not enough: a round trip of 50 us hides a wait of 10 us that
        did not take place at all. So a good wait is one whose absence would have been convicted.
        """
        good = self.shortest_ns >= self.requested_ns + self.clock_error_ns
        return self.is_short or (good and self.visible_short_ns <= self.requested_ns)

    @property
    def visible_short_ns(self) -> int:
        """A shortening of at least this much would have been seen."""
        return max(self.longest_ns - self.requested_ns, 0) + max(self.clock_error_ns, 1)
