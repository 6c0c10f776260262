# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest of the virtual lane: each call restores a snapshot and runs a program as its subject."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from delayrig.base.errors import LostGuestError
from delayrig.base.paths import Paths, Preparing
from delayrig.base.scratch import ScratchFolder
from delayrig.features.latency.place import (
    CYCLIC_LINE,
    CYCLIC_OUTPUT,
    USUAL_SLACK_NS,
    Line,
    MissingError,
    PlaceFacts,
    Windows,
    cyclic_json,
)
from delayrig.features.latency.profile import GuestProfile
from delayrig.features.latency.program_output import parse_lines
from delayrig.lanes.payload import CELL_FOLDER, SETTLE_MS, SUBJECT_ROOT, pack_spec
from delayrig.lanes.supplies import CpuPool, image_with
from delayrig.lanes.virtual_lane import make_machine
from delayrig.machine.arguments import CELL_FW_CFG, SUBJECT_FW_CFG
from delayrig.machine.session import finish_guest
from delayrig.machine.snapshot import boot_hardware, drop_damaged, provide_snapshot, snapshot_path
from delayrig.model.events import first, of_kind, parse_events
from delayrig.model.kinds.agent import AgentError, SubjectEnd
from delayrig.model.lane import LaneName
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
        """Runs cyclictest as `Place` says. The agent's hogs are the load, beside it on core 0."""
        lines = [CYCLIC_LINE, *([f"hogs {eaters}"] if eaters else [])]
        entries = await self._run(self.cyclic, [*words, f"--json={CYCLIC_OUTPUT}"], lines)
        return cyclic_json(entries), Windows()

    async def set_governor(self, name: str) -> None:
        """Raises `MissingError` for any governor: a guest's cores have one speed."""
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
        raise LostGuestError(f"guest {name}: what was measured there never ended")
