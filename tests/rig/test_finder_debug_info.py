# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions found by name in the debug information of a program, or of a separate file."""

import shutil
import subprocess
from pathlib import Path

import pytest
from delayrig.subjects.finder.debug_info import DEBUG_PATH, build_id, debug_functions
from delayrig.subjects.symbols import read_symbols
from elftools.elf.elffile import ELFFile

from tests.rig import delay_programs as programs

pytestmark = pytest.mark.skipif(shutil.which("objcopy") is None, reason="needs binutils")
NAME = "sleep_us"


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """Builds a program with its symbols and debug information."""
    return programs.build(tmp_path / "build", programs.USES_BOTH, "-O2", "-g", "-Wl,--build-id")


@pytest.fixture
def apart(whole: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Returns the stripped program and its debug information."""
    debug = tmp_path / "program.debug"
    subprocess.run(["objcopy", "--only-keep-debug", whole, debug], check=True)
    return programs.stripped(whole), debug


def expected(whole: Path) -> dict[str, int]:
    """Returns the function's address in the symbols of the whole program."""
    address = read_symbols(whole).function(NAME)
    assert address is not None
    return {NAME: address}


def test_dwarf_of_a_file_without_symbols_tells(whole: Path, tmp_path: Path) -> None:
    bare = tmp_path / "no-symbols"
    options = ["--strip-all", "--keep-section=.debug_*"]
    subprocess.run(["objcopy", *options, whole, bare], check=True)
    assert read_symbols(bare).function(NAME) is None
    assert debug_functions(bare, [NAME]) == expected(whole)


def test_file_of_the_same_build_id_in_a_named_folder_tells(
    whole: Path, apart: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare, debug = apart
    with bare.open("rb") as file:
        build = build_id(ELFFile(file))
    place = tmp_path / "debug" / ".build-id" / build[:2] / f"{build[2:]}.debug"
    place.parent.mkdir(parents=True)
    assert debug_functions(bare, [NAME]) == {}
    shutil.copyfile(debug, place)
    monkeypatch.setenv(DEBUG_PATH, str(tmp_path / "debug"))
    assert debug_functions(bare, [NAME]) == expected(whole)


def test_file_that_a_link_names_tells(whole: Path, apart: tuple[Path, Path]) -> None:
    bare, debug = apart
    subprocess.run(["objcopy", f"--add-gnu-debuglink={debug}", bare], check=True)
    assert debug_functions(bare, [NAME]) == {}
    shutil.copyfile(debug, bare.parent / debug.name)
    assert debug_functions(bare, [NAME]) == expected(whole)


def test_debug_information_of_another_build_tells_nothing(
    apart: tuple[Path, Path], tmp_path: Path
) -> None:
    bare, debug = apart
    subprocess.run(["objcopy", f"--add-gnu-debuglink={debug}", bare], check=True)
    other = programs.build(tmp_path / "other", programs.DECOYS, "-O2", "-g", "-Wl,--build-id")
    shutil.copyfile(other, bare.parent / debug.name)
    assert debug_functions(bare, [NAME]) == {}


def test_name_that_is_not_there_is_not_found(whole: Path) -> None:
    assert debug_functions(whole, ["nowhere"]) == {}
