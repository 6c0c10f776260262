# SPDX-License-Identifier: GPL-2.0-or-later
"""The files of a finished cell."""

from pathlib import Path

import msgspec

from delayrig.base.text import log_tail
from delayrig.model.delays import Delays, read_delays
from delayrig.model.events import Event, read_events


class Artifacts(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a finished cell left behind."""

    events: list[Event]
    output: bytes
    image: bytes | None
    read_back: bytes | None
    delays: Delays | None = None
    """The calls of the subject's delay functions; None if no function was watched."""
    emulator_said: str = ""
    """The last lines of the emulator's log."""

    @property
    def stdout(self) -> str:
        return self.output.decode("utf-8", errors="replace")


def read_artifacts(folder: Path) -> Artifacts:
    return Artifacts(
        events=read_events(folder),
        output=_bytes(folder / "stdout.txt") or b"",
        image=_bytes(folder / "image.sparse"),
        read_back=_bytes(folder / "read.bin"),
        delays=read_delays(folder),
        emulator_said=log_tail(_bytes(folder / "emulator.log") or b""),
    )


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None
