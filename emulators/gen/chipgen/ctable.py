# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes parts as the constant C table that model/part.h declares."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chipgen.figures import BusyTime, Figure
from chipgen.part import Erase, Part, StatusRegister

HEAD = """\
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Generated from chips/ by gen/chips_to_c.py: edit those. */
#include "part.h"
"""


def c_table(parts: Sequence[Part]) -> str:
    names = [_names(index, part) for index, part in enumerate(parts)]
    rows = [_part(index, part) for index, part in enumerate(parts)]
    return "\n".join(
        [
            HEAD,
            *names,
            "",
            "const struct part part_table[] = {",
            *rows,
            "};",
            "",
            f"const size_t part_table_count = {len(parts)};",
            "",
        ]
    )


def _text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _octets(octets: Iterable[int]) -> str:
    return "{ " + ", ".join(f"0x{octet:02X}" for octet in octets) + " }"


def _figure(figure: Figure) -> str:
    return f"{{ UINT64_C({figure.ns}), GRADE_{figure.grade.name} }}"


def _busy_time(busy: BusyTime) -> str:
    return f"{{ {{ {_figure(busy.min)}, {_figure(busy.typ)}, {_figure(busy.max)} }} }}"


def _status_register(register: StatusRegister) -> str:
    octets = (
        register.read_opcode,
        register.write_opcode or 0,
        register.writable_mask,
        register.protect_mask,
    )
    return f"\t\t\t{_octets(octets)},"


def _erase(erase: Erase) -> str:
    return f"\t\t\t{{ 0x{erase.opcode:02X}, {erase.size_bytes}, {_busy_time(erase.busy)} }},"


def _names(index: int, part: Part) -> str:
    names = ", ".join(_text(name) for name in part.flashrom_names)
    return f"static const char *const names_{index}[] = {{ {names}, NULL }};"


def _part(index: int, part: Part) -> str:
    rems = part.rems or (0, 0)
    lines = [
        "\t{",
        f"\t\t.name = {_text(part.name)},",
        f"\t\t.vendor = {_text(part.vendor)},",
        f"\t\t.family = PART_{part.family.upper()},",
        f"\t\t.size_bytes = {part.size_bytes},",
        f"\t\t.page_bytes = {part.page_bytes},",
        f"\t\t.spi_clock_hz_max = {part.spi_clock_hz_max}u,",
        f"\t\t.rdid = {_octets(part.rdid)},",
        f"\t\t.res = 0x{part.res:02X},",
        f"\t\t.rems = {_octets(rems)},",
        f"\t\t.has_rems = {'true' if part.rems else 'false'},",
        "\t\t.status = {",
        *(_status_register(register) for register in part.status),
        "\t\t},",
        f"\t\t.status_count = {len(part.status)},",
        f"\t\t.wrsr_bytes_max = {part.wrsr_bytes_max},",
        "\t\t.erases = {",
        *(_erase(erase) for erase in part.erases),
        "\t\t},",
        f"\t\t.erase_count = {len(part.erases)},",
        *(f"\t\t.{key} = {_busy_time(busy)}," for key, busy in sorted(part.busy.items())),
        *(f"\t\t.{key} = {_figure(wait)}," for key, wait in sorted(part.wait.items())),
        f"\t\t.flashrom_names = names_{index},",
        "\t},",
    ]
    return "\n".join(lines)
