# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs that tests disturb: their processes, the signals to them, and what they leave."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from delayrig.base.paths import Paths
from delayrig.model.events import read_events
from delayrig.run.resume import FILE_NAME as BEGUN

from tests.rig.processes import parent_of

LIMIT_S = 300
GUEST = "qemu-system"
LOOK_AGAIN_S = 0.02
QUIET_LOOKS = 10
STOPPED_S = 0.3
BLOWS = ("SIGKILL", "SIGTERM", "SIGSTOP, SIGKILL")
RESUMES_MAX = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class VictimRun:
    """A command that runs cells, in a folder of its own."""

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

    def start(self) -> subprocess.Popen[bytes]:
        """Starts the run, or resumes it if it began before."""
        self.scratch.mkdir(parents=True, exist_ok=True)
        more = ["--resume"] if (self.out / BEGUN).is_file() else []
        words = ["run", "--no-color", "--no-history", *self.words, "--out", str(self.out), *more]
        with (self.folder / "said").open("ab") as said:
            return subprocess.Popen(
                [str(self.paths.checkout / "rig" / "rig"), *words],
                stdout=said,
                stderr=said,
                env={**os.environ, "TMPDIR": str(self.scratch)},
            )

    def finish(self, codes: Sequence[int]) -> None:
        """Resumes the run until it ends with one of the codes; checks that it leaves nothing."""
        self.assert_nobody_left()
        assert_whole(self.out)
        for _ in range(RESUMES_MAX):
            if self.start().wait(LIMIT_S) in codes:
                break
        else:
            raise AssertionError((self.folder / "said").read_text(errors="replace"))
        self.assert_nobody_left()
        assert [str(path) for path in self.scratch.rglob("*")] == []

    def processes(self) -> dict[int, str]:
        """Returns the command lines of all processes of this run, by their ids."""
        return processes_of(self.folder)

    def victim(self, name: str) -> int:
        """Waits for a process of that name, and returns its id.

        `GUEST` is a QEMU with a guest in it. The name `parent of NAME` means the parent of such a
        process.
        """
        until_s = time.monotonic() + LIMIT_S
        while time.monotonic() < until_s:
            for process, words in self.processes().items():
                if _is(name.removeprefix("parent of "), words):
                    return parent_of(process) if name.startswith("parent of ") else process
            time.sleep(LOOK_AGAIN_S)
        raise AssertionError(f"no {name} was ever seen")

    def assert_nobody_left(self) -> None:
        """Waits until no process of the run is left. One look may miss one inside execve(2)."""
        until_s, quiet = time.monotonic() + LIMIT_S, 0
        while quiet < QUIET_LOOKS:
            left = self.processes()
            quiet = 0 if left else quiet + 1
            assert time.monotonic() < until_s, left
            time.sleep(LOOK_AGAIN_S)


def assert_whole(out: Path) -> None:
    """Checks that the JSON and event files of a run are complete."""
    for path in out.rglob("*.json"):
        if path.name != "session.json":  # the host lane's own file, which is not read later
            json.loads(path.read_bytes())
    for path in out.rglob("events.jsonl"):
        read_events(path)


def _is(name: str, words: str) -> bool:
    """Returns True for that program. A QEMU must run a guest, not just print its version."""
    return name in words.split(" ")[0] and (name != GUEST or " -name " in words)


def processes_of(mark: Path) -> dict[int, str]:
    """Returns other processes with the path in their arguments, variables or working folder."""
    needle, found = os.fsencode(str(mark)), {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
            told = words + b"\0" + (process / "environ").read_bytes()
            told += os.fsencode((process / "cwd").readlink())
        except OSError:
            continue
        if needle in told and int(process.name) != os.getpid():
            found[int(process.name)] = words.replace(b"\0", b" ").decode(errors="replace")
    return found


def strike(process: int, blow: str) -> None:
    """Sends the signals one after the other; does nothing if the process is gone."""
    for number, name in enumerate(blow.split(", ")):
        try:
            time.sleep(number * STOPPED_S)
            os.kill(process, signal.Signals[name])
        except ProcessLookupError:
            return
