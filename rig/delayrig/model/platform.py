# SPDX-License-Identifier: GPL-2.0-or-later
"""The differences between the architectures of guests.

Sources: QEMU docs/system/arm/virt, hw/arm/virt.c (memory map), target/arm/cpu.c (`cntfrq`),
docs/system/riscv/virt, hw/riscv/virt.c, docs/specs/pvpanic, qemu(1) (`-seed`); Linux
Documentation/admin-guide/kernel-parameters.
"""

from dataclasses import dataclass, replace
from enum import StrEnum


class Arch(StrEnum):
    """The architecture of the guest's kernel and all its programs."""

    X86_64 = "x86_64"
    I386 = "i386"
    ARM64 = "arm64"
    ARMHF = "armhf"
    RISCV64 = "riscv64"


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """A QEMU machine, and the names of its architecture in dpkg, gcc and libvirt."""

    debian: str
    """The name of the architecture in dpkg."""
    elf_machines: tuple[str, ...]
    """The ELF machines of the programs that such a guest runs."""
    gnu: str
    """The prefix of the cross compiler; empty if this machine's own compiler is used."""
    program: str
    program_package: str = ""
    """The package to fetch if `program` is missing; empty if set-up installs it."""
    machine: str
    machine_options: str
    """The options of the machine. `{hpet}` is replaced by `on` or `off`."""
    qemu_words: tuple[str, ...] = ()
    """Other options of QEMU."""
    cpu_model: str
    cpu_options: str = ""
    firmware: str = ""
    """The firmware; empty if QEMU starts the kernel itself."""
    pause_device: str
    ram_block: str
    """The name of the RAM in QEMU."""
    ram_base: int
    console: str
    kernel_words: tuple[str, ...]
    """Additions to the kernel's command line.

    `{mib}` and `{address_mib}` are size and address of the memory for results. `{kernel_mib}` is
    the size of the memory below it, and `{clock}` selects the clock.
    """
    clocksource: str
    """The clock of the guest's kernel that is the raw counter."""
    counter: str
    """The emulator's name for the same counter."""
    can_be_restored: bool = True
    """True if a saved state of the machine can be loaded; if False, each cell boots its guest."""
    can_be_reset: bool = True
    """True if a running machine can load a saved state again."""
    libvirt_arch: str = ""
    """libvirt's name of the architecture; empty if libvirt cannot describe the same machine."""


_PC = Platform(
    debian="amd64",
    elf_machines=("EM_X86_64", "EM_386"),
    gnu="",
    program="qemu-system-x86_64",
    machine="pc",
    machine_options="usb=off,hpet={hpet},vmport=off",
    cpu_model="qemu64",  # This model has no RDRAND, whose numbers would differ from run to run.
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

_VIRT = Platform(
    debian="arm64",
    elf_machines=("EM_AARCH64",),
    gnu="aarch64-linux-gnu",
    program="qemu-system-aarch64",
    machine="virt",
    machine_options="dtb-randomness=off",
    cpu_model="cortex-a53",  # This model has no RNDR.
    cpu_options="cntfrq=1000000000",  # One count is a nanosecond; the default is 62.5 MHz.
    pause_device="pvpanic-pci,addr=1",
    ram_block="mach-virt.ram",
    # QEMU 10.0 ends with a fault at the second load. Also, images/agent/window.c copies the whole
    # input, with its padding.
    can_be_reset=False,
    ram_base=0x4000_0000,
    console="ttyAMA0",
    # These kernels have no memmap=. The kernel does not use the memory above the limit.
    kernel_words=("mem={kernel_mib}M",),
    clocksource="arch_sys_counter",
    counter="cntvct",
)

PLATFORMS = {
    Arch.X86_64: _PC,
    # The machine is the same. Only the kernel makes it a guest of 32 bits.
    Arch.I386: replace(_PC, debian="i386", elf_machines=("EM_386",), gnu="i686-linux-gnu"),
    Arch.ARM64: _VIRT,
    # 32-bit programs would run on a 64-bit kernel, but QEMU's plugins cannot see their registers.
    Arch.ARMHF: replace(
        _VIRT,
        debian="armhf",
        elf_machines=("EM_ARM",),
        gnu="arm-linux-gnueabihf",
        program="qemu-system-arm",
        # Otherwise 32-bit addresses do not reach the PCI bus.
        machine_options="dtb-randomness=off,highmem=off",
        cpu_model="cortex-a15",
    ),
    Arch.RISCV64: Platform(
        debian="riscv64",
        elf_machines=("EM_RISCV",),
        gnu="riscv64-linux-gnu",
        program="qemu-system-riscv64",
        program_package="qemu-system-riscv",
        machine="virt",
        machine_options="usb=off",
        # The device tree has a seed for the kernel, and no option of the machine removes it.
        qemu_words=("-seed", "1"),
        cpu_model="rv64",
        cpu_options="zkr=off",  # Its seed CSR would return random numbers.
        pause_device="pvpanic-pci,addr=1",
        # QEMU 10.0 does not save the timers of these CPUs, so a restored guest sleeps for ever.
        can_be_restored=False,
        ram_block="riscv_virt_board.ram",
        ram_base=0x8000_0000,
        console="ttyS0",
        kernel_words=("mem={kernel_mib}M",),
        clocksource="riscv_clocksource",
        counter="rdtime",
    ),
}

_V2 = ("cx16", "lahf-lm", "popcnt", "sse4.1", "sse4.2", "ssse3")
_XSAVE = ("xsave", "xsaveopt")
"""XSAVE and its leaf of CPUID, which `xsaveopt` adds. Without the leaf the kernel cannot boot."""
V2, V3, INVARIANT_TSC = "x86-64-v2", "x86-64-v3", "invariant-tsc"
CPU_FEATURES = {
    V2: _V2,
    V3: (*_V2, "abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", *_XSAVE),
    INVARIANT_TSC: ("invtsc",),
}
"""The possible additions to `cpu_model`, as QEMU names them.

The levels are those of the x86-64 psABI, without instructions for random numbers (RDRAND).
"""
UNSUPPORTED_FEATURES = {"invtsc": "x-force-features=on"}
"""The features that QEMU hides from a guest in TCG, each with the option that shows it."""


def labelled(name: str, arch: Arch) -> str:
    """Returns the name with the architecture after it, unless that is x86_64."""
    return name if arch is Arch.X86_64 else f"{name} {arch}"
