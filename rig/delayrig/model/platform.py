# SPDX-License-Identifier: GPL-2.0-or-later
"""What differs from one architecture of guests to another, as values.

Sources: QEMU docs/system/arm/virt, hw/arm/virt.c (memory map), target/arm/cpu.c (`cntfrq`),
docs/specs/pvpanic; Linux Documentation/admin-guide/kernel-parameters.
"""

from dataclasses import dataclass, replace
from enum import StrEnum


class Arch(StrEnum):
    """What the guest's kernel and all its programs are built for."""

    X86_64 = "x86_64"
    I386 = "i386"
    ARM64 = "arm64"


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """A machine of QEMU's, and what a distribution calls its programs."""

    debian: str
    """dpkg's name of the architecture."""
    elf_machines: tuple[str, ...]
    """Programs that such a guest runs."""
    gnu: str
    """The prefix of the cross compiler; empty for what this machine's own compiler builds."""
    program: str
    machine: str
    machine_options: str
    """`{hpet}` is whether it has such a timer."""
    cpu_model: str
    cpu_options: str = ""
    firmware: str = ""
    """Empty where QEMU starts the kernel itself."""
    pause_device: str
    ram_block: str
    """What QEMU calls its RAM."""
    ram_base: int
    console: str
    kernel_words: tuple[str, ...]
    """What only this architecture's kernel is told. `{mib}` and `{address_mib}` are the window's,
    `{kernel_mib}` is what is left to the kernel, `{clock}` makes it take its clock."""
    clocksource: str
    """The clock of the guest's kernel that is the raw counter, and nothing but."""
    counter: str
    """The emulator's name for the same counter."""
    can_be_reset: bool = True
    """Whether its machine goes on when its state was loaded for a second time."""
    libvirt_arch: str = ""
    """Empty where libvirt cannot describe the same machine."""


_PC = Platform(
    debian="amd64",
    elf_machines=("EM_X86_64", "EM_386"),
    gnu="",
    program="qemu-system-x86_64",
    machine="pc",
    machine_options="usb=off,hpet={hpet},vmport=off",
    cpu_model="qemu64",  # no RDRAND: its numbers would differ from run to run
    firmware="qboot.rom",
    pause_device="pvpanic",
    ram_block="pc.ram",
    ram_base=0,
    console="ttyS0",
    kernel_words=(
        *("{clock}", "noreplace-smp", "8250.nr_uarts=1", "pci=lastbus=0"),
        "memmap={mib}M${address_mib}M",
    ),
    clocksource="tsc",
    counter="tsc",
    libvirt_arch="x86_64",
)

PLATFORMS = {
    Arch.X86_64: _PC,
    # The same machine: it is the kernel that makes a guest one of 32 bits.
    Arch.I386: replace(_PC, debian="i386", elf_machines=("EM_386",), gnu="i686-linux-gnu"),
    Arch.ARM64: Platform(
        debian="arm64",
        elf_machines=("EM_AARCH64",),
        gnu="aarch64-linux-gnu",
        program="qemu-system-aarch64",
        machine="virt",
        machine_options="dtb-randomness=off",
        cpu_model="cortex-a53",  # no RNDR
        cpu_options="cntfrq=1000000000",  # a count a nanosecond; 62.5 MHz of itself
        pause_device="pvpanic-pci,addr=1",
        ram_block="mach-virt.ram",
        # QEMU 10.0 ends by a fault. And images/agent/window.c copies all of what it is given, with
        # what only fills it up.
        can_be_reset=False,
        ram_base=0x4000_0000,
        console="ttyAMA0",
        # There is no memmap=: what lies behind the limit is no memory of the kernel's.
        kernel_words=("mem={kernel_mib}M",),
        clocksource="arch_sys_counter",
        counter="cntvct",
    ),
}


def labelled(name: str, arch: Arch) -> str:
    """What results and the lock call a part of that architecture; the usual one goes unsaid."""
    return name if arch is Arch.X86_64 else f"{name} {arch}"
