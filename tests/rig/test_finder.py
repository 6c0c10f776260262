# SPDX-License-Identifier: GPL-2.0-or-later
"""Delay functions of stripped programs: sure and doubtful ones, and functions that only look so."""

import random
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from delayrig.model.platform import Arch
from delayrig.subjects.finder.candidates import CAPPED, SINCE_BEFORE
from delayrig.subjects.finder.finding import Findings, find_in, read_findings
from delayrig.subjects.seal import unsealed
from delayrig.subjects.symbols import read_symbols

from tests.damage import HARMS
from tests.rig import delay_programs as programs

pytestmark = pytest.mark.skipif(not programs.compiles(Arch.X86_64), reason="needs gcc")
ARCHES = [
    pytest.param(arch, marks=pytest.mark.skipif(not programs.compiles(arch), reason="no compiler"))
    for arch in programs.READ
]
BUILDS = {
    "O0": ("-O0",),
    "O2": ("-O2",),
    "O3": ("-O3",),
    "Os": ("-Os",),
    "one address": ("-O2", "-no-pie", "-fno-pie"),
    "without linkage table": ("-O2", "-fno-plt"),
    "without unwind tables": ("-O2", "-fno-asynchronous-unwind-tables", "-fno-exceptions"),
    "protected": ("-O2", "-fstack-protector-all"),
    "library": ("-O2", "-shared", "-fPIC"),
    "library with few exports": (
        *("-O2", "-shared", "-fPIC", "-fvisibility=hidden"),
        '-Dmain=__attribute__((visibility("default"))) main',
    ),
}
E_MACHINE_AT, EM_ARM = 18, 40
MUSL_SPECS = Path("/usr/lib/x86_64-linux-musl/musl-gcc.specs")
STATIC = [
    pytest.param(("-O2", "-static"), id="the usual library"),
    pytest.param(
        ("-O2", "-static", f"-specs={MUSL_SPECS}"),
        id="musl",
        marks=pytest.mark.skipif(not MUSL_SPECS.is_file(), reason="needs musl-tools"),
    ),
]
DIRECT_SLEEP = """\
int main(void)
{
	const struct timespec settle = { 1, 0 };

	return nanosleep(&settle, NULL);
}
"""
OWN_SYSTEM_CALL = """\
OWN long settle(long unused)
{
	const struct timespec rest = { 1, 0 };
	long result;

	__asm__ volatile("syscall"
		: "=a"(result)
		: "a"(35L), "D"(&rest), "S"(0L)
		: "rcx", "r11", "memory");
	return result + unused;
}
int main(int argc, char **argv)
{
	(void)argv;
	sleep_us(10); poll_us(10); sleep_us(99); poll_us(99);
	return (int)settle(argc);
}
"""


def read(
    folder: Path, source: str, *options: str, arch: Arch = Arch.X86_64
) -> tuple[Findings, list[str]]:
    """Builds and strips the program; returns the findings, and the names of their functions."""
    program = programs.build(folder, source, *(options or ("-O2",)), arch=arch)
    findings = find_in(programs.stripped(program, arch).read_bytes())
    return findings, programs.names_of(program, [each.address for each in findings.found])


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("options", BUILDS.values(), ids=BUILDS.keys())
def test_a_short_and_a_long_delay_are_found_in_any_build(
    tmp_path: Path, arch: Arch, options: tuple[str, ...]
) -> None:
    findings, names = read(tmp_path, programs.USES_BOTH, *options, arch=arch)
    assert names == ["poll_us", "sleep_us"]
    assert {each.doubt for each in findings.found} == {""}
    assert all(each.returns for each in findings.found)
    assert {(each.argument, each.unit_ns) for each in findings.found} == {(0, 1000)}


@pytest.mark.parametrize("options", STATIC)
def test_delays_of_a_static_program_are_found_by_its_system_calls(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    findings, names = read(tmp_path, programs.USES_BOTH, *options)
    assert names == ["poll_us", "sleep_us"]
    assert {each.doubt for each in findings.found} == {""}


@pytest.mark.parametrize("options", STATIC)
def test_direct_waits_of_a_static_program_are_its_library_s_sleeps(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    findings, _ = read(tmp_path, DIRECT_SLEEP, *options)
    assert ("nanosleep", "") in {(each.called, each.why_not) for each in findings.direct}


def test_wait_that_makes_its_own_system_call_is_not_taken_for_the_library_s(tmp_path: Path) -> None:
    findings, names = read(tmp_path, OWN_SYSTEM_CALL, "-O2", "-static")
    assert names == ["poll_us", "sleep_us"]
    assert "nanosleep" not in {each.called for each in findings.direct}


@pytest.mark.parametrize("arch", ARCHES)
def test_code_with_marked_targets_of_jumps_is_read_alike(tmp_path: Path, arch: Arch) -> None:
    option = "-mbranch-protection=standard" if arch is Arch.ARM64 else "-fcf-protection=full"
    _, names = read(tmp_path, programs.USES_BOTH, "-O2", option, arch=arch)
    assert names == ["poll_us", "sleep_us"]


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("level", ["-O0", "-O2", "-Os"])
def test_what_only_looks_like_a_delay_is_none(tmp_path: Path, arch: Arch, level: str) -> None:
    _, names = read(tmp_path, programs.DECOYS, level, arch=arch)
    assert names == ["poll_us", "sleep_us"]


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_delay_that_others_are_a_part_of_is_found_in_their_place(
    tmp_path: Path, arch: Arch, level: str
) -> None:
    _, names = read(tmp_path, programs.ONE_FOR_BOTH, level, arch=arch)
    assert names == ["delay"]


@pytest.mark.parametrize("arch", ARCHES)
def test_delays_behind_a_pointer_are_found(tmp_path: Path, arch: Arch) -> None:
    _, names = read(tmp_path, programs.POINTED_AT, arch=arch)
    assert names == ["poll_us", "sleep_us"]


def test_numbers_that_callers_ask_for_are_told(tmp_path: Path) -> None:
    findings, _ = read(tmp_path, programs.USES_BOTH)
    assert sorted(each.asks for each in findings.found) == [(10, 100), (10000, 1000000)]
    assert {each.return_sites for each in findings.found} == {()}


@pytest.mark.parametrize("arch", [Arch.X86_64, Arch.ARM64])
def test_function_that_ends_in_another_file_is_told_with_what_follows_its_calls(
    tmp_path: Path, arch: Arch
) -> None:
    findings, _ = read(tmp_path, programs.LIBRARY_CALLS, arch=arch)
    jumping = [each for each in findings.found if not each.returns]
    assert len(jumping) == 2
    assert {len(each.return_sites) for each in jumping} == {2}
    assert sum(bool(each.return_sites) for each in findings.found) == 2


@pytest.mark.parametrize("arch", [Arch.X86_64, Arch.ARM64])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_functions_of_one_source_file_are_found(tmp_path: Path, arch: Arch, level: str) -> None:
    """On i386 gcc passes their argument in any register, so they are not found there."""
    own = "-DOWN=static __attribute__((noinline, noclone))"
    _, names = read(tmp_path, programs.USES_BOTH, level, own, arch=arch)
    assert names == ["poll_us", "sleep_us"]


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_every_way_to_sleep_is_known(tmp_path: Path, arch: Arch, level: str) -> None:
    findings, names = read(tmp_path, programs.LIBRARY_CALLS, level, arch=arch)
    assert names == ["until_then", "with_poll", "with_select", "with_usleep"]
    assert sorted(each.unit_ns for each in findings.found) == [1000, 1000, 1000, 1_000_000]
    assert findings.direct == ()


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_calibrated_loop_is_found_with_a_doubt(tmp_path: Path, arch: Arch, level: str) -> None:
    findings, names = read(tmp_path, programs.CALIBRATED, level, arch=arch)
    assert names == ["loop_delay"]
    assert "it counts" in findings.found[0].doubt


def test_delay_that_is_chosen_when_it_is_loaded_is_found(tmp_path: Path) -> None:
    findings, names = read(tmp_path, programs.CHOSEN_AT_LOAD)
    assert names == ["poll_us", "sleep_us"]
    assert {each.asks for each in findings.found} == {(10, 1000000)}


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_wait_that_a_status_may_end_is_found_with_a_doubt(tmp_path: Path, level: str) -> None:
    findings, names = read(tmp_path, programs.STATUS_WAIT, level)
    assert names == ["until_ready"]
    assert findings.found[0].doubt == "it also calls through a pointer"


def doubts(folder: Path, source: str, *options: str, arch: Arch) -> dict[str, str]:
    """Returns the doubt about each function that is found."""
    program = programs.build(folder, source, *options, arch=arch)
    found = find_in(programs.stripped(program, arch).read_bytes()).found
    return {programs.names_of(program, [each.address])[0]: each.doubt for each in found}


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("level", ["-O0", "-O2", "-Os"])
def test_wait_since_before_the_call_is_found_with_a_doubt(
    tmp_path: Path, arch: Arch, level: str
) -> None:
    found = doubts(tmp_path, programs.SINCE_BEFORE, level, arch=arch)
    doubted = {name for name, doubt in found.items() if SINCE_BEFORE in doubt}
    assert doubted == set(found) - {"sleep_us", "poll_us"}
    assert "pace" in doubted


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("level", ["-O0", "-O2", "-Os"])
def test_nap_of_a_number_of_its_own_at_most_is_found_with_a_doubt(
    tmp_path: Path, arch: Arch, level: str
) -> None:
    found = doubts(tmp_path, programs.CAPPED_NAPS, level, arch=arch)
    doubted = {name for name, doubt in found.items() if CAPPED in doubt}
    assert doubted == {"nap", "nap_itself", "nap_of_library", "nap_awake"} == set(found)


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("level", ["-O0", "-O2", "-Os"])
def test_delay_in_parts_or_with_a_margin_is_not_doubted(
    tmp_path: Path, arch: Arch, level: str
) -> None:
    found = doubts(tmp_path, programs.IN_PARTS, level, arch=arch)
    assert not [doubt for doubt in found.values() if SINCE_BEFORE in doubt or CAPPED in doubt]
    assert set(found) >= {"with_margin", "goes_on", "by_a_helper"}


@pytest.mark.parametrize("arch", ARCHES)
def test_waits_without_a_function_are_listed(tmp_path: Path, arch: Arch) -> None:
    findings, names = read(tmp_path, programs.INLINED, arch=arch)
    assert names == []
    called = [(each.called, each.asks) for each in findings.direct]
    assert called == [("nanosleep", None), ("usleep", 50000), ("poll", 25), ("select", None)]


@pytest.mark.parametrize("arch", ARCHES)
def test_function_that_is_given_a_pointer_to_a_time_is_no_delay(tmp_path: Path, arch: Arch) -> None:
    findings, names = read(tmp_path, programs.GIVEN_A_POINTER, arch=arch)
    assert names == []
    (wait,) = findings.direct
    assert (wait.called, wait.is_jump, wait.why_not) == ("nanosleep", arch is not Arch.I386, "")
    assert len(wait.return_sites) == 1 + (arch is not Arch.I386)


@pytest.mark.parametrize("arch", [Arch.X86_64, Arch.ARM64])
def test_code_shows_what_an_argument_counts_or_leaves_a_doubt(tmp_path: Path, arch: Arch) -> None:
    program = programs.build(tmp_path, programs.OTHER_UNITS, "-O2", arch=arch)
    units = {
        read_symbols(program).name(each.address): (each.argument_bits, each.unit_ns, each.doubt)
        for each in find_in(programs.stripped(program, arch).read_bytes()).found
    }
    doubt = "what its argument counts is not known"
    assert units == {
        "sleep_ms": (32, 1_000_000, ""),
        "sleep_ns": (64, 1, ""),
        # On arm64 gcc multiplies by 1000 with shifts and subtractions.
        "wide_us": (64, 1000, doubt if arch is Arch.ARM64 else ""),
        "wide_poll": (64, 1000, doubt),
    }


@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3"])
def test_function_that_is_given_a_moment_is_no_delay(tmp_path: Path, level: str) -> None:
    findings, names = read(tmp_path, programs.A_MOMENT, level)
    assert names == []
    assert [each.called for each in findings.direct if not each.why_not] == ["clock_nanosleep"]


def test_clock_that_is_read_around_a_sleep_until_a_moment_is_no_wait_of_its_own(
    tmp_path: Path,
) -> None:
    findings, names = read(tmp_path, programs.AROUND_A_MOMENT)
    assert names == []
    assert [(each.called, each.why_not) for each in findings.direct] == [("clock_nanosleep", "")]


@pytest.mark.parametrize("arch", [Arch.X86_64, Arch.ARM64])
def test_function_behind_a_pointer_is_known_to_end_in_another_file(
    tmp_path: Path, arch: Arch
) -> None:
    findings, names = read(tmp_path, programs.ENDS_ELSEWHERE, arch=arch)
    assert names == ["ends_elsewhere"]
    (found,) = findings.found
    assert (bool(found.returns), found.return_sites, found.leaves) == (True, (), True)


def test_filling_between_instructions_looks_at_no_memory(tmp_path: Path) -> None:
    _, names = read(tmp_path, programs.FILLED_UP)
    assert names == ["filled_us"]


def test_function_that_is_known_is_watched_in_code_that_nobody_reads(tmp_path: Path) -> None:
    content = bytearray(programs.build(tmp_path, programs.USES_BOTH, "-O2").read_bytes())
    content[E_MACHINE_AT] = EM_ARM
    findings = find_in(bytes(content), [0x1234])
    assert (findings.found, findings.direct) == ((), ())
    assert [(each.address, each.leaves) for each in findings.named] == [(0x1234, True)]


def test_program_that_waits_for_nothing_has_no_delay(tmp_path: Path) -> None:
    findings, names = read(tmp_path, "int main(void) { return 0; }")
    assert (names, findings.direct) == ([], ())


def test_what_was_found_is_kept_by_the_file_and_what_was_known(tmp_path: Path) -> None:
    bare = programs.stripped(programs.build(tmp_path, programs.USES_BOTH, "-O2"))
    first = read_findings(bare, (), tmp_path / "kept")
    (file,) = (tmp_path / "kept").iterdir()
    again = find_in(bare.read_bytes())
    kept = unsealed(file.read_bytes()) or b""
    assert msgspec.json.decode(kept, type=Findings) == first == again
    named = read_findings(bare, (first.found[0].address,), tmp_path / "kept")
    assert named.named == first.found[:1]
    assert len(list((tmp_path / "kept").iterdir())) == 2


@pytest.mark.parametrize("harm", HARMS)
def test_damaged_file_that_was_kept_is_read_anew(
    tmp_path: Path, harm: Callable[[Path, random.Random], None]
) -> None:
    bare = programs.stripped(programs.build(tmp_path, programs.USES_BOTH, "-O2"))
    first = read_findings(bare, (), tmp_path / "kept")
    (file,) = (tmp_path / "kept").iterdir()
    sound = file.read_bytes()
    for seed in range(10):
        harm(file, random.Random(seed))
        read_findings.cache_clear()
        assert read_findings(bare, (), tmp_path / "kept") == first
        assert file.read_bytes() == sound
