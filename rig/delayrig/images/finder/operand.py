# SPDX-License-Identifier: GPL-2.0-or-later
"""One instruction with its operands, the same for every instruction set."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from delayrig.images.finder.isa import OTHER, Isa, disassembler, kind_of, whole_register

REGISTER, IMMEDIATE, MEMORY_OPERAND = 1, 2, 3
"""As capstone has them, on every architecture."""
WRITTEN = 2


@dataclass(frozen=True, slots=True)
class Place:
    """Where an operand in memory lies: a register, a multiple of another, and a distance."""

    base: str
    index: str
    shift: int
    size: int
    scale: int = 1


@dataclass(frozen=True, slots=True)
class Operand:
    """A register, a number or a place; the others are empty."""

    register: str = ""
    bits: int = 0
    immediate: int | None = None
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction; x86's first operand is written, where it is written to at all."""

    address: int
    size: int
    mnemonic: str
    kind: str
    operands: tuple[Operand, ...]
    written: tuple[str, ...]
    """All registers that it writes, those in no operand as well."""
    read: tuple[str, ...]
    back: bool
    """Whether it leaves the place's base where it went to (arm64)."""
    after: bool
    """Whether the distance counts only afterwards."""

    @property
    def end(self) -> int:
        return self.address + self.size


def read_instructions(isa: Isa, content: bytes, address: int) -> list[Instruction]:
    """Up to the first thing that is no instruction."""
    return list(_instructions(isa, content, address))


def _instructions(isa: Isa, content: bytes, address: int) -> Iterator[Instruction]:
    for found in disassembler(isa, detail=True).disasm(content, address):
        read, written = found.regs_access()
        operands = tuple(_operand(isa, found, each) for each in found.operands)
        yield Instruction(
            address=found.address,
            size=found.size,
            mnemonic=found.mnemonic.rpartition(" ")[2],
            kind=kind_of(found.mnemonic),
            operands=operands,
            written=_registers(isa, found, written if isa.is_x86 else _written(found)),
            read=_registers(isa, found, read if isa.is_x86 else _read(found)),
            back=not isa.is_x86 and "[" in found.op_str and _goes_back(found.op_str),
            after=not isa.is_x86 and "]," in found.op_str,
        )


def _goes_back(operands: str) -> bool:
    return operands.endswith("!") or "]," in operands


KEEPS_A_PART = ("movk", "bfi", "bfxil", "bfc", "ins")
WRITES_NONE = ("str", "stur", "stp", "strb", "strh", "stlr", "cmp", "cmn", "tst", "ccmp", "fcmp")


def _written(found: Any) -> list[int]:
    """On arm64, by the operands: capstone 5.0 has registers of shifts wrong."""
    first = [each.reg for each in found.operands[:1] if each.type == REGISTER]
    none = found.mnemonic in WRITES_NONE or kind_of(found.mnemonic) != OTHER
    return [] if none else first


def _read(found: Any) -> list[int]:
    keeps = found.mnemonic in KEEPS_A_PART or not _written(found)
    operands = found.operands if keeps else found.operands[1:]
    return [each.reg for each in operands if each.type == REGISTER]


def _registers(isa: Isa, found: Any, numbers: list[int]) -> tuple[str, ...]:
    names = (whole_register(isa, found.reg_name(number)) for number in numbers)
    return tuple(name for name in dict.fromkeys(names) if name not in ("", "rip", "eflags", "nzcv"))


def _operand(isa: Isa, found: Any, operand: Any) -> Operand:
    if operand.type == REGISTER:
        name = str(found.reg_name(operand.reg))
        return Operand(register=whole_register(isa, name), bits=_bits(isa, name))
    if operand.type == IMMEDIATE:
        return Operand(immediate=_shifted(isa, operand))
    if operand.type == MEMORY_OPERAND:
        return Operand(place=_place(isa, found, operand))
    return Operand()


def _shifted(isa: Isa, operand: Any) -> int:
    """arm64 writes large numbers as small ones, and how far to the left."""
    value = int(operand.imm)
    return value << operand.shift.value if not isa.is_x86 and operand.shift.type else value


def _place(isa: Isa, found: Any, operand: Any) -> Place:
    memory = operand.mem
    base = whole_register(isa, found.reg_name(memory.base)) if memory.base else ""
    index = whole_register(isa, found.reg_name(memory.index)) if memory.index else ""
    segment = isa.is_x86 and memory.segment
    base = "segment" if segment else base
    scale = int(memory.scale) if isa.is_x86 else 1
    return Place(base, index, int(memory.disp), _bytes(isa, found), scale)


def _bytes(isa: Isa, found: Any) -> int:
    """How much of memory it reads or writes."""
    if isa.is_x86:
        return max(
            (int(each.size) for each in found.operands if each.type == MEMORY_OPERAND), default=8
        )
    registers = [found.reg_name(each.reg) for each in found.operands if each.type == REGISTER]
    each_bytes = {"w": 4, "s": 4, "q": 16}.get(registers[0][:1], 8) if registers else 8
    return int(each_bytes) * (2 if found.mnemonic in ("stp", "ldp", "ldpsw") else 1)


def _bits(isa: Isa, name: str) -> int:
    if isa.is_x86:
        whole = name.startswith("r") and not name.endswith(("d", "w", "b"))
        return 64 if whole and isa.word_bytes == 8 else 32
    return 32 if name.startswith("w") else 64
