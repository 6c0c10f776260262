# SPDX-License-Identifier: GPL-2.0-or-later
"""The host lane: subject and emulator are two processes on this machine, in real time.

It needs neither QEMU nor libvirt nor a guest's image. Each cell is a session (`host/session.py`), a
process that ends all of its children.
"""

import asyncio
import contextlib
import os
import signal
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from delayrig.base.archive import READABLE
from delayrig.base.bubblewrap import REMEDY, missing_confinement
from delayrig.base.errors import LostGuestError, NotProvidedError, RigError, RigFaultError
from delayrig.base.interruption import whole_in_thread
from delayrig.base.paths import Paths, Preparing
from delayrig.base.scratch import ScratchFolder
from delayrig.base.text import log_tail
from delayrig.hazards import cores_needed, refusal_on
from delayrig.hazards.of_cell import hazards_of, is_in_library
from delayrig.lanes.header import make_host_header
from delayrig.lanes.host.sandbox import box_words
from delayrig.lanes.host.session import EVENTS, LOG
from delayrig.lanes.host.spec import PORT, Spec, cpus_in, write_spec
from delayrig.lanes.lane import Assignment
from delayrig.lanes.payload import BEFORE, deadline_ms, emulator_words, subject_words
from delayrig.lanes.scheduler import Grouping
from delayrig.lanes.stages import KEEP, PACK
from delayrig.lanes.store_artifacts import write_entries
from delayrig.model import workload
from delayrig.model.cell import Cell, Job, Programmer
from delayrig.model.events import encode_events, first, parse_events
from delayrig.model.kinds.agent import SubjectEnd, SubjectStart
from delayrig.model.lane import LaneName
from delayrig.model.programmers import device_refusal
from delayrig.model.result import NotProvided, RunHeader
from delayrig.model.workload import Places, Region, region_of
from delayrig.plan.request import Request
from delayrig.subjects.saved_programs import provide_program, provide_program_library
from delayrig.subjects.subject import Subject, provide_root, root_of, words_to_start

ANY_PORT = "tcp:127.0.0.1:0"
DEADLINE_MS = 180_000
SESSION_END_S = 60
"""The time that a session may take in addition to its subject's."""
STOP_S = 10
WAKE_MEASUREMENTS = 32
SPARE_BYTES = 32 << 20
"""The additional room in a file, beyond the size of the chip, for the subject's output."""

SPEC = "session.json"
TERMINAL = "serprog"
OWN = "own"
"""The subject's folder."""
WRITTEN = ("read.bin", "host.jsonl", "dummy.jsonl", "chip.bin")
"""The files that a subject may write, besides its output."""
KEPT = (EVENTS.name, "events.jsonl", "stdout.txt", LOG.name, "image.sparse")


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLane:
    request: Request
    paths: Paths
    subjects: dict[str, Subject] = field(default_factory=dict)
    libraries: dict[str, Subject] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    """The reason why a subject cannot be started here, by its name."""
    not_provided: dict[str, NotProvided] = field(default_factory=dict)
    """Parts of subjects that the archive did not deliver, by subject."""

    @property
    def programs(self) -> list[Subject]:
        return [*self.subjects.values(), *self.libraries.values()]

    def subject_of(self, cell: Cell) -> Subject | None:
        return (self.libraries if is_in_library(cell) else self.subjects).get(cell.subject)

    def missing(self, cell: Cell) -> NotProvided | None:
        return self.not_provided.get(cell.subject)

    def refusal(self, cell: Cell) -> str:
        cpus = cpus_of(cell)
        if refused := device_refusal(cell) or refusal_on(LaneName.HOST, cell.hazards):
            return refused
        if not set(cpus) <= os.sched_getaffinity(0):
            return f"pin = {cell.pin!r} has CPUs that do not exist or that the rig may not use"
        needed = cell.cores if cores_needed(cell.hazards) > 1 else 1
        if len(cpus) < needed:
            return f"it needs {needed} CPUs, and may use {len(cpus)}"
        return self.refused.get(cell.subject, "")

    def grouping(self, _cell: Cell) -> Grouping:
        return Grouping()

    def header(self) -> RunHeader:
        missing = list(self.not_provided.values())
        return make_host_header(self.request, self.programs, missing, self.paths)

    async def run_cell(self, assignment: Assignment) -> float:
        """Runs the cell in a session of its own, which ends all of its processes."""
        began_s = time.monotonic()
        with ScratchFolder() as name:
            scratch = Path(name)
            spec = await whole_in_thread(self.pack, assignment, scratch)
            assignment.watch.ended(PACK)
            write_spec(spec, scratch / SPEC)
            code = await self.finish(spec, scratch)
            entries = await asyncio.to_thread(_read_files, assignment, scratch)
        region = region_of(assignment.cell, assignment.chip)
        log = entries.get(LOG.name, b"")
        await asyncio.to_thread(write_entries, entries, assignment.folder, region)
        if code != 0:
            tail = log_tail(log) or "the emulator printed nothing"
            raise LostGuestError(f"the session of the cell was lost ({code}): {tail}")
        assignment.watch.ended(KEEP)
        return time.monotonic() - began_s

    def pack(self, assignment: Assignment, scratch: Path) -> Spec:
        spec = _write_files(assignment, self.paths, scratch)
        return spec if self.request.unconfined else _confined(spec, assignment, self.paths, scratch)

    async def finish(self, spec: Spec, scratch: Path) -> int:
        return await run_session(scratch, spec.deadline_ms / 1000 + SESSION_END_S)


async def open_host_lane(request: Request, paths: Paths, preparing: Preparing) -> HostLane:
    """Packs the subjects. If one is not available, its cells are skipped."""
    lane = HostLane(request=request, paths=paths)
    paths.state.mkdir(parents=True, exist_ok=True)
    if not request.unconfined and (missing := await asyncio.to_thread(missing_confinement)):
        raise RigFaultError(
            f"the subject cannot be confined on this machine: {missing}", hint=REMEDY
        )
    for cell in request.cells:
        found = lane.libraries if is_in_library(cell) else lane.subjects
        if cell.subject in {**found, **lane.refused, **lane.not_provided}:
            continue
        provide = provide_program_library if is_in_library(cell) else provide_program
        try:
            subject = await asyncio.to_thread(
                provide, cell.subject, request.recipes, paths, preparing
            )
            if subject:
                await asyncio.to_thread(provide_root, subject)
                found[cell.subject] = subject
        except NotProvidedError as error:
            lane.not_provided[cell.subject] = NotProvided(what=error.what, cause=error.cause)
        except (RigError, OSError) as error:
            reason = str(error).partition("\n")[0]
            lane.refused[cell.subject] = f"this subject cannot be started here: {reason}"
    return lane


def cpus_of(cell: Cell) -> list[int]:
    return cpus_in(cell.pin) if cell.pin else sorted(os.sched_getaffinity(0))


def server_words(cell: Cell, paths: Paths, terminal: str) -> list[str]:
    """Returns the emulator's command line with its address; the session adds its priority."""
    listen = f"pty:{terminal}" if cell.bridged else ANY_PORT
    # The measured wake-up latency bounds how late the emulator reads. With a link or a fault that
    # bound does not hold, so the emulator does not measure it.
    linked = any(hazard.emulator_words(cell) for hazard in hazards_of(cell))
    return [
        str(paths.emulator),
        *("--listen", listen),
        *("--clock", "monotonic"),
        *("--measure-wake", str(0 if linked else WAKE_MEASUREMENTS)),
        *("--clients", "1"),
    ]


def command_of(assignment: Assignment, scratch: Path) -> list[str]:
    """Returns the subject's command line. The session inserts the emulator's port."""
    own = scratch / OWN
    places = Places(
        port=PORT,
        device=str(scratch / TERMINAL),
        layout=str(scratch / "layout"),
        write=str(scratch / "after.bin"),
        read=str(own / "read.bin"),
        client_events=str(own / "host.jsonl"),
        dummy_image=str(own / "chip.bin"),
        dummy_events=str(own / "dummy.jsonl"),
    )
    words = subject_words(assignment.cell, assignment.chip_name, assignment.subject, places)
    return [*words_to_start(root_of(assignment.subject)), *words]


def _write_files(assignment: Assignment, paths: Paths, scratch: Path) -> Spec:
    cell, chip = assignment.cell, assignment.chip
    region = region_of(cell, chip)
    before = workload.initial_content(cell, region)
    (scratch / BEFORE).write_bytes(before)
    (scratch / OWN).mkdir()
    (scratch / "layout").write_text(workload.layout_text(region), encoding="utf-8")
    _write_image(
        scratch / "after.bin", chip.size_bytes, region, workload.final_content(cell, region)
    )
    if cell.programmer is Programmer.DUMMY:
        _write_image(scratch / OWN / "chip.bin", chip.size_bytes, region, before)
    return Spec(
        # The emulator works in the scratch folder, because a full path may be too long for it.
        emulator=[*server_words(cell, paths, TERMINAL), *emulator_words(cell, region)],
        subject=command_of(assignment, scratch),
        subject_file_bytes_max=chip.size_bytes + SPARE_BYTES,
        cpus=cpus_of(cell),
        pinned=bool(cell.pin),
        deadline_ms=deadline_ms(cell, DEADLINE_MS),
        lines=[line for hazard in hazards_of(cell) for line in hazard.spec_lines(cell)],
    )


def _confined(spec: Spec, assignment: Assignment, paths: Paths, scratch: Path) -> Spec:
    kept = [scratch / OWN / name for name in WRITTEN]
    for path in kept:
        path.touch()
    cell = assignment.cell
    inputs = [scratch / "layout", scratch / "after.bin"]
    for path in inputs:
        path.chmod(READABLE)  # The subject may be another user, and the umask may be 077.
    box = box_words(
        confine=paths.confine_program,
        readable=[root_of(assignment.subject), *inputs],
        own=scratch / OWN,
        kept=kept,
        terminal=scratch / TERMINAL if cell.bridged else None,
        file_bytes_max=spec.subject_file_bytes_max,
        realtime=not spec.number_of("realtime_denied"),
    )
    writable = [*map(str, kept), *([PORT] if cell.bridged else [])]
    return replace(spec, box=box, writable=writable)


def _write_image(path: Path, size_bytes: int, region: Region, content: bytes) -> None:
    with path.open("wb") as image:
        image.truncate(size_bytes)
        image.seek(region.offset_bytes)
        image.write(content)


def _read_files(assignment: Assignment, scratch: Path) -> dict[str, bytes]:
    found = [scratch / name for name in KEPT]
    entries = {path.name: path.read_bytes() for path in found if path.is_file()}
    for path in (scratch / OWN / name for name in WRITTEN):
        # The subject may have replaced the file by a symbolic link.
        if path.is_file() and not path.is_symlink() and (content := path.read_bytes()):
            entries[path.name] = content
    if assignment.cell.programmer is not Programmer.DUMMY:
        entries.pop("chip.bin", None)
    put_library_client_on_clock_of(entries, "the session's events")
    region = region_of(assignment.cell, assignment.chip)
    whole = entries.pop("read.bin", b"")
    if assignment.cell.job is Job.READ and whole:
        entries["read.bin"] = whole[region.offset_bytes : region.end_bytes]
    return entries


def put_library_client_on_clock_of(entries: dict[str, bytes], agent: str) -> None:
    """Moves the library client's events, whose times are a raw counter, to the agent's clock.

    The first event gets the time of the subject's start, the others the time of its end. `agent`
    names the agent's events in errors.
    """
    if "host.jsonl" not in entries:
        return
    client = parse_events(entries["host.jsonl"], source="the library client's events")
    events = parse_events(entries.get(EVENTS.name, b""), source=agent)
    began, ended = first(events, SubjectStart), first(events, SubjectEnd)
    last_ns = ended.t_ns if ended else began.t_ns if began else 0
    placed = [
        msgspec.structs.replace(event, t_ns=began.t_ns if number == 0 else last_ns)
        for number, event in enumerate(client)
        if began
    ]
    entries["host.jsonl"] = encode_events(placed)


async def run_session(scratch: Path, limit_s: float) -> int:
    """Runs the session and returns its exit code.

    All of its processes are gone when this returns.
    """
    words = ["-S", "-P", "-m", "delayrig.lanes.host.session", str(scratch / SPEC), str(os.getpid())]
    package = Path(__file__).parents[2]
    with (scratch / "session.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *words,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, "PYTHONPATH": str(package)},
            start_new_session=True,
        )
    try:
        async with asyncio.timeout(limit_s):
            return await process.wait()
    except TimeoutError:
        return -signal.SIGALRM
    finally:
        await asyncio.shield(_stop(process))


async def _stop(process: asyncio.subprocess.Process) -> None:
    """Asks the session to end its children; then kills the group of all of them."""
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError, TimeoutError):
        process.terminate()
        async with asyncio.timeout(STOP_S):
            await process.wait()
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
