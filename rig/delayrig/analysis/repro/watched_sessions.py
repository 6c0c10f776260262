# SPDX-License-Identifier: GPL-2.0-or-later
"""The host lane with somebody who looks on, or looks in.

Looked into, the subject's process waits before it becomes the subject, until the file `go` is
there. Its emulator is up by then, and what its hazards do has begun.
"""

import asyncio
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

from delayrig.analysis.repro import debugger
from delayrig.analysis.repro.debugger import delay_stops
from delayrig.analysis.repro.look import EXTRA_MS, Look, Show, following, whole_lines
from delayrig.analysis.repro.terminal import run_in_foreground
from delayrig.base.errors import LostGuestError
from delayrig.images.delay_function import DelayWish
from delayrig.images.unpacked_subjects import provide_root
from delayrig.lanes.host.session import LOG, OUTPUT
from delayrig.lanes.host.spec import Spec
from delayrig.lanes.host_lane import HostLane
from delayrig.lanes.lane import Assignment
from delayrig.model.platform import Arch

GO, WAITS = "go", "waits"
WAITS_LIMIT_S = 60.0
LOOK_AGAIN_S = 0.02
# PR_SET_PTRACER, PR_SET_PTRACER_ANY (linux/prctl.h): where Yama lets parents alone trace, our gdb
# is none. It holds until execve, and gdb is there before that.
GATE = """\
import ctypes, os, sys, time
waits, go, library_path, *words = sys.argv[1:]
ctypes.CDLL(None).prctl(0x59616D61, ctypes.c_ulong(-1), 0, 0, 0)
with open(waits + ".new", "w") as told:
    told.write(str(os.getpid()))
os.rename(waits + ".new", waits)
while not os.path.exists(go):
    time.sleep(0.02)
if library_path:
    os.environ["LD_LIBRARY_PATH"] = library_path
os.execv(words[0], words)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedSessions(HostLane):
    show: Show
    look: Look = Look.WATCH
    delay: DelayWish

    def pack(self, assignment: Assignment, scratch: Path) -> Spec:
        """With a gate before the subject, where somebody is to come in."""
        spec = HostLane.pack(self, assignment, scratch)
        if self.look is Look.WATCH:
            return spec
        words, library_path = spec.subject, ""
        if self.look is Look.GDB:
            words, library_path = startable(words, provide_root(assignment.subject))
        gate = [sys.executable, "-I", "-c", GATE, str(scratch / WAITS), str(scratch / GO)]
        return replace(
            spec,
            box=[],  # who comes in sees this machine, and what they look at
            subject=[*gate, library_path, *words],
            deadline_ms=spec.deadline_ms + EXTRA_MS,
        )

    async def finish(self, spec: Spec, scratch: Path) -> int:
        """The exit code of the session; until then it is shown what is done."""
        files = {scratch / LOG: whole_lines("emulator"), scratch / OUTPUT: whole_lines("subject")}
        async with following(files, self.show):
            if self.look is Look.WATCH:
                return await HostLane.finish(self, spec, scratch)
            return await self._attended(spec, scratch)

    async def _attended(self, spec: Spec, scratch: Path) -> int:
        session = asyncio.ensure_future(HostLane.finish(self, spec, scratch))
        try:
            pid = await _await_gate(scratch, session)
            if pid:
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
        gdb = debugger.attached_words(
            debugger.find_gdb(Arch.X86_64),
            pid,
            scratch / GO,
            debugger.source_folders(self.paths),
            delay_stops(subject, self.delay),
        )
        await run_in_foreground(gdb)


def startable(words: list[str], root: Path) -> tuple[list[str], str]:
    """The subject's words for gdb, and the path of its libraries.

    Started by its own dynamic linker a program has no symbols for gdb, which takes the linker for
    the program. Where this machine's linker is the same one, the program starts by itself.
    """
    linker = Path(words[0])
    here = Path("/") / linker.relative_to(root) if linker.is_relative_to(root) else None
    if here is None or len(words) < 4 or words[1] != "--library-path" or not here.is_file():
        return words, ""
    if here.read_bytes() != linker.read_bytes():
        return words, ""
    return words[3:], words[2]


async def _await_gate(scratch: Path, session: "asyncio.Future[int]") -> int:
    """The process that waits; 0 where the session ended before."""
    deadline_s = time.monotonic() + WAITS_LIMIT_S
    while not session.done():
        if (scratch / WAITS).is_file():
            return int((scratch / WAITS).read_text(encoding="ascii"))
        if time.monotonic() > deadline_s:
            raise LostGuestError(f"no subject came up within {WAITS_LIMIT_S:g} s in {scratch}")
        await asyncio.sleep(LOOK_AGAIN_S)
    return 0
