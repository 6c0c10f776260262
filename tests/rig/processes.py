# SPDX-License-Identifier: GPL-2.0-or-later
"""Facts about other processes, from proc(5)."""

import os
import time
from contextlib import suppress
from pathlib import Path

from delayrig.setup.start_rig import STARTED_BY

AT_EXEC_LIMIT_S = 1
GONE_LIMIT_S = 60
LOOK_AGAIN_S = 0.02


def stat_of(process: int) -> list[str]:
    """Returns the fields of /proc/PID/stat from the state on; an empty list once it is gone."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return []
    return stat.rpartition(")")[2].split()


def parent_of(process: int) -> int:
    """Returns the parent's process id; 0 once the process is gone."""
    return int(next(iter(stat_of(process)[1:]), 0))


def is_running(process: int) -> bool:
    """Returns True if the process runs; a zombie does not count, since nobody may reap it."""
    return stat_of(process)[:1] not in ([], ["Z"], ["X"])


def command_line_of(process: int) -> bytes:
    """Returns the arguments, each ended by a zero byte; empty for a kernel thread or no process.

    During execve(2) a process has a program but no arguments yet; then the function waits.
    """
    folder = Path(f"/proc/{process}")
    until_s = time.monotonic() + AT_EXEC_LIMIT_S
    try:
        while not (words := (folder / "cmdline").read_bytes()) and time.monotonic() < until_s:
            (folder / "exe").readlink()
    except OSError:
        return b""
    return words


def processes_with(mark: Path | str) -> dict[int, str]:
    """Returns the arguments of the other processes that have the mark in them, by process id."""
    needle, found = os.fsencode(str(mark)), {}
    for entry in Path("/proc").glob("[0-9]*"):
        process = int(entry.name)
        words = command_line_of(process)
        if needle in words and process != os.getpid():
            found[process] = words.replace(b"\0", b" ").decode(errors="replace")
    return found


def children_of(parent: int) -> dict[int, str]:
    """Returns the names of a process's running children, by their ids."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        process = int(entry.name)
        if parent_of(process) == parent and is_running(process):
            with suppress(OSError):
                found[process] = (entry / "comm").read_text(errors="replace").strip()
    return found


def rig_started_by(launcher: int) -> int:
    """Waits for the rig that the launcher starts; returns its process id, 0 if there is none."""
    while is_running(launcher):
        for process in children_of(launcher):
            if f"{STARTED_BY}={launcher}".encode() in command_line_of(process):
                return process
        time.sleep(LOOK_AGAIN_S)
    return 0


def wait_for_content(path: Path, limit_s: float = 60) -> str:
    """Waits until a process has written something to the file; returns it."""
    until_s = time.monotonic() + limit_s
    while not (path.exists() and path.stat().st_size) and time.monotonic() < until_s:
        time.sleep(LOOK_AGAIN_S)
    return path.read_text(encoding="utf-8")


def left_running(mark: Path | str, limit_s: float = 0) -> list[str]:
    """Waits up to the limit until no process has the mark; returns the command lines left."""
    until_s = time.monotonic() + limit_s
    while (found := processes_with(mark)) and time.monotonic() < until_s:
        time.sleep(LOOK_AGAIN_S)
    return list(found.values())
