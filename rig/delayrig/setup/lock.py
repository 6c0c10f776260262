# SPDX-License-Identifier: GPL-2.0-or-later
"""The folder of state: making it, marking it as ours, and locking it.

One set-up works in it at a time. A running rig holds a shared lock on `used.lock`. A set-up that
would replace the programs of another checkout needs an exclusive one.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from delayrig.setup.console import Console
from delayrig.setup.errors import SetupError
from delayrig.setup.layout import Layout

TAG_NAME = "CACHEDIR.TAG"
# The Cache Directory Tagging convention fixes the first line; backup programs omit such folders.
TAG_TEXT = """\
Signature: 8a477f597d28d172789f06886806bc55
# Made by `rig/rig setup` of the flashrom delay rig; `rig/rig clean` removes the whole folder.
"""
USED_NAME = "used.lock"


@contextmanager
def hold_state(layout: Layout, console: Console) -> Iterator[None]:
    """Makes the folder if it is missing, and waits until no other set-up works in it."""
    prepare_state(layout)
    lock = _acquire(layout.state / "setup.lock", console)
    try:
        yield
    finally:
        os.close(lock)


def prepare_state(layout: Layout) -> None:
    """Makes and tags the folder. Raises `SetupError` if the user chose one with other content."""
    state = layout.state
    state.mkdir(parents=True, exist_ok=True)
    tag = state / TAG_NAME
    if tag.exists():
        return
    if layout.moved and any(state.iterdir()):
        raise SetupError(
            f"{state} is not empty, and not the rig's",
            "point $FLASHROM_RIG_STATE at a folder that is new or empty",
        )
    tag.write_text(TAG_TEXT, encoding="utf-8")


def note_use(layout: Layout) -> int:
    """Takes a shared lock that lasts as long as this process, and returns its descriptor.

    Returns -1 if the folder is not the rig's yet or this user may not write to it. The descriptor
    survives exec().
    """
    if not (layout.state / TAG_NAME).exists():
        return -1
    try:
        used = os.open(layout.state / USED_NAME, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError:
        return -1
    try:
        fcntl.flock(used, fcntl.LOCK_SH)
    except OSError:
        os.close(used)
        return -1
    os.set_inheritable(used, True)
    return used


@contextmanager
def hold_unused(layout: Layout, owner: str) -> Iterator[None]:
    """Holds the exclusive lock within the block.

    Raises `SetupError` if a rig of the checkout `owner` uses the programs here.
    """
    prepare_state(layout)
    used = os.open(layout.state / USED_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(used, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise SetupError(
                f"{layout.state} is in use by a run of {owner}",
                "wait for its end, or point $FLASHROM_RIG_STATE at another folder",
            ) from error
        yield
    finally:
        os.close(used)


def _acquire(path: Path, console: Console) -> int:
    while True:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            console.write("set-up: another one is at work here; waiting for it to end")
            fcntl.flock(lock, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(lock), path.stat()):
                return lock
        os.close(lock)  # `clean` removed the file while we waited for it.
        path.parent.mkdir(parents=True, exist_ok=True)
