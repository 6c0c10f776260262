# SPDX-License-Identifier: GPL-2.0-or-later
"""A checkout that nobody has set up yet."""

import os
import shutil
import subprocess
from pathlib import Path

from delayrig.base.paths import Paths

CARRIED = ("images", "wheels")
"""What its folder of state is given, so that the test asks the network for nothing."""


def copy_checkout(paths: Paths, fresh: Path, *, linked: bool = True) -> Path:
    """The files that are or would be committed; `linked`: what is carried stays one on the disk."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"],
        cwd=paths.checkout,
        capture_output=True,
        check=True,
    )
    for name in filter(None, os.fsdecode(listed.stdout).split("\0")):
        if (paths.checkout / name).is_file():
            (fresh / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(paths.checkout / name, fresh / name)
    for carried in CARRIED:
        shutil.copytree(
            paths.state / carried,
            fresh / ".rig" / carried,
            copy_function=_link if linked else shutil.copy2,
            symlinks=True,
        )
    return fresh


def _link(path: str, to: str) -> object:
    """Finished files are never written to, so this will do where the disk is the same."""
    try:
        os.link(path, to)
    except OSError:
        shutil.copy2(path, to)
    return to
