# SPDX-License-Identifier: GPL-2.0-or-later
"""The common tables of SPI parts in a chip file, which fill in `struct part_spi`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chipgen.erases import opcode, read_regions
from chipgen.family import Fields, c_bool, c_busy_time, c_figure, c_octets
from chipgen.figures import Work
from chipgen.sources import Sources
from chipgen.table import Table

STATUS_REGISTERS_MAX = 5
RDID_BYTES_MAX = 6
READ_STATUS_OPCODES = (0x05, 0x35, 0x15, 0x07, 0x33, 0x2B)
WRITE_STATUS_OPCODES = (0x01, 0x31, 0x11)
PROTECTION_BITS_MAX = 4
DIES_MAX = 4
POWER_UP = ("power_up_to_select", "power_up_to_write")

# The keys of each kind of protection. `bits` are those of the first status register, lowest first.
PROTECTIONS: dict[str, tuple[str, ...]] = {
    "none": (),
    "any": ("bits",),
    "ranges": ("bits", "unit_bytes"),
    "global": ("lock_regions",),
    "unlock": ("lock_regions",),
}
RANGE_FLAGS = ("bottom", "sectors", "complement", "locks_flag")
LOCKS_MAX = 544
SIZE_BYTES_MAX = 1 << 26


def read_id(table: Table, sources: Sources) -> Fields:
    sources.check_keys(table, required=(), optional=("rdid", "res", "rems"))
    fields: Fields = {}
    if "rdid" in table.values:
        rdid = table.numbers("rdid", low=0, high=0xFF)
        if not 3 <= len(rdid) <= RDID_BYTES_MAX:
            remedy = f"write a list of 3 bytes, up to {RDID_BYTES_MAX}"
            raise table.error("rdid", f"has {len(rdid)} bytes", remedy=remedy)
        fields |= {"rdid": c_octets(rdid), "rdid_len": str(len(rdid))}
    if "res" in table.values:
        fields |= {"res": str(table.integer("res", low=0, high=0xFF)), "has_res": c_bool(True)}
    if "rems" in table.values:
        fields |= {"rems": c_octets(table.octets("rems", count=2)), "has_rems": c_bool(True)}
    return fields


def read_clock(table: Table, sources: Sources) -> Fields:
    sources.check_keys(table, required=("max_hz",))
    return {"clock_hz_max": f"{table.integer('max_hz', low=1, high=(1 << 32) - 1)}u"}


def read_features(top: Table, known: Sequence[str]) -> Fields:
    if "features" not in top.values:
        return {}
    names = [top.one_of("features", name, known) for name in top.texts("features")]
    return {"features": " | ".join(f"SPI_HAS_{name.upper()}" for name in names)}


def read_status(table: Table, sources: Sources) -> Fields:
    sources.check_keys(
        table,
        required=("wrsr_bytes_max", "register"),
        optional=("busy_mask", "four_byte", "uniform"),
    )
    registers = table.tables("register")
    rows = [_status_register(register) for register in registers]
    if len(rows) > STATUS_REGISTERS_MAX or rows[0][0] != 0x05:
        remedy = f"write 1 to {STATUS_REGISTERS_MAX} registers, the one of 05h first"
        raise table.error("register", "wrong number or order of registers", remedy=remedy)
    busy_mask = 1
    if "busy_mask" in table.values:
        busy_mask = table.integer("busy_mask", low=1, high=0xFF)
    fields = {
        "status": "{ " + ", ".join(c_octets(row) for row in rows) + " }",
        "status_count": str(len(rows)),
        "wrsr_bytes_max": str(table.integer("wrsr_bytes_max", low=1, high=len(rows))),
        "busy_mask": str(busy_mask),
    }
    if "four_byte" in table.values:
        fields["four_byte_flag"] = _flag(table.table("four_byte"), _read_opcodes(table))
    if "uniform" in table.values:
        fields["uniform_flag"] = _flag_at(table.table("uniform"), [row[4] for row in rows])
    return fields


def _status_register(table: Table) -> tuple[int, int, int, int, int]:
    optional = ("read_opcode", "write_opcode", "delivered", "address")
    table.check_keys(required=("writable_mask",), optional=optional)
    if not table.values.keys() & {"read_opcode", "address"}:
        problem = "a register that nothing reads"
        raise table.error("read_opcode", problem, remedy="write `read_opcode`, or `address`")
    return (
        _opcode_or_none(table, "read_opcode", READ_STATUS_OPCODES),
        _opcode_or_none(table, "write_opcode", WRITE_STATUS_OPCODES),
        table.integer("writable_mask", low=0, high=0xFF),
        _octet_or_zero(table, "delivered"),
        _octet_or_zero(table, "address"),
    )


def _opcode_or_none(table: Table, key: str, known: tuple[int, ...]) -> int:
    return opcode(table, key, known) if key in table.values else 0


def _octet_or_zero(table: Table, key: str) -> int:
    return table.integer(key, low=0, high=0xFF) if key in table.values else 0


def _read_opcodes(status: Table) -> list[int]:
    return [_octet_or_zero(register, "read_opcode") for register in status.tables("register")]


def _flag_at(table: Table, addresses: list[int]) -> str:
    """Reads `{ address = 0x04, mask = 0x08 }`: bits of the register that has that address."""
    table.check_keys(required=("address", "mask"))
    address = table.integer("address", low=0, high=0xFF)
    if address not in addresses:
        known = ", ".join(f"0x{other:02X}" for other in addresses)
        raise table.error("address", f"is 0x{address:02X}", remedy=f"use one of {known}")
    index = addresses.index(address)
    return f"{{ {index}, 0x{table.integer('mask', low=1, high=0xFF):02X} }}"


def _flag(table: Table, read_opcodes: list[int]) -> str:
    """Reads `{ read_opcode = 0x35, mask = 0x40 }`: bits of one of the part's status registers."""
    table.check_keys(required=("read_opcode", "mask"))
    index = read_opcodes.index(opcode(table, "read_opcode", tuple(read_opcodes)))
    return f"{{ {index}, 0x{table.integer('mask', low=1, high=0xFF):02X} }}"


def read_protection(table: Table, status: Table, sources: Sources) -> Fields:
    kind = table.choice("kind", tuple(PROTECTIONS)) if "kind" in table.values else "any"
    flags = RANGE_FLAGS if kind == "ranges" else ()
    more = ("lock_regions",) if kind == "ranges" else ()
    sources.check_keys(table, required=("kind", *PROTECTIONS[kind]), optional=(*flags, *more))
    fields = {"kind": f"PROTECTION_{kind.upper()}"}
    if "bits" in table.values:
        bits = table.numbers("bits", low=0, high=7)
        if len(bits) > PROTECTION_BITS_MAX:
            remedy = f"write up to {PROTECTION_BITS_MAX}"
            raise table.error("bits", f"has {len(bits)} bits", remedy=remedy)
        fields |= {"bits": c_octets(bits), "bit_count": str(len(bits))}
    if "unit_bytes" in table.values:
        fields["unit_bytes"] = str(table.integer("unit_bytes", low=4096, high=1 << 26))
    for flag in flags:
        if flag in table.values:
            fields[flag] = _flag(table.table(flag), _read_opcodes(status))
    if "lock_regions" in table.values:
        fields |= _lock_regions(table)
    inner = ", ".join(f".{name} = {value}" for name, value in fields.items())
    return {"protection": f"{{ {inner} }}"}


def _lock_regions(table: Table) -> Fields:
    """Reads the blocks that have a lock each."""
    regions = read_regions(table, "lock_regions", SIZE_BYTES_MAX)
    count = sum(blocks for blocks, _ in regions)
    if count > LOCKS_MAX:
        remedy = f"write up to {LOCKS_MAX}, or make room in model/spi.h"
        raise table.error("lock_regions", f"has {count} blocks", remedy=remedy)
    pairs = ", ".join(f"{{ {blocks}, {size} }}" for blocks, size in regions)
    return {"lock_regions": f"{{ {pairs} }}", "lock_region_count": str(len(regions))}


def read_early_wel(table: Table, sources: Sources) -> Fields:
    """Reads that WEL falls within a busy time; the source's grade also bounds such a wait's."""
    table.check_keys(required=("source",))
    grade = sources.grade(table)
    return {"early_wel": f"{{ true, GRADE_{grade.name} }}"}


def read_dies(table: Table, sources: Sources) -> Fields:
    """Reads the number of dies, each of which has a status of its own."""
    table.check_keys(required=("count", "source"), optional=("by_chip_select",))
    count = table.integer("count", low=2, high=DIES_MAX)
    if "by_chip_select" in table.values:
        table.true("by_chip_select")
    chosen = str("by_chip_select" in table.values).lower()
    return {"dies": f"{{ {count}, {chosen}, GRADE_{sources.grade(table).name} }}"}


def read_suspend(table: Table, status: Table, sources: Sources) -> Fields:
    table.check_keys(
        required=("opcode", "resume_opcode", "max_us", "source"),
        optional=("programs", "erase_flag", "program_flag"),
    )
    fields = {
        "opcode": str(opcode(table, "opcode", (0x75, 0xB0))),
        "resume_opcode": str(opcode(table, "resume_opcode", (0x7A, 0x30))),
    }
    if "programs" in table.values:
        table.true("programs")
        fields["programs"] = c_bool(True)
    for flag in ("erase_flag", "program_flag"):
        if flag in table.values:
            fields[flag] = _flag(table.table(flag), _read_opcodes(status))
    inner = ", ".join(f".{name} = {value}" for name, value in fields.items())
    latency = sources.wait(table.only("max_us", "source"), "suspend")
    return {"suspend": f"{{ {inner} }}", "suspend_latency": c_figure(latency)}


def read_busy(
    table: Table, sources: Sources, required: Mapping[str, Work], optional: Mapping[str, Work]
) -> Fields:
    """Reads rows of `[busy]`, each a busy time of that name in C."""
    works = {**required, **optional}
    table.check_keys(required=tuple(required), optional=tuple(optional))
    return {
        key: c_busy_time(sources.busy_time(table.table(key), works[key])) for key in table.values
    }


def read_wait(
    table: Table,
    sources: Sources,
    *,
    required: Sequence[str] = (),
    optional: Sequence[str],
    defaults: Mapping[str, str],
) -> Fields:
    """Reads rows of `[wait]`.

    A missing one of `defaults` is the one that it names, if that is there.
    """
    table.check_keys(required=required, optional=optional)
    wait = {key: sources.wait(table.table(key), key) for key in table.values}
    for key, other in defaults.items():
        if other in wait:
            wait.setdefault(key, wait[other])
    return {key: c_figure(figure) for key, figure in wait.items()}


def check_pair(table: Table, fields: Fields, first: str, second: str) -> None:
    if (first in fields) != (second in fields):
        problem = f"only one of {first} and {second}"
        raise table.error(second, problem, remedy="give both or neither")
