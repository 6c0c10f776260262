# SPDX-License-Identifier: GPL-2.0-or-later
"""The --out folder: checks that a run can be written there, and locks it for one run at a time.

The kernel releases the lock when its owner ends, even if the owner is killed.
"""

import contextlib
import datetime as dt
import fcntl
import os
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from delayrig.base.errors import NOT_JSON, BadInputError
from delayrig.model.cell import REGION_KIB, Cell
from delayrig.model.result import FILE_NAME as RESULTS
from delayrig.run.resume import FILE_NAME as BEGUN

LOCK = "run.lock"
OTHERWISE = "wait until it ends, or name another folder with --out"
STARTING_WITHIN_S = 5.0
"""The time to wait for the lock of an owner that was killed.

A child that the owner had just forked holds the lock until execve(2).
"""
LOOKS_EACH_S = 0.02
REGION_BYTES_MAX = 2 << 20
"""The disk space that a cell needs for each 64 KiB of its region."""


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """The content of the lock file: the run that uses the folder, for the errors of others."""

    pid: int
    command: str
    since: str


def default_out(name: str) -> Path:
    """Returns the folder for results if the user names none; `name` is a plan's, for example."""
    now = dt.datetime.now(dt.UTC)
    return Path("out") / f"{Path(name).stem}-{now:%Y%m%d-%H%M%S}"


def checked_out(
    out: Path | None,
    cells: list[Cell],
    *,
    by_default: str,
    leaves: str = RESULTS,
    resume: bool = False,
) -> Path:
    """Returns the folder for results: `out`, or the default one of that name.

    Raises `BadInputError` as `check_out` does, or `check_begun` if the run is to be resumed.
    """
    folder = out or default_out(by_default)
    if resume:
        check_begun(out)
    else:
        check_out(folder, cells, name=leaves)
    return folder


def check_out(out: Path, cells: list[Cell], *, name: str | None = RESULTS) -> None:
    """Makes the folder; raises `BadInputError` if a run cannot be written there.

    `name` is the file that every run of this kind writes there; None: it may replace an older one.
    """
    try:
        if name and (out / name).exists():
            raise BadInputError(
                f"--out {out}: holds a run already, finished or interrupted",
                hint="name another folder, or move that one away",
            )
        _check_space(out, cells)
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise BadInputError(
            f"--out {out}: {os.strerror(error.errno or 0)}",
            hint="name a folder that you may write to",
        ) from error


def _check_space(out: Path, cells: list[Cell]) -> None:
    there = next(folder for folder in [out, *out.absolute().parents] if folder.is_dir())
    regions = sum(max(cell.region_kib, REGION_KIB) for cell in cells) // REGION_KIB
    needed = regions * REGION_BYTES_MAX
    usage = shutil.disk_usage(there)
    if usage.total and usage.free < needed:
        raise BadInputError(
            f"--out {out}: {usage.free >> 20} MiB free, and {len(cells)} cells may need"
            f" {needed >> 20} MiB",
            hint="name a folder with more space, or run fewer cells",
        )


def check_begun(out: Path | None) -> None:
    """Raises `BadInputError` if there is no run to resume."""
    if out is None:
        raise BadInputError("--resume: of which run?", hint="name its folder with --out")
    if not (out / BEGUN).is_file():
        raise BadInputError(
            f"--resume: {out} has no {BEGUN}, so no run was begun there",
            hint="name the --out folder of a run that was interrupted",
        )


@contextlib.contextmanager
def hold_out(out: Path, *, asked_s: float | None) -> Iterator[None]:
    """Makes the folder and keeps other runs out of it.

    Raises `BadInputError` if another run uses it, or wrote its results there after `asked_s` (None:
    not checked).
    """
    path = out / LOCK
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
            words = "it has just begun"
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
            hint="name another folder with --out; the files of that run are unchanged",
        )
