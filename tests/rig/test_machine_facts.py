# SPDX-License-Identifier: GPL-2.0-or-later
"""Facts about CPUs from sysfs, some of whose files may be missing."""

from pathlib import Path

from delayrig.base.text import kernel_line
from delayrig.lanes.header import cpu_facts
from delayrig.model.result import CpuFacts

BIG_CORE = {
    "topology/core_id": "0",
    "topology/physical_package_id": "1",
    "topology/thread_siblings_list": "4",
    "cpu_capacity": "446",
    "cpufreq/cpuinfo_min_freq": "507000",
    "cpufreq/cpuinfo_max_freq": "1703000",
    "cpufreq/scaling_driver": "mt8173-cpufreq",
    "cpufreq/scaling_governor": "ondemand",
    "cpuidle/state1/name": "cpu-sleep-0",
    "cpuidle/state0/name": "WFI",
}


def test_facts_of_a_core_are_read_from_sysfs(tmp_path: Path) -> None:
    for name, text in BIG_CORE.items():
        path = tmp_path / "cpu4" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n", encoding="utf-8")
    assert cpu_facts(4, tmp_path) == CpuFacts(
        cpu=4,
        core=0,
        package=1,
        siblings="4",
        capacity=446,
        khz_min=507_000,
        khz_max=1_703_000,
        driver="mt8173-cpufreq",
        governor="ondemand",
        idle_states=["WFI", "cpu-sleep-0"],
    )


def test_missing_files_of_sysfs_leave_the_facts_empty(tmp_path: Path) -> None:
    assert cpu_facts(0, tmp_path) == CpuFacts(cpu=0)
    assert kernel_line(str(tmp_path / "nowhere")) == ""
