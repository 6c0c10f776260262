# SPDX-License-Identifier: GPL-2.0-or-later
"""Parts on a parallel, LPC or FWH bus: their facts for model/cycle.c and its families."""

from __future__ import annotations

from functools import partial

from chipgen.family import Family, Fields, c_octets, is_power_of_two
from chipgen.figures import BYTE_PROGRAM_NS, PAGE_PROGRAM_NS, Sources
from chipgen.table import Table

BUSES = ("parallel", "lpc", "fwh")
CYCLE_NS_MAX = 10_000
ADDRESS_MAX = (1 << 24) - 1
GRANULE_BYTES = 4096
PAGE_BYTES_MAX = 256
BLOCKS_MAX = 16
SECTORS_MAX = 32
ID_ENTRIES = (0x90, 0x60)
ID_ENTRIES_MAX = 2
UNLOADED = ("erased", "indeterminate")
WINDOW_NAMES = {"sector_erase": "erase_window", "byte_load": "load.window"}


def _read(
    top: Table,
    size_bytes: int,
    sources: Sources,
    *,
    program: tuple[str, int] = ("byte_program", BYTE_PROGRAM_NS),
    windows: tuple[tuple[str, ...], tuple[str, ...]] = ((), ()),
) -> dict[str, Fields]:
    """Reads a parallel part.

    `program` is the key of the program time in `busy`, and the typical time in ns that is assumed
    if the datasheet has none. `windows` are the required and the optional keys of `window`.
    """
    page_bytes = top.integer("page_bytes", low=1, high=PAGE_BYTES_MAX)
    if not is_power_of_two(size_bytes) or not is_power_of_two(page_bytes):
        raise top.error(
            "size_bytes", "or page_bytes is no power of two", remedy="write powers of two"
        )
    fields = {**_bus(top.table("bus"), sources), **_id(top.table("id"), sources)}
    name, assumed_ns = program
    busy = top.table("busy")
    busy.check_keys(required=(name,))
    fields["program"] = sources.busy_time(busy.table(name), assumed_ns)
    for key, read in (("unlock", _unlock), ("wait", _waits), ("load", _load)):
        if key in top.values:
            fields |= read(top.table(key), sources)
    if {"dq7_in_place", "window"} & top.values.keys():
        _check_sectors(top, size_bytes)
    if "dq7_in_place" in top.values:
        sources.check_keys(top.table("dq7_in_place"), required=())
        fields["dq7_in_place"] = "true"
    if "window" in top.values:
        fields |= _windows(windows, top.table("window"), sources)
    if "registers" in top.values:
        fields |= _registers(top.table("registers"), size_bytes, sources)
    return {"parallel": fields}


def _check_sectors(top: Table, size_bytes: int) -> None:
    """Refuses sectors of different sizes, and more than the model's map of sectors has bits for."""
    for row in top.tables("erase"):
        if "regions" in row.values:
            raise row.error("regions", "differ in size", remedy="give all the same size")
        row.integer("size_bytes", low=size_bytes // SECTORS_MAX, high=size_bytes)


FAMILIES = (
    Family(
        name="jedec_byte",
        erase_opcodes=(0x30, 0x50, 0x10),
        keys_required=("bus", "id", "unlock", "busy"),
        keys_optional=("wait", "window", "dq7_in_place", "registers"),
        read=partial(_read, windows=((), ("sector_erase",))),
    ),
    Family(
        name="jedec_page",
        erase_opcodes=(0x10,),
        keys_required=("bus", "id", "unlock", "busy", "wait", "window", "load"),
        read=partial(_read, program=("page_write", PAGE_PROGRAM_NS), windows=(("byte_load",), ())),
    ),
    Family(
        name="fwh",
        erase_opcodes=(0x20,),
        keys_required=("bus", "id", "busy", "registers"),
        read=_read,
    ),
)


def _bus(table: Table, sources: Sources) -> Fields:
    sources.check_keys(table, required=("kind", "cycle_ns"))
    return {
        "bus": f"PARALLEL_BUS_{table.choice('kind', BUSES).upper()}",
        "cycle_ns": str(table.integer("cycle_ns", low=1, high=CYCLE_NS_MAX)),
    }


def _id(table: Table, sources: Sources) -> Fields:
    sources.check_keys(table, required=("maker", "device"))
    return {key: f"0x{table.octet(key):02X}" for key in ("maker", "device")}


def _unlock(table: Table, sources: Sources) -> Fields:
    sources.check_keys(table, required=("addresses", "mask", "id_entry"))
    mask = table.integer("mask", low=1, high=ADDRESS_MAX)
    addresses = table.numbers("addresses", low=0, high=mask)
    if len(addresses) != 2:
        remedy = "write the two for AAh and 55h"
        raise table.error("addresses", f"has {len(addresses)}", remedy=remedy)
    entry = table.numbers("id_entry", low=0, high=0xFF)
    if not set(entry) <= set(ID_ENTRIES) or len(entry) > ID_ENTRIES_MAX:
        known = " and ".join(f"0x{octet:02X}" for octet in ID_ENTRIES)
        raise table.error("id_entry", "the model has no such command", remedy=f"use {known}")
    return {
        "unlock": f"{{ {{ 0x{addresses[0]:04X}, 0x{addresses[1]:04X} }}, 0x{mask:04X} }}",
        "id_entry": c_octets(entry),
    }


def _waits(table: Table, sources: Sources) -> Fields:
    table.check_keys(required=("id_entry", "id_exit"))
    return {f"{key}_wait": sources.wait(table.table(key), key) for key in ("id_entry", "id_exit")}


def _windows(
    known: tuple[tuple[str, ...], tuple[str, ...]], table: Table, sources: Sources
) -> Fields:
    table.check_keys(required=known[0], optional=known[1])
    return {WINDOW_NAMES[key]: sources.window(table.table(key), key) for key in table.values}


def _load(table: Table, sources: Sources) -> Fields:
    sources.check_keys(table, required=("unloaded",), optional=("protected_at_start",))
    is_erased = table.choice("unloaded", UNLOADED) == "erased"
    fields = {"load.unloaded_erased": "true" if is_erased else "false"}
    if "protected_at_start" in table.values:
        fields["load.protected_at_start"] = table.true("protected_at_start")
    return fields


def _registers(table: Table, size_bytes: int, sources: Sources) -> Fields:
    sources.check_keys(table, required=("lock_block_bytes", "lock_at_start"))
    block_bytes = table.integer("lock_block_bytes", low=GRANULE_BYTES, high=size_bytes)
    if size_bytes % block_bytes or size_bytes // block_bytes > BLOCKS_MAX:
        remedy = f"write a number that divides {size_bytes} into at most {BLOCKS_MAX} blocks"
        raise table.error("lock_block_bytes", f"is {block_bytes}", remedy=remedy)
    return {"registers": f"{{ {block_bytes}, 0x{table.octet('lock_at_start'):02X} }}"}
