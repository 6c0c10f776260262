# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's information about this machine's CPUs: speeds, siblings, governors.

It is copied unchanged. A missing value is empty or null, never guessed.
"""

from pathlib import Path

from delayrig.base.text import kernel_line
from delayrig.model.result import CpuFacts

CPUS = Path("/sys/devices/system/cpu")


def cpu_facts(cpu: int, cpus: Path = CPUS) -> CpuFacts:
    """Returns the facts of one CPU.

    Source of the names: Linux Documentation/ABI/testing/sysfs-devices-system-cpu.
    """
    place = cpus / f"cpu{cpu}"
    return CpuFacts(
        cpu=cpu,
        core=_number(place / "topology/core_id"),
        package=_number(place / "topology/physical_package_id"),
        siblings=kernel_line(place / "topology/thread_siblings_list"),
        capacity=_number(place / "cpu_capacity"),
        khz_min=_number(place / "cpufreq/cpuinfo_min_freq"),
        khz_max=_number(place / "cpufreq/cpuinfo_max_freq"),
        khz=_number(place / "cpufreq/scaling_cur_freq"),
        driver=kernel_line(place / "cpufreq/scaling_driver"),
        governor=kernel_line(place / "cpufreq/scaling_governor"),
        idle_states=[
            kernel_line(state / "name") for state in sorted((place / "cpuidle").glob("state*"))
        ],
    )


def _number(path: Path) -> int | None:
    text = kernel_line(path)
    return int(text) if text.lstrip("-").isdecimal() else None
