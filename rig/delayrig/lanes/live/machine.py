# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine of a live cell: a libvirt domain, or plain QEMU without libvirt."""

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

SAME_ADDRESSES = "norandmaps"
"""QEMU translates a page of code once for all of its addresses. The delay plugin sees one of them,
so the subject must have the addresses that it had in its rehearsal."""
PLAIN = "plain"
"""The value of `--connect` for plain QEMU without libvirt."""
STARTED_HERE = (None, PLAIN, EMBED)
"""The values of `--connect` with which this process starts QEMU."""


def live_shape(
    cores: int, line_port: int, clocksource: str, kernel_words: Sequence[str]
) -> GuestShape:
    """Returns the shape of a guest that calls that port, and may have a second serial line."""
    return GuestShape(
        icount_shift=0,
        cores=cores,
        clocksource=clocksource,
        kernel_words=(
            *kernel_words,
            SAME_ADDRESSES,
            "8250.nr_uarts=2",
            f"rig.host_port={line_port}",
        ),
    )


def has_own_net(connect: str | None) -> bool:
    if net := _make_net(connect):
        net.close()
    return net is not None


@asynccontextmanager
async def open_net(connect: str | None) -> AsyncIterator[PrivateNet | None]:
    """Yields a network for one guest and its peers; None if it must use this machine's.

    That is so if another libvirt starts QEMU, or the kernel allows no private networks.
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
    """Returns a domain of the libvirt at `connect`, by default of its embedded driver.

    Returns plain QEMU if `connect` asks for it, if libvirt's Python binding is not installed, or
    if the guest has a console for a user, which the rig's domains do not have.
    """
    if connect == PLAIN or hardware.talk is not None:
        return QemuMachine(hardware, log=log, cpu=0)
    try:
        from delayrig.machine.libvirt_machine import make_libvirt_machine
    except ImportError:
        return QemuMachine(hardware, log=log, cpu=0)
    return make_libvirt_machine(hardware, connect=connect or EMBED, cpu=0, paths=paths, log=log)
