# SPDX-License-Identifier: GPL-2.0-or-later
"""The profiles that thresholds are compared in: the plan's own guests, or those that are named."""

import re
from collections.abc import Sequence

import msgspec

from delayrig.base.errors import BadInputError
from delayrig.hazards import cores_needed, ordered_hazards, parse_hazards
from delayrig.model.cell import Cell
from delayrig.model.lane import LaneName
from delayrig.model.shape import shift_for_mips
from delayrig.plan.schema import CORES_KNOWN

WORD = re.compile(r"([0-9]+(?:\.[0-9]+)?)x([0-9]+)(?::(.+))?")
HOW = "write MIPSxCORES, and hazards behind a colon: --guest 250x2 --guest 62x1:low-res-timers"
THIS_MACHINE = "this machine"


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """Where jobs run: a guest, or this machine."""

    lane: LaneName
    icount_shift: int
    cores: int
    hazards: tuple[str, ...]

    @property
    def name(self) -> str:
        """As people read it."""
        if self.lane is LaneName.HOST:
            words = THIS_MACHINE
        else:
            mips = round(1000 / 2**self.icount_shift, 0)
            words = f"{mips:.0f} MIPS, {self.cores} core{'s' if self.cores > 1 else ''}"
        return ", ".join([words, *self.hazards])


def parse_guest(word: str) -> Profile:
    """A profile from `250x2:hogs:1`; raises `BadInputError` that names the word."""
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
    """Where a cell runs."""
    return Profile(
        lane=cell.lane,
        icount_shift=cell.icount_shift,
        cores=cell.cores,
        hazards=cell.hazards,
    )


def moved(cells: Sequence[Cell], profiles: Sequence[Profile]) -> list[Cell]:
    """The same jobs in other guests: each job once in each."""
    jobs = {_job(cell): cell for cell in reversed(cells)}
    first = [cell for cell in cells if jobs[_job(cell)] is cell]
    return [
        msgspec.structs.replace(
            cell, icount_shift=profile.icount_shift, cores=profile.cores, hazards=profile.hazards
        )
        for profile in profiles
        for cell in first
    ]


def job_of(cell: Cell) -> str:
    """What is done to which part, in words."""
    size = "" if cell.job == "probe" else f" {cell.region_kib} KiB"
    return f"{cell.job}{size} {cell.chip} {cell.corner}"


def _job(cell: Cell) -> tuple[str, ...]:
    return (cell.subject, job_of(cell), cell.programmer)
