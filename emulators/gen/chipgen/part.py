# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads a part from its chip file: the common facts here, the others in its family's module."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from chipgen import parallel, spi
from chipgen.family import Family, Fields, c_regions, read_opcode, read_regions
from chipgen.figures import Sources, erase_typ_ns, read_sources
from chipgen.table import ChipFileError, Table

SCHEMA = 1
GRANULE_BYTES = 4096
SIZE_BYTES_MAX = 1 << 26
ERASES_MAX = 10

FAMILIES = {family.name: family for family in (*spi.FAMILIES, *parallel.FAMILIES)}
KEYS = ("schema", "name", "vendor", "family", "size_bytes", "page_bytes", "flashrom_names")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    name: str
    vendor: str
    family: Family
    size_bytes: int
    page_bytes: int
    erases: tuple[Fields, ...]
    kinds: dict[str, Fields]
    flashrom_names: tuple[str, ...]


def read_part(file: Path) -> Part:
    """Reads a part; raises ChipFileError."""
    return parse_part(file, file.read_bytes())


def parse_part(file: Path, content: bytes) -> Part:
    """Parses a part from the content of `file`; raises ChipFileError."""
    try:
        values = tomllib.loads(content.decode())
    # A ValueError also means bytes that are not UTF-8.
    except (ValueError, RecursionError) as error:
        raise ChipFileError(file, "TOML", str(error), remedy="correct the syntax") from error
    return _part(Table(file, "", values))


def _part(top: Table) -> Part:
    _check_schema(top)
    family = _family(top)
    own_keys = (*family.keys_required, *(("erase",) if family.erase_opcodes else ()))
    top.check_keys(required=(*KEYS, *own_keys), optional=("sources", *family.keys_optional))
    size_bytes = top.integer("size_bytes", low=GRANULE_BYTES, high=SIZE_BYTES_MAX)
    if size_bytes % GRANULE_BYTES:
        remedy = f"write a multiple of {GRANULE_BYTES}"
        raise top.error("size_bytes", f"is {size_bytes}", remedy=remedy)
    no_sources = Table(top.file, "sources", {})
    sources = read_sources(top.table("sources") if "sources" in top.values else no_sources)
    kinds = family.read(top, size_bytes, sources)
    rows = top.tables("erase") if family.erase_opcodes else ()
    erases = [each for row in rows for each in _erases(row, family, size_bytes, sources)]
    if len(erases) > ERASES_MAX:
        raise top.error("erase", f"has {len(erases)} opcodes", remedy=f"keep to {ERASES_MAX}")
    return Part(
        name=_name(top),
        vendor=top.text("vendor"),
        family=family,
        size_bytes=size_bytes,
        page_bytes=top.divisor("page_bytes", size_bytes),
        erases=tuple(erases),
        kinds=kinds,
        flashrom_names=top.texts("flashrom_names"),
    )


def _check_schema(top: Table) -> None:
    remedy = f"begin the file with `schema = {SCHEMA}`"
    if "schema" not in top.values:
        raise top.error("schema", "missing key", remedy=remedy)
    if top.values["schema"] != SCHEMA:
        raise top.error("schema", f"is {top.values['schema']!r}", remedy=remedy)


def _family(top: Table) -> Family:
    if "family" not in top.values:
        names = ", ".join(FAMILIES)
        raise top.error("family", "missing key", remedy=f"add `family = ...`, one of {names}")
    return FAMILIES[top.choice("family", tuple(FAMILIES))]


def _name(top: Table) -> str:
    name = top.text("name")
    if name != top.file.stem:
        remedy = f"name the part `{top.file.stem}`, or the file `{name}.toml`"
        raise top.error("name", f"is `{name}`", remedy=remedy)
    return name


def _erases(row: Table, family: Family, size_bytes: int, sources: Sources) -> list[Fields]:
    """Reads a row of `erase`: an opcode, or a list of opcodes that do the same.

    If its blocks differ in size, `size_bytes` is the smallest.
    """
    shape = "regions" if "regions" in row.values else "size_bytes"
    if shape == "regions":
        regions = read_regions(row, "regions", size_bytes)
        block_bytes = min(block for _, block in regions)
    else:
        regions, block_bytes = (), _block_bytes(row, size_bytes)
    typ_ns = erase_typ_ns(block_bytes, size_bytes)
    fields = {
        "size_bytes": str(block_bytes),
        "busy": sources.busy_time(row, typ_ns, others=("opcode", shape)),
        "regions": c_regions(regions),
        "region_count": str(len(regions)),
    }
    value = row.values.get("opcode")
    rows = [row]
    if isinstance(value, list) and value:
        rows = [Table(row.file, row.where, {"opcode": each}) for each in value]
    opcodes = [read_opcode(each, "opcode", family.erase_opcodes) for each in rows]
    return [{"opcode": f"0x{opcode:02X}", **fields} for opcode in opcodes]


def _block_bytes(row: Table, size_bytes: int) -> int:
    if "size_bytes" not in row.values:
        raise row.error("size_bytes", "missing key", remedy="add `size_bytes = ...`, or `regions`")
    return row.divisor("size_bytes", size_bytes)
