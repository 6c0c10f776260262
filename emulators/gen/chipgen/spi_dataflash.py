# SPDX-License-Identifier: GPL-2.0-or-later
"""AT45 DataFlash: what model/spi_dataflash.c needs to know of a part."""

from __future__ import annotations

from chipgen import spi
from chipgen.ctext import c_fields
from chipgen.erases import read_erases
from chipgen.family import Family, FamilyFacts, Kind
from chipgen.figures import Work
from chipgen.sources import Sources
from chipgen.table import Table

PAGE_BYTES_MAX = 528
ERASE_OPCODES = (0x81, 0x50, 0x7C, 0xC7)
BUSY_OF_SPI = {"page_program": Work.PAGE_PROGRAM}
BUSY_OF_DATAFLASH = {
    "page_program_with_erase": Work.SECTOR_ERASE,
    "page_to_buffer": Work.PAGE_READ,
    "buffer_compare": Work.PAGE_READ,
}
WAITS = ("deep_power_down", "release_power_down")


def _read(top: Table, size_bytes: int, sources: Sources) -> FamilyFacts:
    page_bytes = top.integer("page_bytes", low=1, high=PAGE_BYTES_MAX)
    busy = spi.read_busy(top.table("busy"), BUSY_OF_SPI | BUSY_OF_DATAFLASH, sources)
    of_spi = {
        **spi.read_clock(top.table("clock"), sources),
        **spi.read_id(top.table("id"), sources),
        **{key: busy[key] for key in BUSY_OF_SPI},
        **spi.read_wait(top.table("wait"), sources, required=WAITS, optional=spi.POWER_UP),
    }
    of_dataflash = {
        "binary_page_bytes": str(_binary_page_bytes(top, page_bytes)),
        "density": str(top.integer("density", low=0, high=15)),
        **{key: busy[key] for key in BUSY_OF_DATAFLASH},
    }
    return FamilyFacts(
        erases=read_erases(top, opcodes=ERASE_OPCODES, size_bytes=size_bytes, sources=sources),
        kinds=(
            Kind(member="spi", lines=tuple(c_fields(of_spi))),
            Kind(member="dataflash", lines=tuple(c_fields(of_dataflash))),
        ),
    )


FAMILY = Family(
    name="spi_dataflash",
    keys_required=("binary_page_bytes", "density", "id", "clock", "erase", "busy", "wait"),
    headers=("spi.h", "dataflash.h"),
    read=_read,
)


def _binary_page_bytes(top: Table, page_bytes: int) -> int:
    value = top.integer("binary_page_bytes", low=1, high=page_bytes)
    if value & (value - 1):
        raise top.error("binary_page_bytes", f"is {value}", remedy="write a power of two")
    return value
