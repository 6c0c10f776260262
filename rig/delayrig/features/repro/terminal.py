# SPDX-License-Identifier: GPL-2.0-or-later
"""Connects the user's terminal, or other input, with a guest's console or a program."""

import asyncio
import contextlib
import os
import signal
import sys
import termios
import threading
import tty
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from delayrig.base.die_with_parent import die_with_parent
from delayrig.base.errors import LostGuestError
from delayrig.features.repro.look import LEAVE_KEY

END_OF_FILE = b"\x04"
BLOCK_BYTES = 4096
TAIL_BYTES = 256
CONNECT_S = 20.0
DRAIN_S = 0.5
SILENT_S = 2.0
"""The time without a prompt after which the next line is sent: a program may wait for it."""


async def connect(socket: Path) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connects to the guest's console; raises `LostGuestError` if QEMU does not open it."""
    try:
        async with asyncio.timeout(CONNECT_S):
            return await asyncio.open_unix_connection(str(socket))
    except (OSError, TimeoutError) as error:
        raise LostGuestError(f"QEMU did not open the guest's console at {socket}") from error


async def await_words(socket: Path, words: str) -> None:
    reader, writer = await connect(socket)
    try:
        await reader.readuntil(words.encode())
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        raise LostGuestError(f"the guest never printed {words!r} on its console") from error
    finally:
        writer.close()


async def say(socket: Path, words: bytes) -> None:
    """Sends words to the guest's console.

    Waits before closing: at the close QEMU drops bytes that the serial line has not taken.
    """
    _, writer = await connect(socket)
    writer.write(words)
    await writer.drain()
    await asyncio.sleep(DRAIN_S)
    writer.close()


async def talk(socket: Path, *, prompt: str, until: str) -> None:
    """Connects the user with the guest's console until the console prints `until`.

    A terminal is passed through key by key. Other input is sent line by line, each at a prompt,
    because a serial line takes no more than the guest reads. The end of input ends the shell.
    """
    reader, writer = await connect(socket)
    prompted = asyncio.Event()
    sender = asyncio.ensure_future(
        _send_keys(writer) if sys.stdin.isatty() else _send_lines(writer, prompted)
    )
    try:
        with _raw(sys.stdin.fileno()) if sys.stdin.isatty() else contextlib.nullcontext():
            await _show(reader, prompt.encode(), until.encode(), prompted)
    finally:
        sender.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await sender
        writer.close()


async def _show(
    reader: asyncio.StreamReader, prompt: bytes, until: bytes, prompted: asyncio.Event
) -> None:
    tail = b""
    while block := await reader.read(BLOCK_BYTES):
        sys.stdout.buffer.write(block)
        sys.stdout.buffer.flush()
        tail = (tail + block)[-TAIL_BYTES:]
        if until in tail:
            sys.stdout.buffer.write(b"\r\n")
            sys.stdout.buffer.flush()
            return
        # The prompt may be followed by other bytes: the shell may ask for the cursor's position.
        if prompt in tail:
            tail = tail.rpartition(prompt)[2]
            prompted.set()


@contextlib.contextmanager
def _raw(fd: int) -> Iterator[None]:
    before = termios.tcgetattr(fd)
    tty.setraw(fd)
    try:
        yield
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)


async def _send_keys(writer: asyncio.StreamWriter) -> None:
    loop, fd = asyncio.get_running_loop(), sys.stdin.fileno()
    gone = asyncio.Event()

    def read() -> None:
        keys = os.read(fd, BLOCK_BYTES)
        if LEAVE_KEY in keys:
            os.kill(os.getpid(), signal.SIGINT)
        elif keys:
            writer.write(keys)
        else:
            gone.set()
            loop.remove_reader(fd)

    loop.add_reader(fd, read)
    try:
        await gone.wait()
    finally:
        loop.remove_reader(fd)


async def _send_lines(writer: asyncio.StreamWriter, prompted: asyncio.Event) -> None:
    lines = _input_lines()
    await prompted.wait()
    while line := await lines.get():
        prompted.clear()
        writer.write(line)
        with contextlib.suppress(TimeoutError):  # A program that reads input shows no prompt.
            async with asyncio.timeout(SILENT_S):
                await prompted.wait()
    while True:
        prompted.clear()
        writer.write(END_OF_FILE)
        await prompted.wait()


def _input_lines() -> asyncio.Queue[bytes]:
    """Returns a queue of the lines of standard input, with an empty one at its end.

    A daemon thread reads them, because standard input may never end.
    """
    lines: asyncio.Queue[bytes] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def read() -> None:
        with contextlib.suppress(RuntimeError):  # The loop may be closed by then.
            for line in iter(sys.stdin.buffer.readline, b""):
                loop.call_soon_threadsafe(lines.put_nowait, line)
            loop.call_soon_threadsafe(lines.put_nowait, b"")

    threading.Thread(target=read, daemon=True).start()
    return lines


async def run_in_foreground(
    words: Sequence[str], *, cwd: Path | None = None, environment: Mapping[str, str] | None = None
) -> int:
    """Runs a program and returns its exit code.

    The program is killed if this call is cancelled or this process ends.
    """
    has_terminal = sys.stdin.isatty()
    with _hand_over(sys.stdin.fileno()) if has_terminal else contextlib.nullcontext():
        process = await asyncio.create_subprocess_exec(
            *die_with_parent(words),
            cwd=cwd,
            env=None if environment is None else {**os.environ, **environment},
            process_group=0 if has_terminal else None,
        )
        if has_terminal:
            os.tcsetpgrp(sys.stdin.fileno(), process.pid)
            # A program that used the terminal before it had it is stopped, and must continue.
            os.kill(process.pid, signal.SIGCONT)
        try:
            return await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
                await asyncio.shield(process.wait())


@contextlib.contextmanager
def _hand_over(fd: int) -> Iterator[None]:
    """Gives the terminal back to its present foreground process group when the context ends."""
    ours = os.tcgetpgrp(fd)
    before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.tcsetpgrp(fd, ours)
        signal.signal(signal.SIGTTOU, before)
