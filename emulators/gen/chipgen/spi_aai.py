# SPDX-License-Identifier: GPL-2.0-or-later
"""SST25VF parts, which program bytes and words: what model/spi_aai.c needs to know of one."""

from __future__ import annotations

from chipgen import spi
from chipgen.ctext import c_fields
from chipgen.erases import read_erases
from chipgen.family import Family, FamilyFacts, Kind
from chipgen.figures import Work
from chipgen.sources import Sources
from chipgen.table import Table

ERASE_OPCODES = (0x20, 0x52, 0xD8, 0xC7, 0x60)
# Of a byte and of a word alike: the datasheets give one time for both.
BUSY = {"page_program": Work.BYTE_PROGRAM}


def _read(top: Table, size_bytes: int, sources: Sources) -> FamilyFacts:
    top.integer("page_bytes", low=1, high=1)
    status = top.table("status")
    fields = {
        **spi.read_clock(top.table("clock"), sources),
        **spi.read_id(top.table("id"), sources),
        **spi.read_status(status, sources),
        **spi.read_protection(top.table("protection"), status, sources),
        **spi.read_busy(top.table("busy"), BUSY, sources),
        **spi.read_wait(top.table("wait"), sources, optional=spi.POWER_UP),
    }
    return FamilyFacts(
        erases=read_erases(top, opcodes=ERASE_OPCODES, size_bytes=size_bytes, sources=sources),
        kinds=(Kind(member="spi", lines=tuple(c_fields(fields))),),
    )


FAMILY = Family(
    name="spi_aai",
    keys_required=("id", "clock", "status", "protection", "erase", "busy", "wait"),
    headers=("spi.h",),
    read=_read,
)
