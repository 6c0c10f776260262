# SPDX-License-Identifier: GPL-2.0-or-later
"""The line to a guest's agent: a TCP connection with one word a line; and the guest's clock.

images/agent/channel.h defines the words.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import msgspec

from delayrig.base.errors import LostGuestError
from delayrig.base.private_net import PrivateNet
from delayrig.lanes.host.record import ClockReading
from delayrig.model.events import Event, event_time_ns
from delayrig.model.kinds.agent import ClockRate

WORD_BYTES_MAX = 256
ANSWER_LIMIT_S = 30.0
READINGS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestClock:
    """A guest's clock compared with this host's by two readings: before and after the subject."""

    begin: ClockReading
    end: ClockReading

    def __post_init__(self) -> None:
        if self.end.monotonic_ns <= self.begin.monotonic_ns:
            raise LostGuestError("the guest's clock went backwards")

    def to_host_ns(self, guest_ns: int) -> int:
        span_ns = self.end.monotonic_ns - self.begin.monotonic_ns
        offset_ns = _offset_ns(self.begin)
        drift_ns = _offset_ns(self.end) - offset_ns
        since_ns = guest_ns - self.begin.monotonic_ns
        return guest_ns + offset_ns + drift_ns * since_ns // span_ns

    def translate(self, events: list[Event]) -> list[Event]:
        return [
            msgspec.structs.replace(event, t_ns=self.to_host_ns(event_time_ns(event)))
            for event in events
        ]

    @property
    def rate(self) -> ClockRate:
        """Returns the progress of both clocks; the host's replaces the guest's raw counter."""
        return ClockRate(
            t_ns=self.end.after_ns,
            **self.end.progress_since(self.begin),
            reading_ns_max=max(self.begin.width_ns, self.end.width_ns),
        )


def _offset_ns(reading: ClockReading) -> int:
    """Returns host time minus guest time; its error is at most half of the reading's width."""
    return (reading.before_ns + reading.after_ns) // 2 - reading.monotonic_ns


class Line:
    def __init__(self) -> None:
        self._called: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]]
        self._called = asyncio.get_running_loop().create_future()
        self.port = 0

    def on_call(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._called.done():
            writer.close()
        else:
            self._called.set_result((reader, writer))

    async def hear(self, limit_s: float) -> str:
        """Returns the guest's next word; raises `LostGuestError` if none comes."""
        try:
            async with asyncio.timeout(limit_s):
                reader, _ = await asyncio.shield(self._called)
                line = await reader.readuntil()
        except TimeoutError:
            raise LostGuestError(
                f"the guest said nothing for {limit_s:.0f} s",
                hint="see console.log in the cell's folder",
            ) from None
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError) as error:
            raise LostGuestError(f"the line to the guest broke: {error}") from error
        return line.decode(errors="replace").strip()

    async def expect(self, word: str, limit_s: float) -> None:
        """Raises `LostGuestError` if the guest sends another word, or none."""
        heard = await self.hear(limit_s)
        if heard != word:
            raise LostGuestError(f"the guest said {heard!r} where {word!r} was due")

    async def say(self, word: str) -> None:
        _, writer = await asyncio.shield(self._called)
        try:
            writer.write(f"{word}\n".encode())
            await writer.drain()
        except OSError as error:
            raise LostGuestError(f"the line to the guest broke: {error}") from error

    async def read_clock(self) -> ClockReading:
        """Returns the narrowest of several readings."""
        readings = [await self._read_clock_once() for _ in range(READINGS)]
        return min(readings, key=lambda reading: reading.width_ns)

    async def _read_clock_once(self) -> ClockReading:
        before_ns = time.monotonic_ns()
        await self.say("clock")
        answer = await self.hear(ANSWER_LIMIT_S)
        after_ns = time.monotonic_ns()
        if not answer.isdecimal():
            raise LostGuestError(f"the guest said {answer!r} instead of its time")
        return ClockReading(before_ns, int(answer), after_ns)

    async def hang_up(self) -> None:
        if not self._called.done():
            self._called.cancel()
            return
        with contextlib.suppress(asyncio.CancelledError, OSError):
            _, writer = self._called.result()
            writer.close()


@asynccontextmanager
async def open_line(net: PrivateNet | None = None) -> AsyncIterator[Line]:
    """Yields a line that a guest may call, at a loopback port of this machine or of `net`."""
    line = Line()
    place: dict[str, Any] = {"host": "127.0.0.1", "port": 0}
    if net is not None:
        place = {"sock": await asyncio.to_thread(net.listen)}
    server = await asyncio.start_server(line.on_call, limit=WORD_BYTES_MAX, **place)
    line.port = int(server.sockets[0].getsockname()[1])
    try:
        yield line
    finally:
        server.close()
        await line.hang_up()
