# SPDX-License-Identifier: GPL-2.0-or-later
"""The pool's choice of guests. Resets of real guests are tested in tests/guest."""

import asyncio
import errno
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, ClassVar

import pytest
from delayrig.machine import vm_pool
from delayrig.machine.arguments import Hardware
from delayrig.machine.plugins import DelayWatch, read_request, write_request
from delayrig.machine.ram_reset import CannotResetError
from delayrig.machine.snapshot import STATES
from delayrig.machine.vm_pool import PooledVm, VmPool
from delayrig.model.shape import GuestShape

SLOW, FAST = (GuestShape(icount_shift=shift, cores=1) for shift in (4, 2))


class Machine:
    """A fake of QEMU. Its calls let other tasks run; its reset fails unless `can_reset` is set."""

    running: ClassVar[int] = 0
    can_reset: ClassVar[bool] = True

    def __init__(self, *_hardware: object, **_facts: object) -> None:
        pass

    async def start(self) -> None:
        await asyncio.sleep(0)
        Machine.running += 1

    def move(self, cpu: int) -> None:
        pass

    async def reset(self, *_snapshot: Path) -> None:
        await asyncio.sleep(0)
        if not Machine.can_reset:
            raise CannotResetError

    async def stop(self) -> None:
        await asyncio.sleep(0)
        Machine.running -= 1


@pytest.fixture(autouse=True)
def machines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vm_pool, "QemuMachine", Machine)
    monkeypatch.setattr(Machine, "running", 0)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for snapshot in ("slow", "fast"):
        (tmp_path / snapshot).mkdir()
        (tmp_path / snapshot / STATES).write_bytes(b"states")
    (tmp_path / "console.log").touch()
    return tmp_path


def hardware(place: Path, shape: GuestShape) -> Hardware:
    image, initrd = place / "vmlinuz", place / "initrd"
    return Hardware(
        shape=shape, preload=None, kernel=image, initrd=initrd, console=place / "console.log"
    )


def touch_logs(guest: PooledVm) -> None:
    for log in guest.logs:
        log.touch()


async def at_once(pool: VmPool, place: Path, *snapshots: str) -> list[PooledVm]:
    """Returns a guest for each name; all are lent before any of them is given back."""
    shapes = {"slow": SLOW, "fast": FAST}
    async with AsyncExitStack() as stack:
        lent: list[Any] = [
            pool.lend(hardware(place, shapes[name]), place / name, cpu=0) for name in snapshots
        ]
        found = await asyncio.gather(*map(stack.enter_async_context, lent))
        for guest in found:
            touch_logs(guest)
        return found


def in_a_loop(steps: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Makes a test of a coroutine, which must leave no machine running."""

    @wraps(steps)
    def test(*fixtures: Any, **by_name: Any) -> None:
        asyncio.run(steps(*fixtures, **by_name))
        assert Machine.running == 0

    return test


@in_a_loop
async def test_guest_of_the_same_snapshot_is_preferred(place: Path) -> None:
    pool = VmPool(2)
    slow, fast = await at_once(pool, place, "slow", "fast")
    assert await at_once(pool, place, "fast") == [fast]
    assert await at_once(pool, place, "slow") == [slow]
    await pool.end()


@in_a_loop
async def test_guest_of_another_speed_is_used_if_there_is_no_better_one(place: Path) -> None:
    pool = VmPool(2)
    (slow,) = await at_once(pool, place, "slow")
    assert await at_once(pool, place, "fast") == [slow]
    await pool.end()


@in_a_loop
async def test_two_guests_that_cannot_be_reset_are_both_replaced(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = VmPool(2)
    before = await at_once(pool, place, "slow", "slow")
    monkeypatch.setattr(Machine, "can_reset", False)
    after = await at_once(pool, place, "slow", "slow")
    assert not set(before) & set(after)
    assert Machine.running == 2
    await pool.end()


@in_a_loop
async def test_pool_keeps_no_more_guests_than_its_size(place: Path) -> None:
    pool = VmPool(1)
    await at_once(pool, place, "slow", "slow", "slow")
    assert Machine.running == 1
    await pool.end()


def test_guest_whose_logs_cannot_be_copied_is_ended(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = []

    def no_room(guest: PooledVm, _hardware: Hardware) -> None:
        folders.append(guest.logs[0].parent)
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr(PooledVm, "deliver", no_room)
    with pytest.raises(OSError, match="no room"):
        asyncio.run(at_once(VmPool(1), place, "slow"))
    assert Machine.running == 0
    assert folders
    assert not folders[0].exists()


def watched(place: Path, name: str, text: str) -> Hardware:
    """Returns the hardware of a cell whose delays are watched, with `text` as the request."""
    folder = place / name
    folder.mkdir()
    watch = DelayWatch(plugin=place / "plugin.so", request=folder / "request", out=folder / "out")
    write_request(watch.request, text)
    return replace(hardware(place, SLOW), delays=watch)


@in_a_loop
async def test_guest_watches_what_each_cell_requests_and_returns_its_record(place: Path) -> None:
    pool = VmPool(1)
    for number, name in enumerate(("first", "second"), start=1):
        cell = watched(place, name, f"{name}\n")
        assert cell.delays is not None
        async with pool.lend(cell, place / "slow", cpu=0) as guest:
            touch_logs(guest)
            own = guest.delays
            assert own is not None
            assert read_request(own.request) == f"{name}\n"
            assert own.request.read_bytes()[0] == number
            own.out.write_bytes(name.encode() + b"\0\0")
        assert cell.delays.saw() == name.encode()
    await pool.end()


@in_a_loop
async def test_guest_that_cannot_watch_delays_is_not_lent_if_they_are_needed(place: Path) -> None:
    pool = VmPool(2)
    (blind,) = await at_once(pool, place, "slow")
    async with pool.lend(watched(place, "cell", ""), place / "slow", cpu=0) as guest:
        touch_logs(guest)
        assert guest is not blind
    await pool.end()
