# SPDX-License-Identifier: GPL-2.0-or-later
"""Names the instruction that the guest's CPU lacks if a program ended by SIGILL.

The guest's kernel logs where: `trap invalid opcode ip:7f12 sp:7ffe error:0 in NAME[7f00+1000]`.
"""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from delayrig.model.events import Event, of_kind
from delayrig.model.kinds.agent import KernelMessage
from delayrig.model.platform import V2, V3
from delayrig.subjects.finder.isa import ISAS, disassembler
from delayrig.subjects.subject import Subject
from delayrig.subjects.symbols import read_symbols

ILLEGAL = 4
"""SIGILL (signal(7))."""
WHERE = re.compile(
    r"trap invalid opcode ip:(?P<at>[0-9a-f]+) .* in (?P<name>\S+)"
    r"\[([0-9a-f]+,)?(?P<base>[0-9a-f]+)\+"
)
CODE_BYTES = 15
"""The longest instruction."""
LEVELS = {
    V2: {"ssse3", "sse41", "sse42", "popcnt", "cmpxchg16b"},
    V3: {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"},
}
"""The instructions that each level of the x86-64 psABI adds.

They are named by capstone's groups; an instruction without a group by its mnemonic.
"""


def missing_instruction(events: Sequence[Event], subject: Subject) -> str:
    """Returns the missing instruction, and the hazard whose CPU has it; empty if unknown."""
    for message in of_kind(events, KernelMessage):
        if found := WHERE.search(message.text):
            into = int(found["at"], 16) - int(found["base"], 16)
            return _described(subject, found["name"], into)
    return ""


def _described(subject: Subject, name: str, into: int) -> str:
    """Describes the instruction at `into` bytes of the code of the subject's file `name`."""
    part = next((p for f, p in subject.parts.items() if PurePosixPath(f).name == name), None)
    if part is None:
        return f"an instruction in {name}"
    symbols = read_symbols(part)
    address = symbols.text[0] + into
    decoded = disassembler(ISAS[symbols.machine], detail=True)
    step = next(decoded.disasm(symbols.code(address, CODE_BYTES), address), None)
    if step is None:
        return f"an instruction at {address:#x} of {name}"
    needs = {*map(step.group_name, step.groups), step.mnemonic}
    level = next((level for level, groups in LEVELS.items() if groups & needs), "")
    found = f"{step.mnemonic} at {symbols.where(address)} of {name}"
    return f"{found}, which the hazard cpu:{level} has" if level else found
