# SPDX-License-Identifier: GPL-2.0-or-later
"""Scratch folders: whoever uses one holds a lock on it, so that dead ones are known.

They lie below TMPDIR; or beside what is made in them, which then gets its name by a rename. Their
names are those of the process that made them. Folders of other names are left alone.
"""

import contextlib
import fcntl
import glob
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

ANY_PLACE = "/tmp"
"""Where there are scratch folders that TMPDIR is too long for."""
FOLDER_BYTES_MAX = 40
"""The longest name of such a folder, and the `/` behind it."""
NAMES = "flashrom-rig-*"
OURS = re.compile(r"flashrom-rig-[0-9]+-[a-z0-9_]+")
PLACES_IN_STATE = (".", "*", "*/*")
"""Folders of the state in which something is made."""


def make_scratch(place: str | None) -> tuple[Path, int]:
    """A new folder there, and the descriptor by which it is held; raises `OSError`."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"flashrom-rig-{os.getpid()}-", dir=place))
        with contextlib.suppress(FileNotFoundError):  # swept away before it was locked
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if folder.exists():
                return folder, lock
            os.close(lock)


@contextlib.contextmanager
def scratch_beside(made: Path) -> Iterator[Path]:
    """A scratch folder in that one's parent, which is made where it is missing."""
    made.parent.mkdir(parents=True, exist_ok=True)
    _sweep_all(glob.escape(str(made.parent)))
    folder, lock = make_scratch(str(made.parent))
    try:
        yield folder
    finally:
        drop_scratch(folder, lock)


def drop_scratch(folder: Path, lock: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)


def sweep_scratch(state: Path) -> int:
    """Removes what dead processes of this user left below TMPDIR and in that state folder.

    Returns how many folders that were.
    """
    temporary = map(glob.escape, {tempfile.gettempdir(), ANY_PLACE})
    in_state = (f"{glob.escape(str(state))}/{place}" for place in PLACES_IN_STATE)
    return sum(_sweep_all(places) for places in (*temporary, *in_state))


def _sweep_all(places: str) -> int:
    """In all places that the pattern tells."""
    swept = 0
    for name in glob.glob(f"{places}/{NAMES}"):  # noqa: PTH207 (Path's falls over what vanishes)
        folder = Path(name)
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
