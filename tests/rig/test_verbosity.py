# SPDX-License-Identifier: GPL-2.0-or-later
"""`-q`, `-v` and `--json`: every command has them, with one meaning."""

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from delayrig.base.errors import ExitCode
from delayrig.cli.verbosity import Verbosity, add_verbosity, answers, note, tell_json, verbosity
from delayrig.main import COMMANDS, main
from delayrig.model.result import CellResult, Results, write_results
from delayrig.present.console import RunProgress
from rich.console import Console

from tests.rig.builders import make_result, make_run_header

NO_ANSWER = {
    *(
        "export",
        "schema",
        "report",
        "bug-report",
        "trace",
    ),  # these write a document, with a format of its own
    *("history add", "history forget", "history export"),  # these act
    *("images", "completion", "reference", "measure", "benchmark start"),
    *("scheduler", "worker"),  # these serve until they are ended
}


def commands(
    group: tuple[click.Command, ...] = COMMANDS, before: str = ""
) -> Iterator[tuple[str, click.Command]]:
    """Yields each command without subcommands, by its words."""
    for command in group:
        name = f"{before}{command.name}"
        if isinstance(command, click.Group):
            yield from commands(tuple(command.commands.values()), f"{name} ")
        else:
            yield name, command


def options_of(command: click.Command) -> dict[str, str]:
    return {
        option: parameter.help or ""
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for option in parameter.opts
    }


@pytest.mark.parametrize(("name", "command"), [*commands()])
def test_every_command_has_quiet_and_verbose_in_the_same_words(
    name: str, command: click.Command
) -> None:
    options = options_of(command)
    assert options["-q"] == options["--quiet"] == "Says the answer and errors, and nothing else.", (
        name
    )
    assert options["-v"] == options["--verbose"]


@pytest.mark.parametrize(("name", "command"), [*commands()])
def test_every_command_that_lists_or_answers_does_so_as_json(
    name: str, command: click.Command
) -> None:
    assert ("--json" in options_of(command)) is (name not in NO_ANSWER)


@pytest.mark.parametrize("name", ["plans", "chips", "hazards", "machines", "subjects"])
def test_list_as_json_is_one_document_and_nothing_else(name: str) -> None:
    done = CliRunner().invoke(main, [name, "--json"])
    assert done.exit_code == ExitCode.PASS, done.output
    document = json.loads(done.stdout)
    plain = CliRunner().invoke(main, [name]).stdout.splitlines()
    assert isinstance(document, list)
    assert len(document) >= len([line for line in plain if "NAME (" not in line]) - 1
    assert done.stderr == ""


def test_run_of_the_past_is_told_as_json(tmp_path: Path) -> None:
    write_results(Results(run=make_run_header(), cells=[make_result()]), tmp_path)
    done = CliRunner().invoke(main, ["parts", str(tmp_path), "--json"])
    assert json.loads(done.stdout)[0]["chip"] == make_result().chip


def test_cells_that_would_run_are_told_as_json() -> None:
    done = CliRunner().invoke(main, ["try", "bundled", "--mips", "62,250", "--dry-run", "--json"])
    assert [one.split(".")[2] for one in json.loads(done.stdout)] == ["62mips", "250mips"]


def said_by(*words: str) -> tuple[str, str]:
    """Runs a command that prints a note, an answer and its verbosity; returns both outputs."""

    @click.command()
    @answers
    def command() -> None:
        note("a note")
        tell_json({"answer": 42})
        click.echo(f"the answer, {verbosity().name}")

    add_verbosity(command)
    done = CliRunner().invoke(command, list(words))
    assert done.exit_code == 0, done.output
    return done.stdout, done.stderr


def test_quiet_leaves_the_answer() -> None:
    assert said_by() == ("the answer, USUAL\n", "a note\n")
    assert said_by("-q") == ("the answer, QUIET\n", "")
    assert said_by("-v") == ("the answer, VERBOSE\n", "a note\n")


def test_json_is_the_answer_and_leaves_notes_alone() -> None:
    said, noted = said_by("--json")
    assert json.loads(said) == {"answer": 42}
    assert noted == "a note\n"
    assert said_by("--json", "-q")[1] == ""


def test_verbosity_of_no_command_is_the_usual_one() -> None:
    assert verbosity() is Verbosity.USUAL


def test_error_of_a_quiet_command_is_told_and_of_a_verbose_one_with_its_place() -> None:
    quiet = CliRunner().invoke(main, ["try", "bundled", "--mips", "3", "-q"])
    verbose = CliRunner().invoke(main, ["try", "bundled", "--mips", "3", "-v"])
    assert quiet.stderr.startswith("error: --mips is 3")
    assert "Traceback" not in quiet.stderr
    assert "Traceback" in verbose.stderr


@pytest.mark.parametrize("lines", [False, True])
def test_terminal_gets_a_line_for_each_cell_where_it_is_wanted(lines: bool) -> None:
    console = Console(file=StringIO(), force_terminal=True, width=200)
    result: CellResult = make_result()
    with RunProgress(console, lines=lines) as progress:
        progress.started(1)
        progress.finished(result)
    assert isinstance(console.file, StringIO)
    assert (result.id in console.file.getvalue()) is lines
