# SPDX-License-Identifier: GPL-2.0-or-later
"""The emulator of one live cell: a process on this machine, with the chip in it."""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from delayrig.base.die_with_parent import die_with_parent
from delayrig.base.errors import RigFaultError
from delayrig.base.private_net import PrivateNet, words_into
from delayrig.base.text import log_tail
from delayrig.lanes.host.spec import REALTIME
from delayrig.model.kinds.agent import EmulatorEnd, EmulatorRights

LOG = "emulator.log"
READY_S = 20.0
END_S = 30.0
GRACE_S = 1.0
"""The time for the emulator to notice that its client is gone."""
LINE_BYTES = 256


@dataclass(slots=True)
class LiveEmulator:
    process: asyncio.subprocess.Process
    name: str
    """The port or the terminal for clients."""
    _arrived: int
    _release: int
    rights: EmulatorRights | None = None
    """Its rights, which `running_emulator()` sets before it yields."""

    async def wait_accepted(self) -> None:
        await _readable(self._arrived)
        os.read(self._arrived, 1)

    def gave_up(self) -> bool:
        """Returns True if it hung up on its client. Call this after the emulator has ended."""
        return bool(os.read(self._arrived, 1))

    def release(self) -> None:
        with contextlib.suppress(BrokenPipeError):  # The conversation notices its end.
            os.write(self._release, b"\0")

    async def end(self) -> EmulatorEnd:
        """Ends the emulator so that its events are complete; returns how it ended."""
        if not await self._ends_within(GRACE_S):
            self._send(signal.SIGTERM)
        if not await self._ends_within(END_S):
            self._send(signal.SIGKILL)
            await self.process.wait()
        code = self.process.returncode or 0
        return EmulatorEnd(
            t_ns=time.monotonic_ns(),
            exit_code=code if code >= 0 else 255,
            signal=-code if code < 0 else 0,
        )

    async def kill(self) -> None:
        self._send(signal.SIGKILL)
        await self.process.wait()
        for fd in (self._arrived, self._release):
            os.close(fd)

    def _send(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)

    async def _ends_within(self, limit_s: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self.process.wait()
        return self.process.returncode is not None


@asynccontextmanager
async def running_emulator(
    words: Sequence[str], folder: Path, net: PrivateNet | None = None
) -> AsyncIterator[LiveEmulator]:
    """Yields an emulator that works in `folder`, and listens on this machine or in `net`.

    It has real-time priority and locked memory, unless this user may not have them.
    """
    refusal = ""
    for rights in ([REALTIME], []):
        if emulator := await _start(
            [*words, *rights], folder, words_into(net.folder) if net else []
        ):
            break
        refusal = log_tail((folder / LOG).read_bytes())
    else:
        raise RigFaultError(
            f"the emulator did not start: {refusal}", hint="`rig/rig doctor` looks at it"
        )
    emulator.rights = EmulatorRights(
        t_ns=time.monotonic_ns(), realtime=bool(rights), reason="" if rights else refusal
    )
    try:
        yield emulator
    finally:
        await asyncio.shield(emulator.kill())


async def _start(words: Sequence[str], folder: Path, before: Sequence[str]) -> LiveEmulator | None:
    ready, their_ready = os.pipe()
    arrived, their_arrived = os.pipe()
    their_release, release = os.pipe()
    theirs = (their_ready, their_arrived, their_release)
    try:
        with (folder / LOG).open("wb") as log:
            process = await asyncio.create_subprocess_exec(
                *before,
                *die_with_parent(words),
                *("--ready-fd", str(their_ready)),
                *("--barrier-fds", f"{their_arrived},{their_release}"),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=theirs,
                cwd=folder,
            )
    except BaseException:
        for fd in (ready, arrived, release):
            os.close(fd)
        raise
    finally:
        for fd in theirs:
            os.close(fd)
    emulator = LiveEmulator(process, "", arrived, release)
    try:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(READY_S):
                await _readable(ready)
            emulator.name = os.read(ready, LINE_BYTES).decode().strip()
    finally:
        os.close(ready)
        if not emulator.name:
            await asyncio.shield(emulator.kill())
    return emulator if emulator.name else None


async def _readable(fd: int) -> None:
    loop = asyncio.get_running_loop()
    future: asyncio.Future[None] = loop.create_future()
    loop.add_reader(fd, lambda: None if future.done() else future.set_result(None))
    try:
        await future
    finally:
        loop.remove_reader(fd)
