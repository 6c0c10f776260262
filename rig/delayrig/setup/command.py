# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs other programs: short queries, and long jobs with a log."""

import os
import re
import shlex
import signal
import subprocess
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from delayrig.setup.console import Console, Context
from delayrig.setup.errors import SetupError

TAIL_LINES = 12
# apt, pip, ninja and mmdebstrap all print these words: they come from the C library.
DISK_FULL = ("No space left on device", "Disk quota exceeded")
PASSWORD = re.compile(r"://[^/@\s'\"]+@")


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    code: int
    tail: tuple[str, ...]
    log: Path

    def require(self, what: str, remedy: str) -> None:
        """Raises an error with the job's last lines if it failed."""
        if self.code == 0:
            return
        if any(word in line for line in self.tail for word in DISK_FULL):
            raise disk_full(self.log)
        shown = "".join(f"\n    {line}" for line in self.tail)
        raise SetupError(f"{what} failed (exit {self.code}):{shown}", f"{remedy}\nlog: {self.log}")


def disk_full(path: Path) -> SetupError:
    """Returns the error for a full disk, the same wherever it happens."""
    return SetupError(
        f"no space left on the disk that holds {path}",
        "free some space (2 GB are enough), or move the state elsewhere with $FLASHROM_RIG_STATE",
    )


def last_line(text: str) -> str:
    """Returns the last line of a program's messages, which names its error."""
    return (text.strip().splitlines() or ["it printed nothing"])[-1]


def answer(argv: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    """Returns the output of a short program; empty if it is missing or prints nothing."""
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C", **(environment or {})},
            check=False,
        )
    except OSError:
        return ""
    return done.stdout.decode(errors="replace")


def succeeds(argv: Sequence[str]) -> bool:
    try:
        return subprocess.run(argv, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def run_logged(
    context: Context, name: str, argv: Sequence[str], environment: Mapping[str, str] | None = None
) -> Done:
    """Runs a long job. Appends its output to a log of that name, and shows its last line."""
    log = context.layout.logs / f"{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    tail: deque[str] = deque(maxlen=TAIL_LINES)
    with log.open("a", encoding="utf-8") as file:
        file.write(f"$ {redact(' '.join(argv))}\n")
        with subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, **(environment or {})},
        ) as process:
            try:
                _copy(process, file, tail, context.console)
            except BaseException:
                _interrupt(process)
                raise
        file.write(f"exit {process.returncode}\n")
    context.console.erase()
    return Done(code=process.returncode, tail=tuple(tail), log=log)


def redact(text: str) -> str:
    """Returns the text without the user names and passwords of addresses."""
    return PASSWORD.sub("://***@", text)


def commands(*lines: Sequence[str]) -> str:
    return "\n".join(f"    {shlex.join(line)}" for line in lines)


def _copy(process: subprocess.Popen[str], file: TextIO, tail: deque[str], console: Console) -> None:
    assert process.stdout is not None
    for raw in process.stdout:
        line = redact(raw.rstrip())
        file.write(f"{line}\n")
        if line.strip():
            tail.append(line)
            console.glance(line)


def _interrupt(process: subprocess.Popen[str]) -> None:
    # Interrupt as the keyboard does: apt, pip, ninja and the rig itself all clean up then. Under
    # sudo we may not send the signal, but the terminal has sent it.
    with suppress(ProcessLookupError, PermissionError):
        process.send_signal(signal.SIGINT)
    process.wait()
