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


def subject_uid() -> int:
    """Returns the id of the user that the subject becomes; 0: it stays the user of the rig."""
    return NOBODY if os.geteuid() == 0 else 0


def box_words(
    *,
    confine: Path,
    readable: Sequence[Path],
    own: Path,
    kept: Sequence[Path],
    terminal: Path | None = None,
    file_bytes_max: int,
    realtime: bool = True,
) -> list[str]:
    """Returns the command line up to the subject's: bubblewrap with its options, `rig-confine`.

    Each path is the same inside. The subject may write to its folder `own`, whose size is limited,
    and which is removed at the end. The files `kept` in it exist before the subject starts, and are
    kept. `terminal` is the emulator's, if the subject uses one. With `realtime` the subject may
    take real-time priority, provided that the rig may.
    """
    # If the rig is root, `rig-confine` needs the first two to become another user.
    rights = ["CAP_SETUID", "CAP_SETGID", *(["CAP_SYS_NICE"] if realtime else [])]
    words = [*sandbox_words(kept=rights), *system_words()]
    aside = own.parent / ASIDE
    words += words_for_folders([confine, *readable, aside / ASIDE])
    for path in (confine, *readable):
        words += ["--ro-bind", str(path), str(path)]
    words += folder_words(own, OWN_BYTES_MIN + OWN_FILES * file_bytes_max)
    for path in kept:
        words += ["--bind", str(path), str(aside / path.name)]
    if terminal is not None:
        words += ["--dev-bind", PORT, str(terminal)]
    limits = (subject_uid(), PROCESSES_MAX, MEMORY_BYTES_MAX, file_bytes_max)
    files = (own, aside, ",".join(path.name for path in kept))
    return [*words, *CLOSED, "--", str(confine), REPORT_FD, *map(str, (*limits, *files))]
