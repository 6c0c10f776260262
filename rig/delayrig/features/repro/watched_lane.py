# SPDX-License-Identifier: GPL-2.0-or-later
"""The lanes of cells that a user watches or enters, and the commands that run one by hand.

A watched cell runs exactly like any other, and its output is shown. In a visited cell the user has
a shell or gdb. On the virtual lane it starts from the same snapshot, but its idle time passes in
real time instead of being skipped (`sleep=on`). Its CPUs and QEMU's main loop do not take turns, so
keys arrive at any time. All clocks of the guest still agree, so observations remain valid, but
times are no longer exact.

With `sleep=on` QEMU's main loop has to set a timer for the end of the guest's idle time (10.0:
icount_start_warp_timer()). If a program in the guest reads the clock every millisecond, the main
loop sets no timer in a third of the starts of gdb, and waits without a limit. So the rig wakes QEMU
every 0.1 s.

The cores of a live guest get the cell's speeds at the time when the subject would have started, so
a shell is as slow as the subject. On the host lane the process waits for the file `go` before it
executes the subject. The cell's actions have begun by then.
"""

import asyncio
import contextlib
import os
import shlex
import shutil
import sys
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from delayrig.base.errors import LostGuestError
from delayrig.base.paths import Paths, Preparing
from delayrig.features.repro import debugger
from delayrig.features.repro.guest_entry import Visit
from delayrig.features.repro.look import (
    EXTRA_MS,
    EXTRA_S,
    Look,
    OnStage,
    Show,
    ShownWatch,
    following,
    show_stages,
    stage_lines,
    whole_lines,
)
from delayrig.features.repro.terminal import run_in_foreground
from delayrig.hazards.of_cell import shape_of
from delayrig.lanes.choice import open_lane
from delayrig.lanes.host.session import LOG, OUTPUT
from delayrig.lanes.host.spec import PORT, Spec, cpus_text
from delayrig.lanes.host_lane import ANY_PORT, HostLane
from delayrig.lanes.lane import Assignment, Lane
from delayrig.lanes.live_lane import LiveLane, PackedGuest
from delayrig.lanes.payload import device_entries
from delayrig.lanes.supplies import CpuPool
from delayrig.lanes.virtual_lane import VirtualLane
from delayrig.machine.arguments import LIBRARY_PATH, Hardware, pinned, preloading, qemu_arguments
from delayrig.machine.machine import Machine
from delayrig.machine.qemu import TUNABLES
from delayrig.machine.session import read_results
from delayrig.machine.snapshot import restored
from delayrig.model.platform import Arch, Platform
from delayrig.plan.request import Request
from delayrig.run.runner import OpenLane, assignment_of
from delayrig.subjects.delay_function import DelayOptions
from delayrig.subjects.subject import provide_root, provide_tool

WAKE_EACH_S = 0.1
GO, WAITS = "go", "waits"
WAITS_LIMIT_S = 60.0
LOOK_AGAIN_S = 0.02
# PR_SET_PTRACER with PR_SET_PTRACER_ANY (linux/prctl.h) lets gdb trace this process where Yama
# allows that to parents only. It holds until execve, and gdb attaches before that.
GATE = """\
import ctypes, os, sys, time
waits, go, library_path, *words = sys.argv[1:]
ctypes.CDLL(None).prctl(0x59616D61, ctypes.c_ulong(-1), 0, 0, 0)
with open(waits + ".new", "w") as file:
    file.write(str(os.getpid()))
os.rename(waits + ".new", waits)
while not os.path.exists(go):
    time.sleep(0.02)
if library_path:
    os.environ["LD_LIBRARY_PATH"] = library_path
os.execv(words[0], words)
"""
GDBSERVER = "gdbserver"
DRY_PORT = 34567
LINE_PORT, STAGE_PORT = DRY_PORT + 1, DRY_PORT + 2


@contextlib.asynccontextmanager
async def kept_awake(machine: Machine) -> AsyncIterator[None]:
    """Wakes the machine's QEMU until the context ends. Other code reports a lost guest."""
    over = asyncio.Event()
    waking = asyncio.create_task(_wake_until(over, machine))
    try:
        yield
    finally:
        over.set()  # Do not cancel the task: an unexpected reply would end the connection to QEMU.
        await waking


async def _wake_until(over: asyncio.Event, machine: Machine) -> None:
    with contextlib.suppress(LostGuestError):
        while not over.is_set():
            await machine.wake()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(WAKE_EACH_S):
                    await over.wait()


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedGuests(VirtualLane):
    show: Show
    visit: Visit | None = None

    def pack(self, assignment: Assignment, scratch: Path) -> Hardware:
        """Returns the machine, with the visitor's files if there is one."""
        hardware = VirtualLane.pack(self, assignment, scratch)
        if self.visit is None:
            return hardware
        return self.visit.entered(hardware, assignment, self.supplies, scratch)

    async def finish(
        self, machine: Machine, assignment: Assignment, scratch: Path
    ) -> dict[str, bytes]:
        """Shows the cell until it is done, and returns its results."""
        if self.visit is None:
            files = {assignment.marks: stage_lines("stage")} if assignment.marks else {}
            files[assignment.folder / "console.log"] = whole_lines("console")
            async with following(files, self.show):
                return await VirtualLane.finish(self, machine, assignment, scratch)
        await machine.resume()
        guest = machine.wait_paused(limit_s=EXTRA_S)
        async with kept_awake(machine):
            await self.visit.beside(guest, assignment, self.paths, scratch)
        entries = await read_results(machine, shape_of(assignment.cell), scratch)
        return entries | device_entries(assignment.cell, scratch)


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedLiveGuests(LiveLane):
    show: Show
    on_stage: OnStage | None = None
    """A function that is called with each stage; without it, stages are listed."""

    async def run_cell(self, assignment: Assignment) -> float:
        """Runs the cell and shows stages and console; a visitor sees only the console."""
        if self.visitor is not None:
            return await LiveLane.run_cell(self, assignment)
        files = {assignment.folder / "console.log": whole_lines("console")}
        watch = ShownWatch(self.on_stage or show_stages(self.show))
        async with following(files, self.show):
            return await LiveLane.run_cell(self, replace(assignment, watch=watch))


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedSessions(HostLane):
    show: Show
    look: Look = Look.WATCH
    delay: DelayOptions

    def pack(self, assignment: Assignment, scratch: Path) -> Spec:
        """Returns the specification, with a gate before the subject if the user enters."""
        spec = HostLane.pack(self, assignment, scratch)
        if self.look is Look.WATCH:
            return spec
        words, library_path = spec.subject, ""
        if self.look is Look.GDB:
            words, library_path = startable(words, provide_root(assignment.subject))
        gate = [sys.executable, "-I", "-c", GATE, str(scratch / WAITS), str(scratch / GO)]
        return replace(
            spec,
            box=[],  # Without a sandbox, the user can see this machine and the subject.
            subject=[*gate, library_path, *words],
            deadline_ms=spec.deadline_ms + EXTRA_MS,
        )

    async def finish(self, spec: Spec, scratch: Path) -> int:
        """Shows the session until it ends, and returns its exit code."""
        files = {scratch / LOG: whole_lines("emulator"), scratch / OUTPUT: whole_lines("subject")}
        async with following(files, self.show):
            if self.look is Look.WATCH:
                return await HostLane.finish(self, spec, scratch)
            return await self._attended(spec, scratch)

    async def _attended(self, spec: Spec, scratch: Path) -> int:
        session = asyncio.ensure_future(HostLane.finish(self, spec, scratch))
        try:
            if pid := await _await_gate(scratch, session):
                await self._visit(pid, scratch)
            (scratch / GO).touch()
            return await session
        finally:
            session.cancel()
            await asyncio.gather(session, return_exceptions=True)

    async def _visit(self, pid: int, scratch: Path) -> None:
        if self.look is Look.SHELL:
            self.show(f"The subject waits as process {pid}, in {scratch}; `exit` starts it.")
            await run_in_foreground(
                ["sh", "-i"] if sys.stdin.isatty() else ["sh"],
                cwd=scratch,
                environment={"PS1": "host# ", "RIG_SUBJECT_PID": str(pid), "ENV": ""},
            )
            return
        (subject,) = self.programs
        gdb = debugger.words_on_subject(
            debugger.find_gdb(Arch.X86_64),
            f"attach {pid}",
            sources=[self.paths.build],
            stops=debugger.delay_stops(subject, self.delay),
            after=[f"shell touch {scratch / GO}"],
        )
        await run_in_foreground(gdb)


def startable(words: list[str], root: Path) -> tuple[list[str], str]:
    """Returns the subject's words for gdb, and the path of its libraries.

    If its own dynamic linker starts a program, gdb takes the linker for the program and finds no
    symbols. If this machine has the same linker, the words start the program directly.
    """
    linker = Path(words[0])
    here = Path("/") / linker.relative_to(root) if linker.is_relative_to(root) else None
    if here is None or len(words) < 4 or words[1] != "--library-path" or not here.is_file():
        return words, ""
    return (words[3:], words[2]) if here.read_bytes() == linker.read_bytes() else (words, "")


async def _await_gate(scratch: Path, session: "asyncio.Future[int]") -> int:
    """Returns the id of the waiting process; 0 if the session ended before."""
    deadline_s = time.monotonic() + WAITS_LIMIT_S
    while not session.done():
        if (scratch / WAITS).is_file():
            return int((scratch / WAITS).read_text(encoding="ascii"))
        if time.monotonic() > deadline_s:
            raise LostGuestError(f"no subject came up within {WAITS_LIMIT_S:g} s in {scratch}")
        await asyncio.sleep(LOOK_AGAIN_S)
    return 0


def opener(look: Look, show: Show, on_stage: OnStage | None = None) -> OpenLane:
    """Returns a function that opens the lane for `run_request`.

    `on_stage` is called with each stage of the live lane; without it, stages are listed.
    """

    async def opened(request: Request, paths: Paths, pool: CpuPool, preparing: Preparing) -> Lane:
        lane = await open_lane(request, paths, pool, preparing)
        if isinstance(lane, HostLane):
            return WatchedSessions(**_parts(lane), show=show, look=look, delay=request.delay)
        visit = await _visit(request, paths, preparing, look)
        if isinstance(lane, LiveLane):
            parts = _parts(lane) | {"visitor": visit}
            return WatchedLiveGuests(**parts, show=show, on_stage=on_stage)
        assert isinstance(lane, VirtualLane)
        return WatchedGuests(**_parts(lane) | {"vm_pool": None}, show=show, visit=visit)

    return opened


def _parts(lane: VirtualLane | LiveLane | HostLane) -> dict[str, Any]:
    return {each.name: getattr(lane, each.name) for each in fields(lane)}


async def _visit(request: Request, paths: Paths, preparing: Preparing, look: Look) -> Visit | None:
    """Returns the visit; None if the user only watches. Fetches gdbserver at its first use."""
    if look is Look.WATCH:
        return None
    server = None
    if look is Look.GDB:
        arch = request.cells[0].arch
        server = await asyncio.to_thread(
            provide_tool, GDBSERVER, request.recipes, paths, preparing, arch
        )
    return Visit(look=look, gdbserver=server, delay=request.delay)


async def packed_commands(
    request: Request, paths: Paths, preparing: Preparing, folder: Path
) -> list[str]:
    pool = CpuPool(1)
    lane = await open_lane(request, paths, pool, preparing)
    async with pool.one() as cpu:
        assignment = assignment_of(request, lane, folder, cpu)
        if isinstance(lane, VirtualLane):
            hardware = await asyncio.to_thread(lane.pack, assignment, folder)
            snapshot = await lane.supplies.snapshots.provide(shape_of(assignment.cell), cpu)
            return qemu_command(hardware, snapshot, cpu)
        if isinstance(lane, HostLane):
            spec = await asyncio.to_thread(lane.pack, assignment, folder)
            return host_commands(spec, folder)
        assert isinstance(lane, LiveLane)
        ports = {"line_port": LINE_PORT, "port": DRY_PORT, "stage_port": STAGE_PORT}
        packed = await asyncio.to_thread(lane.pack, assignment, folder, **ports)
        return live_commands(packed, folder)


def qemu_command(hardware: Hardware, snapshot: Path | None, cpu: int) -> list[str]:
    """Returns shell lines that boot, or restore the snapshot, with access to QEMU's monitor."""
    machine = restored(hardware, snapshot) if snapshot else hardware
    environment = TUNABLES | preloading(machine.preload, os.environ.get(LIBRARY_PATH, ""))
    before = [f"{name}={shlex.quote(value)}" for name, value in environment.items()]
    words = [program_of(machine.shape.platform), *qemu_arguments(machine, monitor_fd=None)]
    restoring = []
    if snapshot and machine.incoming:
        # The monitor has its own quotes (monitor/hmp.c, get_str()).
        state = f"file:{machine.incoming}".replace("\\", "\\\\").replace('"', '\\"')
        restoring = ["migrate_set_capability x-ignore-shared on", f'migrate_incoming "{state}"']
    return [
        "# QEMU, with its monitor on this terminal:",
        *pasted(words, [*before, *pinned(cpu, [])]),
        "# the rig's commands to the monitor; type them there:",
        *restoring,
        "cont",
        "# the guest pauses itself when its cell is done; its console is in",
        f"#   {machine.console}",
        "quit",
    ]


def program_of(platform: Platform) -> str:
    """Returns QEMU's name; its path if the rig may have fetched it to where no shell finds it."""
    found = shutil.which(platform.program) if platform.program_package else None
    return found or platform.program


def live_commands(packed: PackedGuest, folder: Path) -> list[str]:
    """Returns lines for five shells: two emulators, the guest's line, QEMU, the cores' speeds."""
    hardware, control = packed.hardware, "UNIX-SENDTO:pace"
    words = [hardware.shape.platform.program, *qemu_arguments(hardware, monitor_fd=None)]
    before = [f"{name}={shlex.quote(value)}" for name, value in TUNABLES.items()]
    return [
        "# the emulator, in a shell of its own:",
        f"cd {shlex.quote(str(packed.emulator_folder))}",
        *pasted(packed.emulator),
        "# the emulator of the subject's rehearsal, in another one:",
        f"cd {shlex.quote(str(packed.stage_folder))}",
        *pasted(packed.stage),
        "# the line to the guest's agent, in another one (socat does not come with the rig):",
        f"socat - TCP-LISTEN:{LINE_PORT},bind=127.0.0.1,reuseaddr",
        "# QEMU, with its monitor on this terminal:",
        f"cd {shlex.quote(str(folder))}",
        *pasted(words, before),
        "# the rig's commands to the monitor; type them there:",
        "cont",
        "# the speeds of the cores, once the line shows `ready`; the guest boots at full speed:",
        f"cd {shlex.quote(str(folder))}",
        *(f"echo {shlex.quote(word)} | socat - {control}" for word in packed.speeds),
        "# the rig's words to the agent; type them on the line (images/agent/channel.h):",
        "#   go        after `ready`: starts the subject",
        "#   accepted  when the subject has connected: starts what the cell does from then on",
        "#   finish    after `ended`: the guest pauses itself, and its console is in",
        f"#   {hardware.console}",
    ]


def host_commands(spec: Spec, folder: Path) -> list[str]:
    port = str(DRY_PORT)
    emulator = [word.replace(ANY_PORT, f"tcp:127.0.0.1:{port}") for word in spec.emulator]
    subject = [word.replace(PORT, port) for word in spec.subject]
    start = ["taskset", "--cpu-list", cpus_text(spec.cpus)] if spec.pinned else []
    lines = [
        "# the emulator, in a shell of its own:",
        f"cd {shlex.quote(str(folder))}",
        *pasted(emulator),
        "# the subject, in another one:",
        f"cd {shlex.quote(str(folder))}",
        *pasted(subject, start),
    ]
    if spec.lines:
        lines += ["# what the session does to the subject meanwhile (images/agent/spec.h):"]
        lines += [f"#   {line}" for line in spec.lines]
    return lines


def pasted(words: Sequence[str], before: Sequence[str] = ()) -> list[str]:
    """Returns one command with a line for each option; its first line starts with `before`."""
    lines = [" ".join([*before, shlex.quote(words[0])])]
    for word in words[1:]:
        if word.startswith("-"):
            lines.append(f"    {shlex.quote(word)}")
        else:
            lines[-1] += f" {shlex.quote(word)}"
    return [*(f"{line} \\" for line in lines[:-1]), lines[-1]]
