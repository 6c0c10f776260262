# SPDX-License-Identifier: GPL-2.0-or-later
"""A checkout that was never set up."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from delayrig.base.paths import Paths
from delayrig.setup.layout import STATE_VARIABLE

COPIED = ("images", "wheels")
"""Folders that are copied to the new state folder, so that the test needs no network."""
COMMAND_LIMIT_S = 900


def copy_checkout(paths: Paths, fresh: Path, *, linked: bool = True) -> Path:
    """Copies all files that git does not ignore, and the folders of COPIED; returns `fresh`.

    With `linked`, hard links replace the copies of those folders where that is possible.
    """
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
    for folder in COPIED:
        _copy(paths.state / folder, fresh / ".rig" / folder, linked=linked and same_disk)
    return fresh


def _copy(source: Path, target: Path, *, linked: bool) -> None:
    """Copies or hard-links a folder, with its device nodes. Files of COPIED never change."""
    target.parent.mkdir(exist_ok=True)
    subprocess.run(["cp", "-al" if linked else "-a", str(source), str(target)], check=True)


def run_line(
    checkout: Path, line: str, variables: Mapping[str, str], before: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Runs the line in a shell, with the state folder of the checkout.

    The words `before` begin the command; they may change the user.
    """
    environment = {name: value for name, value in os.environ.items() if name != STATE_VARIABLE}
    return subprocess.run(
        [*before, "sh", "-c", line],
        cwd=checkout,
        env={**environment, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=COMMAND_LIMIT_S,
    )
