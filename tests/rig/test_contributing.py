# SPDX-License-Identifier: GPL-2.0-or-later
"""Files for contributors: hooks that run the linters of the tests, and an editor's settings."""

import configparser
import sys
from pathlib import Path

import yaml

from tests.rig.builders import CHECKOUT
from tests.rig.test_lint import PYTHON_FOLDERS

LINTERS = {"ruff", "mypy", "lint-imports", "clang-format"}


def hook_commands() -> list[list[str]]:
    text = (CHECKOUT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    hooks = [hook for repo in yaml.safe_load(text)["repos"] for hook in repo["hooks"]]
    assert {hook["language"] for hook in hooks} == {"system", "pygrep"}
    return [hook["entry"].split() for hook in hooks if hook["language"] == "system"]


def test_hooks_call_the_linters_that_the_tests_call() -> None:
    programs = [Path(command[0]) for command in hook_commands()]
    assert {program.name for program in programs} == LINTERS
    assert {str(program.parent) for program in programs} == {".rig/venv/bin"}
    here = Path(sys.executable).parent
    assert [name for name in LINTERS if not (here / name).is_file()] == []


def test_hooks_name_files_that_are_there() -> None:
    words = [word for command in hook_commands() for word in command[1:] if "/" in word]
    assert "rig/pyproject.toml" in words
    assert [word for word in words if not (CHECKOUT / word).exists()] == []


def test_hook_of_mypy_looks_at_all_of_our_python() -> None:
    command = next(words for words in hook_commands() if words[0].endswith("/mypy"))
    assert command[-len(PYTHON_FOLDERS) :] == PYTHON_FOLDERS


def test_editors_are_told_tabs_in_c_and_spaces_in_python() -> None:
    settings = configparser.ConfigParser()
    text = (CHECKOUT / ".editorconfig").read_text(encoding="utf-8")
    settings.read_string(text.replace("root = true", "", 1))
    assert settings["*.{c,h,sh,css,js}"]["indent_style"] == "tab"
    assert settings["*.py"]["indent_style"] == "space"
    assert settings["*.py"]["indent_size"] == "4"
