# SPDX-License-Identifier: GPL-2.0-or-later
"""SPI EEPROM: what model/spi_eeprom.c needs to know of a part."""

from __future__ import annotations

from chipgen import spi
from chipgen.ctext import c_fields
from chipgen.family import Family, FamilyFacts, Kind
from chipgen.figures import Work
from chipgen.sources import Sources
from chipgen.table import Table

BUSY = {"page_program": Work.PAGE_PROGRAM, "write_status": Work.WRITE_STATUS}


def _read(top: Table, _size_bytes: int, sources: Sources) -> FamilyFacts:
    """The RDID of the chip file is what its identification page begins with."""
    status = top.table("status")
    fields = {
        **spi.read_clock(top.table("clock"), sources),
        **spi.read_id(top.table("id"), sources),
        **spi.read_status(status, sources),
        **spi.read_protection(top.table("protection"), status, sources),
        **spi.read_busy(top.table("busy"), BUSY, sources),
    }
    return FamilyFacts(erases=(), kinds=(Kind(member="spi", lines=tuple(c_fields(fields))),))


FAMILY = Family(
    name="spi_eeprom",
    keys_required=("id", "clock", "status", "protection", "busy"),
    headers=("spi.h",),
    read=_read,
)
