# SPDX-License-Identifier: GPL-2.0-or-later
"""Help and lists before set-up are the same as those of the rig."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from delayrig.features.documents.command import reference_texts
from delayrig.main import main
from delayrig.setup.arguments import LISTS, read_request
from delayrig.setup.errors import UsageError
from delayrig.setup.layout import Layout, find_layout
from delayrig.setup.reference import check_command, help_text, list_text

from tests.rig.launching import copy_launcher, launch, launch_copy

LAYOUT = find_layout({})
UPDATE = "they changed: run `rig/rig reference`, and commit what it writes"


def test_committed_texts_are_what_the_rig_prints() -> None:
    committed = {
        str(file.relative_to(LAYOUT.reference)): file.read_text(encoding="utf-8")
        for file in (*LAYOUT.reference.glob("*.txt"), LAYOUT.reference / "events.md")
    }
    written = reference_texts(main)
    assert sorted(committed) == sorted(written), UPDATE
    differing = [name for name, text in written.items() if committed[name] != text]
    assert not differing, UPDATE


@pytest.mark.parametrize("name", sorted(set(LISTS) - {"chips", "machines"}))
def test_list_before_set_up_is_that_of_the_rig(name: str) -> None:
    assert list_text(LAYOUT, name) == CliRunner().invoke(main, [name]).output


def test_chips_are_listed_without_their_programmers() -> None:
    rigs = CliRunner().invoke(main, ["chips"]).output.splitlines()
    lines = list_text(LAYOUT, "chips").splitlines()
    assert lines == [re.split(r" {2}(?:serprog|internal):", line)[0] for line in rigs]


def test_machines_are_listed_without_speeds_before_they_are_measured() -> None:
    rigs = CliRunner().invoke(main, ["machines"]).output.splitlines()
    note, *lines = list_text(LAYOUT, "machines").splitlines()
    assert "rig/rig setup" in note
    assert [line.split()[0] for line in lines] == [line.split()[0] for line in rigs]
    assert [line[13:] for line in lines] == [line[58:] for line in rigs]


def test_chip_that_a_user_adds_is_listed(tmp_path: Path) -> None:
    chips = tmp_path / "emulators" / "chips"
    chips.mkdir(parents=True)
    text = 'name = "MINE"\nvendor = "Me"\nsize_bytes = 4096\n[bus]\nkind = "lpc"\n'
    (chips / "MINE.toml").write_text(text, encoding="utf-8")
    layout = Layout(checkout=tmp_path, state=tmp_path / "state")
    assert list_text(layout, "chips") == "MINE             Me           lpc           4 KiB\n"


@pytest.mark.parametrize(
    ("arguments", "start"),
    [
        (["--help"], "Usage: rig/rig [OPTIONS] COMMAND"),
        (["run", "--help"], "Usage: rig/rig run"),
        (["run", "--plan", "smoke", "-h"], "Usage: rig/rig run"),
        (["history", "steps", "--help"], "Usage: rig/rig history steps"),
        (["selfcheck", "determinism", "--help"], "Usage: rig/rig selfcheck determinism"),
        (["benchmark", "cells", "-h"], "Usage: rig/rig benchmark cells"),
        (["setup", "--help"], "Usage: rig/rig setup"),
        (["--version"], "rig/rig, version"),
        (["chips"], "82802AB"),
        (["--yes", "plans"], "chips "),
    ],
)
def test_help_and_lists_need_no_set_up(tmp_path: Path, arguments: list[str], start: str) -> None:
    done = launch(tmp_path / "state", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(start)
    assert not (tmp_path / "state").exists()


def test_error_for_an_unknown_command_suggests_the_nearest_name(tmp_path: Path) -> None:
    for arguments in (["reprot", "x"], ["reprot", "--help"]):
        done = launch(tmp_path / "state", *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert "no command 'reprot'; did you mean 'repro'?" in done.stderr
    assert not (tmp_path / "state").exists()


def test_name_that_is_like_no_command_is_refused_without_a_suggestion() -> None:
    with pytest.raises(UsageError, match=r"no command 'zzzzzz'$"):
        check_command(LAYOUT, "zzzzzz", ())
    check_command(LAYOUT, "bug-report", ())


@pytest.mark.parametrize("words", [("bug-report", "x"), ("repro", "heterogeneous")])
def test_help_is_that_of_the_command_if_the_next_word_is_not_a_subcommand(
    words: tuple[str, str],
) -> None:
    assert help_text(LAYOUT, words).startswith(f"Usage: rig/rig {words[0]}")
    assert not read_request(["repro", "cell", "--", "--help"]).asks


@pytest.mark.parametrize(
    ("word", "name"), [("--help", "command-line.txt"), ("hazards", "hazards.txt")]
)
def test_checkout_without_a_text_names_the_missing_file(
    tmp_path: Path, word: str, name: str
) -> None:
    done = launch_copy(copy_launcher(tmp_path), tmp_path / "state", word)
    assert (done.returncode, done.stdout) == (99, "")
    assert re.fullmatch(
        rf"rig/rig: {tmp_path}/.*/{name} is missing\nremedy: restore the checkout .*\n", done.stderr
    )
