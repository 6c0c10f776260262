# SPDX-License-Identifier: GPL-2.0-or-later
"""Scratch folders. The process that uses one locks it; one without a lock is abandoned.

They are below TMPDIR, or beside the final place of a folder that is made in them and then renamed.
Their names contain the id of their process. Folders with other names are left alone.
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
"""The folder for scratch folders if TMPDIR is too long."""
FOLDER_BYTES_MAX = 40
"""The longest name of such a folder, with the `/` after it."""
NAMES = "flashrom-rig-*"
OURS = re.compile(r"flashrom-rig-[0-9]+-[a-z0-9_]+")
PLACES_IN_STATE = (".", "*", "*/*")
"""Folders of the state in which other folders are made."""


def make_scratch(place: str | None) -> tuple[Path, int]:
    """Makes a folder there and returns it with its lock's descriptor; raises `OSError`."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"flashrom-rig-{os.getpid()}-", dir=place))
        # Another process may remove it before it is locked.
        with contextlib.suppress(FileNotFoundError):
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if folder.exists():
                return folder, lock
            os.close(lock)


@contextlib.contextmanager
def scratch_beside(made: Path) -> Iterator[Path]:
    """Yields a scratch folder in the parent of `made`, which is created if it is missing."""
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
    """Removes scratch folders of dead processes of this user, below TMPDIR and in the state.

    Returns the number of removed folders.
    """
    temporary = map(glob.escape, {tempfile.gettempdir(), ANY_PLACE})
    in_state = (f"{glob.escape(str(state))}/{place}" for place in PLACES_IN_STATE)
    return sum(_sweep_all(places) for places in (*temporary, *in_state))


def _sweep_all(places: str) -> int:
    """Removes abandoned folders in all places that match the pattern, and returns their number."""
    swept = 0
    for name in glob.glob(f"{places}/{NAMES}"):  # noqa: PTH207 (Path.glob may raise an error)
        folder = Path(name)
        if OURS.fullmatch(folder.name):
            with contextlib.suppress(OSError):
                swept += _sweep(folder)
    return swept


def _sweep(folder: Path) -> bool:
    """Removes the folder unless it is locked, a link, or another user's."""
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if os.fstat(lock).st_uid != os.geteuid():
            return False
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder)
        return True
    finally:
        os.close(lock)
