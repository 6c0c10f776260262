# SPDX-License-Identifier: GPL-2.0-or-later
"""The rows of `erase` in a chip file."""

from __future__ import annotations

from dataclasses import dataclass

from chipgen.figures import BusyTime, Work
from chipgen.sources import Sources
from chipgen.table import Table

REGIONS_MAX = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Erase:
    opcode: int
    size_bytes: int
    """The size of a block; of the smallest if they differ."""
    busy: BusyTime
    regions: tuple[tuple[int, int], ...] = ()
    """The number and size of blocks, from address 0 on; empty: all are alike."""


def read_erase(row: Table, opcodes: tuple[int, ...], size_bytes: int, sources: Sources) -> Erase:
    """Reads a row of a part of that size, whose family has those opcodes."""
    has_regions = "regions" in row.values
    shape = "regions" if has_regions else "size_bytes"
    regions = read_regions(row, "regions", size_bytes) if has_regions else ()
    block_bytes = min((block for _, block in regions), default=0) or _block_bytes(row, size_bytes)
    work = Work.CHIP_ERASE if block_bytes == size_bytes else Work.SECTOR_ERASE
    return Erase(
        opcode=opcode(row, "opcode", opcodes),
        size_bytes=block_bytes,
        regions=regions,
        busy=sources.busy_time(row, work, size_bytes=block_bytes, others=("opcode", shape)),
    )


def _block_bytes(row: Table, size_bytes: int) -> int:
    if "size_bytes" not in row.values:
        raise row.error("size_bytes", "missing key", remedy="add `size_bytes = ...`, or `regions`")
    block_bytes = row.integer("size_bytes", low=1, high=size_bytes)
    if size_bytes % block_bytes:
        remedy = f"write a number that divides {size_bytes}"
        raise row.error("size_bytes", f"is {block_bytes}", remedy=remedy)
    return block_bytes


def read_regions(row: Table, key: str, size_bytes: int) -> tuple[tuple[int, int], ...]:
    """Reads `KEY = [[4, 8192], [1, 32768]]`: so many blocks of so many bytes, from address 0 on."""
    regions = []
    value = row.values[key]
    if not isinstance(value, list) or not 0 < len(value) <= REGIONS_MAX:
        raise row.error(key, "is no list", remedy=f"write 1 to {REGIONS_MAX} pairs")
    for index in range(len(value)):
        pair = Table(file=row.file, where=row.where, values={key: value[index]})
        numbers = pair.numbers(key, low=1, high=size_bytes)
        if len(numbers) != 2:
            remedy = "write pairs: how many blocks, of how many bytes"
            raise row.error(key, f"has {len(numbers)} numbers in one", remedy=remedy)
        regions.append((numbers[0], numbers[1]))
    if sum(count * block for count, block in regions) > size_bytes:
        remedy = f"keep them below {size_bytes} bytes"
        raise row.error(key, "reach past the part's end", remedy=remedy)
    return tuple(regions)


def opcode(table: Table, key: str, known: tuple[int, ...]) -> int:
    """Reads an opcode that the model has a command for."""
    value = table.integer(key, low=0, high=0xFF)
    if value not in known:
        names = ", ".join(f"0x{code:02X}" for code in known)
        problem = f"the model has no such command 0x{value:02X}"
        raise table.error(key, problem, remedy=f"use one of {names}, or teach it the model")
    return value
