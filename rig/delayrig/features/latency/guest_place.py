# SPDX-License-Identifier: GPL-2.0-or-later
"""The guests of both lanes as places to measure in.

A guest of the virtual lane is restored from a snapshot by each call, and runs a program as its
subject. A guest of the live lane is booted by each call, with time from this machine's clock; each
line has the number of windows in which this machine did not hold a core to its speed.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from delayrig.base.errors import LostGuestError
from delayrig.base.paths import Paths, Preparing
from delayrig.base.scratch import ScratchFolder
from delayrig.features.latency.place import (
    CYCLIC_LINE,
    CYCLIC_OUTPUT,
    Line,
    MissingError,
    PlaceFacts,
    Windows,
    cyclic_json,
)
from delayrig.features.latency.profile import GuestProfile, LiveProfile
from delayrig.features.latency.program_output import parse_lines
from delayrig.lanes.host.children import USUAL_SLACK_NS
from delayrig.lanes.live.pace import pace_events
from delayrig.lanes.live.program import Errand, Left, LiveGuest, run_program
from delayrig.lanes.payload import CELL_FOLDER, SETTLE_MS, SUBJECT_ROOT, pack_spec
from delayrig.lanes.supplies import CpuPool, image_with
from delayrig.lanes.virtual_lane import make_machine
from delayrig.machine.arguments import CELL_FW_CFG, SUBJECT_FW_CFG
from delayrig.machine.live_image import provide_live_image
from delayrig.machine.session import finish_guest
from delayrig.machine.snapshot import boot_hardware, drop_damaged, provide_snapshot, snapshot_path
from delayrig.model.events import first, needed, of_kind, parse_events
from delayrig.model.kinds.agent import AgentError, SubjectEnd
from delayrig.model.kinds.kind import Kind
from delayrig.model.kinds.pace import Pace
from delayrig.model.lane import LaneName
from delayrig.model.platform import Arch
from delayrig.subjects.guest_image import GuestImage, provide_guest_image, provide_kernel
from delayrig.subjects.own_programs import provide_natives
from delayrig.subjects.recipes import Recipes
from delayrig.subjects.subject import (
    CYCLICTEST,
    PROGRAM,
    Subject,
    provide_latency_program,
    provide_tool,
)

CHIP = "M25P10-A"
"""The smallest chip, because no command is sent to it."""
DEADLINE_MS = 3_600_000
LIVE_DEADLINE_MS = 600_000
REHEARSED = 5
"""The number of waits of a series in a rehearsal."""
REHEARSED_NS = 1_000_000
"""The longest request of a rehearsal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestPlace:
    profile: GuestProfile
    cpus: tuple[int, ...]
    image: GuestImage
    snapshot: Path
    program: Subject
    cyclic: Subject
    paths: Paths
    pool: CpuPool

    @property
    def facts(self) -> PlaceFacts:
        shape = self.profile.shape
        return PlaceFacts(
            name=self.profile.name,
            lane=LaneName.VIRTUAL,
            arch=shape.arch,
            mips=shape.mips,
            core_mips=(shape.mips,) * shape.cores,
            cpus=self.cpus,
            usual_slack_ns=USUAL_SLACK_NS,
        )

    async def measure(self, words: Sequence[str]) -> list[Line]:
        entries = await self._run(self.program, words, ())
        text = entries.get("stdout.txt", b"")
        return parse_lines(text, expected=len(words), source=f"guest {self.profile.name}")

    async def cyclictest(self, words: Sequence[str], *, eaters: int) -> tuple[bytes, Windows]:
        """Runs cyclictest (see `Place`). The load is the agent's hogs, on core 0."""
        lines = [CYCLIC_LINE, *([f"hogs {eaters}"] if eaters else [])]
        entries = await self._run(self.cyclic, [*words, f"--json={CYCLIC_OUTPUT}"], lines)
        return cyclic_json(entries), Windows()

    async def set_governor(self, name: str) -> None:
        """Raises `MissingError` unless the name is empty: a guest's cores have one speed."""
        if name:
            raise MissingError(f"governor {name} cannot be set: the guest has no cpufreq")

    async def _run(
        self, program: Subject, words: Sequence[str], lines: Sequence[str]
    ) -> dict[str, bytes]:
        with ScratchFolder() as name:
            scratch = Path(name)
            archive = await asyncio.to_thread(pack_spec, self._spec_text(words, lines), scratch)
            shape = self.profile.shape
            hardware = replace(
                boot_hardware(shape, self.image, self.paths.qemu_preload, scratch / "console.log"),
                fw_cfg={CELL_FW_CFG: archive, SUBJECT_FW_CFG: Path(program.archive)},
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
        _check(entries, self.profile.name)
        return entries

    def _spec_text(self, words: Sequence[str], lines: Sequence[str]) -> str:
        """Returns the specification for the agent (images/agent/spec.h)."""
        spec = [
            "schema 1",
            f"settle_ms {SETTLE_MS}",
            f"deadline_ms {DEADLINE_MS}",
            f"root {SUBJECT_ROOT}",
            *self.profile.spec_lines,
            *lines,
            *(f"emulator {word}" for word in ("--chip", CHIP, "--events", "events.jsonl")),
            *(f"subject {word}" for word in (PROGRAM, *words)),
            f"collect stdout.txt {CELL_FOLDER}/stdout.txt 0 0",
            f"collect emulator.log {CELL_FOLDER}/emulator.log 0 0",
        ]
        return "\n".join(spec) + "\n"


async def open_guest(
    profile: GuestProfile,
    cpus: tuple[int, ...],
    recipes: Recipes,
    paths: Paths,
    pool: CpuPool,
    preparing: Preparing,
) -> GuestPlace:
    shape = profile.shape
    image, program, cyclic = await asyncio.to_thread(_provide, profile, recipes, paths, preparing)
    async with pool.one() as cpu:
        await asyncio.to_thread(drop_damaged, snapshot_path(shape, image, paths))
        if not snapshot_path(shape, image, paths).is_dir():
            preparing(f"snapshot of {shape.name}")
        snapshot = await provide_snapshot(shape, image, paths, cpu)
    return GuestPlace(
        profile=profile,
        cpus=cpus,
        image=image,
        snapshot=snapshot,
        program=program,
        cyclic=cyclic,
        paths=paths,
        pool=pool,
    )


def _provide(
    profile: GuestProfile, recipes: Recipes, paths: Paths, preparing: Preparing
) -> tuple[GuestImage, Subject, Subject]:
    shape, arch = profile.shape, profile.shape.arch
    provide_natives(arch, paths, preparing)
    image = provide_guest_image(recipes.guest_of(arch), paths, preparing, arch)
    kernels = {}
    if shape.kernel:
        kernel = provide_kernel(shape.kernel, recipes.kernels[shape.kernel], paths, preparing)
        kernels[shape.kernel] = kernel
    program = provide_latency_program(paths, arch)
    cyclic = provide_tool(CYCLICTEST, recipes, paths, preparing, arch)
    return image_with(image, kernels, shape), program, cyclic


def _check(entries: dict[str, bytes], name: str) -> None:
    """Raises `LostGuestError` if the agent complains or the program did not end by itself."""
    events = parse_events(entries.get("agent.jsonl", b""), source=f"guest {name}")
    for error in of_kind(events, AgentError):
        raise LostGuestError(f"guest {name}: {error.message}: {error.detail}")
    if first(events, SubjectEnd) is None:
        raise LostGuestError(f"guest {name}: the measurement never ended")


@dataclass(slots=True, kw_only=True)
class LivePlace:
    profile: LiveProfile
    cpus: tuple[int, ...]
    guest: LiveGuest
    program: Subject
    cyclic: Subject
    _governor: str = field(default="")

    @property
    def facts(self) -> PlaceFacts:
        return PlaceFacts(
            name=self.profile.name,
            lane=LaneName.LIVE,
            arch=Arch.X86_64,
            mips=self.profile.core_mips[self.cpus[0]],
            cpus=self.cpus,
            core_mips=self.profile.core_mips,
            about=self.profile.about,
            usual_slack_ns=USUAL_SLACK_NS,
            governors=self.profile.governors,
        )

    async def measure(self, words: Sequence[str]) -> list[Line]:
        left = await self._run(self.program, words, rehearsal=rehearsal_of(words))
        text = left.entries.get("stdout.txt", b"")
        lines = parse_lines(text, expected=len(words), source=f"guest {self.profile.name}")
        return [with_windows(line, left) for line in lines]

    async def cyclictest(self, words: Sequence[str], *, eaters: int) -> tuple[bytes, Windows]:
        """Runs cyclictest (see `Place`). The load is the agent's hogs, on every core."""
        lines = [CYCLIC_LINE, *([f"hogs_each {eaters}"] if eaters else [])]
        words = [*words, f"--json={CYCLIC_OUTPUT}"]
        left = await self._run(self.cyclic, words, rehearsal=(), lines=lines)
        written = cyclic_json(left.entries)
        paced = pace_events(left.trace, left.clock.begin.after_ns, left.clock.end.before_ns)
        return written, _windows(paced)

    async def set_governor(self, name: str) -> None:
        """Sets the governor of guests that are booted from now on."""
        self._governor = name

    async def _run(
        self,
        program: Subject,
        words: Sequence[str],
        *,
        rehearsal: Sequence[str],
        lines: Sequence[str] = (),
    ) -> Left:
        errand = Errand(
            program=program,
            words=words,
            rehearsal=rehearsal,
            spec_lines=(*self.profile.spec_lines, *lines),
            deadline_ms=LIVE_DEADLINE_MS,
        )
        governor = self._governor or self.profile.governor
        return await run_program(replace(self.guest, governor=governor), errand)


def with_windows(line: Line, left: Left) -> Line:
    """Adds the numbers of windows between the times of a line, if it has times."""
    if "began_ns" not in line:
        return line
    since_ns, until_ns = (left.clock.to_host_ns(line[key]) for key in ("began_ns", "ended_ns"))
    windows = _windows(pace_events(left.trace, since_ns, until_ns))
    return {**line, "windows": windows.count, "windows_not_kept": windows.not_kept}


def _windows(paced: Iterable[Kind]) -> Windows:
    pace = needed(paced, Pace)
    return Windows(count=pace.windows, not_kept=pace.windows_not_kept)


def rehearsal_of(words: Sequence[str]) -> list[str]:
    """Returns a short form of each series, without duplicates.

    Running them makes QEMU translate the code before the measurement.
    """
    return list(dict.fromkeys(map(_shortened, words)))


def _shortened(word: str) -> str:
    kind, _, rest = word.partition(":")
    keys = dict(pair.split("=") for pair in rest.split(",") if pair)
    if "to_ns" in keys and int(keys["to_ns"]):
        step_ns = (int(keys["to_ns"]) - int(keys["from_ns"])) // REHEARSED
        keys["step_ns"] = str(max(int(keys["step_ns"]), step_ns))
    for key, most in (("count", REHEARSED), ("request_ns", REHEARSED_NS)):
        if key in keys:
            keys[key] = str(min(int(keys[key]), most))
    return ":".join(filter(None, [kind, ",".join(f"{key}={keys[key]}" for key in keys)]))


async def open_live_guest(
    profile: LiveProfile,
    cpus: tuple[int, ...],
    recipes: Recipes,
    paths: Paths,
    preparing: Preparing,
) -> LivePlace:
    image = await asyncio.to_thread(provide_live_image, recipes.guest, paths, preparing)
    return LivePlace(
        profile=profile,
        cpus=cpus,
        guest=LiveGuest(
            core_mips=profile.core_mips,
            governor=profile.governor,
            image=image,
            paths=paths,
            kernel_words=profile.kernel_words,
        ),
        program=await asyncio.to_thread(provide_latency_program, paths),
        cyclic=await asyncio.to_thread(provide_tool, CYCLICTEST, recipes, paths, preparing),
    )
