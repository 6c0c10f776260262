# SPDX-License-Identifier: GPL-2.0-or-later
"""The conversation between this host and a guest's agent, from its call to its results."""

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from delayrig.base.errors import LostGuestError
from delayrig.lanes.live.agent_connection import GuestClock, Line
from delayrig.lanes.live.emulator import LiveEmulator
from delayrig.lanes.live.pace import WINDOW_MS, Pace, prefer, put_back
from delayrig.lanes.stages import BOOTED, CONNECTED, ENDED, StageWatch
from delayrig.machine.machine import Machine
from delayrig.model.speed import Origin, SpeedChange

BOOT_LIMIT_S = 150.0
"""The limit of a boot. A rehearsal that never ends takes 60 s of it (images/agent/live_agent.c)."""
PAUSE_LIMIT_S = 60.0
SPARE_S = 60.0
"""The time that a slow guest may take in addition to its subject's."""
ALONE_S = 5.0
"""The time for a subject to notice that its emulator is gone."""


@dataclass(slots=True, kw_only=True)
class Conversation:
    """The conversation about one cell, or about another program in a guest."""

    machine: Machine
    line: Line
    pace: Pace
    deadline_ms: int
    """The time limit of the subject."""
    emulator: LiveEmulator | None = None
    stage: LiveEmulator | None = None
    """The emulator for the subject's rehearsal."""
    speeds: dict[str, Iterator[SpeedChange]] = field(default_factory=dict)
    """The changes of speed, by the hazard that makes them."""
    watch: StageWatch = field(default_factory=StageWatch)
    extra_s: int = 0
    """Additional time for the subject, also after its emulator's end."""
    _moments: dict[Origin, asyncio.Future[float]] = field(default_factory=dict)
    """The times of the subject's start and acceptance, by the clock of the event loop."""

    async def hold(self) -> GuestClock:
        """Runs the conversation from the guest's call until its results are in its memory."""
        gone = asyncio.create_task(self.machine.wait_gone())
        holding = asyncio.create_task(self._hold())
        try:
            await asyncio.wait({gone, holding}, return_when=asyncio.FIRST_COMPLETED)
            if holding.done():
                return holding.result()
            gone.result()
            raise LostGuestError("QEMU ended by itself")
        finally:
            await _cancel([gone, holding])

    async def _hold(self) -> GuestClock:
        loop = asyncio.get_running_loop()
        self._moments = {origin: loop.create_future() for origin in (Origin.START, Origin.ACCEPT)}
        await self.pace.end()
        admitting = asyncio.create_task(self._admit_rehearsal())
        try:
            await self.line.expect("ready", BOOT_LIMIT_S)
        finally:
            admitting.cancel()
        if self.stage is not None:
            await self.stage.end()
        begin = await self.line.read_clock()
        changing = {
            asyncio.create_task(self._change_speeds(hazard, changes))
            for hazard, changes in self.speeds.items()
        }
        await self.pace.begin()
        threads = await prefer(self.machine, self.pace.core_mips)
        self.watch.ended(BOOTED)
        try:
            await self.line.say("go")
            await self._accompany(changing)
            # The window of the CPU plugin in which the subject ended must be over before its limits
            # are removed.
            await asyncio.sleep(WINDOW_MS / 1000)
        finally:
            await _cancel(changing)
            put_back(threads)
        await self.pace.end()
        end = await self.line.read_clock()
        await self.line.say("finish")
        await self.machine.wait_paused(limit_s=PAUSE_LIMIT_S)
        return GuestClock(begin=begin, end=end)

    async def _admit_rehearsal(self) -> None:
        if self.stage is not None:
            await self.stage.wait_accepted()
            self.stage.release()

    def _reached(self, origin: Origin) -> None:
        if not self._moments[origin].done():
            self._moments[origin].set_result(asyncio.get_running_loop().time())

    async def _change_speeds(self, hazard: str, changes: Iterator[SpeedChange]) -> None:
        for change in changes:
            began_s = await asyncio.shield(self._moments[change.when.origin])
            due_s = began_s + change.when.after_ms / 1000
            await asyncio.sleep(due_s - asyncio.get_running_loop().time())
            await self.pace.change(hazard, change)

    async def _accompany(self, changing: set[asyncio.Task[None]]) -> None:
        limit_s = self.deadline_ms / 1000 + SPARE_S + self.extra_s
        hearing = asyncio.create_task(self._hear_to_the_end(limit_s))
        ours = {hearing}
        if self.emulator is not None:
            both = (self._accept(self.emulator), self._be_alone(self.emulator))
            ours |= {asyncio.create_task(one) for one in both}
        tasks = ours | changing
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
            await _cancel(ours)

    async def _accept(self, emulator: LiveEmulator) -> None:
        await emulator.wait_accepted()
        await self.line.say("accepted")
        self._reached(Origin.ACCEPT)

    async def _hear_to_the_end(self, limit_s: float) -> None:
        heard: set[str] = set()
        while True:
            word = await self.line.hear(limit_s)
            if word in heard:
                raise LostGuestError(f"the guest said {word!r} again")
            heard.add(word)
            match word:
                case "started":
                    self._reached(Origin.START)
                case "released" if self.emulator is not None:
                    self.emulator.release()
                    self.watch.ended(CONNECTED)
                case "ended":
                    self.watch.ended(ENDED)
                    return
                case other:
                    raise LostGuestError(f"the guest said {other!r}, which was not expected")

    async def _be_alone(self, emulator: LiveEmulator) -> None:
        """Waits for the emulator's end. The subject must end within `ALONE_S` after that.

        If the subject still runs then, asks the agent to end it if the emulator hung up on it, else
        raises `LostGuestError`.
        """
        code = await emulator.process.wait()
        await asyncio.sleep(ALONE_S + self.extra_s)
        if code != 0 or not emulator.gave_up():
            raise LostGuestError(f"the emulator ended with {code}; its subject did not")
        await self.line.say("alone")


async def _cancel(tasks: Iterable[asyncio.Task[Any]]) -> None:
    tasks = list(tasks)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
