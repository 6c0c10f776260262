# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest's clock beside this host's, by two readings: before the subject and after it."""

from dataclasses import dataclass

import msgspec

from delayrig.base.errors import LostGuestError
from delayrig.lanes.live.agent_connection import ClockReading
from delayrig.model.events import Event, event_time_ns
from delayrig.model.kinds.agent import ClockRate


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestClock:
    """Makes host time of guest time."""

    begin: ClockReading
    end: ClockReading

    def __post_init__(self) -> None:
        if self.end.guest_ns <= self.begin.guest_ns:
            raise LostGuestError("the guest's clock went backwards")

    def to_host_ns(self, guest_ns: int) -> int:
        lived_ns = self.end.guest_ns - self.begin.guest_ns
        drift_ns = self.end.offset_ns - self.begin.offset_ns
        since_ns = guest_ns - self.begin.guest_ns
        return guest_ns + self.begin.offset_ns + drift_ns * since_ns // lived_ns

    def translate(self, events: list[Event]) -> list[Event]:
        return [
            msgspec.structs.replace(event, t_ns=self.to_host_ns(event_time_ns(event)))
            for event in events
        ]

    @property
    def rate(self) -> ClockRate:
        """How far both went: here the host's clock stands where a guest has its raw counter."""
        return ClockRate(
            t_ns=self.end.after_ns,
            raw_ns_min=self.end.before_ns - self.begin.after_ns,
            raw_ns_max=self.end.after_ns - self.begin.before_ns,
            monotonic_ns=self.end.guest_ns - self.begin.guest_ns,
            monotonic_at_ns=self.end.guest_ns,
            reading_ns_max=max(self.begin.width_ns, self.end.width_ns),
        )
