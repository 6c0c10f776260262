# SPDX-License-Identifier: GPL-2.0-or-later
"""The profiles in which thresholds are compared: the plan's own guests, or named ones.

Presets abbreviate `--guest` and `--weight`. There are no statistics of where flashrom runs, so they
are estimates; rig/docs/how-to/choose-a-threshold.md explains them. A list of machines
(`--machines`) is a TOML file of names, guests and weights.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from delayrig.base.errors import BadInputError, UnknownNameError
from delayrig.base.text import counted
from delayrig.base.toml import read_toml
from delayrig.hazards import cores_needed, ordered_hazards, parse_hazards
from delayrig.model.cell import Cell, Job
from delayrig.model.lane import LaneName
from delayrig.model.platform import Arch
from delayrig.model.shape import shift_for_mips
from delayrig.plan.schema import CORES_KNOWN

WORD = re.compile(r"([0-9]+(?:\.[0-9]+)?)x([0-9]+)(?::(.+))?")
HOW = "write MIPSxCORES, and hazards behind a colon: --guest 250x2 --guest 62x1:low-res-timers"
THIS_MACHINE = "this machine"
PRESETS: Mapping[str, Mapping[str, int]] = {
    "laptop": {"1000x4": 3, "500x2": 2, "1000x4:busy-siblings": 1},
    "sbc": {"250x4": 3, "125x1": 2, "62x1:low-res-timers": 1},
    "server": {"1000x4": 2, "1000x4:hogs:8": 2, "500x2": 1},
}
"""Guests in the form of `--guest`, and their weights."""
WEIGHT_MAX = 1000
OPTION = "--weight"
WEIGHT_HOW = "write GUEST=N with a guest as --guest has it: --weight 62x1:low-res-timers=2"
UPSTREAM_US = 100
"""The threshold of flashrom since 1.5."""


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """The place of jobs: a guest, or this machine."""

    lane: LaneName
    icount_shift: int
    cores: int
    hazards: tuple[str, ...]
    arch: Arch = Arch.X86_64

    @property
    def name(self) -> str:
        if self.lane is LaneName.HOST:
            words = THIS_MACHINE
        else:
            mips = round(1000 / 2**self.icount_shift, 0)
            words = f"{mips:.0f} MIPS, {counted(self.cores, 'core')}"
        return ", ".join([words, *_foreign(self.arch), *self.hazards])


def parse_guest(word: str) -> Profile:
    """Returns a profile from `250x2:hogs:1`; raises `BadInputError` that names the word."""
    found = WORD.fullmatch(word)
    if found is None:
        raise BadInputError(f"--guest {word!r}: is not understood", hint=HOW)
    shift, cores = shift_for_mips(float(found[1])), int(found[2])
    if shift is None:
        raise BadInputError(
            f"--guest {word!r}: no guest runs at {found[1]} MIPS",
            hint="the virtual lane does 1000, 500, 250, 125, 62, 31, 16, 8, 4, 2 or 1 MIPS",
        )
    if cores not in CORES_KNOWN:
        raise BadInputError(f"--guest {word!r}: has {cores} cores", hint="1, 2 or 4 are possible")
    try:
        hazards = ordered_hazards(list(parse_hazards(found[3] or "none")))
    except BadInputError as error:
        raise BadInputError(f"--guest {word!r}: {error.message}", hint=error.hint) from None
    if cores_needed(hazards) > cores:
        raise BadInputError(
            f"--guest {word!r}: its hazards need {cores_needed(hazards)} cores", hint=HOW
        )
    return Profile(lane=LaneName.VIRTUAL, icount_shift=shift, cores=cores, hazards=hazards)


def profile_of(cell: Cell) -> Profile:
    return msgspec.convert(cell, Profile, from_attributes=True)


def moved(cells: Sequence[Cell], profiles: Sequence[Profile]) -> list[Cell]:
    """Returns each job once in each of the profiles."""
    jobs = {_job(cell): cell for cell in reversed(cells)}
    first = [cell for cell in cells if jobs[_job(cell)] is cell]
    return [
        replace(
            cell, icount_shift=profile.icount_shift, cores=profile.cores, hazards=profile.hazards
        )
        for profile in profiles
        for cell in first
    ]


def job_of(cell: Cell) -> str:
    size = "" if cell.job in (Job.PROBE, Job.DETECT) else f" {cell.region_kib} KiB"
    return " ".join([f"{cell.job}{size}", cell.chip, cell.corner, *_foreign(cell.arch)])


def _foreign(arch: Arch) -> list[str]:
    return [] if arch is Arch.X86_64 else [arch]


def _job(cell: Cell) -> tuple[str, ...]:
    return (cell.subject, job_of(cell), cell.programmer)


def preset_words(presets: Iterable[str]) -> tuple[str, ...]:
    return tuple(word for name in presets for word in PRESETS[name])


def weights_of(presets: Iterable[str], words: Sequence[str]) -> dict[str, int]:
    """Returns weights by the profile's name: those of presets, replaced by those given."""
    found = {
        parse_guest(word).name: weight for name in presets for word, weight in PRESETS[name].items()
    }
    for word in words:
        guest, equals, number = word.rpartition("=")
        if not equals or not number.isdecimal() or int(number) > WEIGHT_MAX:
            raise BadInputError(
                f"{OPTION} {word!r}: is not GUEST=N with N up to 1000", hint=WEIGHT_HOW
            )
        try:
            found[parse_guest(guest).name] = int(number)
        except BadInputError as error:
            raise BadInputError(f"{OPTION} {word!r}: {error.message}", hint=error.hint) from None
    return found


def check_weights(weights: Mapping[str, int], profiles: Sequence[str]) -> None:
    """Raises `BadInputError` for a weight of a profile without jobs, and if all weights are 0."""
    for name in weights:
        if name not in profiles:
            raise UnknownNameError(
                f"{OPTION}: no job runs on {name!r}", name, profiles, what="guests"
            )
    if not any(weights.get(name, 1) for name in profiles):
        raise BadInputError(f"{OPTION}: every guest has a weight of 0", hint=WEIGHT_HOW)


class ListedMachine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    guest: str
    """In the form of `--guest`."""
    weight: int = 1


class MachineList(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file; `present_us` is the threshold that these machines have now."""

    schema: Literal[1]
    present_us: int = UPSTREAM_US
    machine: Sequence[ListedMachine]

    @property
    def by_profile(self) -> dict[str, list[ListedMachine]]:
        """Returns the machines of each profile, by its name."""
        found: dict[str, list[ListedMachine]] = {}
        for each in self.machine:
            found.setdefault(parse_guest(each.guest).name, []).append(each)
        return found

    @property
    def weights(self) -> dict[str, int]:
        """Returns the weight of each profile: the sum of its machines' weights."""
        return {name: sum(m.weight for m in found) for name, found in self.by_profile.items()}

    @property
    def names(self) -> dict[str, str]:
        """Returns the names of each profile's machines as one text."""
        return {
            profile: " and ".join(each.name for each in found)
            for profile, found in self.by_profile.items()
        }


def read_machines(path: Path) -> MachineList:
    """Reads a list of machines; raises `BadInputError` that names the file."""
    found = read_toml(path, MachineList)
    if not found.machine:
        raise BadInputError(
            f"{path}: looked for a [[machine]], and found none",
            hint='write [[machine]] with name = "..." and guest = "250x2" for each',
        )
    for each in found.machine:
        if not 0 <= each.weight <= WEIGHT_MAX:
            raise BadInputError(
                f"{path}: machine {each.name!r}: weight is not from 0 to {WEIGHT_MAX}",
                hint="a machine of weight 0 counts for safety alone",
            )
        try:
            parse_guest(each.guest)
        except BadInputError as error:
            raise BadInputError(f"{path}: {error.message}", hint=error.hint) from None
    return found
