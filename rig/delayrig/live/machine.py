# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine of a live cell: a domain of libvirt's, or plain QEMU where there is no libvirt."""

from collections.abc import Sequence
from pathlib import Path

from delayrig.guest.arguments import Hardware
from delayrig.guest.monitor import MonitoredMachine
from delayrig.guest.qemu import QemuMachine
from delayrig.guest.shape import TSC, GuestShape
from delayrig.live.line import Line
from delayrig.paths import Paths

EMBED = "embed"
PLAIN = "plain"
"""`--connect plain` leaves libvirt out."""
STARTER = """\
#!/bin/sh
# Made by the rig: a QEMU of libvirt's that does not outlive who asked for it.
exec setpriv --pdeathsig KILL -- {program} "$@"
"""


def live_shape(
    cores: int, line: Line, *, clocksource: str = TSC, kernel_words: Sequence[str] = ()
) -> GuestShape:
    """Of a guest that calls at that line, and may have a second serial line."""
    return GuestShape(
        icount_shift=0,
        cores=cores,
        clocksource=clocksource,
        kernel_words=(*kernel_words, "8250.nr_uarts=2", f"rig.host_port={line.port}"),
    )


def make_live_machine(
    hardware: Hardware, *, log: Path, connect: str | None, paths: Paths
) -> MonitoredMachine:
    """Through libvirt's embedded driver, unless `connect` names another, or it is not installed."""
    if connect == PLAIN:
        return QemuMachine(hardware, log=log, cpu=0)
    try:
        from delayrig.guest.libvirt_machine import LibvirtMachine, embed_uri
    except ImportError:
        return QemuMachine(hardware, log=log, cpu=0)
    uri = embed_uri(paths) if connect in (None, EMBED) else connect
    starter = provide_starter(hardware.shape.platform.program, paths)
    return LibvirtMachine(hardware, uri=uri, cpu=0, emulator=str(starter), log=log)


def provide_starter(program: str, paths: Paths) -> Path:
    """What libvirt is told to be QEMU."""
    path = paths.state / "live" / program
    text = STARTER.format(program=program)
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
    return path
