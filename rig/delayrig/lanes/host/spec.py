# SPDX-License-Identifier: GPL-2.0-or-later
"""What a session is told: a JSON file, written by the lane."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

PORT = "@PORT@"
"""Stands in the subject's words for the port that the emulator got."""
REPORT_FD = "@FD@"
"""Stands in the words of the subject's sandbox for the descriptor that it reports to."""
REALTIME = "--realtime=50"
"""Above any subject; left out where this user may not have it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """One cell; paths are of this machine, those of files in the session's working directory."""

    emulator: list[str]
    subject: list[str]
    subject_file_bytes_max: int
    """No file that the subject writes, what it prints among them, may get longer."""
    cpus: list[int]
    """Those that the subject keeps to."""
    pinned: bool
    """Whether somebody asked for that."""
    deadline_ms: int
    lines: list[str]
    """What happens to the subject, as its hazards say it (images/agent/spec.h)."""
    box: list[str] = field(default_factory=list)
    """What stands before the subject's words so that it is confined; empty: it is not."""
    writable: list[str] = field(default_factory=list)
    """What the subject may write to, and so is its own."""

    def values_of(self, key: str) -> list[list[str]]:
        """What stands behind that word in each line that begins with it."""
        words = (line.split() for line in self.lines)
        return [rest for first, *rest in words if first == key]

    def number_of(self, key: str) -> int:
        """The one number behind that word; 0 where no line begins with it."""
        return next((int(rest[0]) for rest in self.values_of(key)), 0)

    @property
    def awaits_accept(self) -> bool:
        """Whether something is to be done before the subject is served its first request."""
        return bool(self.number_of("siblings") or self.number_of("realtime_denied"))


def write_spec(spec: Spec, path: Path) -> None:
    path.write_text(json.dumps(asdict(spec)), encoding="utf-8")


def read_spec(path: Path) -> Spec:
    return Spec(**json.loads(path.read_text(encoding="utf-8")))


def cpus_in(text: str) -> list[int]:
    """The CPUs of a list such as `0,2-3`, as the kernel writes them, too."""
    found: set[int] = set()
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return sorted(found)


def cpus_text(cpus: Sequence[int]) -> str:
    return ",".join(map(str, cpus))
