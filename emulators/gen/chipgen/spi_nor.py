# SPDX-License-Identifier: GPL-2.0-or-later
"""SPI NOR flash: what model/spi_nor.c needs to know of a part."""

from __future__ import annotations

from chipgen import spi
from chipgen.ctext import c_fields
from chipgen.erases import read_erases
from chipgen.family import Family, FamilyFacts, Kind
from chipgen.figures import Work
from chipgen.sources import Sources
from chipgen.table import Table

PAGE_BYTES_MAX = 512
ERASE_OPCODES = (0x81, 0x20, 0xD7, 0x52, 0xD8, 0x21, 0x53, 0x5C, 0xDC, 0xC7, 0x60)
FEATURES = (
    *("four_byte_mode", "four_byte_opcodes", "extended_address", "bank_register"),
    *("flag_status", "error_bits", "volatile_status", "sfdp", "reset_f0"),
)
BUSY = {"page_program": Work.PAGE_PROGRAM, "write_status": Work.WRITE_STATUS}
BUSY_OPTIONAL = {
    "byte_program_first": Work.BYTE_PROGRAM,
    "byte_program_next": Work.BYTE_PROGRAM,
}
# A wait that is left out: the part lacks the command.
WAITS = (
    *("deep_power_down", "release_power_down", "release_power_down_with_id"),
    *("soft_reset", "soft_reset_during_program", "soft_reset_during_erase"),
    *("soft_reset_during_write_status", *spi.POWER_UP),
)
WAIT_DEFAULTS = {
    "release_power_down_with_id": "release_power_down",
    "soft_reset_during_program": "soft_reset",
    "soft_reset_during_erase": "soft_reset",
    "soft_reset_during_write_status": "soft_reset",
}


def _read(top: Table, size_bytes: int, sources: Sources) -> FamilyFacts:
    _check_powers_of_two(top)
    status = top.table("status")
    fields = {
        **spi.read_clock(top.table("clock"), sources),
        **spi.read_features(top, FEATURES),
        **spi.read_id(top.table("id"), sources),
        **spi.read_status(status, sources),
        **spi.read_protection(top.table("protection"), status, sources),
        **_suspend(top, status, sources),
        **_busy(top.table("busy"), sources),
        **_wait(top.table("wait"), sources),
    }
    return FamilyFacts(
        erases=read_erases(top, opcodes=ERASE_OPCODES, size_bytes=size_bytes, sources=sources),
        kinds=(Kind(member="spi", lines=tuple(c_fields(fields))),),
    )


FAMILY = Family(
    name="spi_nor",
    keys_required=("id", "clock", "status", "protection", "erase", "busy", "wait"),
    keys_optional=("features", "suspend"),
    headers=("spi.h",),
    read=_read,
)


def _check_powers_of_two(top: Table) -> None:
    for key in ("size_bytes", "page_bytes"):
        value = top.integer(key, low=1, high=1 << 26)
        if value & (value - 1):
            raise top.error(key, f"is {value}", remedy="write a power of two")
    top.integer("page_bytes", low=1, high=PAGE_BYTES_MAX)


def _suspend(top: Table, status: Table, sources: Sources) -> spi.Fields:
    if "suspend" not in top.values:
        return {}
    return spi.read_suspend(top.table("suspend"), status, sources)


def _busy(table: Table, sources: Sources) -> spi.Fields:
    busy = spi.read_busy(table, BUSY, sources, optional=BUSY_OPTIONAL)
    if ("byte_program_first" in busy) != ("byte_program_next" in busy):
        raise table.error(
            "byte_program_next",
            "only one of byte_program_first and byte_program_next",
            remedy="give both or neither",
        )
    return busy


def _wait(table: Table, sources: Sources) -> spi.Fields:
    wait = spi.read_wait(table, sources, optional=WAITS, defaults=WAIT_DEFAULTS)
    if ("deep_power_down" in wait) != ("release_power_down" in wait):
        raise table.error(
            "release_power_down",
            "only one of deep_power_down and release_power_down",
            remedy="give both or neither",
        )
    return wait
