# SPDX-License-Identifier: GPL-2.0-or-later
"""The programmers that are QEMU devices in a guest. The chip is behind their registers.

All other programmers have no device: they use serprog, or the chip is inside the subject.
"""

from dataclasses import dataclass

from delayrig.model.cell import Cell, Programmer
from delayrig.model.chips import ChipFacts
from delayrig.model.lane import LaneName
from delayrig.model.platform import Arch

BUILT_WITHOUT = "built without "
"""The beginning of the reason why a subject without the driver is skipped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    front: str
    """The name of its registers in the chip plugin (emulators/programmers/)."""
    qemu_words: tuple[str, ...]
    """Additional words of QEMU's command line."""
    driver: str
    """flashrom's name of the programmer. A build may lack it."""
    library: str = "libpci-dev"
    """Debian's package of the library without which flashrom is built without the programmer."""
    opens: tuple[str, ...] = ("/dev/mem",)
    """Files in the guest of which a program opens one before it reaches the registers.

    The agent watches them, so there is at least one. For a card with I/O ports it is the card's
    file `config` in /sys.
    """
    options: str = ""
    """The options after `driver` in the value of `-p`."""
    buses: tuple[str, ...] = ("spi",)
    """The buses of the chips that it supports."""
    size_bytes_max: int
    """The size of the largest such chip."""
    size_bytes_min: int = 0
    block_bytes: tuple[int, ...] = ()
    """The sizes of the blocks that it can erase; empty: any size."""
    chip_name: str = ""
    """flashrom's name for any chip if the device hides which part it is; else empty."""
    archs: tuple[Arch, ...] = (Arch.X86_64,)
    kernel: str = ""
    """The kernel of images/recipes.toml that has the driver of the device; empty: the usual one."""
    is_of_plugin: bool = False
    """True if the chip plugin provides the device. QEMU then needs the plugin at boot already."""
    has_state_in_memory: bool = False
    """True if QEMU reads the guest's memory when it loads the device's state."""

    def kernel_of(self, arch: Arch) -> str:
        """Returns the name of `kernel` for that architecture; empty: the usual one."""
        is_unchanged = not self.kernel or arch is Arch.X86_64
        return self.kernel if is_unchanged else f"{self.kernel}-{arch}"

    @property
    def argument(self) -> str:
        """Returns the value of flashrom's `-p`."""
        return ":".join(filter(None, [self.driver, self.options]))

    def chip_refusal(self, chip: ChipFacts) -> str:
        """Returns why it cannot reach that chip; empty where it can."""
        if not self.chip_name and (refusal := one_select_refusal(chip)):
            return refusal
        if chip.bus not in self.buses or chip.size_bytes > self.size_bytes_max:
            return (
                f"{self.driver} reaches {' and '.join(self.buses)} parts"
                f" of up to {self.size_bytes_max >> 10} KiB,"
                f" and a {chip.name} is on {chip.bus} and has {chip.size_bytes >> 10} KiB"
            )
        if chip.size_bytes < self.size_bytes_min:
            return f"{self.driver} reaches parts from {self.size_bytes_min >> 10} KiB on"
        if self.block_bytes and chip.erase_unit_bytes not in self.block_bytes:
            return f"{self.driver} cannot erase the smallest block of a {chip.name}"
        return ""


def _usb_adapter(front: str, *, driver: str, library: str, options: str = "") -> Device:
    return Device(
        front=front,
        library=library,
        qemu_words=("-device", "qemu-xhci,addr=0x11", "-device", "rig-usb"),
        driver=driver,
        options=options,
        opens=("/dev/bus/usb/001/002",),
        size_bytes_max=64 << 20,
        archs=(Arch.X86_64, Arch.ARM64),
        kernel="full",
        is_of_plugin=True,
        has_state_in_memory=True,
    )


DEVICES = {
    Programmer.NICINTEL: Device(
        front="nicintel",
        # A fixed PCI address, so that no other device changes it.
        qemu_words=("-device", "i82551,romfile=,addr=0x10"),
        driver="nicintel",
        buses=("parallel",),
        size_bytes_max=128 << 10,
    ),
    Programmer.INTERNAL: Device(
        front="ich9",
        qemu_words=("-machine", "q35"),
        driver="internal",
        size_bytes_max=16 << 20,  # Its commands have addresses of three bytes.
    ),
    Programmer.INTERNAL_HWSEQ: Device(
        front="ich9",
        qemu_words=("-machine", "q35"),
        driver="internal",
        options="ich_spi_mode=hwseq",
        size_bytes_max=16 << 20,
        size_bytes_min=512 << 10,
        block_bytes=(256, 4 << 10, 64 << 10),
        chip_name="Opaque flash chip",
    ),
    Programmer.INTERNAL_MEMORY: Device(
        front="amd8111",
        qemu_words=(),
        driver="internal",
        options="laptop=this_is_not_a_laptop",
        buses=("parallel", "lpc", "fwh"),
        size_bytes_max=4 << 20,
        is_of_plugin=True,
    ),
    Programmer.CH341A_SPI: _usb_adapter("ch341a", driver="ch341a_spi", library="libusb-1.0-0-dev"),
    Programmer.FT2232_SPI: _usb_adapter(
        "ft2232", driver="ft2232_spi", library="libftdi1-dev", options="type=2232H"
    ),
    Programmer.LINUX_SPI: Device(
        front="butterfly",
        qemu_words=("-chardev", "null,id=butterfly", "-device", "isa-parallel,chardev=butterfly"),
        driver="linux_spi",
        library="",
        options="dev=/dev/spidev42.1",
        opens=("/dev/spidev42.1",),
        size_bytes_max=64 << 20,
        kernel="full",
    ),
    Programmer.NICINTEL_SPI: Device(
        front="nicintel_spi",
        qemu_words=("-machine", "q35", "-device", "e1000e,romfile=,addr=0x10"),
        driver="nicintel_spi",
        size_bytes_max=64 << 20,
    ),
}


def one_select_refusal(chip: ChipFacts) -> str:
    """Returns why a programmer with one chip select cannot reach that chip; empty where it can."""
    two = chip.dies.by_chip_select
    return "only internal:hwseq chooses between two parts by the address" if two else ""


def programmers_of(chip: ChipFacts) -> list[str]:
    """Returns the programmers that reach that chip, serprog first."""
    reaching = [name for name, device in DEVICES.items() if not device.chip_refusal(chip)]
    serprog = () if one_select_refusal(chip) else (Programmer.SERPROG_IP, Programmer.SERPROG_DEV)
    return [str(name) for name in (*serprog, *reaching)]


def device_of(cell: Cell) -> Device | None:
    """Returns the device that the cell's subject drives; None if the guest has none."""
    return DEVICES.get(cell.programmer)


def device_refusal(cell: Cell) -> str:
    """Returns why no guest of the cell's lane and architecture has its device; empty if one has."""
    device = device_of(cell)
    if device is None:
        return ""
    if cell.lane is not LaneName.VIRTUAL:
        return f"{cell.programmer} works only on the {LaneName.VIRTUAL} lane"
    if cell.arch not in device.archs:
        return f"{cell.programmer} works only in {' and '.join(device.archs)} guests"
    return ""
