# SPDX-License-Identifier: GPL-2.0-or-later
"""Where things are: the checkout, and the one folder of state that `rig/rig clean` removes."""

import os
from dataclasses import dataclass
from pathlib import Path

from delayrig.setup.layout import find_layout

HOST_ARCH = "x86_64"
"""Of this machine, and of most guests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """Folders of this installation."""

    checkout: Path
    state: Path
    other_snapshots: Path | None = None
    """Where snapshots are to be made that nobody else shall use."""

    @property
    def build(self) -> Path:
        """What meson builds."""
        return self.state / "build"

    @property
    def images(self) -> Path:
        """Kernels, initial RAM file systems and subjects, by digest."""
        return self.state / "images"

    @property
    def snapshots(self) -> Path:
        """Booted guests, by digest of everything that they are made of."""
        return self.other_snapshots or self.state / "snapshots"

    def build_of(self, arch: str) -> Path:
        """The same for guests of another architecture."""
        return self.build if arch == HOST_ARCH else self.state / f"build-{arch}"

    def agent_of(self, arch: str) -> Path:
        """Process 1 of every guest."""
        return self.build_of(arch) / "images" / "agent" / "agent"

    @property
    def live_agent(self) -> Path:
        """Process 1 of the guests of the live lane."""
        return self.build / "images" / "agent" / "live-agent"

    @property
    def cpu_plugin(self) -> Path:
        """What gives the CPUs of those guests their speeds."""
        return self.build / "emulators" / "cpu" / "cpu-plugin.so"

    def emulator_of(self, arch: str) -> Path:
        """The emulator that runs in guests."""
        return self.build_of(arch) / "emulators" / "serprog" / "serprog-emu"

    def latency_program_of(self, arch: str) -> Path:
        """What measures how late waits end."""
        return self.build_of(arch) / "images" / "latency" / "rig-latency"

    @property
    def latency_program(self) -> Path:
        """The same for this machine."""
        return self.latency_program_of(HOST_ARCH)

    @property
    def library_client(self) -> Path:
        """The program in which a subject's library runs."""
        return self.build / "images" / "host" / "library-client"

    @property
    def confine_program(self) -> Path:
        """What limits and starts a subject in its sandbox on this machine."""
        return self.build / "images" / "confine" / "rig-confine"

    @property
    def emulator(self) -> Path:
        """The serprog server with the chip model in it."""
        return self.emulator_of(HOST_ARCH)

    @property
    def qemu_preload(self) -> Path:
        """What is preloaded into QEMU."""
        return self.build / "emulators" / "qemu_preload" / "qemu-preload.so"

    @property
    def delay_plugin(self) -> Path:
        """What QEMU sees delays with."""
        return self.build / "emulators" / "delays" / "delay-plugin.so"

    @property
    def flashrom_build(self) -> Path:
        """Our own flashrom and its test builds."""
        return self.build / "flashrom"


def find_paths() -> Paths:
    """The folders that set-up uses, too."""
    layout = find_layout(os.environ)
    return Paths(checkout=layout.checkout, state=layout.state)
