# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds functions of a stripped file by name, in separate debug information.

Sources: GDB manual, "Debugging Information in Separate Files" (build ID and .gnu_debuglink); DWARF
5, section 3.3 (subroutines).
"""

import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import NoteSection

from delayrig.subjects.symbols import symbols_in

DEBUG_PATH = "FLASHROM_RIG_DEBUG_PATH"
"""The environment variable with the user's folders, which are arranged like /usr/lib/debug."""
SYSTEM = Path("/usr/lib/debug")


def debug_functions(part: Path, names: list[str]) -> dict[str, int]:
    """Returns addresses of functions by name, from the file or from its separate debug file."""
    with part.open("rb") as file:
        elf = ELFFile(file)
        build = build_id(elf)
        found = _in_dwarf(elf, names)
        places = list(separate_files(elf, part, build))
    for place in places:
        if not found and place.is_file():
            found = _in_file(place, build, names)
    return found


def build_id(elf: Any) -> str:
    """Returns the build ID in hexadecimal; empty if the linker wrote none."""
    for section in elf.iter_sections():
        if isinstance(section, NoteSection):
            for note in section.iter_notes():
                if note["n_type"] == "NT_GNU_BUILD_ID":
                    return str(note["n_desc"])
    return ""


def debug_folders() -> list[Path]:
    """Returns the folders for separate debug files, the user's own first."""
    named = os.environ.get(DEBUG_PATH, "").split(":")
    return [*(Path(folder).absolute() for folder in named if folder), SYSTEM]


def separate_files(elf: Any, part: Path, build: str) -> Iterator[Path]:
    """Yields the places where the debug file may be: by build ID, and by debug link and its CRC."""
    if build:
        for folder in debug_folders():
            yield folder / ".build-id" / build[:2] / f"{build[2:]}.debug"
    section = elf.get_section_by_name(".gnu_debuglink")
    data = section.data() if section else b""
    link = data.partition(b"\0")[0].decode(errors="replace")
    if not link or "/" in link:
        return
    crc = int.from_bytes(data[-4:], "little" if elf.little_endian else "big")
    for folder in (*debug_folders(), part.parent, part.parent / ".debug"):
        if _has_crc(folder / link, crc):
            yield folder / link


def _has_crc(place: Path, crc: int) -> bool:
    try:
        return place.is_file() and zlib.crc32(place.read_bytes()) == crc
    except OSError:
        return False


def _in_file(place: Path, build: str, names: list[str]) -> dict[str, int]:
    """Returns the functions of a debug file; empty if it belongs to another build."""
    try:
        with place.open("rb") as file:
            elf = ELFFile(file)
            if build_id(elf) != build:
                return {}
            functions = ((s.name, s.address) for s in symbols_in(elf) if s.is_function)
            in_symbols = _unique(each for each in functions if each[0] in names)
            return in_symbols or _in_dwarf(elf, names)
    except (OSError, ELFError):
        return {}


def _in_dwarf(elf: Any, names: list[str]) -> dict[str, int]:
    # Reading units takes long, so first check that any of the names occurs.
    sections = map(elf.get_section_by_name, (".debug_str", ".debug_info"))
    texts = [section.data() for section in sections if section]
    mentioned = any(name.encode() in text for name in names for text in texts)
    if not mentioned or not elf.has_dwarf_info():
        return {}
    units = elf.get_dwarf_info().iter_CUs()
    return _unique(found for unit in units for found in _subprograms(unit, names))


def _unique(found: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Returns the address of each name, without names that have several."""
    places: dict[str, set[int]] = {}
    for name, address in found:
        places.setdefault(name, set()).add(address)
    return {name: at.pop() for name, at in places.items() if len(at) == 1}


def _subprograms(unit: Any, names: list[str]) -> Iterator[tuple[str, int]]:
    for entry in unit.get_top_DIE().iter_children():
        if entry.tag == "DW_TAG_subprogram" and "DW_AT_low_pc" in entry.attributes:
            name = _name_of(entry)
            if name in names:
                yield name, int(entry.attributes["DW_AT_low_pc"].value)


def _name_of(entry: Any) -> str:
    """Returns its name, or that of its declaration."""
    while "DW_AT_name" not in entry.attributes:
        origins = {"DW_AT_specification", "DW_AT_abstract_origin"} & entry.attributes.keys()
        if not origins:
            return ""
        entry = entry.get_DIE_from_attribute(max(origins))
    return str(entry.attributes["DW_AT_name"].value.decode(errors="replace"))
