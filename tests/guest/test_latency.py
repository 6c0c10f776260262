# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig latency` in guests of exact virtual time: it measures the published figures."""

from pathlib import Path

import msgspec
import pytest
from delayrig.base.paths import Paths
from delayrig.features.latency import explain
from delayrig.features.latency.result import LatencyReport, MachineReport, Section

from .conftest import launch, repeated

JIFFY_NS = 4_000_000
GUESTS = ("x86_64/250", "x86_64/250/highres=off")
MORE_GUESTS = (
    *("x86_64/16", "x86_64/1000", "x86_64/250/no-rt"),
    *("x86_64/250/nohz=off", "x86_64/250/2c/nohz_full=1"),
)
"""Guests of other speeds and kinds of tick; their tests are long."""
five_more = pytest.mark.long("measures five more guests; quick: 250 MIPS with two kinds of timer")


def measure(paths: Paths, out: Path, *guests: str) -> dict[str, MachineReport]:
    words = repeated("--guest", guests)
    done = launch(paths, "latency", "--quick", "--no-color", "--out", str(out), *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (out / "latency.html").is_file()
    report = msgspec.json.decode((out / "latency.json").read_bytes(), type=LatencyReport)
    assert report.complete
    return {machine.name: machine for machine in report.machines}


@pytest.fixture(scope="module")
def machines(paths: Paths, tmp_path_factory: pytest.TempPathFactory) -> dict[str, MachineReport]:
    """Measures the guests of the quick tier, once."""
    return measure(paths, tmp_path_factory.mktemp("latency") / "out", *GUESTS)


@pytest.fixture(scope="module")
def all_machines(
    paths: Paths, tmp_path_factory: pytest.TempPathFactory, machines: dict[str, MachineReport]
) -> dict[str, MachineReport]:
    """Measures the other guests; returns them and those of the quick tier."""
    out = tmp_path_factory.mktemp("latency") / "more"
    return machines | measure(paths, out, *MORE_GUESTS)


def select_took_ns(machine: MachineReport, request_ns: int, *, slack_ns: int) -> int:
    for each in machine.of(Section.SWEEP):
        if (each.series.wait, each.series.slack_ns) == ("select", slack_ns):
            return min(took for ns, took in each.waits_ns if abs(ns - request_ns) <= 10_000)
    raise AssertionError("the report has no sweep of select")


@pytest.mark.parametrize(
    ("among", "guests"),
    [
        ("machines", GUESTS),
        pytest.param("all_machines", (*GUESTS, *MORE_GUESTS), marks=five_more),
    ],
)
def test_no_wait_ends_early(
    request: pytest.FixtureRequest, among: str, guests: tuple[str, ...]
) -> None:
    machines: dict[str, MachineReport] = request.getfixturevalue(among)
    early = {name: explain.early_of(machine)[0] for name, machine in machines.items()}
    assert early == dict.fromkeys(guests, 0)


def test_select_of_1200_us_takes_a_jiffy_at_low_resolution(
    machines: dict[str, MachineReport],
) -> None:
    low, high = machines["x86_64/250/highres=off"], machines["x86_64/250"]
    took_ns = select_took_ns(low, 1_200_000, slack_ns=50_000)
    assert explain.jiffies_of(took_ns, JIFFY_NS) == 1
    late_ns = select_took_ns(high, 1_200_000, slack_ns=1) - 1_200_000
    assert late_ns < 50_000
    (steps,) = low.of(Section.STEPS)
    on_step = [explain.jiffies_of(ns, JIFFY_NS) for ns in steps.elapsed_ns[1:]]
    assert set(on_step) == {1, 2, 3, 4} or set(on_step) == {1, 2, 3}
    assert sorted(on_step, key=lambda ticks: ticks or 0) == on_step


@pytest.mark.parametrize(
    ("among", "guest"),
    [("machines", "x86_64/250"), pytest.param("all_machines", "x86_64/1000", marks=five_more)],
)
def test_smallest_timer_slack_cuts_the_overshoot_to_less_than_a_third(
    request: pytest.FixtureRequest, among: str, guest: str
) -> None:
    machines: dict[str, MachineReport] = request.getfixturevalue(among)
    cut = explain.slack_cuts(machines[guest])[100_000]
    assert cut.ratio < 1 / 3
    assert 49_000 < cut.usual.late_ns_p50 - cut.least.late_ns_p50 < 51_000


@five_more
def test_only_select_overshoots_by_a_thousandth(all_machines: dict[str, MachineReport]) -> None:
    grown = {
        setting: explain.growth_of(found)
        for setting, found in explain.growths(all_machines["x86_64/250/2c/nohz_full=1"]).items()
    }
    assert grown["select", "normal", "idle"] == pytest.approx(0.001, rel=0.01)
    assert grown["clock_nanosleep", "normal", "idle"] == pytest.approx(0, abs=1e-6)
    assert grown["select", "SCHED_FIFO", "idle"] == pytest.approx(0, abs=1e-6)


@five_more
def test_report_names_the_tick_of_the_kernel(all_machines: dict[str, MachineReport]) -> None:
    ticks = {name: machine.timers.tick for name, machine in all_machines.items()}
    assert ticks["x86_64/250"] == "idle"
    assert ticks["x86_64/250/nohz=off"] == "periodic"
    assert ticks["x86_64/250/2c/nohz_full=1"] == "full"
    counted = all_machines["x86_64/250/nohz=off"].ticks
    assert counted is not None
    assert counted.idle_interrupts >= 48
    full = all_machines["x86_64/250/2c/nohz_full=1"].ticks
    assert full is not None
    assert full.busy_interrupts <= 2


def test_clock_nanosleep_has_the_least_mean_latency(machines: dict[str, MachineReport]) -> None:
    idle = {each.interface: each for each in machines["x86_64/250"].cyclictest if not each.loaded}
    sleep = idle.pop("clock_nanosleep")
    assert len(idle) == 2
    assert all(sleep.mean_ns < each.mean_ns for each in idle.values())


def test_task_of_1_ms_overruns_each_tick_of_4_ms_with_low_resolution_timers(
    machines: dict[str, MachineReport],
) -> None:
    assert all(each.overruns == 0 for each in machines["x86_64/250"].of(Section.PERIODS))
    for each in machines["x86_64/250/highres=off"].of(Section.PERIODS):
        assert each.statistics is not None
        assert each.overruns >= each.statistics.count - 5


@five_more
def test_guest_without_realtime_priorities_measures_the_other_series(
    all_machines: dict[str, MachineReport],
) -> None:
    machine = all_machines["x86_64/250/no-rt"]
    refused = [each for each in machine.readings if each.refused]
    assert refused
    assert all(each.series.fifo for each in refused)
    assert any("sched_setscheduler" in missing for missing in machine.missing)
    assert [each for each in machine.of(Section.TABLE) if each.statistics]


@pytest.mark.long("measures one guest again; quick: tests/guest/test_determinism.py")
def test_second_measurement_of_a_guest_gives_the_same_figures(
    paths: Paths, tmp_path: Path, machines: dict[str, MachineReport]
) -> None:
    again = measure(paths, tmp_path / "out", "x86_64/250")["x86_64/250"]
    assert msgspec.structs.replace(again, host_s=0) == msgspec.structs.replace(
        machines["x86_64/250"], host_s=0
    )
