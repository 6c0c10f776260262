# SPDX-License-Identifier: GPL-2.0-or-later
"""What the rig must know of the emulated chips; their figures stay with the emulator."""

import tomllib
from pathlib import Path

import msgspec

from delayrig.errors import RigFaultError

BUS_OF_FAMILY = {"spi_nor": "spi", "spi_aai": "spi", "spi_eeprom": "spi", "spi_dataflash": "spi"}


class ChipFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The few keys of emulators/chips/NAME.toml that the rig uses."""

    name: str
    vendor: str
    family: str
    size_bytes: int
    flashrom_names: list[str]

    @property
    def bus(self) -> str:
        """What connects it to its programmer."""
        return BUS_OF_FAMILY[self.family]


def read_chips(checkout: Path) -> dict[str, ChipFacts]:
    """Every chip by name."""
    chips = {}
    for file in sorted((checkout / "emulators" / "chips").glob("*.toml")):
        try:
            facts = msgspec.convert(tomllib.loads(file.read_text("utf-8")), ChipFacts)
        except (msgspec.ValidationError, tomllib.TOMLDecodeError) as error:
            raise RigFaultError(f"{file}: {error}", hint="mend the chip's file") from error
        chips[facts.name] = facts
    return chips
