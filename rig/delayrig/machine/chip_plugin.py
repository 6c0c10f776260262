# SPDX-License-Identifier: GPL-2.0-or-later
"""The settings of a chip in QEMU, behind the registers of a programmer.

The plugin of emulators/programmers/ reads its settings whenever the machine resumes. A QEMU that is
reset resumes with another cell. While it is paused, new settings are written with the number of the
new cell.
"""

import functools
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

CHECK_LIMIT_S = 60
CELL_KEY = "cell"
LINE_START = "chip plugin: "
NOT_LOADED = "Could not load plugin"
QEMU_NEEDED = "it needs QEMU 9.2 to 10.1, built as Debian builds it"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChipPlugin:
    plugin: Path
    front: str
    settings: Path
    """The file of the chip's settings; `write_settings` makes it."""
    values: Mapping[str, str]
    """The settings by key (emulators/programmers/session.h)."""

    @property
    def words(self) -> dict[str, str]:
        return {"front": self.front, "settings": str(self.settings)}


def write_settings(path: Path, values: Mapping[str, str], cell: int = 1) -> None:
    """Writes the settings of the next chip; QEMU must be paused, or not started yet."""
    lines = {CELL_KEY: str(cell), **values}.items()
    path.write_text("".join(f"{key}={value}\n" for key, value in lines), encoding="utf-8")


@functools.cache
def refusal_of_qemu(program: str, plugin: Path, front: str, words: tuple[str, ...]) -> str:
    """Returns why that QEMU cannot have a chip behind those registers; empty if it can.

    QEMU is started without a guest, and ends by itself.
    """
    command = [program, "-nodefaults", "-no-user-config", "-display", "none", "-S", *words]
    command += ["-plugin", f"{str(plugin).replace(',', ',,')},front={front},check=yes"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=CHECK_LIMIT_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{program} cannot be asked whether it has {front}: {error}"
    if done.returncode == 0:
        return ""
    lines = done.stderr.splitlines()
    # The plugin's messages are among QEMU's own. There are none if QEMU could not load it.
    said = [line.removeprefix(LINE_START) for line in lines if line.startswith(LINE_START)]
    if done.returncode < 0:
        # The plugin called into a QEMU with another layout.
        said = [f"it ended by signal {-done.returncode} when it was tried", QEMU_NEEDED]
    elif not said and NOT_LOADED in done.stderr:
        said = [*lines, QEMU_NEEDED]
    return f"this QEMU has no {front}: {'; '.join(said or lines) or 'it does not say why'}"
