# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes parts as the constant C table that model/part.h declares."""

from __future__ import annotations

from collections.abc import Sequence

from chipgen.family import Fields, c_struct
from chipgen.part import Part

HEAD = """\
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Generated from chips/ by gen/chips_to_c.py. Edit chips/ instead. */
"""
NAMES_TAIL = """\
};

const char *const *part_flashrom_names(const struct part *part)
{
	return names[part - part_table];
}
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
    """Returns the C file with part_flashrom_names(), which only some programs link."""
    return "\n".join(
        [
            HEAD + '#include "part.h"\n',
            *(_names(index, part) for index, part in enumerate(parts)),
            "",
            "static const char *const *const names[] = {",
            *(f"\tnames_{index}," for index in range(len(parts))),
            NAMES_TAIL,
        ]
    )


def _text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _names(index: int, part: Part) -> str:
    names = ", ".join(_text(name) for name in part.flashrom_names)
    return f"static const char *const names_{index}[] = {{ {names}, NULL }};"


def _fields(fields: Fields) -> list[str]:
    """Returns a line for each field: its designated initialiser."""
    return [f"\t.{name} = {value}," for name, value in fields.items()]


def _definitions(index: int, part: Part) -> list[str]:
    lines = []
    for member, fields in part.kinds.items():
        head = f"static const struct part_{member} {member}_{index} = {{"
        lines += [head, *_fields(fields), "};"]
    return lines


def _part(index: int, part: Part) -> list[str]:
    head = {
        "name": _text(part.name),
        "vendor": _text(part.vendor),
        "family": f"PART_{part.family.name.upper()}",
        "size_bytes": str(part.size_bytes),
        "page_bytes": str(part.page_bytes),
        "erase_count": str(len(part.erases)),
        **{member: f"&{member}_{index}" for member in part.kinds},
    }
    erases = [f"\t\t{c_struct(erase)}," for erase in part.erases]
    return ["\t{", *_fields(head), "\t.erases = {", *erases, "\t},", "\t},"]
