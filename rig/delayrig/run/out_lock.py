# SPDX-License-Identifier: GPL-2.0-or-later
"""One run a folder: its owner holds a lock, which the kernel drops however the owner ends."""

import contextlib
import datetime as dt
import fcntl
import os
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from delayrig.base.errors import NOT_JSON, BadInputError
from delayrig.model.result import FILE_NAME as RESULTS

FILE_NAME = "run.lock"
OTHERWISE = "wait until it ends, or name another folder with --out"
STARTING_WITHIN_S = 5.0
"""The time to wait: a child of a killed owner also holds the lock until its execve(2)."""
LOOKS_EACH_S = 0.02


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """The owner of a folder, for others who want to use it."""

    pid: int
    command: str
    since: str


@contextlib.contextmanager
def hold_out(out: Path, *, asked_s: float | None) -> Iterator[None]:
    """Makes the folder and keeps other runs out of it.

    Raises `BadInputError` if another run uses it, or has ended there after `asked_s`.
    """
    path = out / FILE_NAME
    try:
        out.mkdir(parents=True, exist_ok=True)
        lock = _acquire(path, out)
    except OSError as error:
        raise BadInputError(
            f"--out {out}: {os.strerror(error.errno or 0)}",
            hint="name a folder that you may write to",
        ) from error
    try:
        if asked_s is not None:
            _check_left_alone(out, asked_s)
        yield
    finally:
        path.unlink(missing_ok=True)  # Remove it first, while nobody else can hold it.
        os.close(lock)


def _acquire(path: Path, out: Path) -> int:
    """Returns the descriptor that holds the lock. Programs started later do not inherit it."""
    until_s = time.monotonic() + STARTING_WITHIN_S
    while True:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = None  # The owner has not written its name yet.
            with contextlib.suppress(*NOT_JSON):
                owner = msgspec.json.decode(os.pread(lock, 1 << 16, 0), type=Owner)
            os.close(lock)
            if owner and not Path(f"/proc/{owner.pid}").exists() and time.monotonic() < until_s:
                time.sleep(LOOKS_EACH_S)
                continue
            words = "it only just began"
            if owner:
                words = f"process {owner.pid} since {owner.since}: {owner.command}"
            raise BadInputError(
                f"--out {out}: another run is in it ({words})", hint=OTHERWISE
            ) from None
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(lock), path.stat()):
                now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
                owner = Owner(pid=os.getpid(), command=shlex.join(sys.argv), since=now)
                os.ftruncate(lock, 0)
                os.pwrite(lock, msgspec.json.encode(owner), 0)
                return lock
        os.close(lock)  # The owner ended, and removed the file, while we opened it.


def _check_left_alone(out: Path, asked_s: float) -> None:
    """Checks that no other run wrote results after this one had looked into the folder."""
    results = out / RESULTS
    if results.exists() and results.stat().st_mtime > asked_s:
        raise BadInputError(
            f"--out {out}: another run began and ended there since this one was started",
            hint="name another folder with --out; what that run left is as it was",
        )
