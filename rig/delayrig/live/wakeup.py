# SPDX-License-Identifier: GPL-2.0-or-later
"""The wake-up gotcha: sleepers wake up sooner while others compute, where a governor saves power.

A guest whose cores follow a governor measures how late sleeps of 10 ms end, alone and beside loops.
Under `ondemand` the loops bring the core to its full speed, and the way from the timer's interrupt
to the sleeper is the same number of instructions; under `performance` it was there all the time.
"""

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from delayrig.archive import write_archive
from delayrig.errors import LostGuestError
from delayrig.guest.arguments import CELL_FW_CFG, SUBJECT_FW_CFG, Hardware, RealTime
from delayrig.guest.platform import Arch
from delayrig.guest.session import read_results
from delayrig.hazards.speed import Governor
from delayrig.images.live_image import LiveImage
from delayrig.images.subject import PROGRAM, Subject
from delayrig.latency.lines import parse_lines
from delayrig.live.conversation import Conversation
from delayrig.live.line import Line, open_line
from delayrig.live.machine import live_shape, make_live_machine
from delayrig.live.pace import Pace, pace_events
from delayrig.paths import Paths
from delayrig.payload import CELL_FOLDER, SETTLE_MS, SUBJECT_ROOT
from delayrig.trust import pace_fault

SCHEMA = 1
REQUEST_NS = 10_000_000
SLACK_NS = 50_000
REHEARSED = 5
DEADLINE_MS = 120_000


class Lateness(msgspec.Struct, frozen=True, kw_only=True):
    """Of one series of sleeps."""

    governor: str
    eaters: int
    count: int
    mean_ns: float
    median_ns: float
    deviation_ns: float


class WakeupReport(msgspec.Struct, frozen=True, kw_only=True):
    """The whole of `wakeup.json`."""

    schema: int = SCHEMA
    mips_max: float
    mips_min: float
    request_ns: int = REQUEST_NS
    readings: list[Lateness]
    doubt: str = ""
    """How far this machine did not keep up; empty: it did."""

    def change(self, governor: str) -> tuple[float, float]:
        """What the eaters make of the mean lateness, and of its median: below 1 it falls.

        One sleep that this machine let wait moves the mean, and not the median.
        """
        alone, beside = (
            next(r for r in self.readings if r.governor == governor and bool(r.eaters) is crowded)
            for crowded in (False, True)
        )
        return beside.mean_ns / alone.mean_ns, beside.median_ns / alone.median_ns


def series_words(count: int, eaters: int) -> list[str]:
    """For the measuring program (images/latency/series.h): alone first, then beside the loops."""
    plain = f"wait:wait=nanosleep,request_ns={REQUEST_NS},count={count},slack_ns={SLACK_NS},cpu=0"
    return [plain, f"{plain},eaters={eaters}"]


async def measure_wakeups(
    governor: str,
    *,
    mips: float,
    count: int,
    eaters: int,
    program: Subject,
    image: LiveImage,
    connect: str | None,
    paths: Paths,
) -> tuple[list[Lateness], str]:
    """Both series in one guest of one core, and how far it was not kept to its speed."""
    with tempfile.TemporaryDirectory(prefix="rig-live-") as name:
        scratch = Path(name)
        pace = Pace([mips], scratch, list(Governor(governor).pace_words([mips])))
        async with open_line() as line:
            archive = await asyncio.to_thread(_write_cell, count, eaters, scratch)
            hardware = _hardware(line, pace, archive, program, image, paths, scratch)
            machine = make_live_machine(
                hardware, log=scratch / "qemu.log", connect=connect, paths=paths
            )
            try:
                await machine.start()
                talk = Conversation(machine=machine, line=line, pace=pace, deadline_ms=DEADLINE_MS)
                clock = await talk.hold()
                entries = await read_results(machine, hardware.shape, scratch)
            finally:
                await asyncio.shield(machine.stop())
        trace = pace_events(pace.trace.read_bytes(), clock.begin.after_ns, clock.end.before_ns)
    lines = parse_lines(entries.get("stdout.txt", b""), expected=2, source="the live guest")
    found = [
        Lateness(
            governor=governor,
            eaters=loops,
            count=line["count"],
            mean_ns=line["mean_ns"] - REQUEST_NS,
            median_ns=line["quantiles_ns"][len(line["quantiles_ns"]) // 2] - REQUEST_NS,
            deviation_ns=line["deviation_ns"],
        )
        for line, loops in zip(lines, (0, eaters), strict=True)
    ]
    if any(one.count < count for one in found):
        raise LostGuestError("the live guest measured less than it was asked for")
    return found, pace_fault(trace)


def _hardware(
    line: Line,
    pace: Pace,
    archive: Path,
    program: Subject,
    image: LiveImage,
    paths: Paths,
    scratch: Path,
) -> Hardware:
    return Hardware(
        shape=live_shape(1, line.port),
        turns=paths.turns,
        kernel=Path(image.kernel),
        initrd=Path(image.initrd),
        console=scratch / "console.log",
        fw_cfg={CELL_FW_CFG: archive, SUBJECT_FW_CFG: Path(program.archive)},
        real=RealTime(plugin=paths.cpu_plugin, plugin_words=pace.plugin_words),
    )


def spec_text(count: int, eaters: int) -> str:
    """For the agent (images/agent/spec.h); nothing is asked of any emulator."""
    words = [
        *_words("rehearsal", series_words(REHEARSED, eaters)),
        *_words("subject", series_words(count, eaters)),
    ]
    lines = [
        "schema 1",
        f"settle_ms {SETTLE_MS}",
        f"deadline_ms {DEADLINE_MS}",
        f"root {SUBJECT_ROOT}",
        "emulator_outside 1",
        *words,
        f"collect stdout.txt {CELL_FOLDER}/stdout.txt 0 0",
    ]
    return "\n".join(lines) + "\n"


def _words(key: str, words: Sequence[str]) -> list[str]:
    return [f"{key} {word}" for word in (PROGRAM, *words)]


def _write_cell(count: int, eaters: int, scratch: Path) -> Path:
    folder = scratch / "payload"
    folder.mkdir()
    (folder / "spec").write_text(spec_text(count, eaters), encoding="utf-8")
    archive = scratch / "cell.cpio"
    write_archive(folder, archive)
    return archive


def provide_program(paths: Paths) -> Subject:
    """The measuring program in a root of its own."""
    from delayrig.images.elf import collect_program
    from delayrig.images.foreign import library_folders
    from delayrig.images.subject import pack

    built = str(paths.latency_program_of(Arch.X86_64))
    closure = collect_program(built, Path("/"), library_folders(Arch.X86_64, paths))
    return pack("rig-latency", closure, {}, paths, Arch.X86_64)
