# SPDX-License-Identifier: GPL-2.0-or-later
"""The code of functions as text without addresses: code that only moved has the same text.

The address of a called function is replaced by its name; by the word `function` without a symbol. A
reference to data is replaced by the bytes there; by the word `data` if they are text, an address or
written.
"""

import re
from bisect import bisect_left, bisect_right
from functools import cached_property

from delayrig.base import digest
from delayrig.subjects.finder.calls import CallGraph
from delayrig.subjects.finder.isa import BRANCH, CALL, JUMP
from delayrig.subjects.finder.program import Function, Step
from delayrig.subjects.symbols import symbols_in

DATA, FUNCTION, LABEL = "data", "function", "label"
OBJECT_SIZE_MAX = 256
"""The largest object whose bytes are shown. Larger ones are tables of chips and boards."""
LINES_BEFORE_ASSERT = 8
TEXT_LONGER_THAN = 2
"""Printable bytes are text if there are more than this; fewer may be a number as well."""
WIDTHS = {"byte": 1, "word": 2, "dword": 4, "qword": 8, "xmmword": 16, "ymmword": 32}
WORD = re.compile(r"\b[A-Za-z_]\w*")
_FILLING = re.compile(r"nop|int3|data16 nop|endbr64|endbr32")
_RIP = re.compile(r"\[rip ([+-]) (0x[0-9a-f]+|\d+)\]")
_FROM_TABLE = re.compile(r"\[(e(?:ax|bx|cx|dx|si|di)) ([+-]) (0x[0-9a-f]+)\]")
_NUMBER = re.compile(r"\b0x[0-9a-f]{5,}\b")
_PAGED = re.compile(r"\[(x\d+), #(0x[0-9a-f]+|\d+)\]|\[(x\d+)\]")
_LINE_NUMBER = re.compile(r"(mov (?:edx|w2), |push )#?(?:0x[0-9a-f]+|\d+)")


def base_name(name: str) -> str:
    """Returns the name in the source, without what a compiler adds to clones and cold parts."""
    return name.partition(".")[0]


class Bodies:
    """The functions of one program. If not `named`, they are read as if there were no symbols."""

    def __init__(self, graph: CallGraph, *, named: bool) -> None:
        self.graph = graph
        self.program = graph.program
        self.named = named

    @cached_property
    def names(self) -> dict[int, str]:
        found: dict[int, str] = {}
        for symbol in symbols_in(self.program.elf, ".symtab") if self.named else ():
            if symbol.is_function:
                name = base_name(symbol.name)
                found[symbol.address] = min(found.get(symbol.address, name), name)
        return found

    @cached_property
    def _objects(self) -> dict[int, int]:
        """Returns the sizes of objects in data, by address."""
        symbols = symbols_in(self.program.elf, ".symtab") if self.named else ()
        return {each.address: each.size for each in symbols if not each.is_function and each.size}

    def steps(self, function: Function) -> list[Step]:
        """Returns a function's instructions without those that only fill gaps."""
        steps, at = self.program.all_steps, self._addresses
        found = steps[bisect_left(at, function.address) : bisect_left(at, function.end)]
        return [step for step in found if not _is_filling(step)]

    @cached_property
    def _addresses(self) -> list[int]:
        return [step.address for step in self.program.all_steps]

    def lines(self, function: Function, steps: list[Step]) -> list[str]:
        """Returns a line for each instruction, without the targets of jumps within the function."""
        held: dict[str, int] = {}
        pages: dict[str, int] = {}
        found: list[str] = []
        for step in steps:
            slot = self.program.slot_of(step, held)
            if step.kind in (CALL, JUMP, BRANCH):
                found.append(self._transfer(step, function, slot))
            else:
                found.append(f"{step.mnemonic} {self._operands(step, pages)}".rstrip())
            if found[-1].endswith(" assert_fail"):
                _hide_line_number(found)
        return found

    def without_names(self, lines: list[str]) -> tuple[list[str], list[str]]:
        """Returns the lines with `function` for each name of a function, and these names."""
        known, found = self._known_names, list[str]()

        def unnamed(word: re.Match[str]) -> str:
            if word[0] not in known:
                return word[0]
            found.append(word[0])
            return FUNCTION

        return [WORD.sub(unnamed, line) for line in lines], found

    @cached_property
    def _known_names(self) -> set[str]:
        return set(self.names.values())

    def shape(self, function: Function, steps: list[Step], lines: list[str]) -> str:
        """Returns a digest of the lines and of the targets of jumps within the function."""
        at = [step.address for step in steps]
        inside = (step.target for step in steps if step.kind in (JUMP, BRANCH) and step.target)
        jumps = [bisect_left(at, to) for to in inside if function.address <= to < function.end]
        return digest.of_value([lines, jumps])[:16]

    def _transfer(self, step: Step, function: Function, slot: int | None) -> str:
        before, _, _ = step.operands.rpartition(" ")
        words = f"{step.mnemonic} {before}".rstrip()
        if slot is None and step.target is not None:
            slot = self.program.stubs.get(step.target)
        if slot is not None:
            return f"{step.mnemonic} {self._behind(slot)}"
        if step.target is None:
            return f"{step.mnemonic} {self._operands(step, {})}"
        if step.kind != CALL and function.address <= step.target < function.end:
            return f"{words} {LABEL}"
        return f"{words} {self._function_at(step.target)}"

    def _behind(self, slot: int) -> str:
        own = self.program.own_slots.get(slot)
        name = self.program.slots.get(slot, FUNCTION)
        return name if own is None else self._function_at(own)

    def _function_at(self, address: int) -> str:
        inside = self.graph.function_at(address)
        return self.names.get(inside.address, FUNCTION) if inside else FUNCTION

    def _operands(self, step: Step, pages: dict[str, int]) -> str:
        machine, text = self.program.isa.machine, step.operands
        if machine == "EM_AARCH64":
            return self._paged(step, pages)
        if machine == "EM_X86_64":
            text = _RIP.sub(lambda found: self._relative(step, found), text)
        if machine == "EM_386":
            text = _FROM_TABLE.sub(lambda found: self._from_table(step, found), text)
            if step.mnemonic == "add" and self._finds_table(step):
                return f"{text.partition(',')[0]}, {DATA}"
        if self.program.elf["e_type"] == "ET_EXEC":
            text = _NUMBER.sub(lambda found: self._number(found[0]), text)
        return text

    def _relative(self, step: Step, found: re.Match[str]) -> str:
        distance = int(found[2], 0) * (-1 if found[1] == "-" else 1)
        return f"[{self._described(step, step.end + distance, _width_of(step))}]"

    def _from_table(self, step: Step, found: re.Match[str]) -> str:
        distance = int(found[3], 0) * (-1 if found[2] == "-" else 1)
        address = self.program.offset_table + distance
        is_near = abs(distance) < self.program.offset_table and self._section_of(address)
        described = self._described(step, address, _width_of(step))
        return f"[{found[1]} + {described}]" if is_near else found[0]

    def _finds_table(self, step: Step) -> bool:
        """Returns True if it turns its own address into that of the offset table (i386)."""
        last = step.operands.rpartition(" ")[2]
        try:
            return (step.address + int(last, 0)) & 0xFFFFFFFF == self.program.offset_table
        except ValueError:
            return False

    def _number(self, text: str) -> str:
        """Describes a number that may be an address."""
        address = int(text, 16)
        return self._taken(address) if self._is_address(address) else text

    def _is_address(self, number: int) -> bool:
        """Returns True if data is there, or a function begins there."""
        inside = self.graph.function_at(number)
        begins = inside is not None and inside.address == number
        in_data = self._section_of(number) or any(number in each for each in self.program.blank)
        return begins or bool(in_data)

    def _paged(self, step: Step, pages: dict[str, int]) -> str:
        """Describes operands of arm64, where an address is that of a page plus an offset in it."""
        register, _, source = step.operands.partition(", ")
        if step.mnemonic in ("adrp", "adr"):
            pages[register] = int(source.removeprefix("#"), 16)
            return f"{register}, {DATA}"
        base, _, distance = source.partition(", #")
        if step.mnemonic == "add" and base in pages and distance[:1].isdigit():
            described = self._taken(pages[base] + int(distance.partition(",")[0], 0))
            pages.pop(register, None)
            return f"{register}, {base}, {described}"
        text = _PAGED.sub(lambda found: self._in_page(step, found, pages), step.operands)
        if not step.mnemonic.startswith(("st", "cmp", "tst")):
            pages.pop(register, None)
        return text

    def _in_page(self, step: Step, found: re.Match[str], pages: dict[str, int]) -> str:
        base = found[1] or found[3]
        if base not in pages:
            return found[0]
        width = 4 if step.operands.startswith(("w", "s")) else 8
        width = 16 if step.operands.startswith("q") else width
        return f"[{base}, {self._described(step, pages[base] + int(found[2] or '0', 0), width)}]"

    def _described(self, step: Step, address: int, width: int) -> str:
        """Describes what an operand refers to, without its address."""
        first, _, _ = step.operands.partition(",")
        # The first operand of a store of arm64 is a register.
        if step.mnemonic.startswith("st") or (
            step.mnemonic.startswith("mov") and first[-1:] == "]"
        ):
            return DATA
        if step.mnemonic == "lea" or not width:
            return self._taken(address)
        return self._content(address, width)

    def _taken(self, address: int) -> str:
        """Describes the object at an address that the code takes and does not access."""
        inside = self.graph.function_at(address)
        if inside is not None and inside.address == address:
            return f"&{self.names.get(address, FUNCTION)}"
        size = self._objects.get(address, 0)
        return self._content(address, size) if size <= OBJECT_SIZE_MAX else DATA

    def _content(self, address: int, size: int) -> str:
        """Returns the bytes there, if these are numbers and not text or addresses."""
        section = self._section_of(address)
        if section is None or not size or self._is_relocated(address, size):
            return DATA
        begin, content = section
        found = content[address - begin : address - begin + size]
        return DATA if _is_text(found) or len(found) < size else found.hex()

    def _section_of(self, address: int) -> tuple[int, bytes] | None:
        """Returns the section there, if the file holds it and it is no code."""
        sections = self.program.data
        at = bisect_right(sections, address, key=lambda each: each[0]) - 1
        found = sections[at] if at >= 0 else None
        return found if found and address < found[0] + len(found[1]) else None

    def _is_relocated(self, address: int, size: int) -> bool:
        relocated = self.program.relocated
        at = bisect_left(relocated, address)
        return at < len(relocated) and relocated[at] < address + size


def _is_filling(step: Step) -> bool:
    if _FILLING.match(step.mnemonic) or step.mnemonic == "nop":
        return True
    left, _, right = step.operands.partition(", ")
    return (step.mnemonic, right) in (("xchg", left), ("lea", f"[{left}]"))


def _width_of(step: Step) -> int:
    """Returns the bytes of an operand in memory, or 0 if its address alone is used."""
    word = step.operands.partition("[")[0].rstrip().removesuffix(" ptr").rpartition(" ")[2]
    return WIDTHS.get(word, 0)


def _is_text(content: bytes) -> bool:
    text = content.rstrip(b"\0")
    return len(text) > TEXT_LONGER_THAN and all(
        32 <= byte < 127 or byte in b"\t\n\r" for byte in text
    )


def _hide_line_number(lines: list[str]) -> None:
    """Replaces the line number that a failed assertion would print."""
    for at in range(max(len(lines) - LINES_BEFORE_ASSERT, 0), len(lines)):
        lines[at] = _LINE_NUMBER.sub(r"\1line", lines[at])
