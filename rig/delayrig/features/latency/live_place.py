# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest of the live lane, booted by every call, with time from this machine's clock.

Each line has the number of windows in which this machine did not hold a core to its speed.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from delayrig.base.paths import Paths, Preparing
from delayrig.features.latency.place import (
    CYCLIC_LINE,
    CYCLIC_OUTPUT,
    USUAL_SLACK_NS,
    Line,
    PlaceFacts,
    Windows,
    cyclic_json,
)
from delayrig.features.latency.profile import LiveProfile
from delayrig.features.latency.program_output import parse_lines
from delayrig.lanes.live.pace import pace_events
from delayrig.lanes.live.program import Errand, Left, LiveGuest, run_program
from delayrig.machine.live_image import provide_live_image
from delayrig.model.events import needed
from delayrig.model.kinds.kind import Kind
from delayrig.model.kinds.pace import Pace
from delayrig.model.lane import LaneName
from delayrig.model.platform import Arch
from delayrig.subjects.recipes import Recipes
from delayrig.subjects.subject import CYCLICTEST, Subject, provide_latency_program, provide_tool

DEADLINE_MS = 600_000
REHEARSED = 5
REHEARSED_NS = 1_000_000
"""The longest wait, and the longest task, of a rehearsal."""


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
        """Runs cyclictest as `Place` says. The agent's hogs are the load, on every core."""
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
            deadline_ms=DEADLINE_MS,
        )
        governor = self._governor or self.profile.governor
        return await run_program(replace(self.guest, governor=governor), errand)


def with_windows(line: Line, left: Left) -> Line:
    """Adds to a line how this machine kept up meanwhile, if the line has times."""
    if "began_ns" not in line:
        return line
    since_ns, until_ns = (left.clock.to_host_ns(line[key]) for key in ("began_ns", "ended_ns"))
    windows = _windows(pace_events(left.trace, since_ns, until_ns))
    return {**line, "windows": windows.count, "windows_not_kept": windows.not_kept}


def _windows(paced: Iterable[Kind]) -> Windows:
    pace = needed(paced, Pace)
    return Windows(count=pace.windows, not_kept=pace.windows_not_kept)


def rehearsal_of(words: Sequence[str]) -> list[str]:
    """Returns a short form of each series, each once. Running them lets QEMU translate the code."""
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
