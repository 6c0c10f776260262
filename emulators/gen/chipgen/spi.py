# SPDX-License-Identifier: GPL-2.0-or-later
"""The SPI families, each with the facts that its model/NAME.c needs of a part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chipgen.family import (
    Family,
    Fields,
    c_octets,
    c_regions,
    c_struct,
    is_power_of_two,
    read_opcode,
    read_regions,
)
from chipgen.figures import (
    BYTE_PROGRAM_NS,
    PAGE_ERASE_NS,
    PAGE_PROGRAM_NS,
    PAGE_READ_NS,
    WRITE_STATUS_NS,
    Sources,
)
from chipgen.table import Table

STATUS_REGISTERS_MAX = 5
RDID_BYTES_MAX = 6
READ_STATUS_OPCODES = (0x05, 0x35, 0x15, 0x07, 0x33, 0x2B)
WRITE_STATUS_OPCODES = (0x01, 0x31, 0x11)
PROTECTION_BITS_MAX = 4
DIES_MAX = 4
LOCKS_MAX = 544
SIZE_BYTES_MAX = 1 << 26

# The keys of each kind of protection. `bits` are those of the first status register, lowest first.
PROTECTIONS: dict[str, tuple[str, ...]] = {
    "none": (),
    "any": ("bits",),
    "ranges": ("bits", "unit_bytes"),
    "global": ("lock_regions",),
    "unlock": ("lock_regions",),
}
RANGE_FLAGS = ("bottom", "sectors", "complement", "locks_flag")

# The kinds of work in `busy`, and the assumed typical time of each.
PAGE_PROGRAM = {"page_program": PAGE_PROGRAM_NS}
WRITE_STATUS = {"write_status": WRITE_STATUS_NS}
NOR_BUSY_OPTIONAL = {
    "byte_program_first": BYTE_PROGRAM_NS,
    "byte_program_next": BYTE_PROGRAM_NS,
}
AAI_BUSY = {"page_program": BYTE_PROGRAM_NS}  # the datasheets give the same for a byte and a word
DATAFLASH_BUSY = {
    "page_program_with_erase": PAGE_ERASE_NS,
    "page_to_buffer": PAGE_READ_NS,
    "buffer_compare": PAGE_READ_NS,
}

# If a wait is missing, the part lacks the command that it follows, unless NOR_WAIT_DEFAULTS names
# another wait to use instead.
POWER_UP = ("power_up_to_select", "power_up_to_write")
NOR_WAITS = (
    *("deep_power_down", "release_power_down", "release_power_down_with_id"),
    *("soft_reset", "soft_reset_during_program", "soft_reset_during_erase"),
    *("soft_reset_during_write_status", *POWER_UP),
)
NOR_WAIT_DEFAULTS = {
    "release_power_down_with_id": "release_power_down",
    "soft_reset_during_program": "soft_reset",
    "soft_reset_during_erase": "soft_reset",
    "soft_reset_during_write_status": "soft_reset",
}
DATAFLASH_WAITS = ("deep_power_down", "release_power_down")

NOR_PAGE_BYTES_MAX = 512
NOR_FEATURES = (
    *("four_byte_mode", "four_byte_opcodes", "extended_address", "bank_register"),
    *("flag_status", "error_bits", "volatile_status", "sfdp", "reset_f0"),
    "any_register",
)
DATAFLASH_PAGE_BYTES_MAX = 528


def _read_aai(top: Table, size_bytes: int, sources: Sources) -> dict[str, Fields]:
    top.integer("page_bytes", low=1, high=1)
    fields = {
        **_identity(top, sources),
        **_registers(top, size_bytes, sources),
        **_busy(top.table("busy"), sources, AAI_BUSY),
        **_wait(top.table("wait"), sources, optional=POWER_UP),
    }
    return {"spi": fields}


def _read_eeprom(top: Table, size_bytes: int, sources: Sources) -> dict[str, Fields]:
    """Reads an EEPROM. The RDID of the chip file is the beginning of its identification page."""
    fields = {
        **_identity(top, sources),
        **_registers(top, size_bytes, sources),
        **_busy(top.table("busy"), sources, PAGE_PROGRAM | WRITE_STATUS),
    }
    return {"spi": fields}


def _read_dataflash(top: Table, _size_bytes: int, sources: Sources) -> dict[str, Fields]:
    page_bytes = top.integer("page_bytes", low=1, high=DATAFLASH_PAGE_BYTES_MAX)
    binary_page_bytes = top.integer("binary_page_bytes", low=1, high=page_bytes)
    if not is_power_of_two(binary_page_bytes):
        problem = f"is {binary_page_bytes}"
        raise top.error("binary_page_bytes", problem, remedy="write a power of two")
    busy = _busy(top.table("busy"), sources, PAGE_PROGRAM | DATAFLASH_BUSY)
    wait = _wait(top.table("wait"), sources, required=DATAFLASH_WAITS, optional=POWER_UP)
    dataflash = {
        "binary_page_bytes": str(binary_page_bytes),
        "density": str(top.integer("density", low=0, high=15)),
        **{key: busy.pop(key) for key in DATAFLASH_BUSY},
    }
    return {"spi": {**_identity(top, sources), **busy, **wait}, "dataflash": dataflash}


def _read_nor(top: Table, size_bytes: int, sources: Sources) -> dict[str, Fields]:
    for key, high in (("size_bytes", SIZE_BYTES_MAX), ("page_bytes", NOR_PAGE_BYTES_MAX)):
        value = top.integer(key, low=1, high=high)
        if not is_power_of_two(value):
            raise top.error(key, f"is {value}", remedy="write a power of two")
    fields = {**_identity(top, sources), **_features(top), **_registers(top, size_bytes, sources)}
    if "early_wel" in top.values:
        fields |= _early_wel(top.table("early_wel"), sources)
    if "dies" in top.values:
        fields |= _dies(top.table("dies"), sources)
    if "suspend" in top.values:
        fields |= _suspend(top.table("suspend"), top.table("status"), sources)
    busy, wait = top.table("busy"), top.table("wait")
    fields |= _busy(busy, sources, PAGE_PROGRAM | WRITE_STATUS, NOR_BUSY_OPTIONAL)
    if "byte_program_next" in fields and "byte_program_first" not in fields:
        remedy = "give the first byte's time, too"
        raise busy.error("byte_program_next", "has no byte_program_first", remedy=remedy)
    fields |= _wait(wait, sources, optional=NOR_WAITS, defaults=NOR_WAIT_DEFAULTS)
    if ("deep_power_down" in fields) != ("release_power_down" in fields):
        problem = "only one of deep_power_down and release_power_down"
        raise wait.error("release_power_down", problem, remedy="give both or neither")
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


def _identity(top: Table, sources: Sources) -> Fields:
    clock = top.table("clock")
    sources.check_keys(clock, required=("max_hz",))
    hz_max = clock.integer("max_hz", low=1, high=(1 << 32) - 1)
    return {"clock_hz_max": f"{hz_max}u", **_id(top.table("id"), sources)}


def _id(table: Table, sources: Sources) -> Fields:
    sources.check_keys(table, required=(), optional=("rdid", "res", "rems"))
    fields: Fields = {}
    if "rdid" in table.values:
        rdid = table.numbers("rdid", low=0, high=0xFF)
        if not 3 <= len(rdid) <= RDID_BYTES_MAX:
            remedy = f"write a list of 3 to {RDID_BYTES_MAX} bytes"
            raise table.error("rdid", f"has {len(rdid)} bytes", remedy=remedy)
        fields |= {"rdid": c_octets(rdid), "rdid_len": str(len(rdid))}
    if "res" in table.values:
        fields |= {"res": str(table.octet("res")), "has_res": "true"}
    if "rems" in table.values:
        fields |= {"rems": c_octets(table.octets("rems", count=2)), "has_rems": "true"}
    return fields


def _features(top: Table) -> Fields:
    if "features" not in top.values:
        return {}
    names = [top.one_of("features", name, NOR_FEATURES) for name in top.texts("features")]
    return {"features": " | ".join(f"SPI_HAS_{name.upper()}" for name in names)}


def _registers(top: Table, size_bytes: int, sources: Sources) -> Fields:
    status = top.table("status")
    fields = _status(status, sources)
    return fields | _protection(top.table("protection"), status, size_bytes, sources)


def _status(table: Table, sources: Sources) -> Fields:
    sources.check_keys(
        table,
        required=("wrsr_bytes_max", "register"),
        optional=("busy_mask", "ewsr_only", "four_byte", "uniform"),
    )
    rows = [_status_register(register) for register in table.tables("register")]
    if len(rows) > STATUS_REGISTERS_MAX or rows[0][0] != 0x05:
        remedy = f"write 1 to {STATUS_REGISTERS_MAX} registers, that of 05h first"
        raise table.error("register", "wrong number or order of registers", remedy=remedy)
    busy_mask = table.octet("busy_mask", low=1) if "busy_mask" in table.values else 1
    fields = {
        "status": "{ " + ", ".join(c_octets(row) for row in rows) + " }",
        "status_count": str(len(rows)),
        "wrsr_bytes_max": str(table.integer("wrsr_bytes_max", low=1, high=len(rows))),
        "busy_mask": str(busy_mask),
    }
    if "ewsr_only" in table.values:
        fields["ewsr_only"] = table.true("ewsr_only")
    if "four_byte" in table.values:
        fields["four_byte_flag"] = _flag(table.table("four_byte"), table)
    if "uniform" in table.values:
        fields["uniform_flag"] = _flag_at(table.table("uniform"), [row[4] for row in rows])
    return fields


def _status_register(table: Table) -> tuple[int, int, int, int, int]:
    optional = ("read_opcode", "write_opcode", "delivered", "address")
    table.check_keys(required=("writable_mask",), optional=optional)
    if not table.values.keys() & {"read_opcode", "address"}:
        problem = "no command reads this register"
        raise table.error("read_opcode", problem, remedy="write `read_opcode`, or `address`")
    return (
        _opcode_or_none(table, "read_opcode", READ_STATUS_OPCODES),
        _opcode_or_none(table, "write_opcode", WRITE_STATUS_OPCODES),
        table.octet("writable_mask"),
        _octet_or_zero(table, "delivered"),
        _octet_or_zero(table, "address"),
    )


def _opcode_or_none(table: Table, key: str, known: tuple[int, ...]) -> int:
    return read_opcode(table, key, known) if key in table.values else 0


def _octet_or_zero(table: Table, key: str) -> int:
    return table.octet(key) if key in table.values else 0


def _flag_at(table: Table, addresses: list[int]) -> str:
    """Reads `{ address = 0x04, mask = 0x08 }`: bits of the register at that address."""
    table.check_keys(required=("address", "mask"))
    address = table.octet("address")
    if address not in addresses:
        known = ", ".join(f"0x{other:02X}" for other in addresses)
        raise table.error("address", f"is 0x{address:02X}", remedy=f"use one of {known}")
    return _c_flag(table, addresses.index(address))


def _flag(table: Table, status: Table) -> str:
    """Reads `{ read_opcode = 0x35, mask = 0x40 }`: bits of one of the part's status registers."""
    indices = {
        register.octet("read_opcode"): index
        for index, register in enumerate(status.tables("register"))
        if "read_opcode" in register.values
    }
    table.check_keys(required=("read_opcode", "mask"))
    opcode = table.octet("read_opcode")
    if opcode not in indices:
        problem = f"no status register has the read_opcode 0x{opcode:02X}"
        known = ", ".join(f"0x{other:02X}" for other in indices)
        raise table.error("read_opcode", problem, remedy=f"use one of {known}")
    return _c_flag(table, indices[opcode])


def _c_flag(table: Table, index: int) -> str:
    return f"{{ {index}, 0x{table.octet('mask', low=1):02X} }}"


def _flags(table: Table, status: Table, names: Sequence[str]) -> Fields:
    return {name: _flag(table.table(name), status) for name in names if name in table.values}


def _protection(table: Table, status: Table, size_bytes: int, sources: Sources) -> Fields:
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
        fields["unit_bytes"] = str(table.integer("unit_bytes", low=4096, high=SIZE_BYTES_MAX))
    fields |= _flags(table, status, flags)
    if "lock_regions" in table.values:
        fields |= _lock_regions(table, size_bytes)
    return {"protection": c_struct(fields)}


def _lock_regions(table: Table, size_bytes: int) -> Fields:
    """Reads the sizes of the blocks, each of which has its own lock."""
    regions = read_regions(table, "lock_regions", size_bytes)
    count = sum(blocks for blocks, _ in regions)
    if count > LOCKS_MAX:
        remedy = f"write up to {LOCKS_MAX}, or make room in model/spi.h"
        raise table.error("lock_regions", f"has {count} blocks", remedy=remedy)
    return {"lock_regions": c_regions(regions), "lock_region_count": str(len(regions))}


def _early_wel(table: Table, sources: Sources) -> Fields:
    """Reads the grade of the source that says that WEL is cleared within a busy time."""
    sources.check_keys(table, required=())
    return {"early_wel": f"{{ true, GRADE_{sources.grade(table).name} }}"}


def _dies(table: Table, sources: Sources) -> Fields:
    """Reads the number of dies, and how a client chooses one."""
    table.check_keys(required=("count", "source"), optional=("by_chip_select",))
    count = table.integer("count", low=2, high=DIES_MAX)
    chosen = table.true("by_chip_select") if "by_chip_select" in table.values else "false"
    return {"dies": f"{{ {count}, {chosen}, GRADE_{sources.grade(table).name} }}"}


def _suspend(table: Table, status: Table, sources: Sources) -> Fields:
    flags = ("erase_flag", "program_flag")
    table.check_keys(
        required=("opcode", "resume_opcode", "max_us", "source"), optional=("programs", *flags)
    )
    fields = {
        "opcode": str(read_opcode(table, "opcode", (0x75, 0xB0))),
        "resume_opcode": str(read_opcode(table, "resume_opcode", (0x7A, 0x30))),
    }
    if "programs" in table.values:
        fields["programs"] = table.true("programs")
    fields |= _flags(table, status, flags)
    latency = sources.wait(table.only("max_us", "source"), "suspend")
    return {"suspend": c_struct(fields), "suspend_latency": latency}


def _busy(
    table: Table,
    sources: Sources,
    required: Mapping[str, int],
    optional: Mapping[str, int] | None = None,
) -> Fields:
    """Reads rows of `[busy]`, or the row `assumed` for all required ones.

    Each becomes a busy time of the same name in C.
    """
    if "assumed" in table.values:
        table.check_keys(required=("assumed",))
        table = Table(table.file, table.where, dict.fromkeys(required, table.values))
    assumed_ns = {**required, **(optional or {})}
    table.check_keys(required=tuple(required), optional=tuple(optional or ()))
    return {key: sources.busy_time(table.table(key), assumed_ns[key]) for key in table.values}


def _wait(
    table: Table,
    sources: Sources,
    *,
    required: Sequence[str] = (),
    optional: Sequence[str],
    defaults: Mapping[str, str] | None = None,
) -> Fields:
    """Reads rows of `[wait]`. `defaults` names the wait that replaces a missing one."""
    table.check_keys(required=required, optional=optional)
    wait = {key: sources.wait(table.table(key), key) for key in table.values}
    for key, other in (defaults or {}).items():
        if other in wait:
            wait.setdefault(key, wait[other])
    return wait
