# SPDX-License-Identifier: GPL-2.0-or-later
"""Machines by name: the number and speed of their cores.

A machine is a `*.toml` here, a user's file, or a list. Speeds are MIPS, million instructions a
second of one core. If a host is too slow for a machine, all its speeds are scaled down by the same
factor.
"""

import os
import re
from functools import cache
from pathlib import Path

import msgspec

from delayrig.base.errors import BadInputError
from delayrig.base.toml import read_toml
from delayrig.plan.schema import find_file, shipped_names

FOLDER = Path(__file__).parent
CORES_MAX = 8
MIPS_MAX = 100_000
CORE_MIPS_USED_MAX = 60
BUDGET_MIPS_PER_CPU = 60
"""The limit of the sum of a guest's core speeds, for each CPU of this machine.

`CORE_MIPS_USED_MAX` is the limit of one core. QEMU executes 300 to 600 MIPS of a loop, and far less
if a guest sends packets or starts programs. A core has its speed only if QEMU could run it faster.
"""
SCALED_MIPS_MIN = 1.0
_LIST = re.compile(r"[0-9]+(?:\.[0-9]{1,3})?(?::[0-9]+(?:\.[0-9]{1,3})?)+")


class Tier(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    cores: int
    mips: float


class Machine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole file. The subject begins on the first core of the first tier."""

    schema: int
    about: str
    tier: list[Tier]
    source: str = ""
    reported_as: list[str] = []
    """Parts of its name in lscpu, /proc/cpuinfo, dmesg or a device tree, for `rig/rig like`."""

    @property
    def core_mips(self) -> list[float]:
        return [tier.mips for tier in self.tier for _ in range(tier.cores)]


def machine_names() -> list[str]:
    return shipped_names(FOLDER)


@cache
def find_machine(name: str) -> Machine:
    """Returns a machine by name, file, or speeds such as `60:240`; raises `BadInputError`."""
    if _LIST.fullmatch(name):
        speeds = [float(word) for word in name.split(":")]
        tiers = [Tier(name=f"core {at}", cores=1, mips=mips) for at, mips in enumerate(speeds)]
        return _checked(Machine(schema=1, about="cores as listed", tier=tiers), name)
    own = "speeds of cores are written 60:240, and a file of your own ends in .toml"
    path = find_file(name, FOLDER, what="machine", own=own)
    return _checked(read_toml(path, Machine), str(path))


def _checked(machine: Machine, source: str) -> Machine:
    if not machine.tier:
        raise BadInputError(f"{source}: key 'tier' is empty", hint="add a [[tier]]")
    for number, tier in enumerate(machine.tier):
        if not 1 <= tier.cores <= CORES_MAX:
            raise BadInputError(
                f"{source}: key 'tier[{number}].cores' is {tier.cores}",
                hint=f"a tier has 1 to {CORES_MAX} cores",
            )
        if not 1 <= tier.mips <= MIPS_MAX:
            raise BadInputError(
                f"{source}: key 'tier[{number}].mips' is {tier.mips:g}",
                hint=f"a core does 1 to {MIPS_MAX} million instructions a second",
            )
    if len(machine.core_mips) > CORES_MAX:
        raise BadInputError(
            f"{source}: {len(machine.core_mips)} cores", hint=f"guests have up to {CORES_MAX}"
        )
    return machine


def budget_mips(cpus: int | None = None) -> int:
    """Returns the limit of the sum of a guest's core speeds, on `cpus` CPUs or on all of ours."""
    return BUDGET_MIPS_PER_CPU * (cpus or len(os.sched_getaffinity(0)))


def scaled_mips(speeds: list[float], budget: float) -> tuple[float, ...]:
    """Returns the speeds, scaled down by one factor if this machine is too slow for them.

    They have three decimals, the resolution of the CPU plugin. The slowest core keeps at least
    1 MIPS, so that the guest can boot.
    """
    wanted = min(1.0, budget / sum(speeds), CORE_MIPS_USED_MAX / max(speeds))
    factor = min(1.0, max(wanted, SCALED_MIPS_MIN / min(speeds)))
    return tuple(round(mips * factor, 3) for mips in speeds)
