# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions, lines and call stacks of one program or library, from its ELF file.

Stacks are walked by the call frame information in `.eh_frame`, which stripped programs and those
without frame pointers have as well (DWARF 5, section 6.4; System V psABI for x86-64, section 3.7,
and for i386, section 2.5; DWARF for the Arm 64-bit architecture, section 4.1; RISC-V ELF psABI,
"DWARF Register Numbers"). Lines need debug information.
"""

import posixpath
import re
import struct
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, wraps
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple, TypeVar, cast

from elftools.dwarf.callframe import FDE, CallFrameInfo
from elftools.dwarf.structs import DWARFStructs
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

F = TypeVar("F", bound=Callable[..., Any])
FRAMES_MAX = 16
TABLE, FRAMES = ".eh_frame_hdr", ".eh_frame"
# The fields are version, encodings of pointer, count and table, and the count.
_HEAD = struct.Struct("<4B4xI")
# The known form is version 1, with a relative pointer, a plain count, and a table relative to the
# section, all of 4 bytes. No linker writes another one.
_KNOWN = (1, 0x1B, 0x03, 0x3B)
_ROW = struct.Struct("<ii")
WIDE, FUNCTION, UNDEFINED = 64, 2, 0
"""The values of a file's class, a symbol's type and its section (System V ABI)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StackTop:
    """The stack at a function's first instruction: the words from `sp` up."""

    sp: int
    bp: int
    """The frame pointer, whatever the machine's name for it."""
    words: Sequence[int]
    lr: int = 0
    """The return address, if a register has it."""

    def word_at(self, address: int, word_bytes: int) -> int | None:
        """Returns the word there; None if it was not recorded."""
        index, odd = divmod(address - self.sp, word_bytes)
        return self.words[index] if not odd and 0 <= index < len(self.words) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frames:
    """The description of a machine's frames: DWARF's numbers of registers, and the word size."""

    word_bytes: int
    stack_pointer: int
    frame_pointer: int
    link: int | None = None
    """The register with the return address; without one, a call puts it on the stack."""


_FRAMES = {
    "EM_X86_64": _Frames(word_bytes=8, stack_pointer=7, frame_pointer=6),
    "EM_386": _Frames(word_bytes=4, stack_pointer=4, frame_pointer=5),
    "EM_AARCH64": _Frames(word_bytes=8, stack_pointer=31, frame_pointer=29, link=30),
    "EM_RISCV": _Frames(word_bytes=8, stack_pointer=2, frame_pointer=8, link=1),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unwound:
    """The rules to find the frame of a place in the code, and its saved registers."""

    from_frame_pointer: bool
    offset: int
    saved_bp: int | None
    saved_link: int | None


class _Row(NamedTuple):
    """The line of the code from an address on; empty at the end of a stretch of code."""

    address: int
    line: str


class Symbol(NamedTuple):
    """The facts about one symbol in a table of symbols."""

    name: str
    address: int
    size: int
    is_function: bool
    """True if the file contains the function, and does not only need it."""


def symbols_in(elf: ELFFile, table_name: str = "") -> Iterator[Symbol]:
    """Yields the symbols of the table of that name, or of all tables."""
    is_wide, is_arm = elf.elfclass == WIDE, elf["e_machine"] == "EM_ARM"
    layout = ("<" if elf.little_endian else ">") + ("IBBHQQ" if is_wide else "IIIBBH")
    for table in elf.iter_sections():
        if not isinstance(table, SymbolTableSection) or table_name not in ("", table.name):
            continue
        names = table.stringtable.data()
        # The table is read at once, because pyelftools takes ten times as long (System V ABI,
        # "Symbol Table").
        for row in struct.iter_unpack(layout, table.data()):
            at, kind, section = row[0], row[1 if is_wide else 3], row[3 if is_wide else 5]
            address, size = row[4:6] if is_wide else row[1:3]
            # Bit 0 says that a function is of Thumb instructions (ELF for the Arm Architecture).
            address -= address & 1 if is_arm and kind & 0xF == FUNCTION else 0
            name = names[at : names.index(b"\0", at)].decode(errors="replace")
            yield Symbol(name, address, size, kind & 0xF == FUNCTION and section != UNDEFINED)


def _alone(function: F) -> F:
    """Allows one thread at a time, because reading moves the file's position."""

    @wraps(function)
    def inner(self: "Symbols", *args: Any) -> Any:
        with self.turn:
            return function(self, *args)

    return cast("F", inner)


class Symbols:
    """One ELF file. Addresses are its own, before it is loaded anywhere.

    It may be used by any thread: cells that are read at once share the symbols of their subject.
    """

    def __init__(self, content: bytes) -> None:
        self.turn = RLock()
        self._content = content
        self._elf = ELFFile(BytesIO(content))
        self._rows: dict[int | None, list[_Row]] = {}
        self._tables: dict[int, Any] = {}

    @property
    def machine(self) -> str:
        """Returns its machine, such as EM_X86_64."""
        return str(self._elf["e_machine"])

    @_alone
    def function(self, name: str) -> int | None:
        """Returns the address of a function; None if there is no such symbol, or several."""
        found = {address for address, _, symbol in self._functions if symbol == name}
        return found.pop() if len(found) == 1 else None

    @_alone
    def names(self, name: str) -> bool:
        """Returns True if it contains or needs something of that name."""
        return any(symbol.name == name for symbol in self._symbols)

    @_alone
    def name(self, address: int) -> str:
        """Returns the name of the function that begins there; empty without a symbol."""
        return next((name for begin, _, name in self._functions if begin == address), "")

    @_alone
    def size(self, address: int) -> int:
        """Returns the size in bytes of the function that begins there; 0 if it is unknown.

        Call frame information is read only if no symbol has the size, because that takes long.
        """
        size = max((size for begin, size, _ in self._functions if begin == address), default=0)
        frame = None if size else self._frames.near(address)
        if frame is not None and frame["initial_location"] == address:
            return int(frame["address_range"])
        return size

    @_alone
    def file_offset(self, address: int) -> int:
        """Returns the offset of that address in the file; raises `ValueError` if it is no code."""
        for begin, size, offset in self._code:
            if 0 <= address - begin < size:
                return offset + address - begin
        raise ValueError(f"no code at {address:#x}")

    @_alone
    def address(self, file_offset: int) -> int:
        """Returns the address of that offset in the file; raises `ValueError` if it is no code."""
        for begin, size, offset in self._code:
            if 0 <= file_offset - offset < size:
                return begin + file_offset - offset
        raise ValueError(f"no code at offset {file_offset:#x}")

    @property
    @_alone
    def text(self) -> tuple[int, int]:
        """Returns the address where its code begins, and the one where it ends."""
        return min(self._code)[0], max(begin + size for begin, size, _ in self._code)

    @property
    @_alone
    def linked_at(self) -> int:
        """Returns the address of the file's first byte if it is not relocated."""
        first = next(self._elf.iter_segments(type="PT_LOAD"))
        return int(first["p_vaddr"]) - int(first["p_offset"])

    def code(self, address: int, size: int) -> bytes:
        at = self.file_offset(address)
        return self._content[at : at + size]

    @_alone
    def where(self, address: int) -> str:
        """Returns `function (file:line)`, else `function+offset`, else the address."""
        line, at = self.line_of(address), bisect_right(self._functions, (address, 1 << 64, "")) - 1
        start, size, name = self._functions[at] if at >= 0 else (0, 0, "")
        if address >= start + size:
            return line or f"{address:#x}"
        return f"{name} ({line})" if line else f"{name}+{address - start:#x}"

    def line_of(self, address: int) -> str:
        """Returns `file:line`; empty without debug information."""
        rows = self._rows_near(address)
        at = bisect_right(rows, address, key=lambda row: row.address) - 1
        return rows[at].line if at >= 0 else ""

    @_alone
    def callers(self, top: StackTop, base: int) -> list[int]:
        """Returns the addresses of the callers at a function's first instruction, nearest first.

        `base` is the difference between the addresses in memory and in the file. The list ends at
        the first caller in another file, and where the stack was not recorded. Each address is the
        last byte of the call: the next byte may belong to another line, or to another function if
        the call never returns.
        """
        kind = _FRAMES.get(self.machine)
        if kind is None:
            return []
        size = kind.word_bytes
        frame_address, bp = top.sp + (0 if kind.link else size), top.bp
        back = top.lr if kind.link else top.word_at(top.sp, size)
        found: list[int] = []
        while back is not None and len(found) < FRAMES_MAX:
            unwound = self._unwind(back - base - 1, kind)
            if unwound is None:
                break
            found.append(back - base - 1)
            # After its return, the stack pointer is where the callee's frame began.
            frame_address = (bp if unwound.from_frame_pointer else frame_address) + unwound.offset
            if unwound.saved_bp is not None:
                bp = top.word_at(frame_address + unwound.saved_bp, size) or 0
            saved = -size if kind.link is None else unwound.saved_link
            back = None if saved is None else top.word_at(frame_address + saved, size)
        return found

    def _unwind(self, address: int, kind: _Frames) -> _Unwound | None:
        frame = self._frames.near(address)
        if frame is None or address >= frame["initial_location"] + frame["address_range"]:
            return None
        if frame.offset not in self._tables:
            self._tables[frame.offset] = frame.get_decoded().table
        rows = [row for row in self._tables[frame.offset] if row["pc"] <= address]
        rule: Any = rows[-1]["cfa"] if rows else None
        known = (kind.stack_pointer, kind.frame_pointer)
        if rule is None or rule.expr is not None or rule.reg not in known:
            return None
        return _Unwound(
            from_frame_pointer=rule.reg == kind.frame_pointer,
            offset=rule.offset,
            saved_bp=_saved(rows[-1], kind.frame_pointer),
            saved_link=_saved(rows[-1], kind.link),
        )

    @cached_property
    def _code(self) -> list[tuple[int, int, int]]:
        """Returns address, size and offset in the file of each segment with code."""
        return [
            (int(each["p_vaddr"]), int(each["p_filesz"]), int(each["p_offset"]))
            for each in self._elf.iter_segments(type="PT_LOAD")
            if each["p_flags"] & 1
        ]

    @cached_property
    def _functions(self) -> list[tuple[int, int, str]]:
        """Returns address, size and name of each function."""
        return sorted({(s.address, s.size, s.name) for s in self._symbols if s.is_function})

    @cached_property
    def _symbols(self) -> list[Symbol]:
        return list(symbols_in(self._elf))

    @cached_property
    def _frames(self) -> "Frames":
        return Frames(self._elf)

    def _rows_near(self, address: int) -> list[_Row]:
        """Returns the lines of the unit that contains the address, or of all units."""
        if not self._elf.has_dwarf_info():
            return []
        unit = self._ranges.cu_offset_at_addr(address) if self._ranges else None
        if unit not in self._rows:
            units = self._dwarf.iter_CUs() if unit is None else [self._dwarf.get_CU_at(unit)]
            programs = map(self._dwarf.line_program_for_CU, units)
            rows = [row for program in programs for row in _lines_of(program)]
            # Where one stretch ends and the next begins, the row with a line must come last.
            self._rows[unit] = sorted(rows, key=lambda row: (row.address, row.line != ""))
        return self._rows[unit]

    @cached_property
    def _ranges(self) -> Any:
        return self._dwarf.get_aranges()

    @cached_property
    def _dwarf(self) -> Any:
        """Returns the debug information. It is cached, because reading it parses all sections."""
        return self._elf.get_dwarf_info()


def _saved(row: Any, register: int | None) -> int | None:
    """Returns the offset from its frame's address at which a register was saved."""
    rule: Any = row.get(register)
    return int(rule.arg) if rule and rule.type == "OFFSET" else None


def _lines_of(program: Any) -> Iterator[_Row]:
    if program is None:
        return
    for entry in program.get_entries():
        state = entry.state
        if state is not None:
            line = "" if state.end_sequence else f"{_file(program, state.file)}:{state.line}"
            yield _Row(state.address, line)


def _file(program: Any, number: int) -> str:
    """Returns the file's path, relative to the compilation directory, without leading `../`.

    Up to DWARF 4, the tables omit entry 0, which is the unit's own file or the compilation
    directory.
    """
    files, folders = program["file_entry"], program["include_directory"]
    left_out = 0 if program["version"] >= 5 else 1
    entry = files[number - left_out]
    folder = folders[entry.dir_index - left_out].decode() if entry.dir_index else ""
    path = posixpath.normpath(posixpath.join(folder, entry.name.decode()))
    return re.sub(r"^(\.\./)+", "", path)


@cache
def read_symbols(path: Path) -> Symbols:
    """Returns the symbols of the file. They are cached, because reading lines takes long."""
    return Symbols(path.read_bytes())


class Frames:
    """Call frame information, read on demand.

    A flashrom has it for some thousand functions, and a run needs a few. The linker writes a table
    of the functions' beginnings, sorted by address (Linux Standard Base, core specification, "The
    .eh_frame_hdr section"). Without that table all of it is read.
    """

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
        """Returns the entry of the last function that begins there or before."""
        at = bisect_right(self._begins, address) - 1
        if at < 0 or self._info is None:
            return None
        if at not in self._read:
            self._read[at] = self._info.at(self._offsets[at])
        return self._read[at]


class _Information(CallFrameInfo):
    def at(self, offset: int) -> Any:
        """Returns the entry that begins there."""
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
    """Returns the address of each function with the offset of its entry; empty without a table."""
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
