# SPDX-License-Identifier: GPL-2.0-or-later
"""Scratch folders below TMPDIR: whoever uses one holds a lock on it, so that dead ones are known.

Their names are those of the process that made them. Folders of other names are left alone.
"""

import contextlib
import fcntl
import os
import re
import shutil
import tempfile
from pathlib import Path

ANY_PLACE = "/tmp"
"""Where there are scratch folders that TMPDIR is too long for."""
FOLDER_BYTES_MAX = 40
"""The longest name of such a folder, and the `/` behind it."""
OURS = re.compile(r"flashrom-rig-[0-9]+-[a-z0-9_]+")


def make_scratch(place: str | None) -> tuple[Path, int]:
    """A new folder there, and the descriptor by which it is held; raises `OSError`."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"flashrom-rig-{os.getpid()}-", dir=place))
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():
            return folder, lock
        os.close(lock)  # swept away before it was locked


def sweep_scratch() -> int:
    """Removes what dead processes of this user left there; how many folders that were."""
    swept = 0
    for place in {tempfile.gettempdir(), ANY_PLACE}:
        for folder in Path(place).glob("flashrom-rig-*"):
            if OURS.fullmatch(folder.name):
                with contextlib.suppress(OSError):
                    swept += _sweep(folder)
    return swept


def _sweep(folder: Path) -> bool:
    """Never through a link, and never what belongs to another user."""
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if os.fstat(lock).st_uid != os.geteuid():
            return False
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder)
        return True
    finally:
        os.close(lock)
