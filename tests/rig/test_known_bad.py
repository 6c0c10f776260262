# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of known-bad builds: each change applies, and a dozen of them are built."""

import re
import subprocess
from pathlib import Path

import pytest
from delayrig.base.errors import BadInputError
from delayrig.base.paths import find_paths
from delayrig.model.platform import Arch
from delayrig.subjects.elf import read_elf
from delayrig.subjects.known_bad import (
    LIBRARY,
    PROGRAM,
    Change,
    Kind,
    Mistake,
    Sight,
    changed_sources,
    find_mistake,
    provide_build,
    read_mistakes,
)
from delayrig.subjects.recipes import read_recipes
from delayrig.subjects.subject import check_subject

from tests.rig.builders import CHECKOUT

MISTAKES = read_mistakes(CHECKOUT)
# A build for each file and kind; one changes a header, and one changes three files.
DOZEN = (
    "eintr-ends-a-wait",
    "coarse-clock",
    "calibrated-loop",
    "wrap-32bit-ns",
    "polls-everything",
    "trusts-typical-times",
    "wait-before-buffered-write",
    "wake-not-waited",
    "aai-words-not-waited",
    "id-wait-of-another-family",
    "reads-merged",
    "function-renamed",
)


def count(kind: Kind) -> int:
    return sum(mistake.kind is kind for mistake in MISTAKES.values())


def test_table_has_sixty_mistakes_and_a_dozen_legal_changes() -> None:
    assert count(Kind.UNSAFE) + count(Kind.WASTEFUL) >= 60
    assert count(Kind.LEGAL) >= 12
    assert {mistake.sight for mistake in MISTAKES.values()} == set(Sight)


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=lambda mistake: mistake.name)
def test_change_applies_and_makes_a_difference(mistake: Mistake) -> None:
    for file, text in changed_sources(mistake, CHECKOUT).items():
        assert text != (CHECKOUT / "flashrom" / file).read_text(encoding="utf-8")
    assert mistake.what
    assert mistake.origin
    check_subject(f"known-bad:{mistake.name}", read_recipes(CHECKOUT), "--subject")


def test_page_names_known_bad_builds_for_each_rule_of_the_chip_model() -> None:
    """Checks the table; `stuck` has none, since no wait of a client is to blame for it."""
    model = (CHECKOUT / "emulators/model/chip.c").read_text(encoding="utf-8")
    page = (CHECKOUT / "rig/docs/explanation/chip-model.md").read_text(encoding="utf-8")
    rows = re.findall(r"^- (`.+?): .*\((.*)\)$", page.split("## The rules")[1], re.MULTILINE)
    builds = {
        rule: re.findall(r"`([^`]+)`", names)
        for rules, names in rows
        for rule in re.findall(r"`([^`]+)`", rules)
    }
    assert set(builds) == set(re.findall(r'\[CHIP_RULE_\w+\] = "(\w+)"', model))
    assert [rule for rule, names in builds.items() if not names] == ["stuck"]
    assert not {name for names in builds.values() for name in names} - set(MISTAKES)


def made_up(old: str, file: str = "core/busy.c") -> Mistake:
    change = Change(file=file, old=old, new="not C")
    return Mistake(
        name="made-up", what="", origin="", kind=Kind.UNSAFE, sight=Sight.CHIP, change=[change]
    )


@pytest.mark.parametrize("old", ["not in the file", "return error;"])
def test_change_that_does_not_apply_once_is_an_error_that_names_it(old: str) -> None:
    with pytest.raises(BadInputError, match=r"'made-up': its text stands \d+ times"):
        changed_sources(made_up(old), CHECKOUT)


def test_change_of_a_file_that_is_not_there_is_an_error() -> None:
    with pytest.raises(BadInputError, match=r"flashrom/core/gone\.c"):
        changed_sources(made_up("x", "core/gone.c"), CHECKOUT)


def test_name_that_does_not_exist_is_an_error_with_the_nearest() -> None:
    with pytest.raises(BadInputError) as caught:
        find_mistake("coarse-clok", MISTAKES)
    assert "'coarse-clock'" in caught.value.hint


def test_change_that_does_not_compile_is_an_error_with_the_compiler_s_words() -> None:
    with pytest.raises(BadInputError, match="building known-bad build 'made-up' failed"):
        provide_build(made_up("#define POLLS_PER_TYP 32\n"), find_paths())


@pytest.mark.parametrize("name", DOZEN)
def test_build_differs_from_ours_and_runs(name: str) -> None:
    paths = find_paths()
    folder = provide_build(MISTAKES[name], paths)
    usual = paths.flashrom_build / PROGRAM
    said = subprocess.run(
        [folder / PROGRAM, "--version"], capture_output=True, text=True, check=True
    )
    assert said.stdout.startswith("flashrom")
    assert (folder / PROGRAM).read_bytes() != usual.read_bytes()
    assert read_elf(folder / LIBRARY).machine == read_elf(usual).machine


def test_same_change_gives_the_same_bytes_and_is_made_once(tmp_path: Path) -> None:
    paths = find_paths()
    folder = provide_build(MISTAKES["wake-not-waited"], paths)
    first = (folder / PROGRAM).read_bytes()
    made = (folder / PROGRAM).stat().st_mtime_ns
    assert (provide_build(MISTAKES["wake-not-waited"], paths) / PROGRAM).stat().st_mtime_ns == made
    folder.rename(tmp_path / "aside")
    assert (provide_build(MISTAKES["wake-not-waited"], paths) / PROGRAM).read_bytes() == first


def test_build_for_another_architecture_has_the_program_alone() -> None:
    paths = find_paths()
    if not (paths.build_of(Arch.ARM64) / "built-for").is_file():
        pytest.skip("nothing was built for arm64 here yet")
    folder = provide_build(MISTAKES["wake-not-waited"], paths, Arch.ARM64)
    assert read_elf(folder / PROGRAM).machine == "EM_AARCH64"
    assert not (folder / LIBRARY).exists()
