# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU is woken while a user is inside a guest, and no longer."""

import asyncio
from typing import Any

import pytest
from delayrig.base.errors import LostGuestError
from delayrig.features.repro import watchers
from delayrig.features.repro.watchers import kept_awake
from delayrig.machine.machine import Machine

WAKES, LOST_AT = 5, 3


class Sleeper(Machine):
    """A machine that counts its wake-ups; it is lost at one of them."""

    def __init__(self, lost_at: int = 0) -> None:
        self.woken = 0
        self.answering = False
        self.often = asyncio.Event()
        self._lost_at = lost_at

    async def wake(self) -> None:
        self.answering = True
        await asyncio.sleep(0)
        self.answering = False
        self.woken += 1
        if self.woken >= (self._lost_at or WAKES):
            self.often.set()
        if self.woken == self._lost_at:
            raise LostGuestError("it is gone")

    async def start(self) -> None: ...

    async def stop(self) -> None: ...

    async def wait_gone(self) -> None: ...

    async def _execute(self, *_command: object) -> None: ...

    async def _next(self, *_event: object) -> dict[str, Any]:
        return {}

    def _forget(self, event: str) -> None: ...

    def _said(self) -> str:
        return ""


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchers, "WAKE_EACH_S", 0.001)


def test_machine_is_woken_until_nobody_looks_any_more() -> None:
    async def look() -> tuple[int, int]:
        machine = Sleeper()
        async with kept_awake(machine):
            await machine.often.wait()
        woken = machine.woken
        await asyncio.sleep(0.05)
        assert not machine.answering
        return woken, machine.woken

    woken, later = asyncio.run(look())
    assert woken >= WAKES
    assert later == woken


def test_machine_that_is_lost_is_left_to_who_waits_for_it() -> None:
    async def look() -> int:
        machine = Sleeper(lost_at=LOST_AT)
        async with kept_awake(machine):
            await machine.often.wait()
            await asyncio.sleep(0.05)
        return machine.woken

    assert asyncio.run(look()) == LOST_AT


def test_look_that_fails_wakes_nobody_afterwards() -> None:
    async def look() -> None:
        machine = Sleeper()
        try:
            async with kept_awake(machine):
                await machine.often.wait()
                raise RuntimeError
        finally:
            assert not machine.answering

    with pytest.raises(RuntimeError):
        asyncio.run(look())
