# SPDX-License-Identifier: GPL-2.0-or-later
"""Types of options and arguments that a shell completes: subjects, plans, cells."""

import math
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, cast

import click
from click.decorators import FC
from click.shell_completion import CompletionItem

from delayrig.base.errors import RigError
from delayrig.base.paths import find_paths
from delayrig.cli.verbosity import note
from delayrig.hazards import KINDS, NONE
from delayrig.model.cell import SEPARATOR, Job, Programmer
from delayrig.model.chips import read_chips
from delayrig.model.corner import BUSY_FORMS
from delayrig.model.lane import LaneName
from delayrig.model.platform import Arch
from delayrig.model.result import FILE_NAME as RESULTS
from delayrig.plan.machines import machine_names
from delayrig.plan.schema import plan_names
from delayrig.subjects.git_tree import PREFIX as GIT_PREFIX
from delayrig.subjects.git_tree import has_build_file, is_known, take_source
from delayrig.subjects.recipes import read_recipes
from delayrig.subjects.subject import PATH_PREFIX, known_subjects

ELF = b"\x7fELF"
FILE_NAMES = "file"
"""The type of completion for which a shell offers file names."""


class Word(click.ParamType[str]):
    """A value that a shell completes from `known`. The command itself checks it."""

    def __init__(
        self, name: str, known: Callable[[], Iterable[str]], *, joined: str = "", file: bool = False
    ) -> None:
        self.name = name
        self._known = known
        self._joined = joined
        """The separator between several values of one word; empty if it takes one value."""
        self._file = file
        """True if a file may be named instead."""

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Returns known words that begin like this, or file names if there are none."""
        del ctx, param
        return _offered(self._known(), incomplete, joined=self._joined, file=self._file)


class SubjectWord(Word):
    """A flashrom by its name, or by the path of a program or of a folder of sources."""

    def __init__(self, *, or_run: bool = False) -> None:
        super().__init__("subject", _subjects, file=True)
        self._or_run = or_run
        """True if a path may also name a run. Then only an existing program is a subject."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        # A known name wins over a file of the same name. The last two subjects are prefixes.
        if not value or value.startswith(PATH_PREFIX) or value in _subjects()[:-2]:
            return value
        if value.startswith(GIT_PREFIX) or self._is_tree(value):
            return self._taken_from_tree(value, param, ctx)
        is_path = "/" in value or Path(value).is_file()
        return _taken(value) if (_is_program(value) if self._or_run else is_path) else value

    def _is_tree(self, value: str) -> bool:
        """Returns True for a folder of sources. If it may be a run, it must have a build file."""
        folder = Path(value)
        if not self._or_run:
            return folder.is_dir()
        return has_build_file(folder) and not (folder / RESULTS).is_file()

    def _taken_from_tree(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Copies the sources, which may change while cells run, and returns the copy's name."""
        paths = find_paths()
        if is_known(value, paths) or (ctx and ctx.resilient_parsing):
            return value
        is_revision = value.startswith(GIT_PREFIX)
        folder = given_tree(ctx) or Path() if is_revision else Path(value)
        try:
            revision = value.removeprefix(GIT_PREFIX) if is_revision else ""
            return take_source(revision, folder, paths).name
        except RigError as error:
            self.fail(f"{error.message}\n  {error.hint}", param, ctx)


class CellWord(click.ParamType[str]):
    """The id of a cell in the run or plan that stands before it on the command line."""

    name = "cell"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Returns ids that begin with the word, or contain it."""
        del param
        try:
            return _offered(_ids(ctx), incomplete, anywhere=True)
        except RigError:  # The plan or the run does not exist yet.
            return []


def _ids(ctx: click.Context) -> list[str]:
    """Returns the ids of cells of the run or plan on the command line, else of the usual plan."""
    from delayrig.decision.choice import USUAL_PLAN, ids_in_run
    from delayrig.plan.request import choose_cells

    run = ctx.params.get("run_folder")
    if run is not None:
        return ids_in_run(Path(run))
    plan = ctx.params.get("plan") or USUAL_PLAN
    choice = choose_cells(plan=plan, paths=find_paths())
    return [cell.id for cell in choice.cells]


def _offered(
    known: Iterable[str],
    incomplete: str,
    *,
    joined: str = "",
    anywhere: bool = False,
    file: bool = False,
) -> list[CompletionItem]:
    """Returns completions of a word, or of its last value if several are joined."""
    at = incomplete.rfind(joined) + 1 if joined else 0
    before, begun = incomplete[:at], incomplete[at:]
    words = [word for word in known if word.startswith(begun)]
    words = words or [word for word in known if anywhere and begun in word]
    if not words and file:
        return [CompletionItem(incomplete, type=FILE_NAMES)]
    return [CompletionItem(before + word) for word in words]


def _subjects() -> list[str]:
    return [*known_subjects(read_recipes(find_paths().checkout)), PATH_PREFIX, GIT_PREFIX]


SUBJECT = SubjectWord()
SUBJECT_OR_RUN = SubjectWord(or_run=True)
PLAN_NAME = Word("plan", plan_names, file=True)
CELL = CellWord()
TREE = "delayrig.tree"
"""The key of `--tree` in the context of a command."""


def given_tree(context: click.Context | None = None) -> Path | None:
    """Returns the folder of `--tree`, or None."""
    context = context or click.get_current_context()
    return cast("Path | None", context.meta.get(TREE))


def add_tree_option(command: click.Command) -> None:
    """Adds `--tree` to a command that takes subjects, or to such commands of a group."""

    def noted(context: click.Context, _: click.Parameter, given: Path | None) -> None:
        context.meta[TREE] = given

    if isinstance(command, click.Group):
        for each in command.commands.values():
            add_tree_option(each)
    elif any(isinstance(each.type, SubjectWord) for each in command.params):
        kind = click.Path(exists=True, file_okay=False, path_type=Path)
        text = f"The git tree of {GIT_PREFIX}REV; default: the one here."
        option = click.Option(["--tree"], type=kind, metavar="DIR", help=text, callback=noted)
        # An eager option is read before subjects, whatever the order.
        option.is_eager, option.expose_value = True, False
        command.params.append(option)


FLAGS = {
    "chip": Word("chip", lambda: read_chips(find_paths().checkout), joined=","),
    "corner": Word("corner", lambda: BUSY_FORMS, joined=","),
    "machine": Word("machine", machine_names, joined=",", file=True),
    "hazard": Word("hazards", lambda: [NONE, *(kind.name for kind in KINDS)], joined=SEPARATOR),
    "job": Word("job", lambda: list(Job), joined=","),
    "programmer": Word("programmer", lambda: list(Programmer), joined=","),
    "arch": Word("arch", lambda: list(Arch), joined=","),
    "lane": Word("lane", lambda: list(LaneName), joined=","),
}
"""The options that describe a cell and whose values are known."""


def plan_option(default: str, about: str = "A plan's name, or a TOML file.") -> Callable[[FC], FC]:
    """Returns the option `--plan` with that default."""
    return click.option("--plan", type=PLAN_NAME, default=default, show_default=True, help=about)


class FloatRange(click.FloatRange):
    """A range of numbers without NaN, which lies in each of click's ranges."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        found = super().convert(value, param, ctx)
        if math.isnan(found):
            self.fail(f"{value!r} is no number", param, ctx)
        return found


AT_LEAST_ONE = click.IntRange(1)


def number_option(
    name: str, default: float, about: str, kind: click.ParamType[Any] = AT_LEAST_ONE
) -> Callable[[FC], FC]:
    """Returns an option that takes a number; its help shows the default."""
    return click.option(name, type=kind, default=default, show_default=True, help=about)


seed_option = number_option("--seed", 1, "Seed of all random data.", click.IntRange(0))


def split_values(words: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the values of an option that is repeated or takes `A,B`: each once, in order."""
    return tuple(dict.fromkeys(one for word in words for one in word.split(",") if one))


def flag_option(name: str, metavar: str, text: str) -> Callable[[FC], FC]:
    """Returns an option that describes cells, such as `--chip`. It is repeated or takes `A,B`."""

    def split(
        _context: click.Context, _option: click.Parameter, given: tuple[str, ...]
    ) -> tuple[str, ...]:
        # Values of hazards contain commas themselves.
        return given if name == "hazard" else split_values(given)

    return click.option(
        f"--{name}",
        type=FLAGS.get(name, str),
        multiple=True,
        metavar=metavar,
        callback=split,
        help=text,
    )


def _is_program(word: str) -> bool:
    try:
        with Path(word).open("rb") as file:
            return file.read(len(ELF)) == ELF
    except OSError:
        return False


@cache
def _taken(word: str) -> str:
    note(f"note: {word} is taken as {PATH_PREFIX}{word}")
    return f"{PATH_PREFIX}{word}"
