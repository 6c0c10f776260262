# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions, lines and callers of a small program that is compiled here, with made-up stacks."""

import platform
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from delayrig.subjects.symbols import StackTop, Symbols, read_symbols

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64" or shutil.which("gcc") is None, reason="needs gcc on a 64-bit PC"
)

SOURCE = """\
static void twice(void) {}
__attribute__((noinline)) void wait_here(unsigned int us) { __asm__ volatile("" : : "r"(us)); }
__attribute__((noinline)) void outer(unsigned int us)
{
	volatile unsigned int room[16] = {us};
	wait_here(room[0]);
	room[1] = us;
}
int main(void)
{
	outer(3);
	twice();
	return 0;
}
"""
CALL_IN_OUTER, CALL_IN_MAIN = "outer (program.c:6)", "main (program.c:11)"
BASE = 0x5555_0000_0000
SP = 0x7FFF_0000


def compiled(folder: Path, *options: str) -> Path:
    """Compiles the program with those options; returns its path."""
    (folder / "program.c").write_text(SOURCE, encoding="ascii")
    command = ["gcc", "-O1", "-o", "program", "program.c", *options]
    subprocess.run(command, check=True, cwd=folder)
    return folder / "program"


def address_of(symbols: Symbols, function: str) -> int:
    """Returns the address of a function that the program has."""
    address = symbols.function(function)
    assert address is not None
    return address


def return_address_of(symbols: Symbols, function: str, line: str) -> int:
    """Returns the return address of the call that the function makes in that line."""
    start = address_of(symbols, function)
    inside = [at for at in range(start, start + 200) if symbols.where(at) == line]
    called = address_of(symbols, "wait_here" if function == "outer" else "outer")
    return next(at for at in inside if _call_target(symbols, at) == called) + 5


def _call_target(symbols: Symbols, address: int) -> int | None:
    """Returns the target of the near call at the address, or None."""
    code = symbols.code(address, 5)
    return (
        address + 5 + int.from_bytes(code[1:], "little", signed=True) if code[0] == 0xE8 else None
    )


def stack_of_wait(symbols: Symbols, *, frame_of_outer: int, bp: int = 0) -> StackTop:
    """Returns the stack as wait_here() begins: outer() called it, and main() called outer()."""
    words = [0] * 64
    words[0] = BASE + return_address_of(symbols, "outer", CALL_IN_OUTER)
    words[frame_of_outer // 8] = BASE + return_address_of(symbols, "main", CALL_IN_MAIN)
    return StackTop(sp=SP, bp=bp, words=words)


@pytest.mark.parametrize("options", [("-g",), ("-g", "-no-pie"), ("-gdwarf-4",)])
def test_function_is_found_with_its_file_offset_and_line(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    program = compiled(tmp_path, *options)
    symbols = read_symbols(program)
    address = address_of(symbols, "wait_here")
    assert symbols.address(symbols.file_offset(address)) == address
    assert symbols.where(address) == "wait_here (program.c:2)"
    # Lines are also found without an index of compilation units.
    subprocess.run(["objcopy", "--remove-section=.debug_aranges", program], check=True)
    symbols = Symbols(program.read_bytes())
    assert symbols.where(address_of(symbols, "wait_here")) == "wait_here (program.c:2)"


def test_without_line_numbers_an_address_is_shown_by_its_function(tmp_path: Path) -> None:
    symbols = read_symbols(compiled(tmp_path))
    assert symbols.where(address_of(symbols, "outer") + 2) == "outer+0x2"
    assert symbols.function("wait_there") is None
    with pytest.raises(ValueError, match="no code at"):
        symbols.file_offset(1 << 40)
    with pytest.raises(ValueError, match="no code at"):
        symbols.address(1 << 40)


def test_stripped_program_has_no_functions(tmp_path: Path) -> None:
    symbols = read_symbols(compiled(tmp_path, "-s"))
    assert symbols.function("wait_here") is None
    assert symbols.where(0x1139) == "0x1139"


def test_callers_are_found_without_frame_pointers(tmp_path: Path) -> None:
    symbols = read_symbols(compiled(tmp_path, "-g", "-fomit-frame-pointer"))
    # Only the right size of the frame of outer() leads to its return address.
    frame = next(
        size
        for size in range(8, 500, 8)
        if len(symbols.callers(stack_of_wait(symbols, frame_of_outer=size), BASE)) > 1
    )
    found = symbols.callers(stack_of_wait(symbols, frame_of_outer=frame), BASE)
    assert [symbols.where(at) for at in found] == [CALL_IN_OUTER, CALL_IN_MAIN]


@pytest.fixture
def framed(tmp_path: Path) -> tuple[Symbols, StackTop]:
    """Returns the symbols of the program with frame pointers, and a stack of it."""
    symbols = read_symbols(compiled(tmp_path, "-g", "-fno-omit-frame-pointer"))
    return symbols, stack_of_wait(symbols, frame_of_outer=240, bp=SP + 232)


def test_callers_are_found_by_frame_pointers_as_far_as_the_stack_was_recorded(
    framed: tuple[Symbols, StackTop],
) -> None:
    symbols, top = framed
    found = symbols.callers(top, BASE)
    assert [symbols.where(at) for at in found] == [CALL_IN_OUTER, CALL_IN_MAIN]
    short = StackTop(sp=SP, bp=top.bp, words=top.words[:10])
    assert len(symbols.callers(short, BASE)) == 1
    assert symbols.callers(StackTop(sp=SP, bp=0, words=[]), BASE) == []
    in_another_file = StackTop(sp=SP, bp=0, words=[BASE + (1 << 40)])
    assert symbols.callers(in_another_file, BASE) == []


def test_callers_and_sizes_are_the_same_without_the_table_of_frames(
    framed: tuple[Symbols, StackTop], tmp_path: Path
) -> None:
    symbols, top = framed
    command = ["objcopy", "--rename-section", ".eh_frame_hdr=.other", "program", "untabled"]
    subprocess.run(command, check=True, cwd=tmp_path)
    untabled = read_symbols(tmp_path / "untabled")
    assert len(untabled.callers(top, BASE)) == 2
    assert untabled.callers(top, BASE) == symbols.callers(top, BASE)
    for at in range(*symbols.text):
        assert untabled.size(at) == symbols.size(at)


def test_threads_that_share_symbols_get_the_answers_of_a_single_one(
    tmp_path: Path,
) -> None:
    path = compiled(tmp_path, "-g")
    alone = Symbols(path.read_bytes())
    start = address_of(alone, "wait_here")
    offset = alone.file_offset(start)
    expected = [(alone.address(offset), alone.where(at)) for at in range(start, start + 40)]
    shared = Symbols(path.read_bytes())

    def ask(_thread: int) -> list[tuple[int, str]]:
        return [(shared.address(offset), shared.where(at)) for at in range(start, start + 40)]

    before_s = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            assert all(found == expected for found in threads.map(ask, range(8)))
    finally:
        sys.setswitchinterval(before_s)
