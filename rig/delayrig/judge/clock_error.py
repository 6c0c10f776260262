# SPDX-License-Identifier: GPL-2.0-or-later
"""The error bound of a cell's clock. A smaller difference neither convicts nor acquits."""

from dataclasses import dataclass

from delayrig.model.events import Event, first
from delayrig.model.kinds.agent import ClockRate
from delayrig.model.kinds.emulator import Start
from delayrig.model.kinds.pace import Pace

PPM = 1_000_000

CLOCK_STEPS_NS = {"hpet": 1030, "acpi_pm": 838, "jiffies": 4_000_000}
"""The steps of guest kernels' clocks, as measured (HZ is 250); other clocks step by 1 ns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockError:
    """The error of the chip's clock, and of the subject's clock relative to it."""

    step_ns: int = 0
    rate_ppm: int = 0

    def of_wait_ns(self, wait_ns: int) -> int:
        """Returns the largest error of a measured wait of that length."""
        return self.step_ns + -(-abs(wait_ns) * self.rate_ppm // PPM)


def clock_error(events: list[Event]) -> ClockError:
    """Returns the step and rate error that the emulator states, plus the measured rate error.

    The measured one is the difference between two clocks: in a guest its kernel's clock and the raw
    counter, on this machine CLOCK_MONOTONIC and CLOCK_MONOTONIC_RAW. A subject that counts the
    cycles of its CPU waits by the second clock, which no time server slews.
    """
    start, rate = first(events, Start), first(events, ClockRate)
    rate_ppm = 0
    if rate is not None:
        # The raw count lies between two bounds, so the rate error is that of the farther one.
        bounds_ns = (rate.raw_ns_min, rate.raw_ns_max)
        off_ns = max(abs(raw_ns - rate.monotonic_ns) for raw_ns in bounds_ns)
        rate_ppm = -(-off_ns * PPM // max(rate.monotonic_ns, 1))
    if start is None:
        return ClockError(rate_ppm=rate_ppm)
    return ClockError(step_ns=start.clock_step_ns, rate_ppm=start.clock_rate_error_ppm + rate_ppm)


def clock_jump_ns(events: list[Event]) -> int:
    """Returns how far the clock of a guest in real time is outside the bounds of the raw count.

    The clock may have jumped that far within any wait. Returns 0 if it is within the bounds, and 0
    in virtual time: there the clock counts instructions, so any deviation is an error of the rate.
    For example, a kernel that takes 1 GHz for 0.999999 GHz gains 200 ns in 200 ms.
    """
    rate = first(events, ClockRate)
    if rate is None or first(events, Pace) is None:
        return 0
    return max(rate.raw_ns_min - rate.monotonic_ns, rate.monotonic_ns - rate.raw_ns_max, 0)
