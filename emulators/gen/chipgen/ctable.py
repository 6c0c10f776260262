# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes parts as the constant C table that model/part.h declares."""

from __future__ import annotations

from collections.abc import Sequence

from chipgen.erases import Erase
from chipgen.family import c_busy_time, c_fields, c_text
from chipgen.part import Part

HEAD = """\
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Generated from chips/ by gen/chips_to_c.py: edit those. */
"""


def c_table(parts: Sequence[Part]) -> str:
    headers = dict.fromkeys(f"{member}.h" for part in parts for member in part.kinds)
    return "\n".join(
        [
            HEAD + "".join(f'#include "{header}"\n' for header in ("part.h", *headers)),
            *(line for index, part in enumerate(parts) for line in _definitions(index, part)),
            "",
            "const struct part part_table[] = {",
            *(line for index, part in enumerate(parts) for line in _part(index, part)),
            "};",
            "",
            f"const size_t part_table_count = {len(parts)};",
            "",
        ]
    )


def c_names(parts: Sequence[Part]) -> str:
    """Returns the table behind model/part_names.h, which only some programs use."""
    return "\n".join(
        [
            HEAD + '#include "part_names.h"\n',
            *(_names(index, part) for index, part in enumerate(parts)),
            "",
            "static const char *const *const names[] = {",
            *(f"\tnames_{index}," for index in range(len(parts))),
            "};",
            "",
            "const char *const *part_flashrom_names(const struct part *part)",
            "{",
            "\treturn names[part - part_table];",
            "}",
            "",
        ]
    )


def _names(index: int, part: Part) -> str:
    names = ", ".join(c_text(name) for name in part.flashrom_names)
    return f"static const char *const names_{index}[] = {{ {names}, NULL }};"


def _definitions(index: int, part: Part) -> list[str]:
    lines = []
    for member, fields in part.kinds.items():
        head = f"static const struct part_{member} {member}_{index} = {{"
        lines += [head, *c_fields(fields), "};"]
    return lines


def _erase(erase: Erase) -> str:
    regions = "".join(f"{{ {count}, {size_bytes} }}, " for count, size_bytes in erase.regions)
    return (
        f"\t\t{{ .opcode = 0x{erase.opcode:02X}, .size_bytes = {erase.size_bytes},"
        f" .busy = {c_busy_time(erase.busy)},"
        f" .regions = {{ {regions}}}, .region_count = {len(erase.regions)} }},"
    )


def _part(index: int, part: Part) -> list[str]:
    head = {
        "name": c_text(part.name),
        "vendor": c_text(part.vendor),
        "family": f"PART_{part.family.name.upper()}",
        "size_bytes": str(part.size_bytes),
        "page_bytes": str(part.page_bytes),
        "erase_count": str(len(part.erases)),
        **{member: f"&{member}_{index}" for member in part.kinds},
    }
    return [
        "\t{",
        *c_fields(head),
        "\t.erases = {",
        *(_erase(erase) for erase in part.erases),
        "\t},",
        "\t},",
    ]
