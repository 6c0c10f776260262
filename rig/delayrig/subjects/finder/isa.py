# SPDX-License-Identifier: GPL-2.0-or-later
"""The instruction sets that the finder reads, and one form for the instructions of all.

Sources: System V psABI for x86-64 (section 3.2), for i386 (section 2.2); AAPCS64 (section 6).
"""

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

CALL, JUMP, BRANCH, RETURN, OTHER = "call", "jump", "branch", "return", "other"
REGISTER, IMMEDIATE, MEMORY_OPERAND = 1, 2, 3
"""The values of capstone's types of operands, on every architecture."""
KEEPS_A_PART = ("movk", "bfi", "bfxil", "bfc", "ins")
EXCLUSIVE_OR = ("xor", "eor", "pxor", "xorps")
WRITES_NONE = ("str", "stur", "stp", "strb", "strh", "stlr", "cmp", "cmn", "tst", "ccmp", "fcmp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Isa:
    """One instruction set with the calling convention of Linux."""

    machine: str
    capstone: tuple[str, str]
    """The names of architecture and mode in capstone."""
    word_bytes: int
    arguments: tuple[str, ...]
    """The registers of the first integer arguments; empty if they are on the stack."""
    results: tuple[str, ...]
    lost: frozenset[str]
    """The registers that a call may change."""
    stack: str
    call_pushes: int
    """The bytes of a return address on the stack."""
    system_call: str = ""
    """The instruction that calls the kernel; empty if that is not followed."""
    kernel_arguments: tuple[str, ...] = ()
    """The registers of its number and of its arguments."""

    @property
    def is_x86(self) -> bool:
        """Returns True for x86-64 and i386."""
        return self.machine != "EM_AARCH64"


X86_64 = Isa(
    machine="EM_X86_64",
    capstone=("CS_ARCH_X86", "CS_MODE_64"),
    word_bytes=8,
    arguments=("rdi", "rsi", "rdx", "rcx", "r8", "r9"),
    results=("rax", "rdx"),
    lost=frozenset({"rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11"}),
    stack="rsp",
    call_pushes=8,
    system_call="syscall",
    kernel_arguments=("rax", "rdi", "rsi", "rdx", "r10", "r8"),
)
I386 = Isa(
    machine="EM_386",
    capstone=("CS_ARCH_X86", "CS_MODE_32"),
    word_bytes=4,
    arguments=(),
    results=("eax", "edx"),
    lost=frozenset({"eax", "ecx", "edx"}),
    stack="esp",
    call_pushes=4,
)
ARM64 = Isa(
    machine="EM_AARCH64",
    capstone=("CS_ARCH_ARM64", "CS_MODE_ARM"),
    word_bytes=8,
    arguments=tuple(f"x{number}" for number in range(8)),
    results=("x0", "x1"),
    lost=frozenset(f"x{number}" for number in range(19)),
    stack="sp",
    call_pushes=0,
    system_call="svc",
    kernel_arguments=("x8", "x0", "x1", "x2", "x3", "x4"),
)
ISAS = {isa.machine: isa for isa in (X86_64, I386, ARM64)}

# Maps each register to the whole register that contains it.
_X86 = {
    f"{prefix}{name}": f"r{name}" for name in ("si", "di", "bp", "sp") for prefix in ("", "e", "r")
}
_X86 |= {f"{name}l": f"r{name}" for name in ("si", "di", "bp", "sp")}
_X86 |= {f"{prefix}{name}x": f"r{name}x" for name in "abcd" for prefix in ("", "e", "r")}
_X86 |= {f"{name}{half}": f"r{name}x" for name in "abcd" for half in "lh"}
_X86 |= {f"r{n}{suffix}": f"r{n}" for n in range(8, 16) for suffix in ("", "b", "w", "d")}
_ARM64 = {"fp": "x29", "lr": "x30", "wzr": "", "xzr": "", "wsp": "sp"}
_ARM64 |= {f"w{n}": f"x{n}" for n in range(31)}
_ARM64 |= {f"{width}{n}": f"v{n}" for n in range(32) for width in "bhsdq"}


def whole_register(isa: Isa, name: str) -> str:
    """Returns the register that contains it; empty for the one that is always zero."""
    if not isa.is_x86:
        return _ARM64.get(name, name)
    whole = _X86.get(name, name)
    return f"e{whole[1:]}" if isa is I386 and name in _X86 else whole


@cache
def kind_of(mnemonic: str) -> str:
    """Returns the effect of an instruction on the flow of control; prefixes do not matter."""
    word = mnemonic.rpartition(" ")[2]
    if word in ("call", "bl", "blr", "blraa", "blrab", "blraaz", "blrabz"):
        return CALL
    if word in ("jmp", "b", "br", "braa", "brab"):
        return JUMP
    if word in ("ret", "retaa", "retab", "iretq"):
        return RETURN
    if word.startswith(("j", "b.", "loop")) or word in ("cbz", "cbnz", "tbz", "tbnz"):
        return BRANCH
    return OTHER


def disassembler(isa: Isa, *, detail: bool) -> Any:
    """Returns a disassembler. Without details, it continues after bytes that are no instruction."""
    # capstone is large, so it is loaded only when there is code to read.
    capstone = importlib.import_module("capstone")
    architecture, mode = (getattr(capstone, name) for name in isa.capstone)
    made = capstone.Cs(architecture, mode)
    made.detail = detail
    made.skipdata = not detail
    return made


@dataclass(frozen=True, slots=True)
class Place:
    """The address of an operand in memory: a register, a multiple of another, and an offset."""

    base: str
    index: str
    shift: int
    size: int
    scale: int = 1


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand: a register, a number or a place in memory. The other fields are empty."""

    register: str = ""
    bits: int = 0
    immediate: int | None = None
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction. On x86 the first operand is the written one, if any is."""

    address: int
    size: int
    mnemonic: str
    kind: str
    operands: tuple[Operand, ...]
    written: tuple[str, ...]
    """All registers that it writes, including implicit ones."""
    read: tuple[str, ...]
    back: bool
    """True if it updates the base register with the address (arm64)."""
    after: bool
    """True if the offset is added after the access (post-index)."""

    @property
    def end(self) -> int:
        return self.address + self.size

    @property
    def zeroed(self) -> str:
        """Returns the register that it sets to 0 by an exclusive or of equals; empty if none."""
        names = [operand.register for operand in self.operands]
        is_equal = len(names) > 1 and names[-1] == names[-2] != ""
        return names[0] if is_equal and self.mnemonic in EXCLUSIVE_OR else ""

    @property
    def place(self) -> Place | None:
        return next((each.place for each in self.operands if each.place), None)


def read_instructions(isa: Isa, content: bytes, address: int) -> Iterator[Instruction]:
    """Yields the instructions, up to the first bytes that cannot be decoded."""
    for found in disassembler(isa, detail=True).disasm(content, address):
        read, written = found.regs_access() if isa.is_x86 else _arm64_access(found)
        after = not isa.is_x86 and "]," in found.op_str
        yield Instruction(
            address=found.address,
            size=found.size,
            mnemonic=found.mnemonic.rpartition(" ")[2],
            kind=kind_of(found.mnemonic),
            operands=tuple(_operand(isa, found, each) for each in found.operands),
            written=_registers(isa, found, written),
            read=_registers(isa, found, read),
            back=after or (not isa.is_x86 and "[" in found.op_str and found.op_str.endswith("!")),
            after=after,
        )


def _arm64_access(found: Any) -> tuple[list[int], list[int]]:
    """Returns the registers that it reads and writes, by the operands.

    capstone 5.0 reports registers of shifts wrongly.
    """
    none = found.mnemonic in WRITES_NONE or kind_of(found.mnemonic) != OTHER
    written = [] if none else [each.reg for each in found.operands[:1] if each.type == REGISTER]
    keeps = found.mnemonic in KEEPS_A_PART or not written
    operands = found.operands if keeps else found.operands[1:]
    return [each.reg for each in operands if each.type == REGISTER], written


def _registers(isa: Isa, found: Any, numbers: list[int]) -> tuple[str, ...]:
    names = (whole_register(isa, found.reg_name(number)) for number in numbers)
    return tuple(name for name in dict.fromkeys(names) if name not in ("", "rip", "eflags", "nzcv"))


def _operand(isa: Isa, found: Any, operand: Any) -> Operand:
    if operand.type == REGISTER:
        name = str(found.reg_name(operand.reg))
        return Operand(register=whole_register(isa, name), bits=_bits(isa, name))
    if operand.type == IMMEDIATE:
        # arm64 encodes large numbers as small ones with a shift to the left.
        is_shifted = not isa.is_x86 and operand.shift.type
        return Operand(immediate=int(operand.imm) << (operand.shift.value if is_shifted else 0))
    if operand.type == MEMORY_OPERAND:
        return Operand(place=_place(isa, found, operand))
    return Operand()


def _place(isa: Isa, found: Any, operand: Any) -> Place:
    memory = operand.mem
    base = whole_register(isa, found.reg_name(memory.base)) if memory.base else ""
    index = whole_register(isa, found.reg_name(memory.index)) if memory.index else ""
    if isa.is_x86:
        size = max(int(each.size) for each in found.operands if each.type == MEMORY_OPERAND)
        base = "segment" if memory.segment else base
        return Place(base, index, int(memory.disp), size, int(memory.scale))
    registers = [found.reg_name(each.reg) for each in found.operands if each.type == REGISTER]
    each_bytes = {"w": 4, "s": 4, "q": 16}.get(registers[0][:1], 8) if registers else 8
    size = each_bytes * (2 if found.mnemonic in ("stp", "ldp", "ldpsw") else 1)
    return Place(base, index, int(memory.disp), size)


def _bits(isa: Isa, name: str) -> int:
    if isa.is_x86:
        whole = name.startswith("r") and not name.endswith(("d", "w", "b"))
        return 64 if whole and isa.word_bytes == 8 else 32
    return 32 if name.startswith("w") else 64
