# SPDX-License-Identifier: GPL-2.0-or-later
"""How values are written in C."""

from __future__ import annotations

from collections.abc import Iterable

from chipgen.figures import BusyTime, Figure


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


def c_fields(fields: dict[str, str]) -> list[str]:
    """One designated initialiser a line, in the order given."""
    return [f"\t.{name} = {value}," for name, value in fields.items()]
