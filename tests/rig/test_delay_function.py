# SPDX-License-Identifier: GPL-2.0-or-later
"""Delay functions of a subject by symbol, offset, profile or code; wrong options."""

import shutil
import subprocess
from pathlib import Path

import pytest
from delayrig.base.errors import BadInputError
from delayrig.lanes.delay_record import request_text
from delayrig.subjects.delay_function import (
    BY_DIGEST,
    BY_FINDER,
    BY_SYMBOL,
    BY_USER,
    DelayFunction,
    DelayOptions,
    direct_waits,
    find_delay_functions,
    find_watched,
    is_watchable,
)
from delayrig.subjects.subject import PARTS, Subject
from delayrig.subjects.symbols import read_symbols

from tests.rig import delay_programs as programs
from tests.rig.builders import make_subject

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")

DIRECT_WAITS = """\
int main(void)
{
	struct pollfd file = { 0, POLLIN, 0 };
	struct timespec now;

	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while (now.tv_nsec < 9);
	usleep(500);
	poll(&file, 1, 7);
"""
SOURCE = """\
static volatile unsigned int waited;
__attribute__((noinline)) void default_delay(unsigned int us) { while (us--) waited++; }
__attribute__((noinline)) void internal_delay(unsigned int us) { while (us--) waited += 2; }
int main(void) { default_delay(1); internal_delay(1); return 0; }
"""


def packed(folder: Path, *options: str) -> Subject:
    """Compiles `SOURCE` into a packaged subject."""
    program = programs.build(folder / "build", SOURCE, "-O1", *options, head="")
    return programs.packed(program, folder)


@pytest.fixture
def functions(tmp_path: Path) -> tuple[DelayFunction, ...]:
    """Returns the delay functions of a subject made of `SOURCE`."""
    return find_delay_functions(packed(tmp_path), DelayOptions())


def test_every_known_symbol_is_found(functions: tuple[DelayFunction, ...]) -> None:
    assert [function.name for function in functions] == ["default_delay", "internal_delay"]
    assert {function.file for function in functions} == {"/usr/sbin/flashrom"}
    assert {function.found_by for function in functions} == {BY_SYMBOL}
    symbols = read_symbols(functions[0].part)
    for function in functions:
        assert function.address == symbols.function(function.name)


def test_stripped_program_has_no_delay_function_by_symbol(tmp_path: Path) -> None:
    assert find_delay_functions(packed(tmp_path, "-s"), DelayOptions()) == ()


def test_missing_symbol_of_the_user_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="--delay-symbol nowhere"):
        find_delay_functions(packed(tmp_path), DelayOptions(symbol="nowhere"))


def test_offset_finds_the_function_in_a_stripped_program(
    tmp_path: Path, functions: tuple[DelayFunction, ...]
) -> None:
    first = functions[0]
    subprocess.run(["strip", first.part], check=True, cwd=tmp_path)
    read_symbols.cache_clear()
    subject = make_subject(archive=str(tmp_path / "subject.cpio"))
    offset = read_symbols(first.part).file_offset(first.address)
    (found,) = find_delay_functions(subject, DelayOptions(offset=offset))
    assert (found.address, found.size) == (first.address, first.size)


def test_offset_outside_the_code_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="--delay-offset 0x10000000"):
        find_delay_functions(packed(tmp_path), DelayOptions(offset=1 << 28))


def test_address_in_a_profile_is_used_in_a_stripped_library(
    tmp_path: Path, functions: tuple[DelayFunction, ...]
) -> None:
    first = functions[0]
    library = tmp_path / "packed" / PARTS / "lib/libflashrom.so.1"
    library.parent.mkdir(parents=True)
    subprocess.run(["strip", "-o", library, first.part], check=True)
    archive = str(tmp_path / "packed" / "subject.cpio")
    subject = make_subject(archive=archive, library=True, delay_address=first.address)
    (found,) = find_delay_functions(subject, DelayOptions())
    assert (found.file, found.address) == ("/lib/libflashrom.so.1", first.address)
    assert found.found_by == BY_DIGEST


def test_function_of_a_stripped_program_is_found_by_its_code(tmp_path: Path) -> None:
    program = programs.build(tmp_path / "build", programs.ONE_FOR_BOTH, "-O2")
    subject = programs.packed(programs.stripped(program), tmp_path)
    (found,) = find_delay_functions(subject, DelayOptions())
    assert found.found_by == BY_FINDER
    assert found.address == read_symbols(program).function("delay")
    assert found.name == f"address {found.address:#x}"
    assert (found.argument, found.argument_bits, found.unit_ns) == (0, 32, 1000)
    assert found.returns
    assert not found.doubt
    assert direct_waits(subject, DelayOptions()) == {"/usr/sbin/flashrom": ()}


def test_function_of_unknown_name_is_found_beside_a_known_one(tmp_path: Path) -> None:
    source = programs.ONE_FOR_BOTH.replace("main(void) {", "main(void) { default_delay(5);")
    known = "OWN void default_delay(unsigned int us) { usleep(us); }\n"
    program = programs.build(tmp_path / "build", known + source, "-O2")
    subject = programs.packed(program, tmp_path)
    found = find_delay_functions(subject, DelayOptions())
    ways = [(function.name, function.found_by) for function in found]
    assert ways == [("default_delay", BY_SYMBOL), ("delay", BY_FINDER)]


def test_symbols_of_the_user_replace_the_known_ones_in_their_order(tmp_path: Path) -> None:
    options = DelayOptions(symbol="internal_delay,main")
    found = find_delay_functions(packed(tmp_path), options)
    assert [(each.name, each.found_by) for each in found] == [
        *(("internal_delay", BY_USER), ("main", BY_USER))
    ]
    assert options.words == ["--delay-symbol", "internal_delay,main"]


def test_direct_waits_are_watched_after_functions_and_unjudged_ones_last(tmp_path: Path) -> None:
    source = programs.ONE_FOR_BOTH.replace("int main(void) {", DIRECT_WAITS)
    subject = programs.packed(programs.build(tmp_path / "build", source, "-O2"), tmp_path)
    found = find_watched(subject, DelayOptions())
    assert [wait.name.partition(" at ")[0] for wait in found] == [
        "delay",
        "usleep()",
        "clock_gettime()",
    ]
    assert [is_watchable(wait) for wait in found] == [True, True, False]
    (listed,) = direct_waits(subject, DelayOptions()).values()
    assert {wait.called: bool(wait.why_not) for wait in listed} == {
        "usleep": False,
        "clock_gettime": True,
        "poll": True,
    }
    words = [line.split()[0] for line in request_text(found).splitlines()]
    assert words[:3] == ["function", "sleep", "sleep"]
    assert words.count("call") == 1


def test_program_without_judged_waits_is_not_watched(tmp_path: Path) -> None:
    source = "int main(void) { struct timespec t; do clock_gettime(1, &t); while (!t.tv_nsec); }"
    subject = programs.packed(programs.build(tmp_path / "build", source, "-O2"), tmp_path)
    assert any(direct_waits(subject, DelayOptions()).values())
    assert find_watched(subject, DelayOptions()) == ()
