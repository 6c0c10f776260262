# SPDX-License-Identifier: GPL-2.0-or-later
"""One series of readings: what is asked of the measuring program (images/latency/series.h)."""

from enum import StrEnum

import msgspec


class Kind(StrEnum):
    """What is measured."""

    FACTS = "facts"
    AUDIT = "audit"
    WAIT = "wait"
    SWEEP = "sweep"
    PERIODS = "periods"
    TICKS = "ticks"


class Section(StrEnum):
    """The part of the answer that a series is for."""

    MACHINE = "machine"
    TABLE = "table"
    SLACK = "slack"
    JITTER = "jitter"
    POWER = "power"
    """Jitter once more, for each way in which the machine can save power less."""
    PERIODS = "periods"
    SWEEP = "sweep"
    STEPS = "steps"
    """A sweep over several ticks."""


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """Zero and null mean: not asked for."""

    kind: Kind
    section: Section = Section.MACHINE
    wait: str = ""
    request_ns: int = 0
    from_ns: int = 0
    to_ns: int = 0
    step_ns: int = 0
    count: int = 0
    limit_ms: int = 0
    fifo: int = 0
    """The SCHED_FIFO priority; 0: normal."""
    slack_ns: int = 0
    """0: as it is, which is 50 us unless somebody changed it."""
    cpu: int | None = None
    eaters: int = 0
    """CPU eaters on each CPU that the program may use."""
    hold_us: int | None = None
    """What /dev/cpu_dma_latency is held to."""
    governor: str = ""
    """The cpufreq governor that was set for it; empty: the machine's own."""

    @property
    def word(self) -> str:
        """As the measuring program takes it."""
        keys = {
            "wait": self.wait,
            **{key: getattr(self, key) for key in _NUMBERS},
            "cpu": self.cpu,
            "hold_us": self.hold_us,
        }
        given = [f"{key}={value}" for key, value in keys.items() if value not in ("", None)]
        return ":".join(filter(None, [self.kind, ",".join(given)]))

    @property
    def policy(self) -> str:
        return "SCHED_FIFO" if self.fifo else "normal"

    @property
    def load(self) -> str:
        if self.eaters > 1:
            return f"{self.eaters} eaters"
        return "loaded" if self.eaters else "idle"


_NUMBERS = (
    *("request_ns", "from_ns", "to_ns", "step_ns", "count", "limit_ms", "slack_ns"),
    *("fifo", "eaters"),
)
