# SPDX-License-Identifier: GPL-2.0-or-later
"""latency.json: the machines, their requested series (images/latency/series.h) and readings."""

import itertools
from enum import StrEnum
from pathlib import Path

import msgspec

from delayrig.base.atomic_file import write_json
from delayrig.model.lane import LaneName

SCHEMA = 1
FILE_NAME = "latency.json"
PAGE_NAME = "latency.html"
WORD_KEYS = (
    *("wait", "request_ns", "from_ns", "to_ns", "step_ns", "count", "limit_ms", "slack_ns"),
    *("fifo", "eaters", "cpu", "hold_us"),
)
"""The fields of a series that the measuring program takes."""
TESTS = {
    ("nop", 0): "nop",
    ("sched_yield", 0): "sched_yield",
    ("nanosleep", 1_000): "nanosleep 1u",
    ("nanosleep", 100_000): "nanosleep 100u",
}
"""The name of each test of the proposal's table, by wait and length in ns."""


class Kind(StrEnum):
    """The kind of a measurement."""

    FACTS = "facts"
    AUDIT = "audit"
    WAIT = "wait"
    SWEEP = "sweep"
    PERIODS = "periods"
    TICKS = "ticks"


class Section(StrEnum):
    """The section of the report that a series belongs to."""

    MACHINE = "machine"
    TABLE = "table"
    SLACK = "slack"
    JITTER = "jitter"
    POWER = "power"
    """The jitter again, with each governor and each limit of the idle states."""
    PERIODS = "periods"
    SWEEP = "sweep"
    STEPS = "steps"
    """A sweep over several ticks."""


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """A request for readings. Null, or 0 in a field without null, means "not requested"."""

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
    """The timer slack; 0 keeps the inherited one, usually 50 us."""
    cpu: int | None = None
    eaters: int = 0
    """The number of CPU eaters on each CPU that the program may use."""
    hold_us: int | None = None
    """The value that /dev/cpu_dma_latency is held to."""
    governor: str = ""
    """The cpufreq governor that was set for it; empty: the machine's own."""

    @property
    def word(self) -> str:
        """Returns the series as an argument of the measuring program."""
        given = ((key, getattr(self, key)) for key in WORD_KEYS)
        pairs = [f"{key}={value}" for key, value in given if value not in ("", None)]
        return ":".join(filter(None, [self.kind, ",".join(pairs)]))

    @property
    def policy(self) -> str:
        return "SCHED_FIFO" if self.fifo else "normal"

    @property
    def load(self) -> str:
        if self.eaters > 1:
            return f"{self.eaters} eaters"
        return "loaded" if self.eaters else "idle"


class Statistics(msgspec.Struct, frozen=True, kw_only=True):
    """The statistics of all readings of a series."""

    count: int
    mean_ns: int
    deviation_ns: int
    """The standard deviation of a sample; 0 for a single reading."""
    quantiles_ns: list[int]
    """101 values by nearest rank: the first is the least reading, the last the greatest."""

    @property
    def mean_least_most_us(self) -> tuple[float, float, float]:
        return self.mean_ns / 1e3, self.quantiles_ns[0] / 1e3, self.quantiles_ns[100] / 1e3


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a series. For `periods` the statistics are of how late each period began."""

    series: Series
    refused: str = ""
    """The call that this machine refused; empty if it was measured."""
    why: str = ""
    """The reason, in the words of the C library."""
    early: int = 0
    """The number of waits that ended before their time. It must be 0."""
    overruns: int = 0
    """The number of periods that began only when the next was due."""
    cpu_ns: int = 0
    mean_mw: int | None = None
    """The whole machine's power meanwhile; null if nothing measures it."""
    voluntary_switches: int = 0
    involuntary_switches: int = 0
    statistics: Statistics | None = None
    elapsed_ns: list[int] = []
    """The duration of each wait of a sweep."""
    windows: int = 0
    """The number of windows of 100 ms of one core during the readings, in a guest in real time."""
    windows_not_kept: int = 0
    """The windows in which this machine did not hold the core to its speed."""

    @property
    def late_ns_p50(self) -> int:
        """Returns the median lateness."""
        return self.statistics.quantiles_ns[50] - self.series.request_ns if self.statistics else 0

    @property
    def waits_ns(self) -> list[tuple[int, int]]:
        """Returns the requested and the real duration of each wait of a sweep."""
        asked_ns = itertools.count(self.series.from_ns, self.series.step_ns)
        return list(zip(asked_ns, self.elapsed_ns, strict=False))


class Audit(msgspec.Struct, frozen=True, kw_only=True):
    """The costs of the measuring program. Every figure includes one clock reading."""

    clock_read_ps: int
    """The time of clock_gettime() as the C library calls it."""
    clock_call_ps: int
    """The time of the same as a system call, without the vDSO."""
    loop_ps: int
    """The time of an iteration of the measuring loop around a wait that does nothing."""
    clock_step_ns: int
    """The least difference above 0 between successive readings of the clock."""


class Ticks(msgspec.Struct, frozen=True, kw_only=True):
    """Interrupts of the measured CPU's own timer in two equal spans of time."""

    span_ns: int
    idle_interrupts: int
    busy_interrupts: int


class Timers(msgspec.Struct, frozen=True, kw_only=True):
    """How the kernel serves timers; null means unknown."""

    resolution_ns: int
    """The result of clock_getres() for CLOCK_MONOTONIC."""
    jiffy_ns: int
    """The result of clock_getres() for CLOCK_MONOTONIC_COARSE: the time from tick to tick."""
    high_resolution: bool | None
    tick: str
    """The behaviour of the tick; empty if unknown.

    It is `periodic`, `idle` (stops on idle CPUs) or `full` (also stops on the measured CPU while it
    runs one task).
    """
    event_handlers: list[str]
    source: str
    """The source of these facts."""
    sentence: str


class Cyclic(msgspec.Struct, frozen=True, kw_only=True):
    """The result of rt-tests' cyclictest for one timer interface."""

    interface: str
    loaded: bool
    cycles: int
    min_ns: int
    mean_ns: int
    max_ns: int
    command: str
    windows: int = 0
    windows_not_kept: int = 0
    """Both as in `Reading`."""

    @property
    def contradicts_itself(self) -> bool:
        """Returns True if the mean is impossible.

        The program sums latencies without a sign, so one below 0 spoils the mean.
        """
        return not 0 <= self.min_ns <= self.mean_ns <= self.max_ns


class MachineReport(msgspec.Struct, frozen=True, kw_only=True):
    """One machine, or guest."""

    name: str
    lane: str
    """`host`, or the guest's lane."""
    arch: str
    mips: float | None
    """The million instructions a second of a guest's first measured core; null for the host."""
    core_mips: list[float] = []
    about: str = ""
    cpus: int
    measured_cpus: list[int]
    kernel: str
    kernel_version: str
    cmdline: str
    clocksource: str
    clockevent: str
    idle_driver: str
    governors: list[str]
    """The governors of the measured CPU; empty if there is no cpufreq."""
    idle_states: list[str]
    slack_ns: int
    """The timer slack of ordinary processes, unless a series says otherwise."""
    nice: int
    """The nice value of ordinary series. Above 0, select() and poll() are less exact."""
    timers: Timers
    audit: Audit
    ticks: Ticks | None
    readings: list[Reading]
    cyclictest: list[Cyclic]
    missing: list[str]
    doubt: str = ""
    """A text on how far this machine did not keep up with a guest in real time; empty if it did."""
    host_s: float

    @property
    def title(self) -> str:
        return self.name if self.lane == LaneName.HOST else f"{self.lane} {self.name}"

    def of(self, section: Section) -> list[Reading]:
        return [each for each in self.readings if each.series.section is section]


class LatencyReport(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file."""

    schema: int = SCHEMA
    rig_version: str
    argv: list[str]
    started: str
    complete: bool
    """True if all requested machines were measured."""
    machines: list[MachineReport]


def write_report(report: LatencyReport, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / FILE_NAME, report)
