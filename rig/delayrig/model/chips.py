# SPDX-License-Identifier: GPL-2.0-or-later
"""The facts about the emulated chips that the rig itself uses. The emulator has the others."""

import tomllib
from pathlib import Path

import msgspec

from delayrig.base.errors import RigFaultError


class BusFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The table `[bus]` of a part that is not on SPI."""

    kind: str


class EraseFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One way to erase a block of the part; without a size if its blocks have different sizes."""

    size_bytes: int | None = None


class SuspendFacts(msgspec.Struct, frozen=True, kw_only=True):
    programs: bool = False
    erase_flag: dict[str, int] | None = None
    """The flag that shows a suspended erase; None: no register of the emulator shows it."""
    program_flag: dict[str, int] | None = None


class DiesFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Dies that share the addresses."""

    by_chip_select: bool = False


class ProtectionFacts(msgspec.Struct, frozen=True, kw_only=True):
    kind: str = "none"
    bits: list[int] = []


class ChipFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The few keys of emulators/chips/NAME.toml that the rig uses."""

    name: str
    vendor: str
    family: str
    size_bytes: int
    flashrom_names: list[str]
    bus_facts: BusFacts | None = msgspec.field(default=None, name="bus")
    erase: list[EraseFacts] = []
    wait: dict[str, object] = {}
    """The waits that the part requires of a client, by name."""
    suspend: SuspendFacts | None = None
    protection: ProtectionFacts = ProtectionFacts()
    dies: DiesFacts = DiesFacts()

    @property
    def erase_unit_bytes(self) -> int:
        """Returns the size of the smallest erase block; 1 if the part has none with a size."""
        return min((erase.size_bytes for erase in self.erase if erase.size_bytes), default=1)

    @property
    def bus(self) -> str:
        """Returns the bus of the part: spi, parallel, lpc or fwh."""
        return self.bus_facts.kind if self.bus_facts else "spi"


def read_chips(checkout: Path) -> dict[str, ChipFacts]:
    chips = {}
    files = (checkout / "emulators" / "chips").glob("*.toml")
    for file in sorted(files, key=lambda file: file.stem):
        try:
            facts = msgspec.convert(tomllib.loads(file.read_text("utf-8")), ChipFacts)
        except (msgspec.ValidationError, tomllib.TOMLDecodeError) as error:
            raise RigFaultError(f"{file}: {error}", hint="mend the chip's file") from error
        chips[facts.name] = facts
    return chips
