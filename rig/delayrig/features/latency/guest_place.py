# SPDX-License-Identifier: GPL-2.0-or-later
"""The guests of both lanes as places to measure in.

A guest of the virtual lane is restored from a snapshot by each call, and runs a program as its
subject. A guest of the live lane is booted by each call, with time from this machine's clock; each
line has the number of windows in which this machine did not hold a core to its speed.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import msgspec

from delayrig.base.errors import LostGuestError
from delayrig.base.paths import Paths, Preparing
from delayrig.base.scratch import ScratchFolder
from delayrig.features.latency.place import Line, MissingError
from delayrig.features.latency.profile import GuestProfile, Profile
from delayrig.features.latency.program_output import parse_lines
from delayrig.features.latency.result import Series
from delayrig.lanes.live.pace import pace_events
from delayrig.lanes.live.program import Errand, Left, LiveGuest, run_program
from delayrig.lanes.payload import CELL_FOLDER, SETTLE_MS, SUBJECT_ROOT, pack_spec
from delayrig.lanes.supplies import CpuPool
from delayrig.lanes.virtual_lane import make_machine
from delayrig.machine.arguments import CELL_FW_CFG, SUBJECT_FW_CFG
from delayrig.machine.live_image import LiveImage, provide_live_image
from delayrig.machine.session import finish_guest
from delayrig.machine.snapshot import boot_hardware, drop_damaged, provide_snapshot, snapshot_path
from delayrig.model.events import first, needed, of_kind, parse_events
from delayrig.model.kinds.agent import AgentError, SubjectEnd
from delayrig.model.kinds.pace import Pace
from delayrig.model.platform import Arch
from delayrig.model.shape import GuestShape
from delayrig.subjects.guest_image import (
    GuestImage,
    provide_guest_image,
    provide_kernel,
    with_kernel,
)
from delayrig.subjects.own_programs import provide_natives
from delayrig.subjects.recipes import Recipes
from delayrig.subjects.subject import (
    CYCLICTEST,
    PROGRAM,
    Subject,
    provide_latency_program,
    provide_tool,
)

CYCLIC_OUTPUT = "/tmp/cyclictest.json"
CYCLIC_ENTRY = "cyclictest.json"
CYCLIC_LINE = f"collect {CYCLIC_ENTRY} {SUBJECT_ROOT}{CYCLIC_OUTPUT} 0 0"
CHIP = "M25P10-A"
"""The smallest chip, because no command is sent to it."""
REHEARSED = 5
"""The number of waits of a series in a rehearsal."""
REHEARSED_NS = 1_000_000
"""The longest request of a rehearsal."""


@dataclass(slots=True, kw_only=True)
class GuestPlace(ABC):
    """The `Place` that is a guest. Each call starts it anew."""

    hogs: ClassVar[str]
    """The key of the agent's specification for the load of cyclictest."""
    deadline_ms: ClassVar[int]
    facts: Profile
    program: Subject
    cyclic: Subject
    governor: str = ""
    paths: Paths

    async def measure(self, series: Sequence[Series]) -> list[Line]:
        words = [each.word for each in series]
        entries, left = await self._run(
            Errand(
                program=self.program,
                words=words,
                rehearsal=rehearsal_of(series),
                spec_lines=self.facts.spec_lines,
                deadline_ms=self.deadline_ms,
            )
        )
        text = entries.get("stdout.txt", b"")
        lines = parse_lines(text, expected=len(words), source=f"guest {self.facts.name}")
        return [with_windows(line, left) for line in lines] if left else lines

    async def cyclictest(self, words: Sequence[str], *, eaters: int) -> tuple[bytes, Line]:
        """Runs cyclictest (see `Place`). The load is the agent's hogs."""
        hogs = [f"{self.hogs} {eaters}"] if eaters else []
        entries, left = await self._run(
            Errand(
                program=self.cyclic,
                words=[*words, f"--json={CYCLIC_OUTPUT}"],
                spec_lines=(*self.facts.spec_lines, CYCLIC_LINE, *hogs),
                deadline_ms=self.deadline_ms,
            )
        )
        if CYCLIC_ENTRY not in entries:
            printed = entries.get("stdout.txt", b"").decode(errors="replace").strip()
            raise MissingError(f"cyclictest said: {printed[:300]}")
        if left is None:
            return entries[CYCLIC_ENTRY], {}
        since_ns, until_ns = left.clock.begin.after_ns, left.clock.end.before_ns
        return entries[CYCLIC_ENTRY], windows_of(left, since_ns, until_ns)

    async def set_governor(self, name: str) -> None:
        """Sets the governor of guests that are booted from now on."""
        self.governor = name

    @abstractmethod
    async def _run(self, errand: Errand) -> tuple[dict[str, bytes], Left | None]:
        """Returns the collected files, and in real time what else the guest left."""


@dataclass(slots=True, kw_only=True)
class VirtualPlace(GuestPlace):
    """A guest of the virtual lane. Its cores have one speed, and only core 0 is loaded."""

    hogs, deadline_ms = "hogs", 3_600_000
    facts: GuestProfile
    image: GuestImage
    snapshot: Path
    pool: CpuPool

    async def _run(self, errand: Errand) -> tuple[dict[str, bytes], None]:
        """Runs the program as the subject. Nothing is rehearsed in virtual time."""
        with ScratchFolder() as name:
            scratch = Path(name)
            archive = await asyncio.to_thread(pack_spec, _spec_text(errand), scratch)
            shape = self.facts.shape
            hardware = replace(
                boot_hardware(shape, self.image, self.paths.qemu_preload, scratch / "console.log"),
                fw_cfg={CELL_FW_CFG: archive, SUBJECT_FW_CFG: Path(errand.program.archive)},
            )
            async with self.pool.one() as cpu:
                log = scratch / "qemu.log"
                machine = await make_machine(
                    hardware, self.snapshot, log=log, cpu=cpu, connect=None, paths=self.paths
                )
                try:
                    await machine.start()
                    entries = await finish_guest(machine, shape, scratch)
                finally:
                    await asyncio.shield(machine.stop())
        where = f"guest {self.facts.name}"
        events = parse_events(entries.get("agent.jsonl", b""), source=where)
        for error in of_kind(events, AgentError):
            raise LostGuestError(f"{where}: {error.message}: {error.detail}")
        if first(events, SubjectEnd) is None:
            raise LostGuestError(f"{where}: the measurement never ended")
        return entries, None


def _spec_text(errand: Errand) -> str:
    """Returns the specification for the agent (images/agent/spec.h)."""
    spec = [
        "schema 1",
        f"settle_ms {SETTLE_MS}",
        f"deadline_ms {errand.deadline_ms}",
        f"root {SUBJECT_ROOT}",
        *errand.spec_lines,
        *(f"emulator {word}" for word in ("--chip", CHIP, "--events", "events.jsonl")),
        *(f"subject {word}" for word in (PROGRAM, *errand.words)),
        f"collect stdout.txt {CELL_FOLDER}/stdout.txt 0 0",
        f"collect emulator.log {CELL_FOLDER}/emulator.log 0 0",
    ]
    return "\n".join(spec) + "\n"


@dataclass(slots=True, kw_only=True)
class LivePlace(GuestPlace):
    """A guest of the live lane, whose cores are all loaded."""

    hogs, deadline_ms = "hogs_each", 600_000
    image: LiveImage

    async def _run(self, errand: Errand) -> tuple[dict[str, bytes], Left]:
        guest = LiveGuest(
            core_mips=self.facts.core_mips,
            governor=self.governor or self.facts.governors[0],
            image=self.image,
            paths=self.paths,
            kernel_words=self.facts.kernel_words,
        )
        left = await run_program(guest, errand)
        return left.entries, left


async def open_guest(
    facts: Profile, recipes: Recipes, paths: Paths, pool: CpuPool, preparing: Preparing
) -> GuestPlace:
    """Returns the guest as a place, after making what is missing."""
    if isinstance(facts, GuestProfile):
        image = await asyncio.to_thread(_provide_image, facts.shape, recipes, paths, preparing)
    else:
        live_image = await asyncio.to_thread(provide_live_image, recipes.guest, paths, preparing)
    arch = Arch(facts.arch)
    program = await asyncio.to_thread(provide_latency_program, paths, arch)
    cyclic = await asyncio.to_thread(provide_tool, CYCLICTEST, recipes, paths, preparing, arch)
    if not isinstance(facts, GuestProfile):
        return LivePlace(facts=facts, program=program, cyclic=cyclic, paths=paths, image=live_image)
    path = snapshot_path(facts.shape, image, paths)
    async with pool.one() as cpu:
        await asyncio.to_thread(drop_damaged, path)
        if not path.is_dir():
            preparing(f"snapshot of {facts.shape.name}")
        snapshot = await provide_snapshot(facts.shape, image, paths, cpu)
    return VirtualPlace(
        facts=facts,
        program=program,
        cyclic=cyclic,
        paths=paths,
        image=image,
        snapshot=snapshot,
        pool=pool,
    )


def _provide_image(
    shape: GuestShape, recipes: Recipes, paths: Paths, preparing: Preparing
) -> GuestImage:
    provide_natives(shape.arch, paths, preparing)
    image = provide_guest_image(recipes.guest_of(shape.arch), paths, preparing, shape.arch)
    if not shape.kernel:
        return image
    recipe = recipes.kernels[shape.kernel]
    return with_kernel(image, provide_kernel(shape.kernel, recipe, paths, preparing))


def windows_of(left: Left, since_ns: int, until_ns: int) -> Line:
    """Returns the numbers of windows of that time, as keys of a line."""
    pace = needed(pace_events(left.trace, since_ns, until_ns), Pace)
    return {"windows": pace.windows, "windows_not_kept": pace.windows_not_kept}


def with_windows(line: Line, left: Left) -> Line:
    """Adds the numbers of windows between the times of a line, if it has times."""
    if "began_ns" not in line:
        return line
    since_ns, until_ns = (left.clock.to_host_ns(line[key]) for key in ("began_ns", "ended_ns"))
    return {**line, **windows_of(left, since_ns, until_ns)}


def rehearsal_of(series: Iterable[Series]) -> list[str]:
    """Returns a short form of each series, without duplicates.

    Running them makes QEMU translate the code before the measurement.
    """
    short = (
        msgspec.structs.replace(
            each,
            count=min(each.count, REHEARSED),
            request_ns=min(each.request_ns, REHEARSED_NS),
            step_ns=max(each.step_ns, (each.to_ns - each.from_ns) // REHEARSED),
        )
        for each in series
    )
    return list(dict.fromkeys(each.word for each in short))
