# SPDX-License-Identifier: GPL-2.0-or-later
"""Subjects: names, versions, the chips that each one knows, and the guests that can run it."""

import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest
from delayrig.base.errors import BadInputError
from delayrig.model.platform import Arch
from delayrig.run import cell_runner
from delayrig.subjects import subject
from delayrig.subjects.elf import ElfFacts
from delayrig.subjects.recipes import read_recipes
from delayrig.subjects.subject import (
    check_subject,
    flashrom_version,
    known_name,
    known_subjects,
    knows_string,
    may_know,
    upstream_version,
    wrong_machine,
)

from tests.rig.builders import CHECKOUT, make_cell, make_subject, request_of

RECIPES = read_recipes(CHECKOUT)


def test_every_subject_of_the_design_is_known() -> None:
    debian = {f"debian:{release}" for release in ("bullseye", "bookworm", "trixie", "sid")}
    assert {"bundled", "flashprog:sid", *debian} <= set(known_subjects(RECIPES))


def test_version_is_that_of_flashroms_package_without_epoch_and_revision() -> None:
    assert flashrom_version({"libc6": "2.42-2", "flashrom": "1.8.0-2"}) == "1.8.0"
    assert flashrom_version({"libflashrom1": "1.4.0-3"}) == "1.4.0"
    assert flashrom_version({"flashprog": "1.4-1", "libc6": "2.42-2"}) == ""
    versions = ["1.3.0-2.1", "1:1.3.0-2", "1.2", "1:1.3.0"]
    found = [upstream_version(version) for version in versions]
    assert found == ["1.3.0", "1.3.0", "1.2", "1.3.0"]


@pytest.mark.parametrize("name", known_subjects(RECIPES))
def test_known_subject_is_accepted(name: str) -> None:
    check_subject(name, RECIPES, "--subject")


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("bundeld", "'bundled'"),
        ("debian:bookwurm", "'debian:bookworm'"),
        ("canary:bsu", "'canary:bus'"),
        ("", "path:BINARY"),
    ],
)
def test_unknown_subject_gets_the_nearest_name(name: str, near: str) -> None:
    with pytest.raises(BadInputError) as caught:
        check_subject(name, RECIPES, "--subject")
    assert caught.value.message.startswith("--subject: ")
    assert f"unknown subject {name!r}" in caught.value.message
    assert near in caught.value.hint


def test_only_a_path_to_an_elf_program_is_accepted(tmp_path: Path) -> None:
    check_subject(f"path:{Path(sys.executable).resolve()}", RECIPES, "--subject")
    (tmp_path / "flashrom").write_text("#!/bin/sh\n", encoding="ascii")
    for path, complaint in (
        ("BINARY", "no file"),
        (f"{tmp_path}/none", str(tmp_path / "none")),
        (f"{tmp_path}/flashrom", "not an ELF program"),
    ):
        with pytest.raises(BadInputError, match=complaint):
            check_subject(f"path:{path}", RECIPES, "--subject")


@pytest.mark.parametrize(
    ("program", "name", "known"),
    [
        (b"\0M25P80\0", "M25P80", True),
        (b"x\0M25P80\0y", "M25P80", True),
        (b"\0M25P80-A\0M25P80\0", "M25P80", True),
        (b"x\0M25P80-A\0", "M25P80", False),
        (b"x\0XM25P80\0", "M25P80", False),
        (b"M25P80", "M25P80", False),
        (b"", "M25P80", False),
        (b"\0W25Q128.V\0", "W25Q128.V", True),
        (b"\0W25Q128JV\0", "W25Q128.V", False),
        (b"\0GD25Q16(B)\0", "GD25Q16(B)", True),
        (b"\0GD25Q16B\0", "GD25Q16(B)", False),
    ],
)
def test_name_is_known_only_as_a_whole_string_and_is_no_pattern(
    program: bytes, name: str, known: bool
) -> None:
    assert knows_string(program, name) is known


def test_name_that_the_linker_merged_into_a_longer_string_may_be_known(tmp_path: Path) -> None:
    source, program = tmp_path / "a.c", tmp_path / "a"
    names = '"M25P80", "x internal", "internal"'
    source.write_text(f"const char *volatile a[] = {{{names}}}; int main(void) {{ return !a[0]; }}")
    if shutil.which("cc") is None:
        pytest.skip("no C compiler on this machine")
    subprocess.run(["cc", "-O2", "-Wl,-O2", "-o", program, source], check=True)
    content = program.read_bytes()
    assert not knows_string(content, "internal"), "the linker merged no strings"
    assert may_know(content, "internal")
    assert not may_know(content, "nicintel")


@pytest.mark.parametrize(
    ("program", "name"),
    [
        (b"\0xW25Q16.V\0W25Q16JV\0", "W25Q16JV"),
        (b"\0xW25Q16.V\0W25Q16JVx\0", "W25Q16.V"),
        (b"\0W25Q16.Vx\0", ""),
    ],
)
def test_whole_string_is_preferred_to_the_end_of_a_longer_one(program: bytes, name: str) -> None:
    assert known_name(program, ["W25Q16.V", "W25Q16JV"]) == name


@pytest.mark.parametrize(
    ("machine", "runs_on"),
    [
        ("EM_X86_64", {Arch.X86_64}),
        ("EM_386", {Arch.X86_64, Arch.I386}),
        ("EM_AARCH64", {Arch.ARM64}),
        ("EM_ARM", {Arch.ARMHF}),
        ("EM_RISCV", {Arch.RISCV64}),
    ],
)
def test_program_by_path_runs_on_the_architectures_of_its_elf_machine(
    monkeypatch: pytest.MonkeyPatch, machine: str, runs_on: set[Arch], tmp_path: Path
) -> None:
    (tmp_path / "x").touch()
    facts = ElfFacts(machine=machine, interpreter=None, needed=(), rpath=(), runpath=())
    monkeypatch.setattr(subject, "read_elf", lambda _: facts)
    assert {arch for arch in Arch if not wrong_machine(f"path:{tmp_path}/x", arch)} == runs_on


def test_past_mistakes_and_steps_are_for_one_architecture_and_other_subjects_for_all() -> None:
    for name in known_subjects(RECIPES):
        runs_on = [arch for arch in Arch if not wrong_machine(name, arch)]
        alone = name.startswith(("past-mistake:", "step:", "old-clocks:", "sleep-facts"))
        assert runs_on == ([Arch.X86_64] if alone else list(Arch))


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        (b"true", "this does not look like a flashrom"),
        (b"serprog", "this flashrom knows none of the names GD25Q16"),
        (b"W25Q128.V", "this flashrom knows none of the names GD25Q16"),
    ],
)
def test_program_without_the_driver_and_any_chip_does_not_look_like_a_flashrom(
    text: bytes, refusal: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / subject.PARTS / "flashrom"
    program.parent.mkdir()
    program.write_bytes(b"\0" + text + b"\0")
    monkeypatch.setattr(cell_runner, "find_watched", Mock(return_value=()))
    given = make_subject(archive=str(tmp_path / subject.ARCHIVE))
    lane = Mock(programs=[given], refusal=lambda _: "", subject_of=lambda _: given)
    cell = make_cell()
    runner = cell_runner.make_cell_runner(request_of([cell], tmp_path), lane)
    assert runner.refusal(cell).startswith(refusal)
