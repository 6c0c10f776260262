# SPDX-License-Identifier: GPL-2.0-or-later
"""A scratch folder below TMPDIR, and a check if its file system is full."""

import errno
import os
import shutil
import tempfile
from pathlib import Path

from delayrig.base.errors import BadInputError
from delayrig.setup.scratch import ANY_PLACE, FOLDER_BYTES_MAX, drop_scratch, make_scratch

SOCKET_BYTES_MAX = 107
"""The longest path of a socket (unix(7))."""
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
ROOM_BYTES_MIN = 1 << 20
"""The free space below which a file system counts as full."""


class ScratchFolder:
    """A folder that its owner removes. If the owner is killed, the next start removes it."""

    def __init__(self, name_bytes_max: int | None = None) -> None:
        """Makes the folder. `name_bytes_max` is the longest name of a socket that will be in it."""
        place = os.environ.get("TMPDIR") or None
        if name_bytes_max is not None:
            place = place_of_sockets(FOLDER_BYTES_MAX + name_bytes_max)
        try:
            folder, self._lock = make_scratch(place)
        except OSError as error:
            where = f"TMPDIR {place}" if place else "the folder for temporary files"
            raise BadInputError(
                f"{where}: {os.strerror(error.errno or 0)}",
                hint="free some space there, or name a folder that you may write to with TMPDIR",
            ) from error
        self.name = str(folder)

    def cleanup(self) -> None:
        if self._lock >= 0:
            drop_scratch(Path(self.name), self._lock)
            self._lock = -1

    def __enter__(self) -> str:
        return self.name

    def __exit__(self, *_error: object) -> None:
        self.cleanup()


def place_of_sockets(bytes_max: int) -> str:
    """Returns TMPDIR, or `/tmp` if a path with `bytes_max` more bytes is too long for a socket."""
    usual = os.environ.get("TMPDIR") or tempfile.gettempdir()
    room = SOCKET_BYTES_MAX - len("/") - bytes_max
    return usual if len(os.fsencode(usual)) <= room else ANY_PLACE


def full_scratch(error: OSError) -> Path | None:
    """Returns the folder for temporary files if it caused `error`, one of NO_ROOM; else None."""
    place = Path(os.environ.get("TMPDIR") or tempfile.gettempdir())
    if error.filename is not None:
        return place if Path(os.fsdecode(error.filename)).is_relative_to(place) else None
    try:
        return place if shutil.disk_usage(place).free < ROOM_BYTES_MIN else None
    except OSError:
        return place
