# SPDX-License-Identifier: GPL-2.0-or-later
"""How wrong the clock of a cell may be: what is shorter than that convicts and acquits nobody."""

from dataclasses import dataclass

from delayrig.model.events import Event, first
from delayrig.model.kinds.agent import ClockRate
from delayrig.model.kinds.emulator import Start

PPM = 1_000_000

CLOCK_STEPS_NS = {"hpet": 1030, "acpi_pm": 838, "jiffies": 4_000_000}
"""How coarse the clocks of guest kernels are, as measured (HZ is 250); others step by 1 ns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockError:
    """Of the chip's clock, and of the clock that the subject waits by against it."""

    step_ns: int = 0
    rate_ppm: int = 0

    def of_wait_ns(self, wait_ns: int) -> int:
        """The most by which a wait of that length may be measured wrong."""
        return self.step_ns + -(-abs(wait_ns) * self.rate_ppm // PPM)


def clock_error(events: list[Event]) -> ClockError:
    """The step and rate that the emulator states, and the rates that were compared in the cell.

    In a guest these are of its kernel's clock and the raw counter, on this machine of
    CLOCK_MONOTONIC and CLOCK_MONOTONIC_RAW: a subject may count the cycles of its CPU, which no
    time server slews.
    """
    start, rate = first(events, Start), first(events, ClockRate)
    rate_ppm = 0
    if rate is not None:
        # The raw count lies between two bounds: as far off as the farther one may the rate be.
        bounds_ns = (rate.raw_ns_min, rate.raw_ns_max)
        off_ns = max(abs(raw_ns - rate.monotonic_ns) for raw_ns in bounds_ns)
        rate_ppm = -(-off_ns * PPM // max(rate.monotonic_ns, 1))
    if start is None:
        return ClockError(rate_ppm=rate_ppm)
    return ClockError(step_ns=start.clock_step_ns, rate_ppm=start.clock_rate_error_ppm + rate_ppm)


def clock_jump_ns(events: list[Event]) -> int:
    """Returns how far the guest's clock deviated beyond what the readings explain.

    It may have deviated within any wait.
    """
    rate = first(events, ClockRate)
    if rate is None:
        return 0
    return max(rate.raw_ns_min - rate.monotonic_ns, rate.monotonic_ns - rate.raw_ns_max, 0)
