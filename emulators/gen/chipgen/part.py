# SPDX-License-Identifier: GPL-2.0-or-later
"""A part as its chip file describes it, checked."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from chipgen.figures import BusyTime, Figure, Grade, Work, busy_time
from chipgen.table import ChipFileError, Table

SCHEMA = 1
FAMILIES = ("spi_nor",)
GRANULE_BYTES = 4096
ERASES_MAX = 8
STATUS_REGISTERS_MAX = 3
PAGE_BYTES_MAX = 512
SPI_NOR_ERASE_OPCODES = (0x20, 0x52, 0xD8, 0xC7, 0x60)
READ_STATUS_OPCODES = (0x05, 0x35, 0x15)
WRITE_STATUS_OPCODES = (0x01, 0x31, 0x11)

BUSY_REQUIRED = {"page_program": Work.PAGE_PROGRAM, "write_status": Work.WRITE_STATUS}
BUSY_OPTIONAL = {
    "byte_program_first": Work.BYTE_PROGRAM,
    "byte_program_next": Work.BYTE_PROGRAM,
}
WAIT_REQUIRED = ("deep_power_down", "release_power_down", "release_power_down_with_id")
WAIT_OPTIONAL = ("soft_reset", "soft_reset_during_erase")


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusRegister:
    read_opcode: int
    write_opcode: int | None
    writable_mask: int
    protect_mask: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Erase:
    opcode: int
    size_bytes: int
    busy: BusyTime


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    name: str
    vendor: str
    family: str
    size_bytes: int
    page_bytes: int
    spi_clock_hz_max: int
    rdid: tuple[int, ...]
    res: int
    rems: tuple[int, ...] | None
    status: tuple[StatusRegister, ...]
    wrsr_bytes_max: int
    erases: tuple[Erase, ...]
    busy: dict[str, BusyTime]
    wait: dict[str, Figure]
    flashrom_names: tuple[str, ...]


def read_part(file: Path) -> Part:
    """Raises ChipFileError."""
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ChipFileError(file, "TOML", str(error), remedy="mend the syntax") from error
    return _part(Table(file=file, where="", values=values))


def _part(top: Table) -> Part:
    _check_schema(top)
    top.check_keys(
        required=(
            *("schema", "name", "vendor", "family", "size_bytes", "page_bytes"),
            *("flashrom_names", "sources", "id", "clock", "status", "erase", "busy", "wait"),
        )
    )
    grades = _grades(top.table("sources"))
    size_bytes = _size_bytes(top)
    ident = _id(top.table("id"), grades)
    status_table = top.table("status")
    status = _status(status_table, grades)
    return Part(
        name=_name(top),
        vendor=top.text("vendor"),
        family=top.choice("family", FAMILIES),
        size_bytes=size_bytes,
        page_bytes=_page_bytes(top),
        spi_clock_hz_max=_clock_hz(top.table("clock"), grades),
        rdid=ident.octets("rdid", count=3),
        res=ident.integer("res", low=0, high=0xFF),
        rems=ident.octets("rems", count=2) if "rems" in ident.values else None,
        status=status,
        wrsr_bytes_max=status_table.integer("wrsr_bytes_max", low=1, high=len(status)),
        erases=_erases(top, size_bytes, grades),
        busy=_busy(top.table("busy"), grades),
        wait=_wait(top.table("wait"), grades),
        flashrom_names=top.texts("flashrom_names"),
    )


def _check_schema(top: Table) -> None:
    remedy = f"begin the file with `schema = {SCHEMA}`"
    if "schema" not in top.values:
        raise top.error("schema", "missing key", remedy=remedy)
    if top.values["schema"] != SCHEMA:
        raise top.error("schema", f"is {top.values['schema']!r}", remedy=remedy)


def _name(top: Table) -> str:
    name = top.text("name")
    if name != top.file.stem:
        remedy = f"name the part `{top.file.stem}`, or the file `{name}.toml`"
        raise top.error("name", f"is `{name}`", remedy=remedy)
    return name


def _size_bytes(top: Table) -> int:
    size_bytes = top.integer("size_bytes", low=GRANULE_BYTES, high=1 << 24)
    if size_bytes & (size_bytes - 1):
        raise top.error("size_bytes", f"is {size_bytes}", remedy="write a power of two")
    return size_bytes


def _page_bytes(top: Table) -> int:
    page_bytes = top.integer("page_bytes", low=1, high=PAGE_BYTES_MAX)
    if page_bytes & (page_bytes - 1):
        raise top.error("page_bytes", f"is {page_bytes}", remedy="write a power of two")
    return page_bytes


def _grades(sources: Table) -> dict[str, Grade]:
    names = [grade.value for grade in Grade if grade is not Grade.ASSUMED]
    grades: dict[str, Grade] = {}
    for key in sources.values:
        source = sources.table(key)
        source.check_keys(required=("text", "revision", "grade"))
        source.text("text")
        source.text("revision")
        grades[key] = Grade(source.choice("grade", names))
    if not grades:
        raise sources.error("main", "missing key", remedy="add a table `[sources.main]`")
    return grades


def _grade(table: Table, grades: dict[str, Grade]) -> Grade:
    return grades[table.choice("source", tuple(grades))]


def _id(table: Table, grades: dict[str, Grade]) -> Table:
    table.check_keys(required=("rdid", "res", "source"), optional=("rems",))
    _grade(table, grades)
    return table


def _clock_hz(table: Table, grades: dict[str, Grade]) -> int:
    table.check_keys(required=("max_hz", "source"))
    _grade(table, grades)
    return table.integer("max_hz", low=1, high=(1 << 32) - 1)


def _status(table: Table, grades: dict[str, Grade]) -> tuple[StatusRegister, ...]:
    table.check_keys(required=("wrsr_bytes_max", "register", "source"))
    _grade(table, grades)
    registers = tuple(_status_register(register) for register in table.tables("register"))
    if len(registers) > STATUS_REGISTERS_MAX or registers[0].read_opcode != 0x05:
        remedy = f"write 1 to {STATUS_REGISTERS_MAX} registers, the one of 05h first"
        raise table.error("register", "wrong number or order of registers", remedy=remedy)
    return registers


def _status_register(table: Table) -> StatusRegister:
    table.check_keys(
        required=("read_opcode", "writable_mask", "protect_mask"), optional=("write_opcode",)
    )
    write_opcode = None
    if "write_opcode" in table.values:
        write_opcode = _opcode(table, "write_opcode", WRITE_STATUS_OPCODES)
    return StatusRegister(
        read_opcode=_opcode(table, "read_opcode", READ_STATUS_OPCODES),
        write_opcode=write_opcode,
        writable_mask=table.integer("writable_mask", low=0, high=0xFF),
        protect_mask=table.integer("protect_mask", low=0, high=0xFF),
    )


def _opcode(table: Table, key: str, known: tuple[int, ...]) -> int:
    opcode = table.integer(key, low=0, high=0xFF)
    if opcode not in known:
        names = ", ".join(f"0x{value:02X}" for value in known)
        problem = f"the model has no such command 0x{opcode:02X}"
        raise table.error(key, problem, remedy=f"use one of {names}, or teach it the model")
    return opcode


def _erases(top: Table, size_bytes: int, grades: dict[str, Grade]) -> tuple[Erase, ...]:
    erases = tuple(_erase(table, size_bytes, grades) for table in top.tables("erase"))
    if len(erases) > ERASES_MAX:
        raise top.error("erase", f"has {len(erases)} rows", remedy=f"keep to {ERASES_MAX}")
    return erases


def _erase(table: Table, size_bytes: int, grades: dict[str, Grade]) -> Erase:
    table.check_keys(required=("opcode", "size_bytes", "source"), optional=("typ_us", "max_us"))
    erased_bytes = table.integer("size_bytes", low=GRANULE_BYTES, high=size_bytes)
    if size_bytes % erased_bytes or erased_bytes % GRANULE_BYTES:
        remedy = f"write a multiple of {GRANULE_BYTES} that divides {size_bytes}"
        raise table.error("size_bytes", f"is {erased_bytes}", remedy=remedy)
    work = Work.CHIP_ERASE if erased_bytes == size_bytes else Work.SECTOR_ERASE
    return Erase(
        opcode=_opcode(table, "opcode", SPI_NOR_ERASE_OPCODES),
        size_bytes=erased_bytes,
        busy=_busy_time(table, work, grades),
    )


def _busy(table: Table, grades: dict[str, Grade]) -> dict[str, BusyTime]:
    table.check_keys(required=tuple(BUSY_REQUIRED), optional=tuple(BUSY_OPTIONAL))
    works = BUSY_REQUIRED | BUSY_OPTIONAL
    busy: dict[str, BusyTime] = {}
    for key in table.values:
        row = table.table(key)
        row.check_keys(required=("source",), optional=("typ_us", "max_us"))
        busy[key] = _busy_time(row, works[key], grades)
    if ("byte_program_first" in busy) != ("byte_program_next" in busy):
        raise table.error(
            "byte_program_next",
            "only one of byte_program_first and byte_program_next",
            remedy="give both or neither",
        )
    return busy


def _busy_time(table: Table, work: Work, grades: dict[str, Grade]) -> BusyTime:
    typ_ns = table.microseconds_as_ns("typ_us") if "typ_us" in table.values else None
    max_ns = table.microseconds_as_ns("max_us") if "max_us" in table.values else None
    if typ_ns is not None and max_ns is not None and typ_ns > max_ns:
        raise table.error("typ_us", "is above max_us", remedy="read the datasheet again")
    busy = busy_time(work, typ_ns=typ_ns, max_ns=max_ns, grade=_grade(table, grades))
    if busy is None:
        raise table.error("typ_us", "missing key", remedy="add `typ_us` or `max_us`")
    return busy


def _wait(table: Table, grades: dict[str, Grade]) -> dict[str, Figure]:
    table.check_keys(required=WAIT_REQUIRED, optional=WAIT_OPTIONAL)
    wait: dict[str, Figure] = {}
    for key in table.values:
        row = table.table(key)
        row.check_keys(required=("max_us", "source"))
        wait[key] = Figure(ns=row.microseconds_as_ns("max_us"), grade=_grade(row, grades))
    if "soft_reset" in wait:
        wait.setdefault("soft_reset_during_erase", wait["soft_reset"])
    return wait
