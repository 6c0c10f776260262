# SPDX-License-Identifier: GPL-2.0-or-later
"""What one check of the doctor found."""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    level: Level
    text: str
    remedy: str = ""


def ok(text: str) -> Finding:
    return Finding(level=Level.OK, text=text)


def note(text: str, remedy: str) -> Finding:
    return Finding(level=Level.NOTE, text=text, remedy=remedy)


def problem(text: str, remedy: str) -> Finding:
    return Finding(level=Level.PROBLEM, text=text, remedy=f"remedy: {remedy}")
