# SPDX-License-Identifier: GPL-2.0-or-later
"""The live lane: a guest in real time, each core at its own speed, and a chip outside of it.

QEMU runs a thread for each core, and the plugin of emulators/cpu_plugin/ holds each to its speed.
The emulator is a process on this host, as on the host lane, and its clock decides all verdicts.
"""

import asyncio
import shutil
import time
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import msgspec

from delayrig.base.errors import LostGuestError, NotProvidedError
from delayrig.base.paths import Paths, Preparing
from delayrig.base.private_net import PrivateNet
from delayrig.base.scratch import ScratchFolder
from delayrig.hazards import refusal_on
from delayrig.hazards.of_cell import hazards_of, shape_of
from delayrig.hazards.speed import Governor, SpeedHazard
from delayrig.lanes.delay_record import request_text
from delayrig.lanes.header import make_live_header
from delayrig.lanes.host_lane import (
    ANY_PORT,
    DEADLINE_MS,
    TERMINAL,
    put_library_client_on_clock_of,
    server_words,
)
from delayrig.lanes.lane import Assignment, GuestLane
from delayrig.lanes.live.agent_connection import GuestClock, Line, open_line
from delayrig.lanes.live.agent_protocol import Conversation
from delayrig.lanes.live.emulator import LOG, LiveEmulator, running_emulator
from delayrig.lanes.live.machine import has_own_net, live_shape, make_live_machine, open_net
from delayrig.lanes.live.pace import SOCKET_NAME_BYTES_MAX, Pace, pace_events
from delayrig.lanes.payload import (
    BEFORE,
    deadline_ms,
    emulator_words,
    rehearsal_words,
    spec_text,
    write_payload,
)
from delayrig.lanes.stages import KEEP, PACK, READ_BACK, STOP
from delayrig.lanes.store_artifacts import write_delays, write_entries
from delayrig.lanes.supplies import CpuPool, Need, Supplies, provide_supplies
from delayrig.machine.arguments import (
    CELL_FW_CFG,
    HOST_ADDRESS,
    SECOND_SERIAL_LINE,
    SUBJECT_FW_CFG,
    Hardware,
    RealTime,
)
from delayrig.machine.guest_logs import LOGS as GUEST_LOGS
from delayrig.machine.guest_logs import cut_logs, logs_of, unless_flooded, with_log_tails
from delayrig.machine.live_image import LiveImage, provide_live_image
from delayrig.machine.machine import Machine
from delayrig.machine.plugins import DelayWatch, write_request
from delayrig.machine.session import read_results
from delayrig.machine.snapshot import boot_hardware
from delayrig.model import workload
from delayrig.model.cell import Cell, Programmer
from delayrig.model.events import Event, encode_events, event_time_ns, first, parse_events
from delayrig.model.kinds.agent import SubjectEnd, SubjectStart
from delayrig.model.lane import LaneName
from delayrig.model.platform import Arch
from delayrig.model.programmers import device_refusal
from delayrig.model.result import NotProvided, RunHeader
from delayrig.model.workload import Places, region_of
from delayrig.plan.request import Request

ONLY_X86_64 = "the live lane has only x86_64 guests"
KEPT = ("events.jsonl", "image.sparse", LOG)
"""The emulator's files that become part of the cell's results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedGuest:
    hardware: Hardware
    emulator: list[str]
    emulator_folder: Path
    stage: list[str]
    """The command line of the emulator for the subject's rehearsal."""
    stage_folder: Path
    speeds: list[str]
    """The commands to the CPU plugin before the subject starts."""


class Visitor(Protocol):
    """A user's shell or debugger in the guest of a cell."""

    @property
    def extra_s(self) -> int:
        """Returns the seconds that a visit adds to the subject's deadline."""

    def entered(
        self, hardware: Hardware, assignment: Assignment, supplies: Supplies, scratch: Path
    ) -> Hardware:
        """Returns `hardware` with the visitor's files, which it writes below `scratch`."""

    async def beside(
        self,
        guest: Coroutine[Any, Any, GuestClock],
        assignment: Assignment,
        paths: Paths,
        scratch: Path,
    ) -> GuestClock:
        """Runs the visitor beside the guest until both have ended; returns the guest's clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveLane(GuestLane):
    image: LiveImage | None
    """The image; None if the archive did not deliver it. Then every cell is skipped."""
    visitor: Visitor | None = None

    def missing(self, cell: Cell) -> NotProvided | None:
        return self.supplies.missing.get(Need.LIVE) or self.supplies.missing_for(cell)

    def refusal(self, cell: Cell) -> str:
        if cell.arch is not Arch.X86_64:
            return ONLY_X86_64
        return device_refusal(cell) or refusal_on(LaneName.LIVE, cell.hazards)

    def header(self) -> RunHeader:
        confined = has_own_net(self.request.connect)
        return make_live_header(
            self.request, self.supplies, self.image, self.paths, confined=confined
        )

    def pack(
        self, assignment: Assignment, folder: Path, *, line_port: int, port: int, stage_port: int
    ) -> PackedGuest:
        """Returns what must be started for a cell, and writes its inputs below `folder`.

        The CPU plugin's files are in the folder in which QEMU is started.
        """
        running = self._running(assignment, folder, Path())
        return running.packed(line_port, port, stage_port)

    def _running(self, assignment: Assignment, scratch: Path, of_plugin: Path) -> "_RunningCell":
        cell = assignment.cell
        governors = [hazard for hazard in hazards_of(cell) if isinstance(hazard, Governor)]
        words = [word for governor in governors for word in governor.pace_words(cell.mips)]
        parts = {hazard.name: hazard.first_part for hazard in _speed_hazards(cell)}
        pace = Pace(cell.mips, of_plugin, words, parts)
        return _RunningCell(assignment=assignment, lane=self, scratch=scratch, pace=pace)

    async def run_cell(self, assignment: Assignment) -> float:
        began_s = time.monotonic()
        with ScratchFolder(SOCKET_NAME_BYTES_MAX) as name:
            running = self._running(assignment, Path(name), Path(name))
            with with_log_tails(assignment.folder, (*GUEST_LOGS, LOG)):
                try:
                    async with open_net(self.request.connect) as net, open_line(net) as line:
                        entries = await replace(running, net=net).run(line)
                except LostGuestError:
                    running.keep_logs()
                    raise
            saw = running.watch.saw()
        region, folder = region_of(assignment.cell, assignment.chip), assignment.folder
        await asyncio.to_thread(write_entries, entries, folder, region)
        if assignment.delays:
            await asyncio.to_thread(write_delays, saw, folder, assignment.delays, insn_ns=0)
        assignment.watch.ended(KEEP)
        return time.monotonic() - began_s


@dataclass(frozen=True, slots=True, kw_only=True)
class _RunningCell:
    assignment: Assignment
    lane: LiveLane
    scratch: Path
    pace: Pace
    net: PrivateNet | None = None
    """The cell's network namespace, if it has its own."""

    @property
    def watch(self) -> DelayWatch:
        return self.lane.watch(self.scratch, is_virtual=False)

    @property
    def folder(self) -> Path:
        return self.scratch / "cell"

    @property
    def stage(self) -> Path:
        """Returns the folder of the rehearsal's emulator."""
        return self.scratch / "stage"

    async def run(self, line: Line) -> dict[str, bytes]:
        await asyncio.to_thread(self._write_image)
        async with (
            running_emulator(self._emulator_words(), self.folder, self.net) as emulator,
            running_emulator(self._emulator_words(rehearsal=True), self.stage, self.net) as stage,
        ):
            hardware = await asyncio.to_thread(self._pack, line.port, emulator.name, stage.name)
            self.assignment.watch.ended(PACK)
            machine = make_live_machine(
                hardware,
                log=self.assignment.folder / "qemu.log",
                connect=self.lane.request.connect,
                paths=self.lane.paths,
            )
            try:
                await machine.start()
                talking = self._converse(machine, line, emulator, stage)
                return await unless_flooded(talking, logs_of(self.assignment.folder))
            finally:
                await asyncio.shield(machine.stop())
                cut_logs(logs_of(self.assignment.folder))
                self.assignment.watch.ended(STOP)

    async def _converse(
        self, machine: Machine, line: Line, emulator: LiveEmulator, stage: LiveEmulator
    ) -> dict[str, bytes]:
        cell = self.assignment.cell
        conversation = Conversation(
            machine=machine,
            line=line,
            pace=self.pace,
            deadline_ms=deadline_ms(cell, DEADLINE_MS),
            emulator=emulator,
            stage=stage,
            watch=self.assignment.watch,
            speeds={hazard.name: hazard.speed_changes(cell) for hazard in _speed_hazards(cell)},
            extra_s=self.lane.visitor.extra_s if self.lane.visitor else 0,
        )
        guest, visitor = conversation.hold(), self.lane.visitor
        if visitor is not None:
            guest = visitor.beside(guest, self.assignment, self.lane.paths, self.scratch)
        clock = await guest
        entries = await read_results(machine, shape_of(cell), self.scratch)
        self.assignment.watch.ended(READ_BACK)
        ended = await emulator.end()
        outside: list[Event] = [*filter(None, [emulator.rights]), clock.rate, ended]
        entries["agent.jsonl"] = self._merged(entries.get("agent.jsonl", b""), clock, outside)
        put_library_client_on_clock_of(entries, "the agent's events")
        for name in KEPT:
            if (self.folder / name).is_file():
                entries[name] = (self.folder / name).read_bytes()
        shutil.copyfile(self.pace.trace, self.assignment.folder / "pace.jsonl")
        return entries

    def _merged(self, agent: bytes, clock: GuestClock, outside: list[Event]) -> bytes:
        """Returns the events of the agent, of `outside` and of the CPU plugin, in order of time."""
        guest = clock.translate(parse_events(agent, source="the agent's events"))
        began, ended = first(guest, SubjectStart), first(guest, SubjectEnd)
        began_ns = began.t_ns if began else 0
        ended_ns = ended.t_ns if ended else began_ns
        paced = pace_events(self.pace.trace.read_bytes(), began_ns, ended_ns)
        events: list[Event] = [*guest, *outside, *paced]
        events.sort(key=event_time_ns)
        return encode_events(events)

    def _write_image(self) -> None:
        cell, chip = self.assignment.cell, self.assignment.chip
        before = workload.initial_content(cell, region_of(cell, chip))
        for folder in (self.folder, self.stage):
            folder.mkdir()
            (folder / BEFORE).write_bytes(before)

    @property
    def _terminal(self) -> str:
        return str(self.scratch / TERMINAL)

    def _emulator_words(self, *, rehearsal: bool = False) -> list[str]:
        """Returns the emulator's command line.

        The emulator of the rehearsal has the same chip, but no link and no faults. Its events are
        not read.
        """
        cell = self.assignment.cell
        if rehearsal:
            cell = msgspec.structs.replace(cell, programmer=Programmer.SERPROG_IP, hazards=())
        server = server_words(cell, self.lane.paths, self._terminal)
        return [*server, *emulator_words(cell, region_of(cell, self.assignment.chip))]

    def packed(self, line_port: int, port: int, stage_port: int) -> PackedGuest:
        self._write_image()
        name = self._terminal if self.assignment.cell.bridged else str(port)
        return PackedGuest(
            hardware=self._pack(line_port, name, str(stage_port)),
            emulator=_listening(self._emulator_words(), port),
            emulator_folder=self.folder,
            stage=_listening(self._emulator_words(rehearsal=True), stage_port),
            stage_folder=self.stage,
            speeds=self.pace.first_commands(),
        )

    def _pack(self, line_port: int, emulator: str, stage: str) -> Hardware:
        given, cell = self.assignment, self.assignment.cell
        lane, image, shape = self.lane, self.lane.image, shape_of(self.assignment.cell)
        assert image is not None
        write_request(self.watch.request, request_text(given.delays))
        (self.scratch / "payload").mkdir()
        places = Places(host=HOST_ADDRESS, port=emulator, device=SECOND_SERIAL_LINE)
        on_stage = msgspec.structs.replace(places, port=stage)
        rehearsal = rehearsal_words(cell, given.chip_name, given.subject, on_stage)
        spec = spec_text(
            cell, given.chip, given.chip_name, given.subject, places, DEADLINE_MS, rehearsal
        )
        archive = write_payload(cell, given.chip, spec, self.scratch / "payload")
        shape = live_shape(cell.cores, line_port, shape.clocksource, shape.kernel_words)
        hardware = replace(
            boot_hardware(shape, image, lane.paths.qemu_preload, given.folder / "console.log"),
            fw_cfg={CELL_FW_CFG: archive, SUBJECT_FW_CFG: Path(given.subject.archive)},
            real=RealTime(
                plugin=lane.paths.cpu_plugin,
                plugin_words=self.pace.plugin_words,
                tty=Path(emulator) if cell.bridged else None,
                net=self.net.folder if self.net else "",
            ),
            delays=self.watch,
        )
        if lane.visitor is None:
            return hardware
        return lane.visitor.entered(hardware, given, lane.supplies, self.scratch)

    def keep_logs(self) -> None:
        for path in (self.folder / LOG, self.pace.trace):
            if path.is_file():
                shutil.copyfile(path, self.assignment.folder / path.name)


def _speed_hazards(cell: Cell) -> list[SpeedHazard]:
    return [hazard for hazard in hazards_of(cell) if isinstance(hazard, SpeedHazard)]


def _listening(words: list[str], port: int) -> list[str]:
    return [word.replace(ANY_PORT, f"tcp:127.0.0.1:{port}") for word in words]


async def open_live_lane(
    request: Request, paths: Paths, pool: CpuPool, preparing: Preparing
) -> LiveLane:
    supplies = await provide_supplies(
        cells=[cell for cell in request.cells if cell.arch is Arch.X86_64],
        with_snapshots=False,
        recipes=request.recipes,
        paths=paths,
        pool=pool,
        preparing=preparing,
    )
    image = None
    try:
        image = await asyncio.to_thread(provide_live_image, request.recipes.guest, paths, preparing)
    except NotProvidedError as error:
        pool.missing[Need.LIVE] = NotProvided(what=error.what, cause=error.cause)
    supplies = replace(supplies, missing=dict(pool.missing))
    return LiveLane(request=request, supplies=supplies, image=image, paths=paths)
