# SPDX-License-Identifier: GPL-2.0-or-later
"""The families on an SPI bus: the facts of a part for each of model/spi_NAME.c."""

from __future__ import annotations

from chipgen import spi
from chipgen.family import Family, Fields
from chipgen.figures import Work
from chipgen.sources import Sources
from chipgen.table import Table

PAGE_PROGRAM = {"page_program": Work.PAGE_PROGRAM}
WRITE_STATUS = {"write_status": Work.WRITE_STATUS}

NOR_PAGE_BYTES_MAX = 512
NOR_FEATURES = (
    *("four_byte_mode", "four_byte_opcodes", "extended_address", "bank_register"),
    *("flag_status", "error_bits", "volatile_status", "sfdp", "reset_f0"),
    "any_register",
)
NOR_BUSY_OPTIONAL = {
    "byte_program_first": Work.BYTE_PROGRAM,
    "byte_program_next": Work.BYTE_PROGRAM,
}
# If a wait is missing, the part lacks the command.
NOR_WAITS = (
    *("deep_power_down", "release_power_down", "release_power_down_with_id"),
    *("soft_reset", "soft_reset_during_program", "soft_reset_during_erase"),
    *("soft_reset_during_write_status", *spi.POWER_UP),
)
NOR_WAIT_DEFAULTS = {
    "release_power_down_with_id": "release_power_down",
    "soft_reset_during_program": "soft_reset",
    "soft_reset_during_erase": "soft_reset",
    "soft_reset_during_write_status": "soft_reset",
}

# The time of a byte and of a word alike: the datasheets give one time for both.
AAI_BUSY = {"page_program": Work.BYTE_PROGRAM}

DATAFLASH_PAGE_BYTES_MAX = 528
DATAFLASH_BUSY = {
    "page_program_with_erase": Work.SECTOR_ERASE,
    "page_to_buffer": Work.PAGE_READ,
    "buffer_compare": Work.PAGE_READ,
}
DATAFLASH_WAITS = ("deep_power_down", "release_power_down")


def _identity(top: Table, sources: Sources) -> Fields:
    return {
        **spi.read_clock(top.table("clock"), sources),
        **spi.read_id(top.table("id"), sources),
    }


def _registers(top: Table, sources: Sources) -> Fields:
    status = top.table("status")
    return {
        **spi.read_status(status, sources),
        **spi.read_protection(top.table("protection"), status, sources),
    }


def _read_aai(top: Table, _size_bytes: int, sources: Sources) -> dict[str, Fields]:
    top.integer("page_bytes", low=1, high=1)
    fields = {
        **_identity(top, sources),
        **_registers(top, sources),
        **spi.read_busy(top.table("busy"), sources, AAI_BUSY, {}),
        **spi.read_wait(top.table("wait"), sources, optional=spi.POWER_UP, defaults={}),
    }
    return {"spi": fields}


def _read_eeprom(top: Table, _size_bytes: int, sources: Sources) -> dict[str, Fields]:
    """Reads an EEPROM. The RDID of the chip file is the beginning of its identification page."""
    fields = {
        **_identity(top, sources),
        **_registers(top, sources),
        **spi.read_busy(top.table("busy"), sources, PAGE_PROGRAM | WRITE_STATUS, {}),
    }
    return {"spi": fields}


def _read_dataflash(top: Table, _size_bytes: int, sources: Sources) -> dict[str, Fields]:
    page_bytes = top.integer("page_bytes", low=1, high=DATAFLASH_PAGE_BYTES_MAX)
    binary_page_bytes = top.integer("binary_page_bytes", low=1, high=page_bytes)
    if binary_page_bytes & (binary_page_bytes - 1):
        problem = f"is {binary_page_bytes}"
        raise top.error("binary_page_bytes", problem, remedy="write a power of two")
    busy = spi.read_busy(top.table("busy"), sources, PAGE_PROGRAM | DATAFLASH_BUSY, {})
    wait = spi.read_wait(
        top.table("wait"), sources, required=DATAFLASH_WAITS, optional=spi.POWER_UP, defaults={}
    )
    dataflash = {
        "binary_page_bytes": str(binary_page_bytes),
        "density": str(top.integer("density", low=0, high=15)),
        **{key: busy.pop(key) for key in DATAFLASH_BUSY},
    }
    return {"spi": {**_identity(top, sources), **busy, **wait}, "dataflash": dataflash}


def _read_nor(top: Table, _size_bytes: int, sources: Sources) -> dict[str, Fields]:
    for key in ("size_bytes", "page_bytes"):
        value = top.integer(key, low=1, high=1 << 26)
        if value & (value - 1):
            raise top.error(key, f"is {value}", remedy="write a power of two")
    top.integer("page_bytes", low=1, high=NOR_PAGE_BYTES_MAX)
    fields = {
        **_identity(top, sources),
        **spi.read_features(top, NOR_FEATURES),
        **_registers(top, sources),
    }
    if "early_wel" in top.values:
        fields |= spi.read_early_wel(top.table("early_wel"), sources)
    if "dies" in top.values:
        fields |= spi.read_dies(top.table("dies"), sources)
    if "suspend" in top.values:
        fields |= spi.read_suspend(top.table("suspend"), top.table("status"), sources)
    busy, wait = top.table("busy"), top.table("wait")
    fields |= spi.read_busy(busy, sources, PAGE_PROGRAM | WRITE_STATUS, NOR_BUSY_OPTIONAL)
    if "byte_program_next" in fields and "byte_program_first" not in fields:
        remedy = "give the first byte's time, too"
        raise busy.error("byte_program_next", "has no byte_program_first", remedy=remedy)
    fields |= spi.read_wait(wait, sources, optional=NOR_WAITS, defaults=NOR_WAIT_DEFAULTS)
    spi.check_pair(wait, fields, "deep_power_down", "release_power_down")
    return {"spi": fields}


FAMILIES = (
    Family(
        name="spi_aai",
        keys_required=("id", "clock", "status", "protection", "busy", "wait"),
        erase_opcodes=(0x20, 0x52, 0xD8, 0xC7, 0x60),
        read=_read_aai,
    ),
    Family(
        name="spi_dataflash",
        keys_required=("binary_page_bytes", "density", "id", "clock", "busy", "wait"),
        erase_opcodes=(0x81, 0x50, 0x7C, 0xC7),
        read=_read_dataflash,
    ),
    Family(
        name="spi_eeprom",
        keys_required=("id", "clock", "status", "protection", "busy"),
        read=_read_eeprom,
    ),
    Family(
        name="spi_nor",
        keys_required=("id", "clock", "status", "protection", "busy", "wait"),
        keys_optional=("features", "early_wel", "suspend", "dies"),
        erase_opcodes=(0x81, 0x20, 0xD7, 0x52, 0xD8, 0x21, 0x53, 0x5C, 0xDC, 0xC7, 0x60),
        read=_read_nor,
    ),
)
