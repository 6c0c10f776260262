# SPDX-License-Identifier: GPL-2.0-or-later
"""Delay sites of small programs, and the functions that differ between two versions."""

from pathlib import Path

import pytest
from delayrig.features.coverage.changed import Changed, Placed, changed_functions, touched_sites
from delayrig.model.platform import Arch
from delayrig.subjects.finder.code_map import CodeMap, Site, Watched, map_code
from delayrig.subjects.finder.finding import find_in

from tests.rig import delay_programs as programs

pytestmark = pytest.mark.skipif(not programs.compiles(Arch.X86_64), reason="needs gcc")
FLASHROM = programs.FLASHROM
COMPARED = [each for each in programs.ARCHES if each.values != (Arch.I386,)]
"""i386 is left out: its code addresses data through a register, so it changes if data move."""


def read(program: Path, *, named: bool = True) -> CodeMap:
    """Reads the program with the delay functions that the finder finds in it."""
    content = program.read_bytes()
    findings = find_in(content)
    functions = [Watched(each.address, each.argument) for each in findings.found]
    direct = [Watched(each.site, direct=True) for each in findings.direct if not each.why_not]
    return map_code(content, [*functions, *direct], named=named)


def sites(code: CodeMap) -> dict[str, list[Site]]:
    return {each.name: list(each.sites) for each in code.functions if each.sites}


def differing(before: Path, after: Path, *, named: bool) -> list[Changed]:
    one, two = (read(each, named=named) for each in (before, after))
    placed = [[Placed("/flashrom", each) for each in code.functions] for code in (one, two)]
    return changed_functions(*placed, named=named)


def versions(
    folder: Path, text: str, new: str, *options: str, arch: Arch = Arch.X86_64
) -> tuple[Path, Path]:
    """Builds the program twice; `text` is replaced in the second one, and line numbers differ."""
    assert text in FLASHROM
    changed = f"\n\n\n{FLASHROM.replace(text, new)}"
    options = options or ("-O2",)
    return (
        programs.build(folder / "before", FLASHROM, *options, arch=arch),
        programs.build(folder / "after", changed, *options, arch=arch),
    )


@pytest.mark.parametrize("arch", programs.ARCHES)
@pytest.mark.parametrize("level", ["-O0", "-O2", "-Os"])
def test_calls_of_delay_functions_are_sites(tmp_path: Path, arch: Arch, level: str) -> None:
    found = sites(read(programs.build(tmp_path, FLASHROM, level, arch=arch)))
    assert all(site.hands_on for site in found.pop("programmer_delay"))
    assert {name: len(each) for name, each in found.items()} == {
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
def test_what_only_moved_or_says_otherwise_is_unchanged(
    tmp_path: Path, arch: Arch, level: str, named: bool, text: str, new: str
) -> None:
    pair = versions(tmp_path, text, new, level, arch=arch)
    touched = [touched_sites(each) for each in differing(*pair, named=named)]
    assert [each for each in touched if each.sites or each.gone or each.around] == []


@pytest.mark.parametrize("arch", COMPARED)
@pytest.mark.parametrize("level", ["-O0", "-O2", "-Os"])
@pytest.mark.parametrize("named", [True, False])
def test_wait_that_asks_for_less_is_touched(
    tmp_path: Path, arch: Arch, level: str, named: bool
) -> None:
    pair = versions(
        tmp_path, "programmer_delay(flash, 500)", "programmer_delay(flash, 50)", level, arch=arch
    )
    (changed,) = differing(*pair, named=named)
    touched = touched_sites(changed)
    assert [site.asks for site in touched.sites] == [50]
    assert not touched.gone


@pytest.mark.parametrize("named", [True, False])
def test_wait_that_is_gone_is_the_baselines(tmp_path: Path, named: bool) -> None:
    pair = versions(tmp_path, "programmer_delay(flash, 500);", "", "-Os")
    (changed,) = differing(*pair, named=named)
    touched = touched_sites(changed)
    assert [site.asks for site in touched.gone] == [500]
    assert not touched.around


@pytest.mark.parametrize("named", [True, False])
def test_function_that_lost_all_its_waits_is_paired_with_what_it_was(
    tmp_path: Path, named: bool
) -> None:
    pair = versions(tmp_path, "programmer_delay(flash, us);\n\t", "", "-O2")
    touched = [touched_sites(each) for each in differing(*pair, named=named)]
    assert sum(len(each.gone) for each in touched) == 1


@pytest.mark.parametrize("named", [True, False])
def test_change_beside_the_waits_is_around_them(tmp_path: Path, named: bool) -> None:
    pair = versions(tmp_path, "return id ==", "return id + 1 ==", "-O0")
    (changed,) = differing(*pair, named=named)
    touched = touched_sites(changed)
    assert (len(touched.around), touched.sites, touched.gone) == (3, (), ())


def test_number_in_a_table_is_a_part_of_the_code_that_reads_it(tmp_path: Path) -> None:
    pair = versions(tmp_path, "{ 7, 20, 90 }", "{ 7, 2, 90 }", "-O2")
    assert [each.after.code.name for each in differing(*pair, named=True) if each.after] == [
        "poll_status"
    ]


def test_line_of_an_assertion_is_no_change(tmp_path: Path) -> None:
    pair = versions(tmp_path, "int verbose", "\n\n\nint verbose", "-O2")
    assert differing(*pair, named=True) == []


def test_function_with_another_name_is_unchanged(tmp_path: Path) -> None:
    pair = versions(tmp_path, "log_text", "say_text", "-O2")
    assert all(
        not touched_sites(each).gone and not touched_sites(each).sites
        for each in differing(*pair, named=False)
    )
