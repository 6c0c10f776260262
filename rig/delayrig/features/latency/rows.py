# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of the latency report as plain text, for the terminal and for the page.

Figures that others measured (proposal.toml) stand beside ours.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec

from delayrig.base.durations import rounded
from delayrig.base.toml import read_toml
from delayrig.features.latency.explain import by_length, growth_of, growths, marked, slack_cuts, us
from delayrig.features.latency.result import TESTS, Cyclic, MachineReport, Reading, Section, Series
from delayrig.model.lane import LaneName
from delayrig.present.tables import Table, words_and_figures

PROPOSAL = Path(__file__).with_name("proposal.toml")
Figures = dict[str, tuple[float, float, float]]
"""Mean, least and most in microseconds, by the name of the test."""
HIGH_RESOLUTION = {True: "on", False: "off", None: "unknown"}
TICKS = {"idle": "stops when idle", "full": "full NO_HZ"}
NONE = "-"
Machines = Sequence[MachineReport]


class ProposalMachine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    about: str
    normal: Figures
    fifo: Figures


class Growth(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    source: str
    note: str
    sleep_ms: list[int]
    late_us: list[float]


class Proposal(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    schema: int
    source: str
    method: str
    machine: list[ProposalMachine]
    growth: list[Growth]


@cache
def read_proposal() -> Proposal:
    return read_toml(PROPOSAL, Proposal)


def place_rows(machines: Machines) -> Table:
    return words_and_figures(
        "What was measured; in real time also how well this machine kept up",
        ["machine", "lane", "architecture", "CPUs", "measured on"],
        ["MIPS", "series", "of these in doubt"],
        map(_place_row, machines),
    )


def _place_row(machine: MachineReport) -> list[str]:
    speeds = (f"{mips:.3g}" if mips < 100 else f"{mips:.0f}" for mips in machine.core_mips)
    taken: list[Reading | Cyclic] = [*machine.readings, *machine.cyclictest]
    in_doubt = sum(each.windows_not_kept > 0 for each in taken)
    return [
        *(machine.title, machine.lane, machine.arch, f"{machine.cpus}"),
        ", ".join(f"CPU {cpu}" for cpu in machine.measured_cpus),
        *(":".join(speeds) or NONE, f"{len(taken)}"),
        f"{in_doubt}" if machine.lane == LaneName.LIVE else NONE,
    ]


def proposal_rows(machines: Machines) -> Table:
    """Returns mean / min / max in the form of the proposal: our machines, then its own."""
    rows: dict[tuple[str, str, str], dict[str, str]] = {}
    for machine in machines:
        for each in machine.of(Section.TABLE):
            series, s = each.series, each.statistics
            several = len(machine.measured_cpus) > 1
            name = f"{machine.title} CPU {series.cpu}" if several else machine.title
            row = rows.setdefault((name, series.policy, series.load), {})
            if s is not None:
                figures = _triple(s.mean_least_most_us)
                row[TESTS[series.wait, series.request_ns]] = marked(figures, each)
    for theirs in read_proposal().machine:
        for policy, known in (("normal", theirs.normal), ("SCHED_FIFO", theirs.fifo)):
            key = (f"{theirs.name} (proposal)", policy, "idle")
            rows[key] = {test: _triple(figures) for test, figures in known.items()}
    tests = list(TESTS.values())
    return words_and_figures(
        "How long each test took in us, mean / min / max, as in the proposal",
        ["machine", "policy", "load"],
        tests,
        [[*key, *(row.get(test, NONE) for test in tests)] for key, row in rows.items()],
    )


def _triple(values_us: Iterable[float]) -> str:
    return " / ".join(map(_figure, values_us))


def _figure(value_us: float) -> str:
    """Returns the value with the proposal's decimals: none from 1000 on, two below 1, else one."""
    if value_us >= 1000:
        return f"{value_us:.0f}"
    return f"{value_us:.1f}" if value_us >= 1 else f"{value_us:.2f}"


def quantile_rows(machines: Machines) -> Table:
    return words_and_figures(
        "The same in us with median and 99th percentile, and how many readings there are",
        ["machine", "policy", "load", "test"],
        ["mean", "min", "p50", "p99", "max", "readings"],
        [
            [*_test_words(machine, each.series), *_quantiles(each), _count(each)]
            for machine in machines
            for each in machine.of(Section.TABLE)
            if each.series.cpu == machine.measured_cpus[0]
        ],
    )


def _test_words(machine: MachineReport, series: Series) -> list[str]:
    test = TESTS[series.wait, series.request_ns]
    return [machine.title, series.policy, series.load, test]


def _quantiles(reading: Reading) -> list[str]:
    s = reading.statistics
    if s is None:
        return [NONE] * 5
    figures_ns = [s.mean_ns, *(s.quantiles_ns[percent] for percent in (0, 50, 99, 100))]
    return [_figure(ns / 1e3) for ns in figures_ns]


def _count(reading: Reading, unmeasured: str = "0") -> str:
    return marked(f"{reading.statistics.count}" if reading.statistics else unmeasured, reading)


def clock_rows(machines: Machines) -> Table:
    return words_and_figures(
        "Clocks, and what a reading costs by itself",
        ["machine", "clock source"],
        [
            *("clock_getres() ns", "step seen ns", "tick ms", "HZ"),
            *("slack us", "clock read us", "as system call us", "loop us"),
        ],
        [
            [
                *(machine.title, machine.clocksource),
                *(f"{machine.timers.resolution_ns}", f"{machine.audit.clock_step_ns}"),
                f"{machine.timers.jiffy_ns / 1e6:g}",
                f"{round(1e9 / machine.timers.jiffy_ns)}",
                f"{machine.slack_ns / 1e3:g}",
                _figure(machine.audit.clock_read_ps / 1e6),
                _figure(machine.audit.clock_call_ps / 1e6),
                _figure(machine.audit.loop_ps / 1e6),
            ]
            for machine in machines
        ],
    )


def timer_rows(machines: Machines) -> Table:
    return words_and_figures(
        "Timers and tick; interrupts of the CPU's own timer in 200 ms",
        ["machine", "high resolution", "tick", "event handlers"],
        ["while asleep", "while computing"],
        [
            [
                *(machine.title, HIGH_RESOLUTION[machine.timers.high_resolution]),
                TICKS.get(machine.timers.tick, machine.timers.tick or "unknown"),
                ", ".join(machine.timers.event_handlers) or NONE,
                f"{machine.ticks.idle_interrupts}" if machine.ticks else NONE,
                f"{machine.ticks.busy_interrupts}" if machine.ticks else NONE,
            ]
            for machine in machines
        ],
    )


def energy_rows(machines: Machines) -> Table:
    """Returns the power of waiting, without rows if no machine reports it."""
    return words_and_figures(
        "Power of the whole machine while it waits, in W",
        ["machine", "policy", "load", "test"],
        ["W"],
        [
            [*_test_words(machine, each.series), f"{each.mean_mw / 1e3:.2f}"]
            for machine in machines
            for each in machine.of(Section.TABLE)
            if each.mean_mw is not None
        ],
    )


def cyclictest_rows(machines: Machines) -> Table:
    return words_and_figures(
        "cyclictest: how late a SCHED_FIFO task of 1 ms was woken, in us",
        ["machine", "interface", "load"],
        ["min", "avg", "max", "cycles"],
        [
            [
                *(machine.title, each.interface, "loaded" if each.loaded else "idle"),
                *(_figure(ns / 1e3) for ns in (each.min_ns, each.mean_ns, each.max_ns)),
                marked(f"{each.cycles}", each),
            ]
            for machine in machines
            for each in machine.cyclictest
        ],
    )


def period_rows(machines: Machines) -> Table:
    return words_and_figures(
        "A task of 1 ms by clock_nanosleep() at SCHED_FIFO 92: how late it began, in us",
        ["machine", "load", "/dev/cpu_dma_latency"],
        ["mean", "min", "p50", "p99", "max", "overruns", "periods"],
        [
            [
                *(machine.title, each.series.load),
                "held at 0" if each.series.hold_us == 0 else "not held",
                *_quantiles(each),
                f"{each.overruns}" if each.statistics else NONE,
                _count(each, unmeasured=each.why),
            ]
            for machine in machines
            for each in machine.of(Section.PERIODS)
        ],
    )


def jitter_rows(machines: Machines) -> Table:
    """Returns mean and deviation of how late sleeps ended, by length."""
    return _late_rows(
        "Sleep jitter: how late a wait ended in us, mean and deviation of n",
        ["machine", "interface", "policy", "load"],
        {
            (machine.title, f"{wait}()", policy, load): found
            for machine in machines
            for (wait, policy, load), found in growths(machine).items()
        },
    )


def power_rows(machines: Machines) -> Table:
    """Returns the same as `jitter_rows()` for each governor, and each limit of the idle states."""
    return _late_rows(
        "Sleep jitter by governor, and by the exit latency that idle states are limited to",
        ["machine", "governor", "exit latency at most"],
        {
            (machine.title, *setting): found
            for machine in machines
            for setting, found in by_length(machine, Section.POWER, _power_words).items()
        },
    )


def _power_words(series: Series) -> tuple[str, str]:
    held = "any" if series.hold_us is None else f"{series.hold_us} us"
    return series.governor or "as it was", held


def _late_rows(
    caption: str, columns: Sequence[str], rows: Mapping[tuple[str, ...], Mapping[int, Reading]]
) -> Table:
    """Returns a row for each setting, with mean, deviation and count for each length."""
    lengths = sorted({length_ns for found in rows.values() for length_ns in found})
    return words_and_figures(
        caption,
        columns,
        [f"{rounded(n)} {k}" for n in lengths for k in ("mean", "dev.", "n")],
        [
            [*key, *(text for n in lengths for text in _mean_deviation_count(found.get(n), n))]
            for key, found in rows.items()
        ],
    )


def _mean_deviation_count(reading: Reading | None, request_ns: int) -> tuple[str, str, str]:
    """Returns mean, deviation and count. A single reading has no deviation."""
    if reading is None or reading.statistics is None:
        return NONE, NONE, NONE
    s = reading.statistics
    deviation = f"{s.deviation_ns / 1e3:.1f}" if s.count > 1 else NONE
    return f"{(s.mean_ns - request_ns) / 1e3:.1f}", deviation, marked(f"{s.count}", reading)


def slack_rows(machines: Machines) -> Table:
    return words_and_figures(
        "Median overshoot of clock_nanosleep() at normal priority by timer slack, in us",
        ["machine"],
        ["sleep", "at 50 us", "at 1 ns", "what is left"],
        [
            [
                *(machine.title, us(length_ns)),
                *(f"{each.late_ns_p50 / 1e3:.1f}" for each in cut),
                marked(f"{cut.ratio:.2f}", *cut),
            ]
            for machine in machines
            for length_ns, cut in slack_cuts(machine).items()
        ],
    )


def growth_rows(machines: Machines) -> Table:
    return words_and_figures(
        "Growth of the median lateness from a wait of 100 ms to one of 1 s",
        ["machine", "interface", "policy", "load"],
        ["at 100 ms us", "at 1 s us", "growth %"],
        [
            [
                *(machine.title, f"{wait}()", policy, load),
                *(f"{each[ns].late_ns_p50 / 1e3:.1f}" for ns in (100_000_000, 1_000_000_000)),
                marked(f"{growth * 100:.3f}", *each.values()),
            ]
            for machine in machines
            for (wait, policy, load), each in growths(machine).items()
            if (growth := growth_of(each)) is not None
        ],
    )
