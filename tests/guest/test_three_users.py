# SPDX-License-Identifier: GPL-2.0-or-later
"""The tutorial for three users: its commands are read from the page and run in a new checkout."""

import re
import shutil
import subprocess
from pathlib import Path

import click
import pytest
from delayrig.base.paths import Paths, find_paths
from delayrig.main import main

from .fresh_checkout import copy_checkout, run_line
from .provided import skip_if_refused

PAGE = find_paths().checkout / "rig" / "docs" / "tutorial" / "first-run.md"
LINE = re.compile(r"^    (?P<words>(?:rig/rig|ci/).*?)(?: +# exit code (?P<code>\d+))?$", re.M)
TREES = {"main": "flashrom", "change": "flashrom-short", "mended": "flashrom"}
"""The source trees of the page; the build of each copies one of our programs."""


def commands_by_user() -> dict[str, list[tuple[str, int]]]:
    """Returns the commands of each section of the page, with their exit codes."""
    sections = re.split(r"^### ", PAGE.read_text(encoding="utf-8"), flags=re.M)[1:]
    return {
        re.findall(r"\w+", section)[1]: [
            (line["words"], int(line["code"] or 0)) for line in LINE.finditer(section)
        ]
        for section in sections
    }


USERS = commands_by_user()


def test_page_has_commands_for_each_user() -> None:
    assert [*USERS] == ["maintainer", "pipeline", "packager"]
    assert min(map(len, USERS.values())) >= 4


@pytest.mark.parametrize("user", USERS)
def test_each_command_of_the_page_uses_only_existing_options(user: str) -> None:
    for line, _ in USERS[user]:
        program, *words = line.split()
        if program == "rig/rig":
            command = main.commands[words[0]]
            known = {o for p in command.params if isinstance(p, click.Option) for o in p.opts}
            assert {word for word in words if word.startswith("--")} <= known, line


@pytest.fixture(scope="module")
def checkout(paths: Paths, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a fresh checkout, with the source trees of flashrom beside it."""
    folder = tmp_path_factory.mktemp("users")
    fresh = copy_checkout(paths, folder / "rig")
    for tree, program in TREES.items():
        place = folder / tree
        place.mkdir()
        shutil.copy2(paths.flashrom_build / program, place / "built")
        (place / "Makefile").write_text("flashrom: built\n\tcp built flashrom\n")
        subprocess.run(["make", "-s", "-C", str(place)], check=True)
    return fresh


@pytest.mark.long("sets up a checkout and runs 13 commands: 2 minutes; quick: the options")
@pytest.mark.parametrize("user", USERS)
def test_commands_of_the_page_give_their_exit_codes_in_a_fresh_checkout(
    paths: Paths, checkout: Path, user: str
) -> None:
    transcript = paths.state / "tests" / "three-users" / f"{user}.txt"
    transcript.parent.mkdir(parents=True, exist_ok=True)
    output = ""
    for line, code in USERS[user]:
        done = run_line(checkout, line, {"XDG_DATA_HOME": str(checkout.parent / "data")})
        output += f"$ {line}\n{done.stdout}=> {done.returncode}\n\n"
        transcript.write_text(output, encoding="utf-8")
        skip_if_refused(done.returncode, done.stdout)
        assert done.returncode == code, output
