# SPDX-License-Identifier: GPL-2.0-or-later
"""gdb's breakpoints in delay functions: by name, by address, by a separate debug file."""

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
    not all(map(shutil.which, ("gcc", "gdb", "objcopy"))), reason="needs gcc, gdb and binutils"
)
OTHER_NAME = "sleep_us"
KNOWN_NAME = "internal_delay"


def program_of(subject: Subject) -> Path:
    (part,) = subject.parts.values()
    return part


def output_of_gdb(program: Path, *commands: str) -> str:
    """Returns gdb's output about a process that stops right after exec, as a subject in a guest."""
    assert GDB
    words = gdb_words(GDB, ["starti", *commands, "continue", "print $rdi"])
    done = run(words[0], "--batch", *words[1:], program, timeout=LIMIT_S)
    return done.stdout + done.stderr


@pytest.mark.parametrize("linked", [("-pie",), ("-no-pie",)], ids=["moved", "fixed"])
def test_gdb_stops_in_a_stripped_delay_function(tmp_path: Path, linked: Sequence[str]) -> None:
    whole = programs.build(tmp_path / "build", programs.ONE_FOR_BOTH, "-O1", *linked)
    subject = programs.packed(programs.stripped(whole), tmp_path / "subject")
    stops = delay_stops(subject, DelayOptions())
    assert stops[0] == f"source {COMMANDS}"
    address = read_symbols(whole).function("delay")
    assert any(f" {address:#x} " in stop for stop in stops[1:])
    assert "$1 = 10\n" in output_of_gdb(program_of(subject), *stops)  # delay(10)


def test_gdb_stops_in_a_library_that_is_loaded_later(tmp_path: Path) -> None:
    (tmp_path / "nap.c").write_text("void nap(unsigned us) { (void)us; }\n")
    (tmp_path / "use.c").write_text("void nap(unsigned); int main(void) { nap(1234); return 0; }\n")
    library, program = tmp_path / "libnap.so", tmp_path / "use"
    subprocess.run(["gcc", "-shared", "-o", library, tmp_path / "nap.c"], check=True)
    linked = [str(library), f"-Wl,-rpath,{tmp_path}"]
    subprocess.run(["gcc", "-o", str(program), str(tmp_path / "use.c"), *linked], check=True)
    symbols = read_symbols(library)
    subprocess.run(["strip", program, "--strip-all", library], check=True)
    stop = f"delay-break libnap.so {symbols.function('nap'):#x} {symbols.linked_at:#x}"
    assert "$1 = 1234\n" in output_of_gdb(program, f"source {COMMANDS}", stop)


def test_name_is_used_if_gdb_finds_it(tmp_path: Path) -> None:
    source = programs.ONE_FOR_BOTH.replace("delay(", f"{KNOWN_NAME}(")
    program = programs.build(tmp_path / "build", source, "-O1")
    subject = programs.packed(program, tmp_path / "subject")
    assert delay_stops(subject, DelayOptions()) == [f"break {KNOWN_NAME}"]
    assert delay_stops(subject, DelayOptions(symbol=OTHER_NAME)) == [f"break {OTHER_NAME}"]


def test_gdb_has_names_and_lines_of_a_debug_file_of_the_same_build_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = programs.ONE_FOR_BOTH.replace("delay(", f"{KNOWN_NAME}(")
    whole = programs.build(tmp_path / "build", source, "-O1", "-g", "-Wl,--build-id")
    subject = programs.packed(programs.stripped(whole), tmp_path / "subject")
    place = programs.place_of_debug_file(whole, tmp_path / "debug")
    subprocess.run(["objcopy", "--only-keep-debug", whole, place], check=True)
    monkeypatch.setenv(DEBUG_PATH, str(tmp_path / "debug"))
    stops = delay_stops(subject, DelayOptions())
    assert stops == [f"break {KNOWN_NAME}"]
    assert f"{KNOWN_NAME} (us=us@entry=10) at source.c:" in output_of_gdb(
        program_of(subject), *stops
    )


def test_program_without_a_known_delay_function_gets_the_options_for_one(tmp_path: Path) -> None:
    source = "int main(void) { return 0; }"
    bare = programs.stripped(programs.build(tmp_path / "build", source))
    subject = programs.packed(bare, tmp_path / "subject")
    assert delay_stops(subject, DelayOptions()) == [NONE_KNOWN]
    output = output_of_gdb(program_of(subject), NONE_KNOWN)
    assert "--delay-symbol NAME or --delay-offset HEX" in output
