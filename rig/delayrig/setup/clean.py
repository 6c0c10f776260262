# SPDX-License-Identifier: GPL-2.0-or-later
"""Removes everything that set-up made."""

import os
import re
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from delayrig.setup.command import commands
from delayrig.setup.console import Context, human_size
from delayrig.setup.errors import ExitCode, SetupError
from delayrig.setup.layout import Layout, data_home
from delayrig.setup.lock import TAG_NAME, hold_state
from delayrig.setup.scratch import sweep_scratch
from delayrig.setup.steps import disk_usage_bytes

ESCAPED = re.compile(r"\\([0-7]{3})")


def clean(context: Context) -> int:
    layout, console = context.layout, context.console
    if swept := sweep_scratch(layout.state):
        console.write(f"removed {swept} scratch folders of killed runs")
    if not layout.state.exists():
        console.write(f"nothing to clean: {layout.state} does not exist")
        return ExitCode.PASS
    check_ours(layout)
    size = human_size(disk_usage_bytes(layout.state))
    console.write(f"{layout.state} uses {size} of disk")
    if console.interactive and not context.yes and not console.ask("Remove all of it?"):
        console.write("nothing was removed")
        return ExitCode.PASS
    with hold_state(layout, console):
        text = layout.installed.read_text(encoding="utf-8") if layout.installed.is_file() else ""
        remove(layout.state)
    console.write(f"removed {layout.state}: {size} freed")
    if kept := history_file(os.environ):
        console.write("the history of past runs stays; to remove it:")
        console.write(commands(["rm", "-r", "--", str(kept.parent)]))
    if names := sorted(set(text.split())):
        console.write("distribution packages that set-up installed stay; to remove them:")
        console.write(commands(["apt-get", "remove", "--auto-remove", *names]))
    return ExitCode.PASS


def check_ours(layout: Layout) -> None:
    """Raises `SetupError` if set-up did not make the folder, or something is mounted in it."""
    if layout.moved and not (layout.state / TAG_NAME).is_file() and any(layout.state.iterdir()):
        raise SetupError(
            f"{layout.state} was not made by the rig's set-up; nothing was removed",
            "check $FLASHROM_RIG_STATE, or remove the folder by hand",
        )
    mounts = Path("/proc/self/mounts").read_text(encoding="utf-8")
    if mounted := mounts_below(layout.state, mounts):
        raise SetupError(
            f"something is mounted below {layout.state}; nothing was removed",
            "run, as root:\n" + commands(*(["umount", place] for place in mounted)),
        )


def mounts_below(folder: Path, mounts: str) -> list[str]:
    """Returns the mount points inside a folder, the deepest first."""
    places = [line.split(" ")[1] for line in mounts.splitlines() if line.count(" ") >= 5]
    # The kernel writes a space, a tab, a newline and a backslash as an octal number.
    places = [ESCAPED.sub(lambda found: chr(int(found[1], 8)), place) for place in places]
    inside = (place for place in places if place.startswith(f"{folder.resolve()}/"))
    return sorted(inside, reverse=True)


def remove(folder: Path) -> None:
    """Removes a folder, even if folders inside are not writable."""
    for place, names, _ in os.walk(folder):
        for inside in (Path(place) / name for name in names):
            if not inside.is_symlink() and not os.access(inside, os.R_OK | os.W_OK | os.X_OK):
                # If it belongs to another user, rmtree() below reports that.
                with suppress(PermissionError):
                    inside.chmod(0o700)
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise SetupError(
            f"could not remove {error.filename or folder}: {error.strerror}",
            "run:\n" + commands(["sudo", "rm", "-rf", "--", str(folder)]),
        ) from error


def history_file(environment: Mapping[str, str]) -> Path | None:
    """Returns the file of past runs among the user's data; None if there is none."""
    try:
        file = data_home(environment) / "flashrom-delay-rig" / "history.sqlite"
    except RuntimeError:
        return None
    return file if file.is_file() else None
