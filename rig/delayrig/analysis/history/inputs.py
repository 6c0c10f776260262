# SPDX-License-Identifier: GPL-2.0-or-later
"""What decides a cell's times beside the subject: where it is equal, times may be compared."""

from collections.abc import Sequence

from delayrig.base.errors import BadInputError
from delayrig.hazards import hazard_of
from delayrig.model.lane import EXACT_LANE
from delayrig.model.result import CellResult, RunHeader

KERNEL = "kernel "
"""Before the name of a kernel that a hazard brings."""
PARTS = ("kernel", "initrd", "emulator", "qemu")


def inputs_of(cell: CellResult, run: RunHeader) -> dict[str, str]:
    """By name, a digest of each; where there is no guest, also the machine."""
    return inputs_for(run, cell.guest.arch, cell.lane, cell.hazards)


def inputs_for(run: RunHeader, arch: str, lane: str, hazards: Sequence[str]) -> dict[str, str]:
    """The same for each cell of the run that is like this."""
    suffix = "" if arch == "x86_64" else f" {arch}"
    names = ["turns", *(f"{part}{suffix}" for part in PARTS), *_kernels(hazards, run)]
    found = {name: run.image_digests[name] for name in names if name in run.image_digests}
    if lane != EXACT_LANE:
        found["machine"] = machine_of(run)
    return {"seed": str(run.seed), **found}


def machine_of(run: RunHeader) -> str:
    """The machine below and its kernel, in words."""
    host = run.host
    return f"{host.machine}, {host.cpus} CPUs, {host.kernel}, {host.os}"


def _kernels(hazards: Sequence[str], run: RunHeader) -> list[str]:
    """Of the hazards; all that the run had, where a hazard is none that this rig knows."""
    try:
        found = [hazard_of(word) for word in hazards]
    except BadInputError:
        return [name for name in run.image_digests if name.startswith(KERNEL)]
    return [f"{KERNEL}{hazard.kernel}" for hazard in found if hazard.kernel]
