# SPDX-License-Identifier: GPL-2.0-or-later
"""The content of a wheel: the sources of the rig, and the command that starts its launcher.

The launcher makes its own environment and builds the native programs, as in a checkout. It keeps
them in the user's cache folder, unless $FLASHROM_RIG_STATE names another one.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

TREE = Path(__file__).resolve().parent / "tree"
STATE_VARIABLE = "FLASHROM_RIG_STATE"


def state_folder(environment: Mapping[str, str]) -> Path:
    """Returns the folder of state; the default follows the XDG Base Directory Specification."""
    named = environment.get(STATE_VARIABLE)
    if named:
        return Path(named).absolute()
    caches = environment.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches) / "flashrom-delay-rig"


def main() -> None:
    """Becomes the launcher."""
    launcher = TREE / "rig" / "rig"
    environment = {**os.environ, STATE_VARIABLE: str(state_folder(os.environ))}
    os.execve("/bin/sh", ["sh", str(launcher), *sys.argv[1:]], environment)
