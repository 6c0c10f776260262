# SPDX-License-Identifier: GPL-2.0-or-later
"""A scratch folder below TMPDIR, and whose fault it is where there is no room."""

import os
import shutil
import tempfile
from pathlib import Path

from delayrig.base.errors import BadInputError
from delayrig.setup.scratch import ANY_PLACE, FOLDER_BYTES_MAX, drop_scratch, make_scratch

SOCKET_BYTES_MAX = 107
"""A socket's path is no longer (unix(7)) than that."""
ROOM_BYTES_MIN = 1 << 20
"""A file system with less than that free is full, to a cell."""


class ScratchFolder:
    """Gone with its owner; where that is killed, the next start removes it."""

    def __init__(self, name_bytes_max: int | None = None) -> None:
        """With the longest name that a socket gets in it, if there is to be one."""
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
    """TMPDIR, or `/tmp` where TMPDIR is too long for a socket that many bytes further down."""
    usual = os.environ.get("TMPDIR") or tempfile.gettempdir()
    room = SOCKET_BYTES_MAX - len("/") - bytes_max
    return usual if len(os.fsencode(usual)) <= room else ANY_PLACE


def full_scratch(error: OSError) -> Path | None:
    """The folder for temporary files, where it is that which has no room; None where it has."""
    place = Path(os.environ.get("TMPDIR") or tempfile.gettempdir())
    if error.filename is not None:
        return place if Path(os.fsdecode(error.filename)).is_relative_to(place) else None
    try:
        return place if shutil.disk_usage(place).free < ROOM_BYTES_MIN else None
    except OSError:
        return place
