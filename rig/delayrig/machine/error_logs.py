# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest that was lost had said: its error goes on with the end of each log."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from delayrig.base.errors import LostGuestError
from delayrig.base.log_tail import log_tail

LOG_LINES = 4


@contextlib.contextmanager
def with_log_tails(folder: Path, names: Sequence[str]) -> Iterator[None]:
    """Adds the last lines of these logs to a `LostGuestError` that passes."""
    try:
        yield
    except LostGuestError as error:
        said = "; ".join(f"{name}: {_end_of(folder / name)}" for name in names)
        raise type(error)(f"{error.message}; {said}", hint=error.hint) from error


def _end_of(log: Path) -> str:
    said = log_tail(log.read_bytes(), LOG_LINES) if log.is_file() else ""
    return said or "nothing"
