# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine of a live cell: a domain of libvirt's, or plain QEMU where there is no libvirt."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from delayrig.base.paths import Paths
from delayrig.base.private_net import PrivateNet
from delayrig.machine.arguments import Hardware
from delayrig.machine.embedded_libvirt import EMBED
from delayrig.machine.machine import Machine
from delayrig.machine.qemu import QemuMachine
from delayrig.model.shape import GuestShape

PLAIN = "plain"
"""`--connect plain` leaves libvirt out."""
STARTED_HERE = (None, PLAIN, EMBED)
"""The words of `--connect` by which QEMU comes from this process."""


def live_shape(
    cores: int, line_port: int, clocksource: str, kernel_words: Sequence[str]
) -> GuestShape:
    """Of a guest that calls at that port, and may have a second serial line."""
    return GuestShape(
        icount_shift=0,
        cores=cores,
        clocksource=clocksource,
        kernel_words=(*kernel_words, "8250.nr_uarts=2", f"rig.host_port={line_port}"),
    )


def has_own_net(connect: str | None) -> bool:
    if net := _make_net(connect):
        net.close()
    return net is not None


@asynccontextmanager
async def open_net(connect: str | None) -> AsyncIterator[PrivateNet | None]:
    """A network for one guest and what it talks to; None where it has to be this machine's.

    That is where another libvirt starts QEMU, or the kernel gives nobody a network.
    """
    net = await asyncio.to_thread(_make_net, connect)
    try:
        yield net
    finally:
        if net is not None:
            await asyncio.shield(asyncio.to_thread(net.close))


def _make_net(connect: str | None) -> PrivateNet | None:
    with suppress(OSError):
        return PrivateNet() if connect in STARTED_HERE else None
    return None


def make_live_machine(
    hardware: Hardware, *, log: Path, connect: str | None, paths: Paths
) -> Machine:
    """Through libvirt's embedded driver, unless `connect` names another, or it is not installed.

    Plain QEMU where somebody is to talk to the guest: libvirt is not told of consoles for that.
    """
    if connect == PLAIN or hardware.talk is not None:
        return QemuMachine(hardware, log=log, cpu=0)
    try:
        from delayrig.machine.libvirt_machine import make_libvirt_machine
    except ImportError:
        return QemuMachine(hardware, log=log, cpu=0)
    return make_libvirt_machine(hardware, connect=connect or EMBED, cpu=0, paths=paths, log=log)
