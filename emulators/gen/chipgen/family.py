# SPDX-License-Identifier: GPL-2.0-or-later
"""What a family of parts adds to what every part has, and how its values are written in C."""

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
    """As in the chip file; in C it is PART_NAME."""
    keys_required: tuple[str, ...]
    """The family's own keys at the top of a chip file."""
    keys_optional: tuple[str, ...] = ()
    erase_opcodes: tuple[int, ...] = ()
    """Those that the model has a command for; none: the parts have no key `erase`."""
    read: Callable[[Table, int, Sources], dict[str, Fields]]
    """From the whole file, the size of the part in bytes and its sources: the structures that only
    some parts have, by the pointer to each in `struct part`. That of MEMBER is a
    `struct part_MEMBER` of MEMBER.h."""


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
    """One designated initialiser a line, in the order given."""
    return [f"\t.{name} = {value}," for name, value in fields.items()]
