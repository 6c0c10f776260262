# SPDX-License-Identifier: GPL-2.0-or-later
"""What the guest's kernel is told about a delay function, and what its records come to."""

import shutil
import subprocess
from pathlib import Path

import pytest
from delayrig.errors import BadInputError, LostGuestError
from delayrig.events import Event, of_kind
from delayrig.images.subject import PARTS, Subject
from delayrig.images.symbols import read_symbols
from delayrig.witness.delay_function import DelayWish
from delayrig.witness.delay_probe import (
    PUSHED,
    STEPPED,
    DelayFunction,
    find_delay_function,
    read_trace,
    trace_lines,
)
from msgspec.structs import replace

from tests.rig.builders import make_subject

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")

SOURCE = """\
__attribute__((noinline)) void default_delay(unsigned int us) { (void)us; __asm__(""); }
__attribute__((noinline)) void tracing_nothing(unsigned int us) { (void)us; __asm__(""); }
__attribute__((noinline)) void tracing_nothing_pushed(unsigned int us) { (void)us; __asm__(""); }
int main(void) { default_delay(1); tracing_nothing(1); tracing_nothing_pushed(1); return 0; }
"""


def packed(folder: Path, *options: str) -> Subject:
    """A subject whose program is that source."""
    program = folder / PARTS / "usr/sbin/flashrom"
    program.parent.mkdir(parents=True)
    (folder / "source.c").write_text(SOURCE, encoding="ascii")
    subprocess.run(["gcc", "-O1", "-o", program, "source.c", *options], check=True, cwd=folder)
    return make_subject(archive=str(folder / "subject.cpio"))


@pytest.fixture
def function(tmp_path: Path) -> DelayFunction:
    """Its delay function."""
    found = find_delay_function(packed(tmp_path), DelayWish())
    assert found is not None
    return found


def test_known_symbol_is_found_in_the_program(function: DelayFunction) -> None:
    assert (function.name, function.file) == ("default_delay", "/usr/sbin/flashrom")


def test_stripped_program_has_no_delay_function(tmp_path: Path) -> None:
    assert find_delay_function(packed(tmp_path, "-s"), DelayWish()) is None


def test_symbol_of_the_user_is_taken_instead(tmp_path: Path) -> None:
    found = find_delay_function(packed(tmp_path), DelayWish(symbol="main"))
    assert found is not None
    assert found.name == "main"


def test_symbol_of_the_user_that_is_not_there_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="--delay-symbol nowhere"):
        find_delay_function(packed(tmp_path), DelayWish(symbol="nowhere"))


def test_offset_finds_the_same_in_a_stripped_program(
    tmp_path: Path, function: DelayFunction
) -> None:
    subprocess.run(["strip", function.part], check=True, cwd=tmp_path)
    subject = make_subject(archive=str(tmp_path / "subject.cpio"))
    found = find_delay_function(subject, DelayWish(offset=function.offset))
    assert found is not None
    assert (found.file, found.offset) == (function.file, function.offset)


def test_offset_outside_of_the_code_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="--delay-offset 0x10000000"):
        find_delay_function(packed(tmp_path), DelayWish(offset=1 << 28))


def test_address_that_a_profile_knows_is_taken_in_a_stripped_library(
    tmp_path: Path, function: DelayFunction
) -> None:
    address = read_symbols(function.part).address(function.offset)
    library = tmp_path / "packed" / PARTS / "lib/libflashrom.so.1"
    library.parent.mkdir(parents=True)
    subprocess.run(["strip", "-o", library, function.part], check=True)
    archive = str(tmp_path / "packed" / "subject.cpio")
    subject = make_subject(archive=archive, library=True, delay_address=address)
    found = find_delay_function(subject, DelayWish())
    assert found is not None
    assert (found.file, found.offset) == ("/lib/libflashrom.so.1", function.offset)


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        (DelayWish(), []),
        (DelayWish(symbol="my_delay"), ["--delay-symbol", "my_delay"]),
        (DelayWish(offset=0x1140), ["--delay-offset", "0x1140"]),
    ],
)
def test_wish_is_told_in_the_words_of_the_command_line(wish: DelayWish, words: list[str]) -> None:
    assert wish.words == words


def test_kernel_is_told_clock_room_and_probes_before_they_are_enabled(
    function: DelayFunction,
) -> None:
    lines = trace_lines(function, root="/subject", agent=function.part)
    files = [line.split()[1] for line in lines]
    assert files == [
        *("trace_clock", "buffer_size_kb"),
        *["uprobe_events"] * 4,
        "events/rig/enable",
    ]
    assert f"p:rig/enter /subject/usr/sbin/flashrom:{function.offset:#x} us=%di:u32" in lines[2]
    assert lines[3].endswith(f"r:rig/leave /subject/usr/sbin/flashrom:{function.offset:#x}")
    assert "p:rig/nothing_enter /init:" in lines[4]


def test_probes_are_measured_by_a_function_that_begins_alike(
    tmp_path: Path, function: DelayFunction
) -> None:
    agent, subject = read_symbols(function.part), bytearray(function.part.read_bytes())
    for begins, like in ((b"\x85\xff", STEPPED), (b"\x53\x90", PUSHED), (b"\x41\x54", PUSHED)):
        subject[function.offset : function.offset + 2] = begins
        part = tmp_path / begins.hex()
        part.write_bytes(subject)
        lines = trace_lines(replace(function, part=part), root="", agent=function.part)
        nothing = agent.function(like)
        assert nothing is not None
        assert lines[5].endswith(f" /init:{agent.file_offset(nothing):#x}")


HEADER = "# tracer: nop\n#\n# entries-in-buffer/entries-written: {kept}/{written}   #P:2\n#\n"


def record(event: str, at: int, *, tid: int = 90, cpu: int = 0, us: int | None = None) -> str:
    """One line as the kernel prints it."""
    values = "" if us is None else f" us={us} sp=0x7ffe10 bp=0x0 s0={{0x11,0x22}} s64={{0x33}}"
    return f"        flashrom-{tid}      [{cpu:03}] d..1. {at}: {event}: (0x5555){values}"


NOTHINGS = [
    *(record("nothing_enter", 10, tid=3, us=0), record("nothing_leave", 50, tid=3)),
    *(record("nothing_enter", 60, tid=3, us=0), record("nothing_leave", 66, tid=3)),
    *(record("nothing_enter", 70, tid=3, us=0), record("nothing_leave", 76, tid=3)),
    *(record("nothing_enter", 80, tid=3, us=0), record("nothing_leave", 999, tid=3)),
]


def events_of(function: DelayFunction, *records: str, lost: int = 0) -> list[Event]:
    """What a trace of these records comes to."""
    text = HEADER.format(kept=len(records), written=len(records) + lost)
    return read_trace(text + "\n".join([*NOTHINGS, *records]) + "\n", function)


def test_call_is_told_with_its_times_cores_and_length(function: DelayFunction) -> None:
    calls = record("enter", 2000, us=100), record("leave", 3002, cpu=1)
    (delay,) = of_kind(events_of(function, *calls), "delay")
    assert delay == {
        "ev": "delay",
        "t_ns": 2000,
        "end_ns": 3002,
        "tid": 90,
        "requested_us": 100,
        "cpu_in": 0,
        "cpu_out": 1,
        "stack": [],
    }


def test_probe_tells_its_cost_without_what_disturbed_it(function: DelayFunction) -> None:
    (probe,) = of_kind(events_of(function), "delay_probe")
    assert (probe["first_cost_ns"], probe["cost_ns"], probe["clock_step_ns"]) == (40, 6, 1)
    assert (probe["calls"], probe["lost"]) == (0, 0)


def test_first_call_that_was_disturbed_in_one_child_is_not_what_first_calls_cost(
    function: DelayFunction,
) -> None:
    others = [
        line
        for tid, leave in ((4, 140), (5, 140), (6, 999))
        for line in (
            record("nothing_enter", 100, tid=tid, us=0),
            record("nothing_leave", leave, tid=tid),
        )
    ]
    (probe,) = of_kind(events_of(function, *others), "delay_probe")
    assert probe["first_cost_ns"] == 40


def test_records_that_were_overwritten_are_counted(function: DelayFunction) -> None:
    (probe,) = of_kind(events_of(function, lost=3), "delay_probe")
    assert probe["lost"] == 3


def test_threads_are_told_apart_and_calls_inside_of_calls(function: DelayFunction) -> None:
    records = [
        record("enter", 2000, us=9),
        record("enter", 2010, us=8, tid=91),
        record("enter", 2020, us=7),
        record("leave", 2030),
        record("leave", 2040, tid=91),
        record("leave", 2050),
    ]
    delays = of_kind(events_of(function, *records), "delay")
    assert [(d["requested_us"], d["end_ns"]) for d in delays] == [(9, 2050), (8, 2040), (7, 2030)]


def test_call_that_never_returned_has_no_end(function: DelayFunction) -> None:
    (delay,) = of_kind(events_of(function, record("enter", 2000, us=9)), "delay")
    assert (delay["end_ns"], delay["cpu_out"]) == (None, None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        HEADER.format(kept=0, written=0),
        HEADER.format(kept=1, written=1) + "nonsense\n",
        HEADER.format(kept=2, written=2) + "\n".join(NOTHINGS[:2]),
    ],
)
def test_trace_that_is_none_makes_the_guest_a_lost_one(function: DelayFunction, text: str) -> None:
    with pytest.raises(LostGuestError, match=r"trace\.txt"):
        read_trace(text, function)
