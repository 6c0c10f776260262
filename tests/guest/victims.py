# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs whose processes tests kill or stop, and checks of what the runs leave."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from delayrig.base.paths import Paths
from delayrig.model.events import read_events
from delayrig.run.resume import FILE_NAME as BEGUN

from tests.rig.processes import parent_of, processes_with

LIMIT_S = 300
GUEST = "qemu-system"
LOOK_AGAIN_S = 0.02
QUIET_LOOKS = 50
PAUSE_S = 0.3
SIGNALS = ("SIGKILL", "SIGTERM", "SIGSTOP, SIGKILL")
RESUMES_MAX = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class VictimRun:
    """A run of cells with its folders of results and of scratch files."""

    paths: Paths
    words: tuple[str, ...]
    folder: Path

    @property
    def out(self) -> Path:
        """Returns the folder of results."""
        return self.folder / "out"

    @property
    def scratch(self) -> Path:
        """Returns the scratch folder, which must be empty after the run."""
        return self.folder / "scratch"

    def start(self, process_group: int | None = None) -> subprocess.Popen[bytes]:
        """Starts the run, or resumes it if it began before."""
        self.scratch.mkdir(parents=True, exist_ok=True)
        more = ["--resume"] if (self.out / BEGUN).is_file() else []
        words = ["run", "--no-color", "--no-history", *self.words, "--out", str(self.out), *more]
        with (self.folder / "output.txt").open("ab") as output:
            return subprocess.Popen(
                [str(self.paths.checkout / "rig" / "rig"), *words],
                stdout=output,
                stderr=output,
                env={**os.environ, "TMPDIR": str(self.scratch)},
                process_group=process_group,
            )

    def finish(self, codes: Sequence[int]) -> None:
        """Resumes the run until it ends with one of the codes; checks that it leaves nothing."""
        self.assert_nobody_left()
        assert_whole(self.out)
        for _ in range(RESUMES_MAX):
            if self.start().wait(LIMIT_S) in codes:
                break
        else:
            raise AssertionError((self.folder / "output.txt").read_text(errors="replace"))
        self.assert_nobody_left()
        assert [str(path) for path in self.scratch.rglob("*")] == []

    def processes(self) -> dict[int, str]:
        """Returns the command lines of the run's processes, by their ids.

        They have the folder in their arguments, variables or working folder.
        """
        needle, found = os.fsencode(str(self.folder)), {}
        for process in Path("/proc").glob("[0-9]*"):
            try:
                words = (process / "cmdline").read_bytes()
                text = words + b"\0" + (process / "environ").read_bytes()
                text += os.fsencode((process / "cwd").readlink())
            except OSError:
                continue
            if needle in text and int(process.name) != os.getpid():
                found[int(process.name)] = words.replace(b"\0", b" ").decode(errors="replace")
        return found

    def victim(self, name: str) -> int:
        """Waits for a process of that name, and returns its id.

        `GUEST` is a QEMU that runs a guest. `parent of NAME` is the parent of such a process.
        """
        until_s = time.monotonic() + LIMIT_S
        while time.monotonic() < until_s:
            for process, words in self.processes().items():
                if not _is(name.removeprefix("parent of "), words):
                    continue
                # The parent is 0 if the process has just ended.
                if found := parent_of(process) if name.startswith("parent of ") else process:
                    return found
            time.sleep(LOOK_AGAIN_S)
        raise AssertionError(f"found no {name} in {LIMIT_S} s")

    def assert_nobody_left(self) -> None:
        """Waits until no process of the run is left."""
        wait_until_none(self.processes, LIMIT_S)


def wait_until_none(processes: Callable[[], object], limit_s: float) -> None:
    """Waits until the function finds no process repeatedly; it misses one inside execve(2)."""
    until_s, quiet = time.monotonic() + limit_s, 0
    while quiet < QUIET_LOOKS:
        left = processes()
        quiet = 0 if left else quiet + 1
        assert time.monotonic() < until_s, f"still running: {left}"
        time.sleep(LOOK_AGAIN_S)


def qemu_of(mark: Path | str) -> list[int]:
    """Returns the ids of each QEMU whose arguments contain the mark: a folder or a name."""
    return [n for n, words in processes_with(mark).items() if GUEST in words]


def assert_whole(out: Path) -> None:
    """Checks that the JSON and event files of a run are complete."""
    for path in out.rglob("*.json"):
        if path.name != "session.json":  # the host lane's own file, which is not read later
            json.loads(path.read_bytes())
    for path in out.rglob("events.jsonl"):
        read_events(path)


def _is(name: str, words: str) -> bool:
    """Returns True if the arguments start that program; a QEMU must run a guest."""
    return name in words.split(" ")[0] and (name != GUEST or " -name " in words)


def send_signals(process: int, names: str) -> None:
    """Sends the signals one after the other, as long as the process exists."""
    for number, name in enumerate(names.split(", ")):
        try:
            time.sleep(number * PAUSE_S)
            os.kill(process, signal.Signals[name])
        except ProcessLookupError:
            return
