# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig subjects` lists the subjects, or the delay functions and direct waits of one."""

from pathlib import Path

import pytest
from click.testing import Result
from delayrig.model.platform import Arch
from delayrig.subjects.symbols import read_symbols

from tests.rig import delay_programs as programs
from tests.rig.running import rig

pytestmark = pytest.mark.skipif(not programs.compiles(Arch.X86_64), reason="needs gcc")


def subjects(*arguments: str) -> Result:
    return rig("subjects", *arguments)


def test_without_a_name_subjects_are_listed_and_a_missing_program_is_bad_input(
    tmp_path: Path,
) -> None:
    assert {"bundled", "debian:bookworm", "path:BINARY"} <= set(subjects().output.split())
    assert subjects(f"path:{tmp_path}/nowhere").exit_code == 2


def test_delay_function_and_direct_waits_of_a_stripped_program_are_listed(
    tmp_path: Path,
) -> None:
    source = programs.ONE_FOR_BOTH.replace("main(void) {", "main(void) { usleep(50000);")
    program = programs.build(tmp_path, source, "-O2")
    address = read_symbols(program).function("delay")
    done = subjects(f"path:{programs.stripped(program)}")
    assert done.exit_code == 0
    _, function, direct = done.output.splitlines()
    assert f"address {address:#x} in /usr/sbin/flashrom, found by finder" in function
    assert function.endswith("argument 1 in us; sure")
    assert "a direct wait: usleep(50000) in /usr/sbin/flashrom" in direct


def test_delays_of_a_program_without_a_delay_function_cannot_be_judged(tmp_path: Path) -> None:
    program = programs.build(tmp_path, "int main(void) { return 0; }", "-O2")
    done = subjects(f"path:{programs.stripped(program)}")
    assert "none: its delays cannot be judged" in done.output


def test_delay_function_that_the_user_names_is_listed(tmp_path: Path) -> None:
    program = programs.build(tmp_path, programs.USES_BOTH, "-O2")
    done = subjects(f"path:{program}", "--delay-symbol", "poll_us")
    assert "1 delay function\n  poll_us" in done.output
    assert "found by user" in done.output
