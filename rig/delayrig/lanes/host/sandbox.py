# SPDX-License-Identifier: GPL-2.0-or-later
"""The sandbox of a subject of this lane: bubblewrap, and `rig-confine` inside.

The subject sees the system's programs and libraries, its own root and the files of its cell, and no
other files of the machine. It can write only to the files named here, and reach only its emulator:
its network (`base/private_net.py`) contains nothing else. The subject sees no other processes than
its own. `images/confine/` has the limits and the filter of system calls.

Source: bwrap(1), 0.8.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from delayrig.base.bubblewrap import (
    CLOSED,
    NOBODY,
    folder_words,
    sandbox_words,
    system_words,
    words_for_folders,
)
from delayrig.lanes.host.spec import PORT, REPORT_FD

PROCESSES_MAX = 64
MEMORY_BYTES_MAX = 4 << 30
"""The address space of each process, including unused addresses."""
OWN_BYTES_MIN, OWN_FILES = 16 << 20, 2
"""The room in the subject's folder: `OWN_BYTES_MIN`, and `OWN_FILES` files of the largest size.

Replacing a file needs twice its size.
"""
ASIDE = "kept"
"""The folder in the sandbox with the files to keep (KEPT in images/confine/main.c)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """The files and rights of a subject on this machine. Each path is the same inside."""

    confine: Path
    """The program `rig-confine`."""
    readable: Sequence[Path]
    own: Path
    """The folder that it may write to, with a limited size; it is removed at the end."""
    kept: Sequence[Path]
    """Files in that folder that exist before the subject starts, and are kept after its end."""
    terminal: Path | None = None
    """The path of the emulator's terminal, if the subject uses one."""
    file_bytes_max: int
    realtime: bool = True
    """True if it may take real-time priority, provided that the rig may."""


def subject_uid() -> int:
    """Returns the id of the user that the subject becomes; 0: it stays the user of the rig."""
    return NOBODY if os.geteuid() == 0 else 0


def box_words(box: Sandbox) -> list[str]:
    """Returns the command line up to the subject's: bubblewrap with its options, `rig-confine`."""
    # If the rig is root, `rig-confine` needs the first two to become another user.
    kept = ["CAP_SETUID", "CAP_SETGID", *(["CAP_SYS_NICE"] if box.realtime else [])]
    words = [*sandbox_words(kept=kept), *system_words()]
    aside, readable = box.own.parent / ASIDE, (box.confine, *box.readable)
    words += words_for_folders([*readable, aside / ASIDE])
    for path in readable:
        words += ["--ro-bind", str(path), str(path)]
    words += folder_words(box.own, OWN_BYTES_MIN + OWN_FILES * box.file_bytes_max)
    for path in box.kept:
        words += ["--bind", str(path), str(aside / path.name)]
    if box.terminal is not None:
        words += ["--dev-bind", PORT, str(box.terminal)]
    limits = (subject_uid(), PROCESSES_MAX, MEMORY_BYTES_MAX, box.file_bytes_max)
    files = (box.own, aside, ",".join(path.name for path in box.kept))
    return [*words, *CLOSED, "--", str(box.confine), REPORT_FD, *map(str, (*limits, *files))]
