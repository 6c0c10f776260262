# SPDX-License-Identifier: GPL-2.0-or-later
"""Call sites of delays in small programs, and the functions that differ between two versions."""

from pathlib import Path

import pytest
from delayrig.features.coverage.changed import (
    Changed,
    Placed,
    Touched,
    changed_functions,
    touched_sites,
)
from delayrig.model.platform import Arch
from delayrig.subjects.finder.code_map import CodeMap, Site, Watched, map_code
from delayrig.subjects.finder.finding import find_in

from tests.rig import delay_programs as programs

pytestmark = pytest.mark.skipif(not programs.compiles(Arch.X86_64), reason="needs gcc")
FLASHROM = programs.FLASHROM
COMPARED = [arch for arch in programs.ARCHES if arch.values != (Arch.I386,)]
"""Without i386, whose code addresses data through a register and so changes when data move."""

AT_FIXED_ADDRESSES = ("-fno-pie", "-no-pie")


def read(program: Path, *, named: bool = True) -> CodeMap:
    """Reads the program with the delay functions that the finder finds in it."""
    content = program.read_bytes()
    findings = find_in(content)
    functions = [Watched(found.address, found.argument) for found in findings.found]
    direct = [Watched(wait.site, direct=True) for wait in findings.direct if not wait.why_not]
    return map_code(content, [*functions, *direct], named=named)


def sites(code: CodeMap) -> dict[str, list[Site]]:
    return {function.name: list(function.sites) for function in code.functions if function.sites}


def differing(before: Path, after: Path, *, named: bool) -> list[Changed]:
    codes = [read(program, named=named) for program in (before, after)]
    placed = [[Placed("/flashrom", function) for function in code.functions] for code in codes]
    return changed_functions(*placed, named=named)


def touched(before: Path, after: Path, *, named: bool) -> list[Touched]:
    return [touched_sites(changed) for changed in differing(before, after, named=named)]


def versions(
    folder: Path,
    text: str,
    new: str,
    *options: str,
    arch: Arch = Arch.X86_64,
    source: str = FLASHROM,
) -> tuple[Path, Path]:
    """Builds the program before and after `text` is replaced; all line numbers differ, too."""
    assert text in source
    changed = f"\n\n\n{source.replace(text, new)}"
    options = options or ("-O2",)
    return (
        programs.build(folder / "before", source, *options, arch=arch),
        programs.build(folder / "after", changed, *options, arch=arch),
    )


@pytest.mark.parametrize("arch", programs.ARCHES)
@pytest.mark.parametrize("level", ["-O0", "-O2", "-Os"])
def test_calls_of_delay_functions_are_sites(tmp_path: Path, arch: Arch, level: str) -> None:
    found = sites(read(programs.build(tmp_path, FLASHROM, level, arch=arch)))
    assert all(site.hands_on for site in found.pop("programmer_delay"))
    assert {name: len(calls) for name, calls in found.items()} == {
        "probe": 3,
        "poll_status": 1,
        "reset_chip": 1,
        "init_usb": 1,
    }
    assert [site.asks for site in found["probe"]] == [10, 10, 500]
    if arch is not Arch.I386:  # the arguments are on the stack
        assert found["reset_chip"][0].is_tail is (level != "-O0")


def test_stripped_program_has_the_same_sites(tmp_path: Path) -> None:
    program = programs.build(tmp_path, FLASHROM, "-O2")
    whole, bare = read(program), read(programs.stripped(program))
    assert not bare.named
    addresses = [[s.address for f in code.functions for s in f.sites] for code in (whole, bare)]
    assert addresses[0] == addresses[1]


@pytest.mark.parametrize("arch", COMPARED)
@pytest.mark.parametrize("level", ["-O0", "-O2", "-Os"])
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("int verbose", "char filler[4096] = { 1 };\nint verbose"),
        ("first id", "a rather different message, which is longer than it was"),
        (
            "OWN void log_text",
            "OWN int unused(int a) { return a * 7 + verbose; }\nOWN void log_text",
        ),
    ],
    ids=["moved data", "other message", "moved code"],
)
def test_moved_code_or_data_and_another_message_touch_no_wait(
    tmp_path: Path, arch: Arch, level: str, named: bool, text: str, new: str
) -> None:
    pair = versions(tmp_path, text, new, level, arch=arch)
    found = touched(*pair, named=named)
    assert [each for each in found if each.sites or each.gone or each.around] == []


@pytest.mark.parametrize("arch", COMPARED)
@pytest.mark.parametrize("level", ["-O0", "-O2", "-Os"])
@pytest.mark.parametrize("named", [True, False])
def test_wait_with_a_shorter_request_is_touched(
    tmp_path: Path, arch: Arch, level: str, named: bool
) -> None:
    pair = versions(
        tmp_path, "programmer_delay(flash, 500)", "programmer_delay(flash, 50)", level, arch=arch
    )
    (found,) = touched(*pair, named=named)
    assert [site.asks for site in found.sites] == [50]
    assert not found.gone


@pytest.mark.parametrize("arch", COMPARED)
@pytest.mark.parametrize("level", ["-O0", "-O2", "-Os"])
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize(
    ("new", "asks"), [("0x62, 1, 2, 3, 4, 0", [0]), ("0x60, 1, 2, 3, 4, 100000", [])]
)
def test_call_of_a_carrier_is_touched_if_it_asks_for_another_time(
    tmp_path: Path, arch: Arch, level: str, named: bool, new: str, asks: list[int]
) -> None:
    old = "0x62, 1, 2, 3, 4, 100000"
    pair = versions(tmp_path, old, new, level, arch=arch, source=programs.CARRIER)
    found = touched(*pair, named=named)
    assert [site.asks for each in found for site in each.sites] == asks
    assert not any(each.gone or each.around for each in found)


@pytest.mark.parametrize("named", [True, False])
def test_removed_wait_is_gone(tmp_path: Path, named: bool) -> None:
    pair = versions(tmp_path, "programmer_delay(flash, 500);", "", "-Os")
    (found,) = touched(*pair, named=named)
    assert [site.asks for site in found.gone] == [500]
    assert not found.around


@pytest.mark.parametrize("named", [True, False])
def test_function_without_its_only_wait_is_paired_with_its_earlier_version(
    tmp_path: Path, named: bool
) -> None:
    pair = versions(tmp_path, "programmer_delay(flash, us);\n\t", "", "-O2")
    assert sum(len(each.gone) for each in touched(*pair, named=named)) == 1


@pytest.mark.parametrize("named", [True, False])
def test_change_between_waits_is_around_them(tmp_path: Path, named: bool) -> None:
    pair = versions(tmp_path, "return id ==", "return id + 1 ==", "-O0")
    (found,) = touched(*pair, named=named)
    assert (len(found.around), found.sites, found.gone) == (3, (), ())


def test_changed_number_of_a_table_changes_the_function_that_reads_it(tmp_path: Path) -> None:
    pair = versions(tmp_path, "{ 7, 20, 90 }", "{ 7, 2, 90 }", "-O2")
    assert [each.after.code.name for each in differing(*pair, named=True) if each.after] == [
        "poll_status"
    ]


@pytest.mark.parametrize("arch", COMPARED)
@pytest.mark.parametrize("named", [True, False])
def test_old_content_of_a_written_variable_is_not_part_of_the_function(
    tmp_path: Path, arch: Arch, named: bool
) -> None:
    source = "int last = {};\nint main(int count, char **words) {{ last = count; return 0; }}\n"
    pair = [
        programs.build(tmp_path / f"{value}", source.format(value), "-O2", arch=arch)
        for value in (3, 4)
    ]
    assert differing(*pair, named=named) == []


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("moved", ["OWN int unused(int a) { return a * 7; }", "char room[4096];"])
def test_program_at_fixed_addresses_is_the_same_after_a_move(
    tmp_path: Path, named: bool, moved: str
) -> None:
    source = """\
{}
char text[512];
OWN void end(void) {{ }}
int main(void) {{ usleep(500); atexit(end); return read(0, text, 1); }}
"""
    options = ("-O2", "-fno-toplevel-reorder", *AT_FIXED_ADDRESSES)
    pair = [
        programs.build(tmp_path / f"{len(each)}", source.format(each), *options)
        for each in ("", moved)
    ]
    found = differing(*pair, named=named)
    assert [each for each in found if each.before and each.before.code.sites] == []


@pytest.mark.parametrize("named", [True, False])
def test_requested_time_that_may_be_an_address_is_compared(tmp_path: Path, named: bool) -> None:
    pair = [
        programs.build(
            tmp_path / us, FLASHROM.replace("500)", f"{us})"), "-O2", *AT_FIXED_ADDRESSES
        )
        for us in ("0x402004", "0x402008")
    ]
    (found,) = touched(*pair, named=named)
    assert [site.asks for site in found.sites] == [0x402008]


@pytest.mark.skipif(not programs.compiles(Arch.I386), reason="no compiler")
def test_number_is_no_address_in_position_independent_code_of_i386(tmp_path: Path) -> None:
    source = FLASHROM.replace("int verbose", "const char room[1 << 18] = { 1 };\nint verbose")
    options = ("-O2", "-fpie", "-pie")
    pair = [
        programs.build(
            tmp_path / number, source.replace("== 7", f"== {number}"), *options, arch=Arch.I386
        )
        for number in ("0x20000", "0x20004")
    ]
    assert [each.after.code.name for each in differing(*pair, named=True) if each.after] == [
        "probe"
    ]


def test_moved_assertion_is_no_change(tmp_path: Path) -> None:
    pair = versions(tmp_path, "int verbose", "\n\n\nint verbose", "-O2")
    assert differing(*pair, named=True) == []


def test_renamed_function_touches_no_wait(tmp_path: Path) -> None:
    pair = versions(tmp_path, "log_text", "say_text", "-O2")
    assert not [each for each in touched(*pair, named=False) if each.gone or each.sites]
