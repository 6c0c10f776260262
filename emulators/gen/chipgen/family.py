# SPDX-License-Identifier: GPL-2.0-or-later
"""The additions of a family to what every part has, and the C form of its values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from chipgen.figures import BusyTime, Figure
from chipgen.sources import Sources
from chipgen.table import Table

Fields = dict[str, str]
"""Designated initialisers in C."""


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
    """The function that makes the structures of only some parts, by the pointer in `struct part`.

    Its arguments are the whole file, the size of the part in bytes and its sources. The structure
    of MEMBER is a `struct part_MEMBER` of MEMBER.h.
    """


def c_text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def c_bool(value: bool) -> str:
    return "true" if value else "false"


def c_octets(octets: Iterable[int]) -> str:
    return "{ " + ", ".join(f"0x{octet:02X}" for octet in octets) + " }"


def c_figure(figure: Figure) -> str:
    return f"{{ UINT64_C({figure.ns}), GRADE_{figure.grade.name} }}"


def c_busy_time(busy: BusyTime) -> str:
    return f"{{ {c_figure(busy.min)}, {c_figure(busy.typ)}, {c_figure(busy.max)} }}"


def c_fields(fields: Fields) -> list[str]:
    """Returns one designated initialiser a line, in the order given."""
    return [f"\t.{name} = {value}," for name, value in fields.items()]
