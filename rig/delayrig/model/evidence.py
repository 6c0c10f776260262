# SPDX-License-Identifier: GPL-2.0-or-later
"""The findings of witnesses: observed waits, and evidence of what was too short."""

from enum import StrEnum

import msgspec


class Witness(StrEnum):
    """The witness of a finding."""

    CHIP = "chip"
    BUS = "bus"
    DELAY = "delay"
    IMAGE = "image"


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """One finding; `actual_ns` is [shortest, longest], `margin_ns` is negative if too short."""

    what: str
    witness: Witness
    requested_ns: int | None
    actual_ns: tuple[int, int] | None
    margin_ns: int | None
    grade: str
    where: str
    count: int = 1
    rule: str = ""
    """The rule of the part that was broken; empty if the witness is not the chip."""
    command: str = ""
    """The command that broke it."""


class ObservedWait(msgspec.Struct, frozen=True, kw_only=True):
    """One wait: a gap on the bus that a profile knows, or a call of a delay function."""

    kind: str
    what: str
    requested_ns: int
    shortest_ns: int
    longest_ns: int
    opened_ns: int
    clock_error_ns: int = 0
    """The error of the clocks. A smaller difference does not count."""
    witness: Witness = Witness.BUS
    where: str = ""
    """The place and time of the wait; empty: on the bus, at `opened_ns`."""

    @property
    def short_by_ns(self) -> int:
        """Returns the least shortfall; negative if it may have been long enough."""
        return self.requested_ns - self.longest_ns

    @property
    def is_short(self) -> bool:
        """Returns True if even its longest possible duration is too short."""
        return self.short_by_ns > 0 and self.short_by_ns >= self.clock_error_ns

    @property
    def is_judged(self) -> bool:
        """Returns True if it is certainly short or certainly long enough.

        A long gap on the bus is not enough: a round trip of 50 us hides the absence of a wait of 10
        us. So a good wait is one whose absence would have been convicted.
        """
        good = self.shortest_ns >= self.requested_ns + self.clock_error_ns
        return self.is_short or (good and self.visible_short_ns <= self.requested_ns)

    @property
    def visible_short_ns(self) -> int:
        """Returns the smallest shortening that is visible; a round trip hides smaller ones."""
        return max(self.longest_ns - self.requested_ns, 0) + max(self.clock_error_ns, 1)


class ObservedDelay(ObservedWait, frozen=True, kw_only=True):
    """One call of a delay function, from its first instruction to its return."""

    witness: Witness = Witness.DELAY
    step_ns: int = 0
    """The step of the clock that the subject waits by. A correct delay may end that much early."""
    has_returned: bool = True
    """True if it certainly returned. A call that was left by a jump was cut short on purpose."""
    stretch: float = 1.0
    """The longest possible duration as a multiple of the observed one."""
    is_open: bool = False
    """True if it ended early, and it is unknown if the subject waited for the rest elsewhere."""
    callers: tuple[str, ...] = ()
    """The frames of its call stack, the nearest first."""

    @property
    def is_short(self) -> bool:
        """Returns True if it was too short by more than the error and step of its clock."""
        return (
            self.has_returned
            and not self.is_open
            and self.short_by_ns > self.clock_error_ns + self.step_ns
        )

    @property
    def is_judged(self) -> bool:
        """Returns True if the delay is known to be short, or good.

        A delay that ended early by less than its clock's step is neither. A delay whose absence
        would not have been seen is not good.
        """
        good = self.shortest_ns + self.clock_error_ns >= self.requested_ns and not self.is_open
        hidden_ns = self.longest_ns - self.shortest_ns + self._error_ns
        return self.is_short or (good and hidden_ns < self.requested_ns)

    @property
    def visible_short_ns(self) -> int:
        """Returns the smallest shortening that would have been seen.

        The overhead of the call, which is its excess over the requested time, hides smaller ones,
        and so does the error of the clocks.
        """
        return max(self.longest_ns - self.requested_ns, 0) + self._error_ns + 1

    @property
    def _error_ns(self) -> int:
        return self.clock_error_ns + self.step_ns
