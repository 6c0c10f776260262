# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions that start the serprog emulator and our flashrom."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from delayrig.base.paths import find_paths

PATHS = find_paths()
PROGRAM = PATHS.flashrom_build / "flashrom"
LIMIT_S = 60


@contextmanager
def running(folder: Path, *words: str | Path) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """Starts an emulator with its events in the folder; yields it and its port or device.

    Kills the emulator if it still runs after the block.
    """
    command = [PATHS.emulator, "--events", folder / "events.jsonl", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            yield process, process.stderr.readline().split()[-1]
        finally:
            process.kill()


@contextmanager
def serving(folder: Path, *words: str | Path) -> Iterator[str]:
    """Yields the port or device of an emulator, then waits for its end."""
    with running(folder, *words) as (process, place):
        yield place
        process.wait(LIMIT_S)


@contextmanager
def emulator(chip: str, corner: str, folder: Path, before: bytes = b"") -> Iterator[int]:
    """Serves a part on a loopback port; writes events.jsonl and after.img into the folder."""
    (folder / "before.img").write_bytes(before)
    images = ("--image-in", folder / "before.img", "--image-out", folder / "after.img")
    with serving(folder, "--chip", chip, "--corner", corner, *images) as port:
        yield int(port)


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs a program until it ends."""
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=LIMIT_S)


def flashrom(programmer: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs our flashrom with that programmer until it ends."""
    return run(PROGRAM, "--no-realtime", "-p", programmer, *words)
