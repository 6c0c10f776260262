# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig latency` in a guest of real time: each of its cores, and two governors."""

from pathlib import Path

import msgspec
import pytest
from delayrig.base.paths import Paths
from delayrig.features.latency import explain
from delayrig.features.latency.result import LatencyReport, MachineReport, Reading, Section

from .conftest import launch

pytestmark = [
    pytest.mark.alone("cores of real speeds"),
    pytest.mark.long("measures both cores in real time; quick: guests of virtual time"),
]
GUEST = "10:40"


@pytest.fixture(scope="module")
def out(paths: Paths, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Measures one guest in the live lane; returns the folder of results."""
    out = tmp_path_factory.mktemp("latency") / "out"
    words = ["--quick", "--no-color", "--lane", "live", "--guest", GUEST, "--all-cores"]
    done = launch(paths, "latency", *words, "--out", str(out))
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"live {GUEST}" in done.stdout
    return out


@pytest.fixture(scope="module")
def machine(out: Path) -> MachineReport:
    report = msgspec.json.decode((out / "latency.json").read_bytes(), type=LatencyReport)
    assert report.complete
    (found,) = report.machines
    return found


def plain_sleep(machine: MachineReport, cpu: int) -> Reading:
    (found,) = [
        each
        for each in machine.of(Section.TABLE)
        if (each.series.cpu, each.series.request_ns) == (cpu, 100_000)
        if each.series.fifo and not each.series.eaters
    ]
    return found


def test_no_wait_ends_early_in_real_time(machine: MachineReport) -> None:
    assert explain.early_of(machine)[0] == 0


def test_each_core_has_its_own_speed(machine: MachineReport) -> None:
    assert (machine.lane, machine.core_mips, machine.measured_cpus) == ("live", [10, 40], [0, 1])
    slow, fast = plain_sleep(machine, 0), plain_sleep(machine, 1)
    assert slow.late_ns_p50 > fast.late_ns_p50


def test_each_series_counts_the_windows_that_were_not_kept(machine: MachineReport) -> None:
    assert all(each.windows for each in machine.readings if each.statistics or each.elapsed_ns)
    assert all(each.windows for each in machine.cyclictest)
    behind = [each.windows_not_kept for each in machine.readings]
    behind += [each.windows_not_kept for each in machine.cyclictest]
    assert bool(machine.doubt) == any(behind)


def test_both_governors_are_measured(machine: MachineReport) -> None:
    found = {each.series.governor for each in machine.of(Section.POWER) if each.statistics}
    assert found == {"performance", "ondemand"}


def test_page_and_charts_name_the_lane(out: Path) -> None:
    assert f"live {GUEST}" in (out / "latency.html").read_text(encoding="utf-8")
    charts = list(out.glob("*.svg"))
    assert charts
    assert all(f"live {GUEST}" in each.read_text(encoding="utf-8") for each in charts)
