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


def start(folder: Path, *words: str | Path) -> tuple["subprocess.Popen[str]", str]:
    """Starts an emulator with its events in the folder; returns it and its port or device."""
    process = subprocess.Popen(
        [PATHS.emulator, "--events", folder / "events.jsonl", *words],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    return process, process.stderr.readline().split()[-1]


@contextmanager
def serving(folder: Path, *words: str | Path) -> Iterator[str]:
    """Yields the port or device of an emulator, then waits for its end."""
    process, place = start(folder, *words)
    with process:
        try:
            yield place
            process.wait(LIMIT_S)
        finally:
            process.kill()


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
