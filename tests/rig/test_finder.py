# SPDX-License-Identifier: GPL-2.0-or-later
"""Delay functions of stripped programs: certain ones, doubtful ones, and look-alikes."""

import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from delayrig.base import digest
from delayrig.base.paths import find_paths
from delayrig.model.platform import Arch
from delayrig.subjects.finder.calls import CallGraph
from delayrig.subjects.finder.candidates import CAPPED, SINCE_BEFORE, STORES_TIME
from delayrig.subjects.finder.debug_info import DEBUG_PATH, debug_functions
from delayrig.subjects.finder.finding import Findings, find_in, read_findings
from delayrig.subjects.finder.program import Program
from delayrig.subjects.finder.waits import Waits
from delayrig.subjects.library import OWN_LIBRARIES
from delayrig.subjects.profiles.profile import read_profiles
from delayrig.subjects.seal import unsealed
from delayrig.subjects.subject import OWN_PROGRAMS, PARTS, PROGRAM
from delayrig.subjects.symbols import read_symbols

from tests.damage import HARMS
from tests.rig import delay_programs as programs

pytestmark = pytest.mark.skipif(not programs.compiles(Arch.X86_64), reason="needs gcc")
ARCHES = programs.ARCHES
ARCHES_64 = [arch for arch in ARCHES if arch.values != (Arch.I386,)]
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
    return findings, programs.names_of(program, [delay.address for delay in findings.found])


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("options", BUILDS.values(), ids=BUILDS.keys())
def test_both_delays_are_found_in_each_build(
    tmp_path: Path, arch: Arch, options: tuple[str, ...]
) -> None:
    findings, names = read(tmp_path, programs.USES_BOTH, *options, arch=arch)
    assert names == ["poll_us", "sleep_us"]
    assert {delay.doubt for delay in findings.found} == {""}
    assert all(delay.returns for delay in findings.found)
    assert {(delay.argument, delay.unit_ns) for delay in findings.found} == {(0, 1000)}


@pytest.mark.parametrize("options", STATIC)
def test_delays_of_a_static_program_are_found(tmp_path: Path, options: tuple[str, ...]) -> None:
    findings, names = read(tmp_path, programs.USES_BOTH, *options)
    assert names == ["poll_us", "sleep_us"]
    assert {delay.doubt for delay in findings.found} == {""}


@pytest.mark.parametrize("options", STATIC)
def test_direct_sleep_of_a_static_program_is_named(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    findings, _ = read(tmp_path, DIRECT_SLEEP, *options)
    assert ("nanosleep", "") in {(wait.called, wait.why_not) for wait in findings.direct}


def test_own_system_call_is_not_named_as_a_library_function(tmp_path: Path) -> None:
    findings, names = read(tmp_path, OWN_SYSTEM_CALL, "-O2", "-static")
    assert names == ["poll_us", "sleep_us"]
    assert "nanosleep" not in {wait.called for wait in findings.direct}


@pytest.mark.parametrize("arch", ARCHES)
def test_delays_are_found_in_code_with_branch_protection(tmp_path: Path, arch: Arch) -> None:
    option = "-mbranch-protection=standard" if arch is Arch.ARM64 else "-fcf-protection=full"
    _, names = read(tmp_path, programs.USES_BOTH, "-O2", option, arch=arch)
    assert names == ["poll_us", "sleep_us"]


BOTH = ["poll_us", "sleep_us"]
PROGRAMS = {
    "functions that only look like delays": (programs.DECOYS, ["-O0", "-O2", "-Os"], BOTH),
    "short and long delay in one function": (programs.ONE_FOR_BOTH, ["-O0", "-O2"], ["delay"]),
    "both called through a pointer": (programs.POINTED_AT, ["-O2"], BOTH),
}


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize(("source", "levels", "wanted"), PROGRAMS.values(), ids=PROGRAMS.keys())
def test_delays_of_a_program_are_found_and_nothing_else(
    tmp_path: Path, arch: Arch, source: str, levels: list[str], wanted: list[str]
) -> None:
    for level in levels:
        _, names = read(tmp_path / level, source, level, arch=arch)
        assert names == wanted, level


@pytest.mark.parametrize("arch", ARCHES)
def test_exclusive_or_of_a_variable_is_no_constant(tmp_path: Path, arch: Arch) -> None:
    findings, names = read(tmp_path, programs.MIXED, arch=arch)
    assert names == ["poll_us", "sleep_us"]
    assert sorted(each.asks for each in findings.found) == [(10, 100), (1000000,)]


def test_answer_does_not_depend_on_what_was_asked_before(tmp_path: Path) -> None:
    program = programs.build(tmp_path, programs.DEEP, "-O2")
    content = programs.stripped(program).read_bytes()

    def answers(order: list[int]) -> dict[int, tuple[bool, bool]]:
        waits = Waits(CallGraph(Program(content)))
        found = {}
        for depth in order:
            pause = waits.graph.function_at(programs.address_of(program, f"pause_{depth}"))
            assert pause is not None
            tells = waits.tells_time(programs.address_of(program, f"clock_{depth}"))
            found[depth] = (waits.wait(pause, 0) is not None, tells)
        return found

    outer_first = answers([7, 6, 5, 4, 3, 2, 1, 0])
    assert outer_first == answers([0, 1, 2, 3, 4, 5, 6, 7])
    assert outer_first[0] == (True, True)
    assert outer_first[7] == (False, False)


def test_constant_arguments_of_callers_are_listed(tmp_path: Path) -> None:
    findings, _ = read(tmp_path, programs.USES_BOTH)
    assert sorted(delay.asks for delay in findings.found) == [(10, 100), (10000, 1000000)]
    assert {delay.return_sites for delay in findings.found} == {()}


@pytest.mark.parametrize("arch", ARCHES_64)
def test_function_that_ends_in_another_file_has_return_sites(tmp_path: Path, arch: Arch) -> None:
    findings, _ = read(tmp_path, programs.LIBRARY_CALLS, arch=arch)
    jumping = [delay for delay in findings.found if not delay.returns]
    assert len(jumping) == 2
    assert {len(delay.return_sites) for delay in jumping} == {2}
    assert sum(bool(delay.return_sites) for delay in findings.found) == 2


@pytest.mark.parametrize("arch", ARCHES_64)
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_functions_of_one_source_file_are_found(tmp_path: Path, arch: Arch, level: str) -> None:
    """On i386 gcc passes their argument in any register, so they are not found there."""
    own = "-DOWN=static __attribute__((noinline, noclone))"
    _, names = read(tmp_path, programs.USES_BOTH, level, own, arch=arch)
    assert names == ["poll_us", "sleep_us"]


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_each_sleeping_library_function_is_known(tmp_path: Path, arch: Arch, level: str) -> None:
    findings, names = read(tmp_path, programs.LIBRARY_CALLS, level, arch=arch)
    assert names == ["until_then", "with_poll", "with_select", "with_usleep"]
    assert sorted(delay.unit_ns for delay in findings.found) == [1000, 1000, 1000, 1_000_000]
    assert findings.direct == ()


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_calibrated_loop_is_found_with_a_doubt(tmp_path: Path, arch: Arch, level: str) -> None:
    findings, names = read(tmp_path, programs.CALIBRATED, level, arch=arch)
    assert names == ["loop_delay"]
    assert "it counts" in findings.found[0].doubt


def test_delay_that_is_chosen_at_load_time_is_found(tmp_path: Path) -> None:
    findings, names = read(tmp_path, programs.CHOSEN_AT_LOAD)
    assert names == ["poll_us", "sleep_us"]
    assert {delay.asks for delay in findings.found} == {(10, 1000000)}


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_wait_that_also_polls_a_status_is_found_with_a_doubt(tmp_path: Path, level: str) -> None:
    findings, names = read(tmp_path, programs.STATUS_WAIT, level)
    assert names == ["until_ready"]
    assert findings.found[0].doubt == "it also calls through a pointer"


def doubts(folder: Path, source: str, *options: str, arch: Arch) -> dict[str, str]:
    """Returns the doubt about each function that is found."""
    program = programs.build(folder, source, *options, arch=arch)
    found = find_in(programs.stripped(program, arch).read_bytes()).found
    return {programs.names_of(program, [delay.address])[0]: delay.doubt for delay in found}


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("level", ["-O0", "-O2", "-Os"])
def test_wait_from_an_earlier_time_is_doubtful(tmp_path: Path, arch: Arch, level: str) -> None:
    found = doubts(tmp_path, programs.SINCE_BEFORE, level, arch=arch)
    doubted = {name for name, doubt in found.items() if SINCE_BEFORE in doubt}
    assert doubted == set(found) - {"sleep_us", "poll_us"}
    assert "pace" in doubted


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("level", ["-O0", "-O2", "-Os"])
def test_sleep_with_an_upper_limit_is_doubtful(tmp_path: Path, arch: Arch, level: str) -> None:
    found = doubts(tmp_path, programs.CAPPED_NAPS, level, arch=arch)
    doubted = {name for name, doubt in found.items() if CAPPED in doubt}
    assert doubted == {"nap", "nap_itself", "nap_of_library", "nap_awake"} == set(found)


@pytest.mark.parametrize("arch", ARCHES_64)
@pytest.mark.parametrize("level", ["-O2", "-O3"])
def test_uncertain_delay_that_stores_a_time_is_known(
    tmp_path: Path, arch: Arch, level: str
) -> None:
    found = doubts(tmp_path, programs.LEFT_TO_ADAPTER, level, arch=arch)
    assert STORES_TIME in found["adapter_delay"]
    assert not found["noting_delay"]


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("level", ["-O0", "-O2", "-Os"])
def test_delay_in_parts_has_neither_doubt(tmp_path: Path, arch: Arch, level: str) -> None:
    found = doubts(tmp_path, programs.IN_PARTS, level, arch=arch)
    assert not [doubt for doubt in found.values() if SINCE_BEFORE in doubt or CAPPED in doubt]
    assert set(found) >= {"with_margin", "goes_on", "by_a_helper"}


@pytest.mark.parametrize("arch", ARCHES)
def test_inlined_waits_are_listed_as_direct(tmp_path: Path, arch: Arch) -> None:
    findings, names = read(tmp_path, programs.INLINED, arch=arch)
    assert names == []
    called = [(wait.called, wait.asks) for wait in findings.direct]
    assert called == [("nanosleep", None), ("usleep", 50000), ("poll", 25), ("select", None)]


@pytest.mark.parametrize("arch", ARCHES)
def test_function_with_a_pointer_to_the_time_is_no_delay(tmp_path: Path, arch: Arch) -> None:
    findings, names = read(tmp_path, programs.GIVEN_A_POINTER, arch=arch)
    assert names == []
    (wait,) = findings.direct
    assert (wait.called, wait.is_jump, wait.why_not) == ("nanosleep", arch is not Arch.I386, "")
    assert len(wait.return_sites) == 1 + (arch is not Arch.I386)


@pytest.mark.parametrize("arch", ARCHES_64)
def test_unit_of_an_argument_is_found_or_a_doubt(tmp_path: Path, arch: Arch) -> None:
    program = programs.build(tmp_path, programs.OTHER_UNITS, "-O2", arch=arch)
    units = {
        read_symbols(program).name(delay.address): (delay.argument_bits, delay.unit_ns, delay.doubt)
        for delay in find_in(programs.stripped(program, arch).read_bytes()).found
    }
    doubt = "the unit of its argument is unknown"
    assert units == {
        "sleep_ms": (32, 1_000_000, ""),
        "sleep_ns": (64, 1, ""),
        # On arm64 gcc multiplies by 1000 with shifts and subtractions.
        "wide_us": (64, 1000, doubt if arch is Arch.ARM64 else ""),
        "wide_poll": (64, 1000, doubt),
    }


@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3"])
def test_function_with_an_absolute_time_is_no_delay(tmp_path: Path, level: str) -> None:
    findings, names = read(tmp_path, programs.UNTIL_DEADLINE, level)
    assert names == []
    assert [wait.called for wait in findings.direct if not wait.why_not] == ["clock_nanosleep"]


def test_clock_read_around_a_sleep_to_an_absolute_time_is_no_wait(tmp_path: Path) -> None:
    findings, names = read(tmp_path, programs.UNTIL_DEADLINE_IN_A_LOOP)
    assert names == []
    assert [(wait.called, wait.why_not) for wait in findings.direct] == [("clock_nanosleep", "")]


@pytest.mark.parametrize("arch", ARCHES_64)
def test_function_behind_a_pointer_may_end_in_another_file(tmp_path: Path, arch: Arch) -> None:
    findings, names = read(tmp_path, programs.ENDS_ELSEWHERE, arch=arch)
    assert names == ["ends_elsewhere"]
    (found,) = findings.found
    assert (bool(found.returns), found.return_sites, found.leaves) == (True, (), True)


def test_padding_between_instructions_is_no_memory_access(tmp_path: Path) -> None:
    _, names = read(tmp_path, programs.FILLED_UP)
    assert names == ["filled_us"]


def test_named_function_of_an_unsupported_machine_is_watched(tmp_path: Path) -> None:
    content = bytearray(programs.build(tmp_path, programs.USES_BOTH, "-O2").read_bytes())
    content[E_MACHINE_AT] = EM_ARM
    findings = find_in(bytes(content), [0x1234])
    assert (findings.found, findings.direct) == ((), ())
    assert [(delay.address, delay.leaves) for delay in findings.named] == [(0x1234, True)]


def test_program_without_waits_has_no_delay(tmp_path: Path) -> None:
    findings, names = read(tmp_path, "int main(void) { return 0; }")
    assert (names, findings.direct) == ([], ())


def test_findings_are_cached_by_file_and_named_addresses(tmp_path: Path) -> None:
    bare = programs.stripped(programs.build(tmp_path, programs.USES_BOTH, "-O2"))
    first = read_findings(bare, (), tmp_path / "kept")
    (file,) = (tmp_path / "kept").iterdir()
    cached = unsealed(file.read_bytes()) or b""
    assert msgspec.json.decode(cached, type=Findings) == first == find_in(bare.read_bytes())
    named = read_findings(bare, (first.found[0].address,), tmp_path / "kept")
    assert named.named == first.found[:1]
    assert len(list((tmp_path / "kept").iterdir())) == 2


@pytest.mark.parametrize("harm", HARMS)
def test_damaged_cache_is_replaced(
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


# Builds of this checkout.

BUILT = {
    **{
        f"{name} {arch}": (arch, find_paths().build_of(arch) / OWN_PROGRAMS[name])
        for arch in programs.READ
        for name in ("bundled", "canary:bus")
    },
    **{
        name: (Arch.X86_64, find_paths().build / OWN_PROGRAMS[name])
        for name in (
            "past-mistake:calibrated-loop",
            "past-mistake:eintr-ignored",
            "past-mistake:threshold-turned-round",
            "past-mistake:trusting-getres",
            "past-mistake:us-ms-slip",
            "past-mistake:wrap-32bit",
            "step:os-clock",
        )
    },
    **{
        f"{name} as a library": (Arch.X86_64, find_paths().build / OWN_LIBRARIES[name])
        for name in ("bundled", "past-mistake:eintr-ignored")
    },
}


@pytest.mark.parametrize("name", BUILT)
def test_default_delay_is_found_without_its_symbol(name: str, tmp_path: Path) -> None:
    arch, built = BUILT[name]
    if not built.is_file() or not programs.compiles(arch):
        pytest.skip("set-up builds it")
    bare = programs.stripped(built, arch, tmp_path)
    (found,) = find_in(bare.read_bytes()).found
    assert found.address == read_symbols(built).function("default_delay")
    assert (found.argument, found.argument_bits, found.unit_ns) == (0, 32, 1000)
    assert bool(found.doubt) == ("calibrated" in name)


KNOWN_DELAYS = {
    "73d8e8076561977615d8c46c9feaf425d3cc8c333a5820c5228d0c973ad3b400": [0x449B0, 0x44A20],
    "218b1c8dd9d685927d09ee92b1bad9efa15028b3ef9e6e916ccf18afc474e16d": [0x24C10, 0x24C90],
    "1393db0b6530bb78a7e20a0fb93be93e4437abc0b8e94005dc4331f944142cc6": [0x31460, 0x31500],
    "e29ca1700011148650d740e33620c95f24e54fc63d4590f072c59472a599c9a0": [0x377E0, 0x37860],
    "153517d7ed29b7a68944a734dc046a081e4de5074d5200513a084e4731479bc8": [0x25800, 0x258A0],
    "824f288df3b1229a03e5ee660c00f9fcc5691c93cad1b93020191bc5d2a54ec4": [0x489F0, 0x48A60],
    "2c318a3f5b747373992bd507be9f6ab308c1091527817bf2a8d2033d4cb54e1d": [0x3E360, 0x3E3E0],
}
"""The delay functions of Debian's programs of 1.3.0-2.1 (amd64, i386, arm64) and 1.4.0-3 (amd64,
arm64), and of both libraries for amd64, as known by hand. Later builds are not in the table.

One function of each pair is upstream's delay, called with 1000000 after serprog's NOPs. The other
is internal_sleep(), which programmers also call, with 10000.
"""


def fetched_files() -> dict[str, Path]:
    """Returns the programs and libraries of packages that were fetched, by digest."""
    images = find_paths().images
    found = [
        *(images / "subjects").glob(f"*/{PARTS}{PROGRAM}"),
        *(images / "libraries").glob("*/lib/libflashrom.so.1"),
    ]
    return {digest.of_file(path): path for path in found}


@pytest.mark.parametrize("sha256", KNOWN_DELAYS)
def test_only_both_delays_of_a_packaged_flashrom_are_found_without_a_doubt(sha256: str) -> None:
    part = fetched_files().get(sha256)
    if part is None:
        pytest.skip("fetched when a run first needs it")
    findings = find_in(part.read_bytes())
    assert [delay.address for delay in findings.found] == KNOWN_DELAYS[sha256]
    assert {delay.doubt for delay in findings.found} == {""}
    assert {delay.return_sites for delay in findings.found} == {()}
    assert [(wait.called, wait.asks) for wait in findings.direct if wait.argument >= 0] == [
        ("sleep", 1),
        ("usleep", 50000),
    ]


def test_delay_addresses_in_profiles_are_in_the_table() -> None:
    found = [pair for profile in read_profiles() for pair in profile.delay_address.items()]
    assert found
    assert all(address in KNOWN_DELAYS[sha256] for sha256, address in found)


# Functions by name, in debug information.


NAME = "sleep_us"


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """Builds a program with its symbols and debug information."""
    return programs.build(tmp_path / "build", programs.USES_BOTH, "-O2", "-g", "-Wl,--build-id")


@pytest.fixture
def separate(whole: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Returns the stripped program and its debug information."""
    debug = tmp_path / "program.debug"
    subprocess.run(["objcopy", "--only-keep-debug", whole, debug], check=True)
    return programs.stripped(whole), debug


def expected(whole: Path) -> dict[str, int]:
    return {NAME: programs.address_of(whole, NAME)}


def test_function_is_found_by_dwarf_without_symbols(whole: Path, tmp_path: Path) -> None:
    bare = tmp_path / "no-symbols"
    options = ["--strip-all", "--keep-section=.debug_*"]
    subprocess.run(["objcopy", *options, whole, bare], check=True)
    assert read_symbols(bare).function(NAME) is None
    assert debug_functions(bare, [NAME]) == expected(whole)


def test_debug_file_is_found_by_build_id_in_a_named_folder(
    whole: Path, separate: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare, debug = separate
    assert debug_functions(bare, [NAME]) == {}
    shutil.copyfile(debug, programs.place_of_debug_file(bare, tmp_path / "debug"))
    monkeypatch.setenv(DEBUG_PATH, str(tmp_path / "debug"))
    assert debug_functions(bare, [NAME]) == expected(whole)


def test_debug_file_is_found_by_debug_link(whole: Path, separate: tuple[Path, Path]) -> None:
    bare, debug = separate
    subprocess.run(["objcopy", f"--add-gnu-debuglink={debug}", bare], check=True)
    assert debug_functions(bare, [NAME]) == {}
    shutil.copyfile(debug, bare.parent / debug.name)
    assert debug_functions(bare, [NAME]) == expected(whole)


def test_debug_file_of_another_build_is_unused(separate: tuple[Path, Path], tmp_path: Path) -> None:
    bare, debug = separate
    subprocess.run(["objcopy", f"--add-gnu-debuglink={debug}", bare], check=True)
    other = programs.build(tmp_path / "other", programs.DECOYS, "-O2", "-g", "-Wl,--build-id")
    shutil.copyfile(other, bare.parent / debug.name)
    assert debug_functions(bare, [NAME]) == {}


def test_debug_file_without_a_build_id_needs_the_crc_of_the_link(
    whole: Path, separate: tuple[Path, Path]
) -> None:
    bare, debug = separate
    for file in separate:
        subprocess.run(["objcopy", "--remove-section=.note.gnu.build-id", file], check=True)
    subprocess.run(["objcopy", f"--add-gnu-debuglink={debug}", bare], check=True)
    near = bare.parent / debug.name
    near.write_bytes(debug.read_bytes() + b"x")
    assert debug_functions(bare, [NAME]) == {}
    shutil.copyfile(debug, near)
    assert debug_functions(bare, [NAME]) == expected(whole)


def test_unknown_function_has_no_address(whole: Path) -> None:
    assert debug_functions(whole, ["nowhere"]) == {}
