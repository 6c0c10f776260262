# SPDX-License-Identifier: GPL-2.0-or-later
"""SPI NOR flash: what model/spi_nor.c needs to know of a part."""

from __future__ import annotations

from dataclasses import dataclass

from chipgen.ctext import c_bool, c_busy_time, c_fields, c_figure, c_octets
from chipgen.family import Erase, Family, FamilyFacts, Kind
from chipgen.figures import BusyTime, Figure, Work
from chipgen.sources import Sources
from chipgen.table import Table

GRANULE_BYTES = 4096
STATUS_REGISTERS_MAX = 3
PAGE_BYTES_MAX = 512
ERASE_OPCODES = (0x20, 0x52, 0xD8, 0xC7, 0x60)
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


def _read(top: Table, size_bytes: int, sources: Sources) -> FamilyFacts:
    _check_powers_of_two(top)
    fields = {
        "clock_hz_max": f"{_clock_hz(top.table('clock'), sources)}u",
        **_id(top.table("id"), sources),
        **_status(top.table("status"), sources),
        **{key: c_busy_time(busy) for key, busy in _busy(top.table("busy"), sources).items()},
        **{key: c_figure(wait) for key, wait in _wait(top.table("wait"), sources).items()},
    }
    return FamilyFacts(
        erases=tuple(_erase(table, size_bytes, sources) for table in top.tables("erase")),
        kinds=(Kind(member="spi", lines=tuple(c_fields(fields))),),
    )


FAMILY = Family(
    name="spi_nor",
    keys_required=("id", "clock", "status", "erase", "busy", "wait"),
    header="spi.h",
    read=_read,
)


def _check_powers_of_two(top: Table) -> None:
    for key in ("size_bytes", "page_bytes"):
        value = top.integer(key, low=1, high=1 << 26)
        if value & (value - 1):
            raise top.error(key, f"is {value}", remedy="write a power of two")
    top.integer("page_bytes", low=1, high=PAGE_BYTES_MAX)


def _id(table: Table, sources: Sources) -> dict[str, str]:
    table.check_keys(required=("rdid", "res", "source"), optional=("rems",))
    sources.grade(table)
    rems = table.octets("rems", count=2) if "rems" in table.values else None
    return {
        "rdid": c_octets(table.octets("rdid", count=3)),
        "rdid_len": "3",
        "res": c_octets([table.integer("res", low=0, high=0xFF)]).strip("{ }"),
        "rems": c_octets(rems or (0, 0)),
        "has_rems": c_bool(rems is not None),
    }


def _clock_hz(table: Table, sources: Sources) -> int:
    table.check_keys(required=("max_hz", "source"))
    sources.grade(table)
    return table.integer("max_hz", low=1, high=(1 << 32) - 1)


def _status(table: Table, sources: Sources) -> dict[str, str]:
    table.check_keys(required=("wrsr_bytes_max", "register", "source"))
    sources.grade(table)
    registers = [_status_register(register) for register in table.tables("register")]
    if len(registers) > STATUS_REGISTERS_MAX or registers[0].read_opcode != 0x05:
        remedy = f"write 1 to {STATUS_REGISTERS_MAX} registers, the one of 05h first"
        raise table.error("register", "wrong number or order of registers", remedy=remedy)
    wrsr_bytes_max = table.integer("wrsr_bytes_max", low=1, high=len(registers))
    return {
        "status": "{ " + ", ".join(_c_status_register(register) for register in registers) + " }",
        "status_count": str(len(registers)),
        "wrsr_bytes_max": str(wrsr_bytes_max),
    }


def _c_status_register(register: StatusRegister) -> str:
    return c_octets(
        (
            register.read_opcode,
            register.write_opcode or 0,
            register.writable_mask,
            register.protect_mask,
        )
    )


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


def _erase(table: Table, size_bytes: int, sources: Sources) -> Erase:
    table.check_keys(required=("opcode", "size_bytes", "source"), optional=("typ_us", "max_us"))
    erased_bytes = table.integer("size_bytes", low=GRANULE_BYTES, high=size_bytes)
    if size_bytes % erased_bytes or erased_bytes % GRANULE_BYTES:
        remedy = f"write a multiple of {GRANULE_BYTES} that divides {size_bytes}"
        raise table.error("size_bytes", f"is {erased_bytes}", remedy=remedy)
    work = Work.CHIP_ERASE if erased_bytes == size_bytes else Work.SECTOR_ERASE
    return Erase(
        opcode=_opcode(table, "opcode", ERASE_OPCODES),
        size_bytes=erased_bytes,
        busy=sources.busy_time(table, work),
    )


def _busy(table: Table, sources: Sources) -> dict[str, BusyTime]:
    table.check_keys(required=tuple(BUSY_REQUIRED), optional=tuple(BUSY_OPTIONAL))
    works = BUSY_REQUIRED | BUSY_OPTIONAL
    busy: dict[str, BusyTime] = {}
    for key in table.values:
        row = table.table(key)
        row.check_keys(required=("source",), optional=("typ_us", "max_us"))
        busy[key] = sources.busy_time(row, works[key])
    if ("byte_program_first" in busy) != ("byte_program_next" in busy):
        raise table.error(
            "byte_program_next",
            "only one of byte_program_first and byte_program_next",
            remedy="give both or neither",
        )
    return busy


def _wait(table: Table, sources: Sources) -> dict[str, Figure]:
    table.check_keys(required=WAIT_REQUIRED, optional=WAIT_OPTIONAL)
    wait = {key: sources.wait(table.table(key)) for key in table.values}
    if "soft_reset" in wait:
        wait.setdefault("soft_reset_during_erase", wait["soft_reset"])
    return wait
