# SPDX-License-Identifier: GPL-2.0-or-later
"""Our own programs with another version string, or without symbols."""

import shutil
from pathlib import Path

import pytest
from delayrig.base.errors import BadInputError
from delayrig.base.paths import find_paths
from delayrig.model.platform import Arch
from delayrig.subjects.disguise import DISGUISES, RENAMED, STRIPPED, disguised, split_disguises
from delayrig.subjects.library import OWN_LIBRARIES
from delayrig.subjects.recipes import read_recipes
from delayrig.subjects.subject import BUNDLED, OWN_PROGRAMS, check_subject, wrong_machine
from delayrig.subjects.symbols import read_symbols

from tests.rig.builders import CHECKOUT
from tests.rig.running import run

PATHS = find_paths()
PROGRAM = PATHS.build / OWN_PROGRAMS[BUNDLED]
LIBRARY = PATHS.build / OWN_LIBRARIES[BUNDLED]
NAME = "default_delay"

pytestmark = pytest.mark.skipif(shutil.which("strip") is None, reason="needs binutils")


def version(program: Path) -> str:
    return run(program, "--version").stdout.split()[1].rstrip(",")


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("bundled", ((), "bundled")),
        ("stripped:bundled", ((STRIPPED,), "bundled")),
        ("stripped:renamed:known-bad:x", (DISGUISES, "known-bad:x")),
    ],
)
def test_disguises_are_prefixes_of_the_name(name: str, wanted: object) -> None:
    assert split_disguises(name) == wanted


def test_renamed_program_prints_another_version_and_keeps_its_symbols() -> None:
    other = disguised(PROGRAM, [RENAMED], PATHS)
    assert version(other) != version(PROGRAM)
    assert len(version(other)) == len(version(PROGRAM))
    assert read_symbols(other).function(NAME) == read_symbols(PROGRAM).function(NAME)


@pytest.mark.parametrize("built", [PROGRAM, LIBRARY], ids=["program", "library"])
def test_stripped_build_has_no_symbols_and_the_same_name(built: Path) -> None:
    bare = disguised(built, [STRIPPED], PATHS)
    assert read_symbols(bare).function(NAME) is None
    assert bare.name == built.name


def test_disguise_is_made_once() -> None:
    first = disguised(PROGRAM, DISGUISES, PATHS)
    made = first.stat().st_mtime_ns
    assert disguised(PROGRAM, tuple(reversed(DISGUISES)), PATHS).stat().st_mtime_ns == made
    assert disguised(PROGRAM, [], PATHS) == PROGRAM


def test_only_our_own_programs_take_a_disguise() -> None:
    recipes = read_recipes(CHECKOUT)
    for name in (
        "stripped:bundled",
        "renamed:known-bad:wall-clock",
        "stripped:past-mistake:wall-clock",
    ):
        check_subject(name, recipes, "--subject")
    for name in ("stripped:debian:trixie", "stripped:bundle"):
        with pytest.raises(BadInputError, match="unknown subject"):
            check_subject(name, recipes, "--subject")
    assert wrong_machine("stripped:bundled", Arch.ARM64)
    assert not wrong_machine("stripped:bundled", Arch.X86_64)
