# SPDX-License-Identifier: GPL-2.0-or-later
"""gdb's breakpoints: by name, by address in a stripped program, by a separate debug file."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from delayrig.features.repro.debugger import COMMANDS, NONE_KNOWN, delay_stops, gdb_words
from delayrig.subjects.delay_function import DelayOptions
from delayrig.subjects.finder.debug_info import DEBUG_PATH
from delayrig.subjects.subject import Subject
from delayrig.subjects.symbols import read_symbols

from tests.rig import delay_programs as programs
from tests.rig.running import run

GDB = shutil.which("gdb")
LIMIT_S = 60
pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("gcc", "gdb", "objcopy"))),
    reason="needs gcc, gdb and binutils",
)
OWN_NAME = "sleep_us"
PROFILE_NAME = "internal_delay"


def program_of(subject: Subject) -> Path:
    (part,) = subject.parts.values()
    return part


def said_by_gdb(program: Path, *commands: str) -> str:
    """Returns gdb's output about a process that stops right after exec, as a subject in a guest."""
    assert GDB
    words = gdb_words(GDB, ["starti", *commands, "continue", "print $rdi"])
    done = run(words[0], "--batch", *words[1:], program, timeout=LIMIT_S)
    return done.stdout + done.stderr


@pytest.mark.parametrize("linked", [("-pie",), ("-no-pie",)], ids=["moved", "fixed"])
def test_stripped_program_stops_where_the_finder_knows_its_delay_function(
    tmp_path: Path, linked: Sequence[str]
) -> None:
    whole = programs.build(tmp_path / "build", programs.ONE_FOR_BOTH, "-O1", *linked)
    subject = programs.packed(programs.stripped(whole), tmp_path / "subject")
    stops = delay_stops(subject, DelayOptions())
    assert stops[0] == f"source {COMMANDS}"
    address = read_symbols(whole).function("delay")
    assert any(f" {address:#x} " in stop for stop in stops[1:])
    assert "$1 = 10\n" in said_by_gdb(program_of(subject), *stops)  # delay(10)


def test_function_of_a_library_is_stopped_in_once_that_is_loaded(
    tmp_path: Path,
) -> None:
    (tmp_path / "nap.c").write_text("void nap(unsigned us) { (void)us; }\n")
    (tmp_path / "use.c").write_text("void nap(unsigned); int main(void) { nap(1234); return 0; }\n")
    library, program = tmp_path / "libnap.so", tmp_path / "use"
    subprocess.run(["gcc", "-shared", "-o", library, tmp_path / "nap.c"], check=True)
    linked = [str(library), f"-Wl,-rpath,{tmp_path}"]
    subprocess.run(["gcc", "-o", str(program), str(tmp_path / "use.c"), *linked], check=True)
    symbols = read_symbols(library)
    subprocess.run(["strip", program, "--strip-all", library], check=True)
    there = f"delay-break libnap.so {symbols.function('nap'):#x} {symbols.linked_at:#x}"
    assert "$1 = 1234\n" in said_by_gdb(program, f"source {COMMANDS}", there)


def test_name_is_taken_where_gdb_finds_it_too(tmp_path: Path) -> None:
    source = programs.ONE_FOR_BOTH.replace("delay(", f"{PROFILE_NAME}(")
    program = programs.build(tmp_path / "build", source, "-O1")
    subject = programs.packed(program, tmp_path / "subject")
    assert delay_stops(subject, DelayOptions()) == [f"break {PROFILE_NAME}"]
    assert delay_stops(subject, DelayOptions(symbol=OWN_NAME)) == [f"break {OWN_NAME}"]


def test_debug_file_of_the_same_build_id_gives_gdb_names_and_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = programs.ONE_FOR_BOTH.replace("delay(", f"{PROFILE_NAME}(")
    whole = programs.build(tmp_path / "build", source, "-O1", "-g", "-Wl,--build-id")
    subject = programs.packed(programs.stripped(whole), tmp_path / "subject")
    place = programs.place_of_debug_file(whole, tmp_path / "debug")
    subprocess.run(["objcopy", "--only-keep-debug", whole, place], check=True)
    monkeypatch.setenv(DEBUG_PATH, str(tmp_path / "debug"))
    stops = delay_stops(subject, DelayOptions())
    assert stops == [f"break {PROFILE_NAME}"]
    assert f"{PROFILE_NAME} (us=us@entry=10) at source.c:" in said_by_gdb(
        program_of(subject), *stops
    )


def test_program_of_which_no_delay_function_is_known_gets_the_words_for_one(
    tmp_path: Path,
) -> None:
    source = "int main(void) { return 0; }"
    bare = programs.stripped(programs.build(tmp_path / "build", source))
    subject = programs.packed(bare, tmp_path / "subject")
    assert delay_stops(subject, DelayOptions()) == [NONE_KNOWN]
    said = said_by_gdb(program_of(subject), NONE_KNOWN)
    assert "--delay-symbol NAME or --delay-offset HEX" in said
