# SPDX-License-Identifier: GPL-2.0-or-later
"""The inputs of QEMU's plugins for one cell: delay functions to watch, and a chip in QEMU.

The plugin of emulators/delay_plugin/ maps a file that requests which functions to watch, and writes
its results to another file. The plugin of emulators/programmers/ emulates a chip behind the
registers of a programmer, and reads its settings whenever the machine resumes.

After a reset QEMU continues with another cell. While it is paused, a new request and new settings
are written, which contain the number of that cell.
"""

import functools
import struct
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

REQUEST_BYTES = 1 << 20
"""The size of a request, enough for 64 functions and 4096 marks."""
CELL_NUMBER = struct.Struct("<Q")
CHECK_LIMIT_S = 60
CELL_KEY = "cell"
LINE_START = "chip plugin: "
NOT_LOADED = "Could not load plugin"
QEMU_NEEDED = "it needs QEMU 9.2 to 10.1, built as Debian builds it"


@dataclass(frozen=True, slots=True, kw_only=True)
class DelayWatch:
    plugin: Path
    request: Path
    """The file with the request; `write_request` makes it."""
    out: Path
    """The file with the results (emulators/delay_plugin/record.h); zeros may follow them."""
    is_virtual: bool = True
    """True if it reads QEMU's virtual clock, False if it reads this machine's monotonic clock."""

    def words(self, machine: str) -> dict[str, str]:
        return {
            "machine": machine,
            "clock": "virtual" if self.is_virtual else "monotonic",
            "request": str(self.request),
            "out": str(self.out),
        }

    def saw(self) -> bytes:
        return self.out.read_bytes().partition(b"\0")[0] if self.out.is_file() else b""


def write_request(path: Path, text: str, cell: int = 1) -> None:
    """Writes the request, which is valid from now on. QEMU must be paused, or not yet started.

    The number is written last, because QEMU reacts to it.
    """
    content = text.encode("ascii") + b"\0"
    if CELL_NUMBER.size + len(content) > REQUEST_BYTES:
        raise ValueError(f"{path}: no room for {len(content)} bytes")
    with path.open("r+b" if path.is_file() else "w+b") as file:
        file.truncate(REQUEST_BYTES)
        file.seek(CELL_NUMBER.size)
        file.write(content)
        file.seek(0)
        file.write(CELL_NUMBER.pack(cell))


def read_request(path: Path) -> str:
    return path.read_bytes()[CELL_NUMBER.size :].partition(b"\0")[0].decode("ascii")


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
    """Returns why this QEMU cannot emulate a chip behind those registers; empty if it can.

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
    # The plugin's messages are mixed with QEMU's. There are none if QEMU could not load it.
    said = [line.removeprefix(LINE_START) for line in lines if line.startswith(LINE_START)]
    if done.returncode < 0:
        # The plugin expects another memory layout of QEMU.
        said = [f"it ended by signal {-done.returncode} when it was tried", QEMU_NEEDED]
    elif not said and NOT_LOADED in done.stderr:
        said = [*lines, QEMU_NEEDED]
    return f"this QEMU has no {front}: {'; '.join(said or lines) or 'it does not say why'}"
