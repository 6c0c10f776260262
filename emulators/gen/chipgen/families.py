# SPDX-License-Identifier: GPL-2.0-or-later
"""Every family there is."""

from __future__ import annotations

from chipgen import parallel, spi_aai, spi_dataflash, spi_eeprom, spi_nor
from chipgen.family import Family

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        *(module.FAMILY for module in (spi_aai, spi_dataflash, spi_eeprom, spi_nor)),
        *parallel.FAMILIES,
    )
}
