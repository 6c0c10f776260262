# SPDX-License-Identifier: GPL-2.0-or-later
"""Docstrings and comments begin as sentences do, in every source file."""

from pathlib import Path

import pytest

from tests.rig.plain_words import FOLDERS, findings_in, sources_in


def test_no_docstring_or_comment_is_a_fragment() -> None:
    files = sources_in(list(FOLDERS))
    assert files
    assert [finding for file in files for finding in findings_in(file)] == []


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ('def f():\n    """Returns one."""\n', None),
        ('def f():\n    """The one."""\n', "no verb"),
        ('def f():\n    """Whether it is one."""\n', "no verb"),
        ('def test_f():\n    """The one."""\n', None),
        ('class A:\n    """What it is."""\n', "fragment"),
        ('class A:\n    x: int\n    """Of the sleep."""\n', "fragment"),
        ("x = 1  # what it is\n", "fragment"),
        ("# One line,\n# of two.\nx = 1\n", None),
        ("# What is this?\n", None),
    ],
)
def test_python_is_understood(tmp_path: Path, source: str, fault: str | None) -> None:
    assert faults_of(tmp_path / "a.py", source) == ([fault] if fault else [])


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("/* The time. */\n", None),
        ("/*\n * Whether it is\n * one. */\n", "fragment"),
        ("int a; /* of the sleep */\n", "fragment"),
        ('char *a = "/* what */";\n', None),
    ],
)
def test_c_is_understood(tmp_path: Path, source: str, fault: str | None) -> None:
    assert faults_of(tmp_path / "a.c", source) == ([fault] if fault else [])


def faults_of(file: Path, source: str) -> list[str]:
    file.write_text(source, encoding="utf-8")
    return [finding.fault for finding in findings_in(file)]
