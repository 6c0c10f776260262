# SPDX-License-Identifier: GPL-2.0-or-later
"""One ELF file as code: its stretches of code, its functions, and its imports."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from typing import Any

from elftools.dwarf.callframe import FDE
from elftools.elf.constants import P_FLAGS, SH_FLAGS
from elftools.elf.dynamic import DynamicSection, DynamicSegment
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import SymbolTableSection
from elftools.elf.segments import InterpSegment

from delayrig.subjects.finder.isa import CALL, ISAS, JUMP, OTHER, disassembler, kind_of
from delayrig.subjects.symbols import Symbol, symbols_in

RELATIVE = {"EM_X86_64": (8, 37), "EM_386": (8, 42), "EM_AARCH64": (1027, 1032)}
"""The relocations with an address of the file itself: plain, and of an IFUNC's resolver.

Source: the psABI of each, "Relocation Types".
"""
DATA = ("stdin", "stdout", "stderr", "environ", "optarg", "optind")
"""Imports from the C library that are no functions."""
_SUFFIX = re.compile(r"(_time64|64|_2|_chk)+$")
_WIDE = re.compile(r"64(_chk)?$")


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction, with its operands as text."""

    address: int
    size: int
    mnemonic: str
    operands: str

    @property
    def kind(self) -> str:
        return kind_of(self.mnemonic)

    @property
    def end(self) -> int:
        return self.address + self.size

    @property
    def target(self) -> int | None:
        """Returns the target of a direct call or jump; of other instructions, the last number."""
        last = self.operands.rpartition(" ")[2].removeprefix("#")
        return int(last, 16) if last.startswith("0x") and "[" not in self.operands else None


@dataclass(frozen=True, slots=True)
class Function:
    """A stretch of code that is entered at its beginning."""

    address: int
    size: int

    @property
    def end(self) -> int:
        return self.address + self.size


def is_read(content: bytes) -> bool:
    """Returns True if the finder reads code of that machine."""
    return ELFFile(BytesIO(content))["e_machine"] in ISAS


class Program:
    def __init__(self, content: bytes) -> None:
        self.elf = ELFFile(BytesIO(content))
        self.isa = ISAS[str(self.elf["e_machine"])]

    @cached_property
    def stretches(self) -> list[tuple[int, bytes]]:
        """Returns address and bytes of all code; of whole segments if there are no sections."""
        sections = [
            (int(section["sh_addr"]), section.data())
            for section in self.elf.iter_sections()
            if section["sh_flags"] & SH_FLAGS.SHF_EXECINSTR and section["sh_type"] == "SHT_PROGBITS"
        ]
        return sections or [
            (int(segment["p_vaddr"]), segment.data())
            for segment in self.elf.iter_segments(type="PT_LOAD")
            if segment["p_flags"] & P_FLAGS.PF_X
        ]

    def code(self, address: int, size: int) -> bytes:
        """Returns the bytes there; empty if there is no code."""
        for begin, content in self.stretches:
            if begin <= address < begin + len(content):
                return content[address - begin : address - begin + size]
        return b""

    def steps(self, address: int, size: int) -> list[Step]:
        return list(self._decoded(self.code(address, size), address))

    def _decoded(self, content: bytes, address: int) -> Iterator[Step]:
        read = disassembler(self.isa, detail=False).disasm_lite(content, address)
        return (Step(*found) for found in read)

    @cached_property
    def is_static(self) -> bool:
        """Returns True if it needs no other file, and so contains its C library."""
        segments = list(self.elf.iter_segments())
        if any(isinstance(segment, InterpSegment) for segment in segments):
            return False
        dynamic = (segment for segment in segments if isinstance(segment, DynamicSegment))
        return not any(list(segment.iter_tags("DT_NEEDED")) for segment in dynamic)

    @cached_property
    def system_calls(self) -> frozenset[int]:
        """Returns the addresses of the instructions that call the kernel."""
        word = self.isa.system_call
        return frozenset(step.address for step in self.all_steps if step.mnemonic == word)

    @cached_property
    def all_steps(self) -> list[Step]:
        """Returns every instruction of the file, in the order of addresses."""
        return [
            step for at, content in sorted(self.stretches) for step in self._decoded(content, at)
        ]

    @cached_property
    def slots(self) -> dict[int, str]:
        """Returns the slots that the dynamic linker fills with functions of other files."""
        # Names lose the C library's additions: `__nanosleep64` becomes `nanosleep`.
        return {
            at: _SUFFIX.sub("", symbol.removeprefix("__"))
            for at, _, symbol, _ in self._relocations
            if symbol and symbol not in DATA
        }

    @cached_property
    def wide_slots(self) -> frozenset[int]:
        """Returns the slots of functions that take times of 64 bits instead of 32."""
        return frozenset(at for at, _, symbol, _ in self._relocations if _WIDE.search(symbol))

    @cached_property
    def own_slots(self) -> dict[int, int]:
        """Returns the slots of functions that this file exports and that others may replace."""
        own = {each.name: each.address for each in self._exports}
        return {at: own[symbol] for at, _, symbol, _ in self._relocations if symbol in own}

    @cached_property
    def own_addresses(self) -> frozenset[int]:
        """Returns the addresses of this file in its data, such as those of functions."""
        plain, _ = RELATIVE[self.isa.machine]
        words = (addend for _, kind, _, addend in self._relocations if kind == plain)
        return frozenset(words) | self._words_of_data

    @cached_property
    def resolvers(self) -> dict[int, int]:
        """Returns the slots that an IFUNC's resolver fills, and the resolver."""
        _, resolved = RELATIVE[self.isa.machine]
        return {at: addend for at, kind, _, addend in self._relocations if kind == resolved}

    @cached_property
    def exported(self) -> frozenset[int]:
        return frozenset(symbol.address for symbol in self._exports)

    @cached_property
    def _exports(self) -> list[Symbol]:
        return [each for each in symbols_in(self.elf, ".dynsym") if each.is_function]

    @cached_property
    def named(self) -> list[Function]:
        return [Function(s.address, s.size) for s in symbols_in(self.elf) if s.is_function]

    @cached_property
    def framed(self) -> list[Function]:
        """Returns the functions of the call frame information, which stripping does not remove."""
        dwarf = self.elf.get_dwarf_info()
        entries = dwarf.EH_CFI_entries() if dwarf.has_EH_CFI() else []
        return [
            Function(int(entry["initial_location"]), int(entry["address_range"]))
            for entry in entries
            if isinstance(entry, FDE)
        ]

    @cached_property
    def stubs(self) -> dict[int, int]:
        """Returns the entries of the procedure linkage table, and the slot of each."""
        found: dict[int, int] = {}
        for section in self.elf.iter_sections():
            if section.name.startswith((".plt", ".iplt")):
                steps = self._decoded(section.data(), int(section["sh_addr"]))
                found |= dict(self._stubs(steps))
        return found

    def _stubs(self, steps: Iterable[Step]) -> Iterator[tuple[int, int]]:
        begin: int | None = None
        pages: dict[str, int] = {}
        for step in steps:
            if step.mnemonic == "nop" or step.mnemonic.startswith("."):
                continue
            begin = step.address if begin is None else begin
            slot = self.slot_of(step, pages)
            if step.kind == JUMP:
                if slot is not None:
                    yield from ((begin, slot), (step.address, slot))
                begin = None

    def slot_of(self, step: Step, held: dict[str, int]) -> int | None:
        """Returns the slot through which it calls or jumps; None if there is none.

        `held` has the pages and slots that registers contain; this function updates it.
        """
        if step.kind == OTHER:
            self._note_load(step, held)
        if step.kind not in (CALL, JUMP):
            return None
        in_memory, named = "[" in step.operands, step.operands.strip()
        at = self._address(named, step.end, held) if in_memory else held.get(named)
        return at if at in self.slots or at in self.resolvers else None

    def _note_load(self, step: Step, held: dict[str, int]) -> None:
        register, _, source = step.operands.partition(", ")
        if step.mnemonic == "adrp":
            held[register] = int(source.removeprefix("#"), 16)
        elif step.mnemonic in ("mov", "ldr") and "[" in source:
            at = self._address(source, step.end, held)
            held.pop(register, None)
            if at in self.slots or at in self.resolvers:
                held[register] = at
        elif step.mnemonic != "add" or source.partition(",")[0] not in held:
            held.pop(register, None)

    def _address(self, operand: str, end: int, held: dict[str, int]) -> int | None:
        """Returns the address of an operand in memory, if the code around it shows that."""
        inside = operand.partition("[")[2].partition("]")[0]
        base, _, rest = inside.replace("- ", "-").replace("+ ", "").partition(" ")
        base, offset = base.rstrip(","), rest.replace("#", "")
        if base.startswith("0x"):
            return int(base, 16)
        if "*" in base or not re.fullmatch("-?(0x)?[0-9a-f]+|", offset):
            return None
        shift = int(offset or "0", 16)
        if base == "rip":
            return end + shift
        if self.isa.machine == "EM_386":
            return self.offset_table + shift
        return held[base] + shift if base in held else None

    @cached_property
    def offset_table(self) -> int:
        """Returns the address of the global offset table, which position-independent code uses."""
        parts: list[Any] = [*self.elf.iter_sections(), *self.elf.iter_segments()]
        dynamic = [part for part in parts if isinstance(part, DynamicSection | DynamicSegment)]
        tags = [tag for part in dynamic[:1] for tag in part.iter_tags("DT_PLTGOT")]
        return int(tags[0]["d_ptr"]) if tags else 0

    @cached_property
    def _relocations(self) -> list[tuple[int, int, str, int]]:
        """Returns place, type, symbol and addend of each relocation."""
        return [
            (int(each["r_offset"]), int(each["r_info_type"]), symbol, self._addend(each))
            for section in self.elf.iter_sections()
            if isinstance(section, RelocationSection)
            for each, symbol in self._with_symbols(section)
        ]

    @cached_property
    def relocated(self) -> list[int]:
        """Returns the places of addresses that loading the file writes, ascending."""
        return sorted(at for at, _, _, _ in self._relocations)

    @cached_property
    def data(self) -> list[tuple[int, bytes]]:
        """Returns address and bytes of each section that is loaded and is no code, ascending."""
        return sorted(
            (int(section["sh_addr"]), section.data())
            for section in self.elf.iter_sections()
            if section["sh_flags"] & SH_FLAGS.SHF_ALLOC
            and not section["sh_flags"] & SH_FLAGS.SHF_EXECINSTR
            and section["sh_type"] == "SHT_PROGBITS"
        )

    @cached_property
    def blank(self) -> list[range]:
        """Returns the addresses of data that the file does not hold, which is zero at first."""
        return [
            range(int(section["sh_addr"]), int(section["sh_addr"]) + int(section["sh_size"]))
            for section in self.elf.iter_sections()
            if section["sh_type"] == "SHT_NOBITS"
        ]

    def _with_symbols(self, section: RelocationSection) -> Iterator[tuple[Any, str]]:
        table: Any = self.elf.get_section(section["sh_link"]) if section["sh_link"] else None
        for each in section.iter_relocations():
            number = isinstance(table, SymbolTableSection) and each["r_info_sym"]
            yield each, str(table.get_symbol(number).name) if number else ""

    def _addend(self, relocation: Any) -> int:
        """Returns the addend; without one (REL), the word at the relocation's place."""
        if relocation.is_RELA():
            return int(relocation["r_addend"])
        size = self.isa.word_bytes
        for begin, content in self._loaded:
            at = int(relocation["r_offset"]) - begin
            if 0 <= at <= len(content) - size:
                return int.from_bytes(content[at : at + size], "little")
        return 0

    @cached_property
    def _loaded(self) -> list[tuple[int, bytes]]:
        loaded = self.elf.iter_segments(type="PT_LOAD")
        return [(int(segment["p_vaddr"]), segment.data()) for segment in loaded]

    @cached_property
    def _words_of_data(self) -> frozenset[int]:
        """Returns all words of the data of a program with a fixed address.

        Any of them may be an address, because no relocation marks those that are.
        """
        if self.elf["e_type"] != "ET_EXEC":
            return frozenset()
        size = self.isa.word_bytes
        return frozenset(
            int.from_bytes(content[at : at + size], "little")
            for section in self.elf.iter_sections()
            if section.name in (".data", ".data.rel.ro", ".rodata", ".init_array", ".got")
            for content in (section.data(),)
            for at in range(0, len(content) - size + 1, size)
        )
