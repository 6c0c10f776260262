# SPDX-License-Identifier: GPL-2.0-or-later
"""What a cell's guest and its emulator say of themselves."""

import msgspec

from delayrig.hazards.of_cell import shape_of
from delayrig.model.cell import Cell
from delayrig.model.events import Event, first
from delayrig.model.kinds.agent import EmulatorRights, Guest
from delayrig.model.kinds.emulator import Start
from delayrig.model.lane import LaneName
from delayrig.model.result import EmulatorFacts, GuestFacts


def guest_facts(cell: Cell, guest: Guest | None) -> GuestFacts:
    """The host lane's machine is what it says that it is."""
    plain = GuestFacts(arch=shape_of(cell).arch, mips=cell.mips, cores=cell.cores)
    if guest is None:
        return plain
    return msgspec.structs.replace(
        plain,
        arch=guest.machine if cell.lane is LaneName.HOST else plain.arch,
        kernel=guest.kernel,
        cmdline=guest.cmdline,
        clocksource=guest.clocksource,
    )


def emulator_facts(events: list[Event]) -> EmulatorFacts:
    """In a guest it always has what it asks for, else it does not start."""
    start, rights = first(events, Start), first(events, EmulatorRights)
    if start is None:
        return EmulatorFacts(realtime=None, wake_latency_ns_max=None)
    return EmulatorFacts(
        realtime=rights.realtime if rights else True,
        wake_latency_ns_max=start.wake_latency_ns_max,
    )
