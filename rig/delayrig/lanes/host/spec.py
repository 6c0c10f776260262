# SPDX-License-Identifier: GPL-2.0-or-later
"""The specification of a session: a JSON file, written by the lane."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

PORT = "@PORT@"
"""The placeholder in the subject's words for the emulator's port or terminal."""
REPORT_FD = "@FD@"
"""The placeholder in the sandbox's words for the descriptor of its reports."""
REALTIME = "--realtime=50"
"""The emulator's option for a priority above any subject's, omitted if the user may not have it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """One cell. Paths are of this machine; files are in the session's working directory."""

    emulator: list[str]
    subject: list[str]
    subject_file_bytes_max: int
    """The limit of each file that the subject writes, including its output."""
    cpus: list[int]
    """The CPUs of the subject."""
    pinned: bool
    """True if the user chose these CPUs."""
    deadline_ms: int
    lines: list[str]
    """The actions on the subject in the words of its hazards (images/agent/spec.h)."""
    box: list[str] = field(default_factory=list)
    """The command line before the subject's that confines it; empty: it is not confined."""
    writable: list[str] = field(default_factory=list)
    """The files that the subject owns and may write."""

    def values_of(self, key: str) -> list[list[str]]:
        """Returns the words after that key in each line that begins with it."""
        words = (line.split() for line in self.lines)
        return [rest for first, *rest in words if first == key]

    def number_of(self, key: str) -> int:
        """Returns the number after that key; 0 if no line begins with it."""
        return next((int(rest[0]) for rest in self.values_of(key)), 0)


def write_spec(spec: Spec, path: Path) -> None:
    path.write_text(json.dumps(asdict(spec)), encoding="utf-8")


def read_spec(path: Path) -> Spec:
    return Spec(**json.loads(path.read_text(encoding="utf-8")))


def cpus_in(text: str) -> list[int]:
    """Parses a list of CPUs such as `0,2-3`, which is also the kernel's form."""
    found: set[int] = set()
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return sorted(found)


def cpus_text(cpus: Sequence[int]) -> str:
    return ",".join(map(str, cpus))
