# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a first start takes, to the first verdict; a stage ends where the next one begins."""

import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from delayrig.base.errors import RigFaultError
from delayrig.setup.layout import STATE_VARIABLE

STAGES = (("set-up: ", None), ("making snapshot ", "snapshots"), ("making ", "images"))
"""How a line begins that begins a stage, and its name; None: the rest of the line."""
LAUNCHER = "launcher"
VERDICT = re.compile(r"\[1/[0-9]+\] ")
END_S = 60
"""How long a run may take to end, once it was told to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    name: str
    took_s: float


def measure_start(checkout: Path, plan: str, folder: Path) -> list[Stage]:
    """Starts the rig with a new folder of state below `folder`, which is there."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="start-") as scratch:
        words = ["run", "--plan", plan, "--out", f"{scratch}/out", "--history", "none"]
        began_s = time.monotonic()
        with subprocess.Popen(
            [str(checkout / "rig" / "rig"), "--yes", *words, "--no-color"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, STATE_VARIABLE: f"{scratch}/state"},
        ) as process:
            assert process.stderr is not None
            try:
                timed = ((time.monotonic(), line.rstrip()) for line in process.stderr)
                return list(stages_of(timed, began_s))
            finally:
                process.send_signal(signal.SIGINT)
                process.stderr.read()
                process.wait(END_S)


def stages_of(lines: Iterable[tuple[float, str]], began_s: float) -> Iterator[Stage]:
    """Of what a run says, each line with its time; ends with the first verdict."""
    name, since_s, said = LAUNCHER, began_s, ""
    for now_s, line in lines:
        said = line
        if VERDICT.match(line):
            yield Stage(name=name, took_s=now_s - since_s)
            return
        begun = _stage_begun(line)
        if begun and begun != name:
            yield Stage(name=name, took_s=now_s - since_s)
            name, since_s = begun, now_s
    raise RigFaultError(f"the start ended before its first verdict: {said}", hint="rig/rig doctor")


def _stage_begun(line: str) -> str:
    for beginning, name in STAGES:
        if line.startswith(beginning):
            found = name or line.removeprefix(beginning)
            return "handing over" if found.startswith("done in") else found
    return ""
