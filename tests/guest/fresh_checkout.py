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
    same_disk = paths.state.stat().st_dev == fresh.stat().st_dev
    for carried in CARRIED:
        _copy(paths.state / carried, fresh / ".rig" / carried, linked=linked and same_disk)
    return fresh


def _copy(source: Path, target: Path, *, linked: bool) -> None:
    """Finished files are never written to, so links will do. Unpacked roots hold device nodes."""
    target.parent.mkdir(exist_ok=True)
    subprocess.run(["cp", "-al" if linked else "-a", str(source), str(target)], check=True)
