# SPDX-License-Identifier: GPL-2.0-or-later
"""Takes paths, host and user out of text that others will read."""

import getpass
import os
import platform
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path, PurePath

KEPT_FOLDERS = ("/dev/", "/proc/", "/sys/", "/usr/")
NAME_CHARS_MIN = 3
"""The length of the shortest name that is replaced. A shorter one may be a common word."""
COMMON = ("root", "localhost", "debian", "bundled", "flashrom", "host", "user")
"""Names that identify nobody, or that a report needs."""
_PATH = re.compile(r"(?<![\w./<-])(?:~|\.\.?)?/(?:[^\s/'\"`,;:()\[\]\\]+/)*[^\s/'\"`,;:()\[\]\\]+")


def neutral(text: str, paths: Iterable[str] = ()) -> str:
    """Returns the text without names, and with only the last part of paths outside `KEPT_FOLDERS`.

    `paths` are known paths in the text. They may contain characters that end other paths.
    """
    for path in sorted(filter(None, paths), key=len, reverse=True):
        text = text.replace(path, f"./{PurePath(path).name}")
    text = _PATH.sub(_last_part, text)
    for name, instead in _names().items():
        text = re.sub(rf"\b{re.escape(name)}\b", instead, text)
    return text


def _last_part(path: re.Match[str]) -> str:
    if path[0].startswith(KEPT_FOLDERS):
        return path[0]
    return f"./{PurePath(path[0]).name}"


def _names() -> dict[str, str]:
    """Returns the names of this machine and of its user, each with the word in its place."""
    host = platform.node()
    names = {
        **dict.fromkeys((host, host.partition(".")[0]), "HOST"),
        **dict.fromkeys(_users(), "USER"),
    }
    return {
        name: instead
        for name, instead in names.items()
        if len(name) >= NAME_CHARS_MIN and name.lower() not in COMMON
    }


def _users() -> list[str]:
    """Returns the names of this user. A container's user may have no name and no home."""
    users = [os.environ.get("SUDO_USER", "")]
    with suppress(KeyError, OSError):
        users.append(getpass.getuser())
    with suppress(RuntimeError):
        users.append(Path.home().name)
    return users
