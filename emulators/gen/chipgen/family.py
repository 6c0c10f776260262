# SPDX-License-Identifier: GPL-2.0-or-later
"""A family of parts: its keys in a chip file, and helpers that several families use."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from chipgen.figures import Sources
from chipgen.table import Table

Fields = dict[str, str]
"""Designated initialisers in C."""

REGIONS_MAX = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    name: str
    """The name in the chip file; in C it is PART_NAME."""
    keys_required: tuple[str, ...]
    """The family's own keys at the top of a chip file."""
    keys_optional: tuple[str, ...] = ()
    erase_opcodes: tuple[int, ...] = ()
    """The opcodes that the model has a command for; empty: the parts have no key `erase`."""
    read: Callable[[Table, int, Sources], dict[str, Fields]]
    """The function that returns the structures that `struct part` points to, by pointer name.

    Its arguments are the whole file, the size of the part in bytes and its sources. A pointer named
    MEMBER points to a `struct part_MEMBER`, which MEMBER.h declares.
    """


def c_octets(octets: Iterable[int]) -> str:
    return "{ " + ", ".join(f"0x{octet:02X}" for octet in octets) + " }"


def c_struct(fields: Fields) -> str:
    return "{ " + ", ".join(f".{name} = {value}" for name, value in fields.items()) + " }"


def is_power_of_two(value: int) -> bool:
    return not value & (value - 1)


def read_opcode(table: Table, key: str, known: Collection[int]) -> int:
    """Reads an opcode that the model has a command for."""
    value = table.octet(key)
    if value not in known:
        names = ", ".join(f"0x{code:02X}" for code in known)
        problem = f"the model has no such command 0x{value:02X}"
        raise table.error(key, problem, remedy=f"use one of {names}, or add it to the model")
    return value


def read_regions(row: Table, key: str, size_bytes: int) -> tuple[tuple[int, int], ...]:
    """Reads `KEY = [[4, 8192], [1, 32768]]`: counts and sizes of blocks, from address 0 on."""
    regions = []
    value = row.values[key]
    if not isinstance(value, list) or not 0 < len(value) <= REGIONS_MAX:
        raise row.error(
            key, "is empty, too long or no list", remedy=f"write a list of 1 to {REGIONS_MAX} pairs"
        )
    for pair in value:
        numbers = Table(row.file, row.where, {key: pair}).numbers(key, low=1, high=size_bytes)
        if len(numbers) != 2:
            remedy = "write pairs: how many blocks, of how many bytes"
            raise row.error(key, f"has {len(numbers)} numbers in one pair", remedy=remedy)
        regions.append((numbers[0], numbers[1]))
    if sum(count * block for count, block in regions) > size_bytes:
        remedy = f"keep them within {size_bytes} bytes"
        raise row.error(key, "reach past the part's end", remedy=remedy)
    return tuple(regions)


def c_regions(regions: tuple[tuple[int, int], ...]) -> str:
    return "{ " + ", ".join(f"{{ {count}, {block} }}" for count, block in regions) + " }"
