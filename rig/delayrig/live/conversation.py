# SPDX-License-Identifier: GPL-2.0-or-later
"""What passes between this host and a guest's agent, from its call to its results."""

import asyncio
from dataclasses import dataclass, field

from delayrig.cell import Cell
from delayrig.errors import LostGuestError
from delayrig.events import Event
from delayrig.guest.monitor import MonitoredMachine
from delayrig.lanes.host import DEADLINE_MS
from delayrig.live.clock import GuestClock
from delayrig.live.emulator import LiveEmulator
from delayrig.live.line import Line
from delayrig.live.pace import WINDOW_MS, Pace, prefer, put_back
from delayrig.payload import deadline_ms
from delayrig.stages import BOOTED, CONNECTED, ENDED, StageWatch

BOOT_LIMIT_S = 90.0
PAUSE_LIMIT_S = 60.0
SPARE_S = 60.0
"""Of a slow guest's, besides its subject's time."""
ALONE_S = 5.0
"""How long a subject gets to notice that its emulator is gone."""


@dataclass(slots=True, kw_only=True)
class Conversation:
    """One cell's."""

    cell: Cell
    machine: MonitoredMachine
    line: Line
    emulator: LiveEmulator
    stage: LiveEmulator
    """Before which the subject rehearses."""
    pace: Pace
    watch: StageWatch
    done: list[Event] = field(default_factory=list)
    """What this host did to the guest."""

    async def hold(self) -> GuestClock:
        """From the guest's call until it stands with its results in its memory."""
        admitting = asyncio.create_task(self._admit_rehearsal())
        try:
            await self.line.expect("ready", BOOT_LIMIT_S)
        finally:
            admitting.cancel()
        await self.stage.end()
        begin = await self.line.read_clock()
        threads = await self._at_speed()
        self.watch.ended(BOOTED)
        try:
            await self.line.say("go")
            await self._accompany()
            await asyncio.sleep(WINDOW_MS / 1000)  # so that its last window holds nothing else
        finally:
            put_back(threads)
        await self.pace.end()
        end = await self.line.read_clock()
        await self.line.say("finish")
        await self.machine.wait_paused(limit_s=PAUSE_LIMIT_S)
        return GuestClock(begin=begin, end=end)

    async def _admit_rehearsal(self) -> None:
        await self.stage.wait_accepted()
        self.stage.release()

    async def _at_speed(self) -> list[int]:
        await self.pace.begin()
        return await prefer(self.machine, self.pace.core_mips)

    async def _accompany(self) -> None:
        """Until the subject has ended."""
        limit_s = deadline_ms(self.cell, DEADLINE_MS) / 1000 + SPARE_S
        accepting = asyncio.create_task(self._accept())
        hearing = asyncio.create_task(self._hear_to_the_end(limit_s))
        alone = asyncio.create_task(self._be_alone())
        tasks = {accepting, hearing, alone}
        try:
            async with asyncio.timeout(limit_s):
                while not hearing.done():
                    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                    for task in done - {hearing}:
                        task.result()
                    tasks -= done - {hearing}
            hearing.result()
        except TimeoutError:
            raise LostGuestError(f"the guest did not end within {limit_s:.0f} s") from None
        finally:
            for task in (accepting, hearing, alone):
                task.cancel()
            await asyncio.gather(accepting, hearing, alone, return_exceptions=True)

    async def _accept(self) -> None:
        await self.emulator.wait_accepted()
        await self.line.say("accepted")

    async def _hear_to_the_end(self, limit_s: float) -> None:
        while True:
            match await self.line.hear(limit_s):
                case "released":
                    self.emulator.release()
                    self.watch.ended(CONNECTED)
                case "ended":
                    self.watch.ended(ENDED)
                    return
                case other:
                    raise LostGuestError(f"the guest said {other!r}, which nobody asked for")

    async def _be_alone(self) -> None:
        """A subject whose emulator is gone must end soon."""
        await self.emulator.process.wait()
        await asyncio.sleep(ALONE_S)
        raise LostGuestError(
            f"the emulator ended with {self.emulator.process.returncode}, and its subject did not"
        )
