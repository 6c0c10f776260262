# SPDX-License-Identifier: GPL-2.0-or-later
"""A part from its chip file, checked: the common facts; its family adds the others."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from chipgen import parallel, spi_families
from chipgen.erases import Erase, read_erase
from chipgen.family import Family, Fields
from chipgen.sources import read_sources
from chipgen.table import ChipFileError, Table

SCHEMA = 1
GRANULE_BYTES = 4096
SIZE_BYTES_MAX = 1 << 26
ERASES_MAX = 10

FAMILIES = {family.name: family for family in (*spi_families.FAMILIES, *parallel.FAMILIES)}
KEYS = (
    *("schema", "name", "vendor", "family", "size_bytes", "page_bytes"),
    *("flashrom_names", "sources"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    name: str
    vendor: str
    family: Family
    size_bytes: int
    page_bytes: int
    erases: tuple[Erase, ...]
    kinds: dict[str, Fields]
    flashrom_names: tuple[str, ...]


def read_part(file: Path) -> Part:
    """Reads a part; raises ChipFileError."""
    return parse_part(file, file.read_bytes())


def parse_part(file: Path, content: bytes) -> Part:
    """Parses a part from that file's content; raises ChipFileError."""
    try:
        values = tomllib.loads(content.decode())
    # These errors also occur for bytes that are no text.
    except (ValueError, RecursionError) as error:
        raise ChipFileError(file, "TOML", str(error), remedy="mend the syntax") from error
    return _part(Table(file=file, where="", values=values))


def _part(top: Table) -> Part:
    _check_schema(top)
    family = _family(top)
    own_keys = (*family.keys_required, *(("erase",) if family.erase_opcodes else ()))
    top.check_keys(required=(*KEYS, *own_keys), optional=family.keys_optional)
    size_bytes = _size_bytes(top)
    sources = read_sources(top.table("sources"))
    kinds = family.read(top, size_bytes, sources)
    rows = top.tables("erase") if family.erase_opcodes else ()
    if len(rows) > ERASES_MAX:
        raise top.error("erase", f"has {len(rows)} rows", remedy=f"keep to {ERASES_MAX}")
    return Part(
        name=_name(top),
        vendor=top.text("vendor"),
        family=family,
        size_bytes=size_bytes,
        page_bytes=_page_bytes(top, size_bytes),
        erases=tuple(read_erase(row, family.erase_opcodes, size_bytes, sources) for row in rows),
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


def _size_bytes(top: Table) -> int:
    size_bytes = top.integer("size_bytes", low=GRANULE_BYTES, high=SIZE_BYTES_MAX)
    if size_bytes % GRANULE_BYTES:
        remedy = f"write a multiple of {GRANULE_BYTES}"
        raise top.error("size_bytes", f"is {size_bytes}", remedy=remedy)
    return size_bytes


def _page_bytes(top: Table, size_bytes: int) -> int:
    page_bytes = top.integer("page_bytes", low=1, high=size_bytes)
    if size_bytes % page_bytes:
        remedy = f"write a number that divides {size_bytes}"
        raise top.error("page_bytes", f"is {page_bytes}", remedy=remedy)
    return page_bytes
