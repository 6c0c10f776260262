# SPDX-License-Identifier: GPL-2.0-or-later
"""The session's own events, by the same clock as the emulator's: CLOCK_MONOTONIC.

The session runs without other packages, so it does not import the definition of its events
(`model/kinds/`); a test compares the two.
"""

import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from delayrig.base.text import kernel_line

CLOCKSOURCE = "/sys/devices/system/clocksource/clocksource0/current_clocksource"


def now_ns() -> int:
    """Returns CLOCK_MONOTONIC. It is never stepped, but slewed by up to 500 ppm by time daemons."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


@dataclass(frozen=True, slots=True)
class ClockReading:
    """CLOCK_MONOTONIC, and the raw clock just before and just after it was read.

    The CLOCK_MONOTONIC of a live guest is compared with this host's instead of a raw clock.
    """

    before_ns: int
    monotonic_ns: int
    after_ns: int

    @property
    def width_ns(self) -> int:
        return self.after_ns - self.before_ns

    def progress_since(self, begin: "ClockReading") -> dict[str, int]:
        """Returns the keys of a `clock_rate` event, for the time from that reading to this one."""
        return {
            "raw_ns_min": self.before_ns - begin.after_ns,
            "raw_ns_max": self.after_ns - begin.before_ns,
            "monotonic_ns": self.monotonic_ns - begin.monotonic_ns,
            "monotonic_at_ns": self.monotonic_ns,
        }


def read_clocks() -> ClockReading:
    """Returns the narrowest of several readings, because an interruption makes a reading wider."""
    read, raw, usual = time.clock_gettime_ns, time.CLOCK_MONOTONIC_RAW, time.CLOCK_MONOTONIC
    readings = (ClockReading(read(raw), read(usual), read(raw)) for _ in range(16))
    return min(readings, key=lambda reading: reading.width_ns)


class Record:
    def __init__(self) -> None:
        self._lines: list[str] = []

    def note(self, event: str, **facts: object) -> None:
        self._add(event, now_ns(), facts)

    def _add(self, event: str, at_ns: int, facts: Mapping[str, object]) -> None:
        line = {"ev": event, "t_ns": at_ns, **facts}
        self._lines.append(json.dumps(line, separators=(",", ":")))

    def machine(self) -> None:
        name = os.uname()
        self.note(
            "guest",
            kernel=name.release,
            version=name.version,
            machine=name.machine,
            cores=len(os.sched_getaffinity(0)),
            cmdline=kernel_line("/proc/cmdline"),
            clocksource=kernel_line(CLOCKSOURCE),
            load=os.getloadavg()[0],
        )

    def clock_rate(self, since: ClockReading) -> None:
        """Records the progress of the raw clock and CLOCK_MONOTONIC since that reading."""
        now = read_clocks()
        self._add("clock_rate", now.monotonic_ns, now.progress_since(since))

    def write(self, path: Path) -> None:
        path.write_text("".join(f"{line}\n" for line in self._lines), encoding="utf-8")
