# SPDX-License-Identifier: GPL-2.0-or-later
"""The call frame information of one ELF file, read where it is asked for.

A flashrom has it for some thousand functions, and a run asks for a few of them. The linker leaves a
table of where each function's begins, sorted by address (Linux Standard Base, core specification,
"The .eh_frame_hdr section"). Without that table all of it is read.
"""

import struct
from bisect import bisect_right
from collections.abc import Sequence
from io import BytesIO
from itertools import pairwise
from typing import Any

from elftools.dwarf.callframe import FDE, CallFrameInfo
from elftools.dwarf.structs import DWARFStructs
from elftools.elf.elffile import ELFFile

TABLE, FRAMES = ".eh_frame_hdr", ".eh_frame"
_HEAD = struct.Struct("<4B4xI")  # version, encodings of pointer, count and table; the count
# Version 1; a pointer relative to itself, a plain count, a table relative to the section: all of
# 4 bytes. No linker writes another one.
_KNOWN = (1, 0x1B, 0x03, 0x3B)
_ROW = struct.Struct("<ii")


class Frames:
    def __init__(self, elf: ELFFile) -> None:
        self._info = _information(elf)
        self._begins: Sequence[int] = ()
        self._offsets: Sequence[int] = ()
        self._read: dict[int, FDE] = {}
        rows = _rows_of_table(elf) if self._info else []
        if rows:
            self._begins, self._offsets = zip(*rows, strict=True)
        elif self._info:
            entries = [entry for entry in self._info.get_entries() if isinstance(entry, FDE)]
            entries.sort(key=lambda entry: int(entry["initial_location"]))
            self._begins = [int(entry["initial_location"]) for entry in entries]
            self._read = dict(enumerate(entries))

    def near(self, address: int) -> FDE | None:
        """Of the last function that begins there or before; it may end before, too."""
        at = bisect_right(self._begins, address) - 1
        if at < 0 or self._info is None:
            return None
        if at not in self._read:
            self._read[at] = self._info.at(self._offsets[at])
        return self._read[at]


class _Information(CallFrameInfo):
    """One entry of it, where somebody knows where that begins."""

    def at(self, offset: int) -> Any:
        return self._parse_entry_at(offset)


def _information(elf: ELFFile) -> _Information | None:
    section = elf.get_section_by_name(FRAMES)
    if section is None:
        return None
    return _Information(
        stream=BytesIO(section.data()),
        size=section.data_size,
        address=section["sh_addr"],
        base_structs=DWARFStructs(
            little_endian=elf.little_endian, dwarf_format=32, address_size=elf.elfclass // 8
        ),
        for_eh_frame=True,
    )


def _rows_of_table(elf: ELFFile) -> list[tuple[int, int]]:
    """The address of each function with the offset of its entry; empty where no table is known."""
    section, frames = elf.get_section_by_name(TABLE), elf.get_section_by_name(FRAMES)
    if section is None or frames is None or not elf.little_endian:
        return []
    content = section.data()
    if len(content) < _HEAD.size:
        return []
    *kind, count = _HEAD.unpack_from(content)
    table = content[_HEAD.size : _HEAD.size + count * _ROW.size]
    if tuple(kind) != _KNOWN or len(table) < count * _ROW.size:
        return []
    base = section["sh_addr"]
    into = base - frames["sh_addr"]
    found = [(base + begin, into + entry) for begin, entry in _ROW.iter_unpack(table)]
    return found if all(one[0] <= two[0] for one, two in pairwise(found)) else []
