# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a program of ours in a live guest, from its boot to its results, without an emulator."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from delayrig.base.paths import Paths
from delayrig.base.scratch import ScratchFolder
from delayrig.hazards.speed import Governor
from delayrig.lanes.live.agent_connection import GuestClock, open_line
from delayrig.lanes.live.agent_protocol import Conversation
from delayrig.lanes.live.machine import live_shape, make_live_machine, open_net
from delayrig.lanes.live.pace import SOCKET_NAME_BYTES_MAX, Pace
from delayrig.lanes.payload import CELL_FOLDER, SETTLE_MS, SUBJECT_ROOT, pack_spec
from delayrig.machine.arguments import CELL_FW_CFG, SUBJECT_FW_CFG, RealTime
from delayrig.machine.guest_logs import LOGS, with_log_tails
from delayrig.machine.live_image import LiveImage
from delayrig.machine.session import read_results
from delayrig.machine.snapshot import boot_hardware
from delayrig.model.shape import TSC
from delayrig.subjects.subject import PROGRAM, Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveGuest:
    core_mips: Sequence[float]
    governor: str
    image: LiveImage
    paths: Paths
    connect: str | None = None
    kernel_words: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """A program to run in a guest, with its inputs."""

    program: Subject
    words: Sequence[str]
    deadline_ms: int
    rehearsal: Sequence[str] = ()
    """The arguments of a rehearsal, in which QEMU translates the code; empty: no rehearsal."""
    spec_lines: Sequence[str] = ()
    """Additional lines of the agent's specification (images/agent/spec.h)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    entries: dict[str, bytes]
    clock: GuestClock
    trace: bytes
    """The trace of the CPU plugin."""


async def run_program(guest: LiveGuest, errand: Errand) -> Left:
    """Boots a guest and runs the program. All processes are gone when this returns."""
    with ScratchFolder(SOCKET_NAME_BYTES_MAX) as name:
        scratch = Path(name)
        words = Governor(guest.governor).pace_words(guest.core_mips)
        pace = Pace(guest.core_mips, scratch, list(words))
        async with open_net(guest.connect) as net, open_line(net) as line:
            archive = await asyncio.to_thread(pack_spec, spec_text(errand), scratch)
            cores, console = len(guest.core_mips), scratch / "console.log"
            shape = live_shape(cores, line.port, TSC, guest.kernel_words)
            hardware = replace(
                boot_hardware(shape, guest.image, guest.paths.qemu_preload, console),
                fw_cfg={CELL_FW_CFG: archive, SUBJECT_FW_CFG: Path(errand.program.archive)},
                real=RealTime(
                    plugin=guest.paths.cpu_plugin,
                    plugin_words=pace.plugin_words,
                    net=net.folder if net else "",
                ),
            )
            machine = make_live_machine(
                hardware, log=scratch / "qemu.log", connect=guest.connect, paths=guest.paths
            )
            with with_log_tails(scratch, LOGS):
                try:
                    await machine.start()
                    talk = Conversation(
                        machine=machine, line=line, pace=pace, deadline_ms=errand.deadline_ms
                    )
                    clock = await talk.hold()
                    entries = await read_results(machine, hardware.shape, scratch)
                finally:
                    await asyncio.shield(machine.stop())
        return Left(entries=entries, clock=clock, trace=pace.trace.read_bytes())


def spec_text(errand: Errand) -> str:
    """Returns the agent's specification (images/agent/spec.h), without an emulator."""
    rehearsal = (PROGRAM, *errand.rehearsal) if errand.rehearsal else ()
    lines = [
        "schema 1",
        f"settle_ms {SETTLE_MS}",
        f"deadline_ms {errand.deadline_ms}",
        f"root {SUBJECT_ROOT}",
        "emulator_outside 1",
        *errand.spec_lines,
        *(f"rehearsal {word}" for word in rehearsal),
        *(f"subject {word}" for word in (PROGRAM, *errand.words)),
        f"collect stdout.txt {CELL_FOLDER}/stdout.txt 0 0",
    ]
    return "\n".join(lines) + "\n"
