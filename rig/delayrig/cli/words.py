# SPDX-License-Identifier: GPL-2.0-or-later
"""What options and arguments name, as types: a subject, or several values in one word."""

from functools import cache
from pathlib import Path

import click

from delayrig.base.paths import find_paths
from delayrig.images.recipes import read_recipes
from delayrig.images.subject import PATH_PREFIX, known_subjects

ELF = b"\x7fELF"


class SubjectWord(click.ParamType[str]):
    """A flashrom by its name; the path of a program is taken as `path:PROGRAM`."""

    name = "subject"

    def __init__(self, *, or_run: bool = False) -> None:
        self._or_run = or_run
        """Whether a path may be that of a run as well: then a program must be there to be seen."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The subject's whole name."""
        del param, ctx
        if _is_named(value) or not (_is_program(value) if self._or_run else _is_path(value)):
            return value
        return _taken(value)


SUBJECT = SubjectWord()
SUBJECT_OR_RUN = SubjectWord(or_run=True)


def split_values(words: tuple[str, ...]) -> tuple[str, ...]:
    """Of an option that may be repeated, and takes `A,B`: each value once, in order."""
    return tuple(dict.fromkeys(one for word in words for one in word.split(",") if one))


def _is_named(word: str) -> bool:
    """Whether it has a subject's form; a name comes before a file that is called so."""
    return word.startswith(PATH_PREFIX) or word in known_subjects(
        read_recipes(find_paths().checkout)
    )


def _is_path(word: str) -> bool:
    return "/" in word or Path(word).is_file()


def _is_program(word: str) -> bool:
    try:
        with Path(word).open("rb") as file:
            return file.read(len(ELF)) == ELF
    except OSError:
        return False


@cache
def _taken(word: str) -> str:
    click.echo(f"note: {word} is taken as {PATH_PREFIX}{word}", err=True)
    return f"{PATH_PREFIX}{word}"
