# SPDX-License-Identifier: GPL-2.0-or-later
"""The demands of a cell's hazards on its guest and its subject."""

from pathlib import Path

from delayrig.base.errors import BadInputError
from delayrig.hazards import hazard_of
from delayrig.hazards.hazard import Hazard
from delayrig.model.cell import Cell
from delayrig.model.chips import ChipFacts
from delayrig.model.platform import PLATFORMS
from delayrig.model.programmers import device_of, one_select_refusal
from delayrig.model.shape import GuestShape
from delayrig.model.workload import region_of


def hazards_of(cell: Cell) -> list[Hazard]:
    return [hazard_of(word) for word in cell.hazards]


def shape_of(cell: Cell) -> GuestShape:
    hazards = hazards_of(cell)
    usual = PLATFORMS[cell.arch].clocksource
    device = device_of(cell)
    kernels = [
        *(hazard.kernel for hazard in hazards),
        device.kernel_of(cell.arch) if device else "",
    ]
    return GuestShape(
        icount_shift=cell.icount_shift,
        cores=cell.cores,
        arch=cell.arch,
        kernel=next(filter(None, kernels), ""),
        clocksource=next((h.clocksource for h in hazards if h.clocksource), usual),
        cpu=next((h.cpu for h in hazards if h.cpu), ""),
        kernel_words=tuple(word for hazard in hazards for word in hazard.kernel_words),
        programmer=cell.programmer if device else "",
    )


def place_refusal(cell: Cell, chip: ChipFacts) -> str:
    """Returns why the cell's programmer cannot drive that chip; empty if it can."""
    device = device_of(cell)
    if device is None:
        return one_select_refusal(chip)
    serial = (hazard for hazard in hazards_of(cell) if not hazard.start_state)
    if any(hazard.emulator_words(cell) for hazard in serial):
        return f"a part behind {cell.programmer} takes none of the emulator's options"
    kernel = device.kernel_of(cell.arch)
    if kernel and shape_of(cell).kernel != kernel:
        return f"{cell.programmer} has its driver in the kernel {kernel!r} alone"
    return device.chip_refusal(chip)


def check_cell(cell: Cell, chip: ChipFacts, plan: str | Path) -> None:
    """Raises `BadInputError` if the chip lacks the cell's region, or a hazard cannot act on it.

    `plan` names the origin of the cell.
    """
    for word, hazard in zip(cell.hazards, hazards_of(cell), strict=True):
        refusal = hazard.chip_refusal(chip)
        if refusal:
            raise BadInputError(
                f"{plan}: cell {cell.id}: hazard {word}: {refusal}",
                hint="take another chip there, or leave the hazard out",
            )
    try:
        region_of(cell, chip)
    except BadInputError as error:
        raise BadInputError(f"{plan}: cell {cell.id}: {error.message}", hint=error.hint) from error


def is_in_library(cell: Cell) -> bool:
    """Returns True if the subject's libflashrom does the job, instead of its program."""
    return any(hazard.in_library for hazard in hazards_of(cell))
