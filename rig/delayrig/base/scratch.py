# SPDX-License-Identifier: GPL-2.0-or-later
"""A scratch folder below TMPDIR, and whose fault it is where there is no room."""

import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType

from delayrig.base.errors import BadInputError
from delayrig.setup.scratch import make_scratch

ROOM_BYTES_MIN = 1 << 20
"""A file system with less than that free is full, to a cell."""


class ScratchFolder:
    """Gone with its owner; where that is killed, the next start removes it."""

    def __init__(self) -> None:
        place = os.environ.get("TMPDIR") or None
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
        """Removes it and what is in it; once is enough."""
        if self._lock >= 0:
            shutil.rmtree(self.name, ignore_errors=True)
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> str:
        return self.name

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.cleanup()


def full_scratch(error: OSError) -> Path | None:
    """The folder for temporary files, where it is that which has no room; None where it has."""
    place = Path(os.environ.get("TMPDIR") or tempfile.gettempdir())
    if error.filename is not None:
        return place if Path(os.fsdecode(error.filename)).is_relative_to(place) else None
    try:
        return place if shutil.disk_usage(place).free < ROOM_BYTES_MIN else None
    except OSError:
        return place
