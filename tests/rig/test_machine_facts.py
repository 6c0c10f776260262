# SPDX-License-Identifier: GPL-2.0-or-later
"""Facts that a kernel tells about its CPUs, and those that it omits."""

from pathlib import Path

from delayrig.base.text import kernel_line
from delayrig.lanes.header import cpu_facts
from delayrig.model.result import CpuFacts


def say(place: Path, text: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")


def test_facts_of_a_core_are_read_from_sysfs(tmp_path: Path) -> None:
    cpu = tmp_path / "cpu4"
    say(cpu / "topology/core_id", "0\n")
    say(cpu / "topology/physical_package_id", "1\n")
    say(cpu / "topology/thread_siblings_list", "4\n")
    say(cpu / "cpu_capacity", "446\n")
    say(cpu / "cpufreq/cpuinfo_min_freq", "507000\n")
    say(cpu / "cpufreq/cpuinfo_max_freq", "1703000\n")
    say(cpu / "cpufreq/scaling_driver", "mt8173-cpufreq\n")
    say(cpu / "cpufreq/scaling_governor", "ondemand\n")
    say(cpu / "cpuidle/state1/name", "cpu-sleep-0\n")
    say(cpu / "cpuidle/state0/name", "WFI\n")
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
