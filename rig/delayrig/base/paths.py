# SPDX-License-Identifier: GPL-2.0-or-later
"""Where things are: the checkout, and the one folder of state that `rig/rig clean` removes."""

import os
from dataclasses import dataclass
from pathlib import Path

from delayrig.setup.layout import Layout, Place, find_layout

HOST_ARCH = "x86_64"
"""Of this machine, and of most guests."""
EMULATOR, LATENCY_PROGRAM = "emulators/serprog/serprog-emu", "images/latency/rig-latency"


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths(Layout):
    other_snapshots: Path | None = None
    """Where snapshots are to be made that nobody else shall use."""

    live_agent = Place("build", "images/agent/live-agent")
    """Process 1 of the guests of the live lane."""
    cpu_plugin = Place("build", "emulators/cpu/cpu-plugin.so")
    """What gives the CPUs of those guests their speeds."""
    library_client = Place("build", "images/host/library-client")
    """The program in which a subject's library runs."""
    confine_program = Place("build", "images/confine/rig-confine")
    """What limits and starts a subject in its sandbox on this machine."""
    qemu_preload = Place("build", "emulators/qemu_preload/qemu-preload.so")
    delay_plugin = Place("build", "emulators/delays/delay-plugin.so")
    """What QEMU sees delays with."""
    flashrom_build = Place("build", "flashrom")
    """Our own flashrom and its test builds."""
    images = Place("state", "images")
    """Kernels, initial RAM file systems and subjects, by digest."""

    emulator = Place("build", EMULATOR)
    """The serprog server with the chip model in it."""
    latency_program = Place("build", LATENCY_PROGRAM)
    """What measures how late waits end."""

    @property
    def snapshots(self) -> Path:
        """Booted guests, by digest of everything that they are made of."""
        return self.other_snapshots or self.state / "snapshots"

    def build_of(self, arch: str) -> Path:
        """What meson builds for guests of that architecture."""
        return self.build if arch == HOST_ARCH else self.state / f"build-{arch}"

    def agent_of(self, arch: str) -> Path:
        """Process 1 of every guest."""
        return self.build_of(arch) / "images" / "agent" / "agent"

    def emulator_of(self, arch: str) -> Path:
        return self.build_of(arch) / EMULATOR

    def latency_program_of(self, arch: str) -> Path:
        return self.build_of(arch) / LATENCY_PROGRAM


def find_paths() -> Paths:
    layout = find_layout(os.environ)
    return Paths(checkout=layout.checkout, state=layout.state, moved=layout.moved)
