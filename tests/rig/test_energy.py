# SPDX-License-Identifier: GPL-2.0-or-later
"""Energy from sysfs: RAPL's counters, a battery in use, or nothing."""

import time
from pathlib import Path

import pytest
from delayrig.features.latency.host_place import EnergyMeter


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="ascii")
    return path


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    now = [5]
    monkeypatch.setattr(time, "monotonic_ns", lambda: now[0])
    return now


def test_machine_that_tells_nothing_has_no_power(tmp_path: Path) -> None:
    meter = EnergyMeter(tmp_path)
    assert not meter.is_there
    meter.begin()
    assert meter.mean_mw() is None


def test_counters_of_all_packages_are_summed_up_and_parts_of_them_are_not(
    tmp_path: Path, clock: list[int]
) -> None:
    counters = [
        write(tmp_path / "powercap" / name / "energy_uj", "1000\n")
        for name in ("intel-rapl:0", "intel-rapl:1", "intel-rapl:0:0")
    ]
    meter = EnergyMeter(tmp_path)
    meter.begin()
    for counter in counters:
        write(counter, "5001000\n")
    clock[0] += 2_000_000_000
    assert meter.mean_mw() == 5000


def test_counter_that_began_anew_has_used_what_was_left_of_its_range(
    tmp_path: Path, clock: list[int]
) -> None:
    counter = write(tmp_path / "powercap" / "intel-rapl:0" / "energy_uj", "900000")
    write(counter.parent / "max_energy_range_uj", "1000000")
    meter = EnergyMeter(tmp_path)
    meter.begin()
    write(counter, "100000")
    clock[0] += 1_000_000_000
    assert meter.mean_mw() == 200


@pytest.mark.parametrize(("status", "power"), [("Discharging", 7500), ("Charging", None)])
def test_battery_tells_while_it_is_used(tmp_path: Path, status: str, power: int | None) -> None:
    write(tmp_path / "power_supply" / "BAT0" / "power_now", "7500000\n")
    write(tmp_path / "power_supply" / "BAT0" / "status", f"{status}\n")
    meter = EnergyMeter(tmp_path)
    meter.begin()
    assert meter.mean_mw() == power
