# SPDX-License-Identifier: GPL-2.0-or-later
"""The paths of the checkout and of the folder of state, which `rig/rig clean` removes."""

import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from delayrig.setup.layout import Layout, Place, find_layout

HOST_ARCH = "x86_64"
"""The architecture of this machine and of most guests."""
LAUNCHER = "rig/rig"
Preparing = Callable[[str], None]
"""A callback that gets the name of an image before it is built."""
EMULATOR, LATENCY_PROGRAM = "emulators/serprog/serprog-emu", "images/latency/rig-latency"


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths(Layout):
    other_snapshots: Path | None = None
    """A folder for snapshots that no other run may use."""

    live_agent = Place("build", "images/agent/live-agent")
    """Process 1 of the guests of the live lane."""
    cpu_plugin = Place("build", "emulators/cpu_plugin/cpu-plugin.so")
    """The plugin that gives the CPUs of those guests their speeds."""
    library_client = Place("build", "images/library_client/library-client")
    """The program that calls a subject's library."""
    confine_program = Place("build", "images/confine/rig-confine")
    """The program that starts a subject in its sandbox on this machine."""
    qemu_preload = Place("build", "emulators/qemu_preload/qemu-preload.so")
    delay_plugin = Place("build", "emulators/delay_plugin/delay-plugin.so")
    """The QEMU plugin that observes delays."""
    chip_plugin = Place("build", "emulators/programmers/chip-plugin.so")
    """The QEMU plugin that has a chip behind a programmer's registers."""
    flashrom_build = Place("build", "flashrom")
    """The bundled flashrom and its test builds."""
    images = Place("state", "images")
    """Kernels, initial RAM file systems and subjects, by digest."""

    emulator = Place("build", EMULATOR)
    """The serprog server that contains the chip model."""
    latency_program = Place("build", LATENCY_PROGRAM)
    """The program that measures how late waits end."""

    @property
    def snapshots(self) -> Path:
        """Returns the folder of snapshots. The name of each contains a digest of its inputs."""
        return self.other_snapshots or self.state / "snapshots"

    def build_of(self, arch: str) -> Path:
        """Returns the folder of the programs that meson builds for guests of that architecture."""
        return self.build if arch == HOST_ARCH else self.state / f"build-{arch}"

    def agent_of(self, arch: str) -> Path:
        """Returns process 1 of guests that contain the emulator."""
        return self.build_of(arch) / "images" / "agent" / "agent"

    def device_agent_of(self, arch: str) -> Path:
        """Returns process 1 of guests whose chip is in QEMU."""
        return self.build_of(arch) / "images" / "agent" / "device-agent"

    def emulator_of(self, arch: str) -> Path:
        return self.build_of(arch) / EMULATOR

    def latency_program_of(self, arch: str) -> Path:
        return self.build_of(arch) / LATENCY_PROGRAM


def as_called(text: str) -> str:
    """Returns the text with the path of the launcher where the current folder has no `rig/rig`."""
    if Path(LAUNCHER).is_file():
        return text
    return text.replace(f"{LAUNCHER} ", f"{shlex.quote(str(find_paths().checkout / LAUNCHER))} ", 1)


def find_paths() -> Paths:
    layout = find_layout(os.environ)
    return Paths(checkout=layout.checkout, state=layout.state, moved=layout.moved)
