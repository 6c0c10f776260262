# SPDX-License-Identifier: GPL-2.0-or-later
"""What the rig must know of the emulated chips; their figures stay with the emulator."""

import tomllib
from pathlib import Path

import msgspec

from delayrig.base.errors import RigFaultError


class BusFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The table `[bus]`, which only parts that are on none of SPI have."""

    kind: str


class EraseFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One of the ways to erase a part of it; of blocks of unequal sizes nothing is known here."""

    size_bytes: int | None = None


class SuspendFacts(msgspec.Struct, frozen=True, kw_only=True):
    programs: bool = False
    erase_flag: dict[str, int] | None = None
    """What shows it; None: no register that the emulator has."""
    program_flag: dict[str, int] | None = None


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
    """What a client owes the part, by name."""
    suspend: SuspendFacts | None = None
    protection: ProtectionFacts = ProtectionFacts()

    @property
    def erase_unit_bytes(self) -> int:
        """The least that can be erased without touching what lies beside it."""
        return min((erase.size_bytes for erase in self.erase if erase.size_bytes), default=1)

    @property
    def bus(self) -> str:
        """What connects it to its programmer: spi, parallel, lpc or fwh."""
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
