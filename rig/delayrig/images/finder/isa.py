# SPDX-License-Identifier: GPL-2.0-or-later
"""What differs from one instruction set to another when code is read, as values.

Sources: System V psABI for x86-64 (section 3.2), for i386 (section 2.2); AAPCS64 (section 6).
"""

import importlib
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

CALL, JUMP, BRANCH, RETURN, OTHER = "call", "jump", "branch", "return", "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Isa:
    """One instruction set with the calling convention of Linux."""

    machine: str
    """As ELF files call it."""
    capstone: tuple[str, str]
    """Capstone's names of architecture and mode."""
    word_bytes: int
    arguments: tuple[str, ...]
    """The registers of the first integers; empty where these are on the stack."""
    results: tuple[str, ...]
    lost: frozenset[str]
    """Registers that a call may change."""
    stack: str
    call_pushes: int
    """Bytes of a return address on the stack."""

    @property
    def is_x86(self) -> bool:
        """Whether code is of variable length, with memory in most operands."""
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
)
ISAS = {isa.machine: isa for isa in (X86_64, I386, ARM64)}

_LEGACY = ("ax", "bx", "cx", "dx", "si", "di", "bp", "sp")


def _x86_families() -> dict[str, str]:
    """The 64-bit register that each smaller one is a part of."""
    found: dict[str, str] = {}
    for name in _LEGACY:
        low = f"{name[0]}l" if name.endswith("x") else f"{name}l"
        parts = [name, f"e{name}", f"r{name}", low]
        parts += [f"{name[0]}h"] if name.endswith("x") else []
        found |= dict.fromkeys(parts, f"r{name}")
    for number in range(8, 16):
        found |= {f"r{number}{suffix}": f"r{number}" for suffix in ("", "b", "w", "d")}
    return found


_X86 = _x86_families()


def _arm64_families() -> dict[str, str]:
    found = {"fp": "x29", "lr": "x30", "wzr": "", "xzr": "", "wsp": "sp"}
    found |= {f"w{number}": f"x{number}" for number in range(31)}
    for number in range(32):
        found |= {f"{width}{number}": f"v{number}" for width in "bhsdq"}
    return found


_ARM64 = _arm64_families()


def whole_register(isa: Isa, name: str) -> str:
    """The register that it is a part of; empty for the one that is always zero."""
    if not isa.is_x86:
        return _ARM64.get(name, name)
    whole = _X86.get(name, name)
    return f"e{whole[1:]}" if isa is I386 and name in _X86 else whole


@cache
def kind_of(mnemonic: str) -> str:
    """What an instruction does to the flow of control; prefixes are no matter."""
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


def _capstone() -> ModuleType:
    """Loaded once there is code to read: its library is large."""
    return importlib.import_module("capstone")


def disassembler(isa: Isa, *, detail: bool) -> Any:
    """Goes on behind what is no instruction."""
    capstone = _capstone()
    architecture, mode = (getattr(capstone, name) for name in isa.capstone)
    made = capstone.Cs(architecture, mode)
    made.detail = detail
    made.skipdata = not detail
    return made
