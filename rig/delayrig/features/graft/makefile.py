# SPDX-License-Identifier: GPL-2.0-or-later
"""Edits of a Makefile: another object beside one, and a variable with a default."""

import re

CONDITION_BEGINS = re.compile(r"\s*(?:ifn?eq|ifn?def)\b")
CONDITION_ENDS = re.compile(r"\s*endif\b")
LIST = re.compile(r"\s*(\w+)\s*(?:\+|\?|::?)?=")


def names_object(text: str, name: str) -> bool:
    return _pattern(name).search(text) is not None


def with_object(text: str, old: str, new: str) -> str:
    """Adds an object to the list that `old` is in, but outside of conditions."""
    lines, at = _lines_at(text, old)
    start = _condition_start(lines, at)
    variable = LIST.match(lines[_first_of(lines, at)])
    if start == at or variable is None:
        lines[at] = _pattern(old).sub(f"{new} {old}", lines[at], count=1)
    else:
        lines.insert(start, f"{variable[1]} += {new}\n\n")
    return "".join(lines)


def with_default(text: str, variable: str, value: int, about: str, old: str) -> str:
    """Sets a variable's default; makes the variable before `old` is listed if there is none."""
    default = re.compile(rf"^({variable}\s*\??=\s*)(\d+)", re.M)
    if default.search(text):
        return default.sub(rf"\g<1>{value}", text, count=1)
    lines, at = _lines_at(text, old)
    at = _condition_start(lines, _first_of(lines, at))
    lines[at:at] = [
        f"# {about}.\n",
        f"{variable} ?= {value}\n",
        f"override CFLAGS += -D{variable}=$({variable})\n\n",
    ]
    return "".join(lines)


def _pattern(name: str) -> re.Pattern[str]:
    """Matches an object in a list, not one that has a rule of its own."""
    return re.compile(rf"(?<![\w./-]){re.escape(name)}(?![\w.-]|\s*:)")


def _lines_at(text: str, name: str) -> tuple[list[str], int]:
    found = _pattern(name).search(text)
    assert found is not None, "looked for before"
    return text.splitlines(keepends=True), text.count("\n", 0, found.start())


def _first_of(lines: list[str], at: int) -> int:
    """Returns the first of the continued lines that a line belongs to."""
    while at > 0 and lines[at - 1].endswith("\\\n"):
        at -= 1
    return at


def _condition_start(lines: list[str], at: int) -> int:
    """Returns the line of the outermost condition around a line, or the line itself."""
    starts: list[int] = []
    for number, line in enumerate(lines[:at]):
        if CONDITION_BEGINS.match(line):
            starts.append(number)
        elif CONDITION_ENDS.match(line) and starts:
            starts.pop()
    return starts[0] if starts else at
