# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line of `rig/rig`: its options, completion, version, and a first start."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import click
import msgspec
import pytest
from click.testing import CliRunner
from delayrig import __version__
from delayrig.base.errors import BadInputError, ExitCode, RigFaultError
from delayrig.cli.command import explained
from delayrig.cli.verbosity import Verbosity, add_verbosity, answers, note, print_json, verbosity
from delayrig.features.selfcheck.benchmark import stages_of
from delayrig.main import COMMANDS
from delayrig.model.result import CellResult, write_results
from delayrig.present.console import RunProgress
from rich.console import Console

from tests.rig.builders import CHECKOUT, make_cell, make_result, run_of
from tests.rig.running import answer_of, install_script, refusal_of, rig, run


def exit_code_of(error: Exception) -> int | str | None:
    """Returns the exit code of a command that raises the error."""

    @explained
    def command() -> None:
        raise error

    with pytest.raises(SystemExit) as caught:
        command()
    return caught.value.code


@pytest.mark.parametrize("error", [ZeroDivisionError(), OSError("disk full"), KeyError("x")])
def test_unexpected_error_is_a_rig_fault(error: Exception) -> None:
    assert exit_code_of(error) == ExitCode.RIG_FAULT
    assert exit_code_of(ExceptionGroup("of tasks", [error])) == ExitCode.RIG_FAULT


def test_known_error_has_its_exit_code_even_in_a_group() -> None:
    bad = BadInputError("no such chip", hint="`rig/rig chips` lists them")
    assert exit_code_of(bad) == ExitCode.BAD_INPUT
    assert exit_code_of(ExceptionGroup("of tasks", [bad])) == ExitCode.BAD_INPUT
    assert exit_code_of(RigFaultError("lost", hint="again")) == ExitCode.RIG_FAULT


def test_bad_usage_is_left_to_click() -> None:
    @explained
    def command() -> None:
        raise click.UsageError("no such option")

    with pytest.raises(click.UsageError):
        command()


def test_broken_pipe_exits_with_141_and_prints_nothing() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "delayrig", "chips"],
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def test_dry_run_of_a_gate_lists_the_cells_of_both_sides_and_creates_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["--baseline", "debian:trixie", "--candidate", "bundled", "--build", "exit 1"]
    lines = answer_of("gate", *words, "--dry-run").splitlines()
    assert {line.split()[0] for line in lines} == {"baseline", "candidate"}
    assert not list(tmp_path.iterdir())


NO_ANSWER = {
    # These write a document in another format.
    *("export", "schema", "report", "bug-report", "trace"),
    *("history add", "history forget", "history export"),  # these change a history
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


def options_of(command: click.Command) -> set[str]:
    return {
        option
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for option in parameter.opts
    }


@pytest.mark.parametrize(("name", "command"), [*commands()])
def test_every_command_has_quiet_and_verbose_and_json_if_it_answers(
    name: str, command: click.Command
) -> None:
    options = options_of(command)
    assert {"-q", "--quiet", "-v", "--verbose"} <= options
    assert ("--json" in options) is (name not in NO_ANSWER)


@pytest.mark.parametrize("name", ["plans", "chips", "hazards", "machines", "subjects"])
def test_list_as_json_prints_one_document(name: str) -> None:
    done = rig(name, "--json")
    assert done.exit_code == ExitCode.PASS, done.output
    document = json.loads(done.stdout)
    plain = answer_of(name).splitlines()
    assert isinstance(document, list)
    assert len(document) >= len([line for line in plain if "NAME (" not in line]) - 1
    assert done.stderr == ""


def test_parts_of_a_run_are_listed_as_json(tmp_path: Path) -> None:
    write_results(run_of(make_result()), tmp_path)
    assert json.loads(answer_of("parts", tmp_path, "--json"))[0]["chip"] == make_result().chip


def test_cells_of_a_dry_run_are_listed_as_json() -> None:
    cells = json.loads(answer_of("try", "bundled", "--mips", "62,250", "--dry-run", "--json"))
    assert [cell.split(".")[2] for cell in cells] == ["62mips", "250mips"]


def outputs_of(*words: str) -> tuple[str, str]:
    """Runs a command that prints a note, an answer and its verbosity; returns both outputs."""

    @click.command()
    @answers
    def command() -> None:
        note("a note")
        print_json({"answer": 42})
        click.echo(f"the answer, {verbosity().name}")

    add_verbosity(command)
    done = CliRunner().invoke(command, list(words))
    assert done.exit_code == 0, done.output
    return done.stdout, done.stderr


def test_pattern_that_matches_no_cell_is_named_and_the_others_are_used() -> None:
    done = rig("run", "--plan", "smoke", "--dry-run", "--cell", "canary*", "--cell", "canari*")
    assert done.exit_code == ExitCode.PASS
    assert done.stderr.count("warning: ") == 1
    assert "warning: no cell of smoke matches --cell canari*" in done.stderr
    assert all(line.startswith("canary") for line in done.stdout.splitlines())


def test_quiet_command_prints_only_its_answer() -> None:
    assert outputs_of() == ("the answer, USUAL\n", "a note\n")
    assert outputs_of("-q") == ("the answer, QUIET\n", "")
    assert outputs_of("-v") == ("the answer, VERBOSE\n", "a note\n")


def test_json_replaces_the_answer_and_not_the_notes() -> None:
    output, errors = outputs_of("--json")
    assert json.loads(output) == {"answer": 42}
    assert errors == "a note\n"
    assert outputs_of("--json", "-q")[1] == ""


def test_verbosity_outside_commands_is_the_usual_one() -> None:
    assert verbosity() is Verbosity.USUAL


def test_error_is_printed_if_quiet_and_with_a_traceback_if_verbose() -> None:
    quiet = refusal_of("try", "bundled", "--mips", 3, "-q")
    assert quiet.startswith("error: --mips is 3")
    assert "Traceback" not in quiet
    assert "Traceback" in refusal_of("try", "bundled", "--mips", 3, "-v")


@pytest.mark.parametrize("lines", [False, True])
def test_terminal_shows_a_line_for_each_cell_if_requested(lines: bool) -> None:
    console = Console(file=StringIO(), force_terminal=True, width=200)
    result: CellResult = make_result()
    with RunProgress(console, lines=lines) as progress:
        progress.started(1)
        progress.finished(result)
    assert isinstance(console.file, StringIO)
    assert (result.id in console.file.getvalue()) is lines


DEMONSTRATION = (
    "demonstration.debian-bookworm.62mips.4c.low-res-timers+busy-siblings.W25Q128JV-typ.write"
)


def completions_of(line: str, shell: str = "bash") -> list[str]:
    """Returns the completions of the line's last word."""
    words = line.split(" ")
    number = words[-1] if shell == "fish" else str(len(words) - 1)
    variables = {"_RIG_COMPLETE": f"{shell}_complete", "COMP_WORDS": line, "COMP_CWORD": number}
    done = run(sys.executable, "-m", "delayrig", env={**os.environ, **variables})
    assert done.returncode == 0, done.stderr
    if shell == "zsh":  # an item has three lines: type, word, help
        return done.stdout.splitlines()[1::3]
    items = [item.partition("\t")[0] for item in done.stdout.splitlines() if item]
    return [item.partition(",")[2] for item in items]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("rig/rig tr", {"trace", "try"}),
        ("rig/rig run --plan sm", {"smoke"}),
        ("rig/rig run --subject debian:t", {"debian:trixie"}),
        ("rig/rig gate --candidate bun", {"bundled"}),
        ("rig/rig try bundled --chip W25Q128", {"W25Q128FV", "W25Q128JV", "W25Q128JW"}),
        ("rig/rig try bundled --chip M25P80,W25Q128JV", {"M25P80,W25Q128JV"}),
        ("rig/rig try bundled --hazard low", {"low-res-timers"}),
        ("rig/rig try bundled --hazard low-res-timers+busy", {"low-res-timers+busy-siblings"}),
        ("rig/rig repro --plan smoke demonstration.debian-b", {DEMONSTRATION}),
        ("rig/rig run --plan smoke --cell tty.debian-t", {"tty.debian-trixie.250mips.1c.calm."}),
    ],
)
def test_word_is_completed_with_the_names_that_match(
    shell: str, line: str, words: set[str]
) -> None:
    found = completions_of(line, shell)
    assert len(found) == len(words)
    assert all(word.startswith(tuple(words)) for word in found)


def test_part_of_an_id_is_completed_to_the_whole_id() -> None:
    assert DEMONSTRATION in completions_of("rig/rig repro --plan smoke bookworm.62mips")


def test_cells_of_a_run_are_completed_from_its_results(tmp_path: Path) -> None:
    cells = [make_cell(name="one"), make_cell(name="two")]
    results = [make_result(cell) for cell in cells]
    write_results(run_of(*results), tmp_path)
    assert completions_of(f"rig/rig repro --from {tmp_path} tw") == [cells[1].id]
    assert completions_of(f"rig/rig repro --from {tmp_path}/nowhere tw") == []


def test_cells_of_a_gate_are_completed_from_both_sides(tmp_path: Path) -> None:
    for side in ("baseline", "candidate"):
        (tmp_path / side).mkdir()
        cell = msgspec.structs.replace(make_cell(), side=side)
        results = run_of(make_result(cell))
        write_results(results, tmp_path / side)
    (tmp_path / "gate.json").write_text("{}")
    found = completions_of(f"rig/rig repro --from {tmp_path} group")
    assert [cell.split(".")[1] for cell in found] == ["candidate", "baseline"]


def test_word_that_matches_no_name_is_offered_as_a_path() -> None:
    assert completions_of("rig/rig run --subject ./build/fla") == ["./build/fla"]


def script(shell: str) -> str:
    return answer_of("completion", shell)


@pytest.mark.parametrize(
    ("line", "replies"),
    [
        ("rig/rig try bundled --chip W25Q128JV", ["W25Q128JV"]),
        # For readline, the word begins after the colon.
        ("rig/rig run --subject debian:t", ["trixie"]),
        ("rig/rig run --subject debian:", ["bookworm", "trixie", "bullseye", "sid"]),
        ("rig/rig completion ", ["bash", "zsh", "fish"]),
    ],
)
def test_script_for_bash_completes_the_launcher_by_its_path(
    tmp_path: Path, line: str, replies: list[str]
) -> None:
    launcher = f'#!/bin/sh\nexec {sys.executable} -m delayrig "$@"\n'
    install_script(tmp_path / "rig" / "rig", launcher)
    call = (
        'COMP_LINE=$1 COMP_POINT=${#1}; _rig_completion rig/rig; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = run("bash", "-c", f"{script('bash')}\n{call}", "bash", line, cwd=tmp_path)
    assert done.stdout.split() == replies, done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script_runs_the_launcher_as_typed_and_is_valid_in_its_shell(shell: str) -> None:
    text = script(shell)
    assert f"_RIG_COMPLETE={shell}_complete" in text
    assert f"_RIG_COMPLETE={shell}_complete rig" not in text
    assert "$+commands" not in text
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"no {shell} on this machine")
    done = run(program, "-n", "-c", text)
    assert done.returncode == 0, done.stderr


FILE = "rig/delayrig/VERSION"


def test_version_is_three_numbers_in_one_line() -> None:
    text = (CHECKOUT / FILE).read_text(encoding="ascii")
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", text)
    assert text.strip() == __version__


def test_builds_take_the_version_from_its_file() -> None:
    meson = (CHECKOUT / "meson.build").read_text(encoding="utf-8")
    project = tomllib.loads((CHECKOUT / "rig" / "pyproject.toml").read_text(encoding="utf-8"))
    assert f"version: files('{FILE}')" in meson
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"file": ["delayrig/VERSION"]}


def test_change_log_begins_with_this_version() -> None:
    changes = (CHECKOUT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"(?m)^## (\S+),", changes)
    assert newest is not None
    assert newest[1] == __version__


OUTPUT = [
    (1.0, "set-up: Python environment"),
    (11.0, "  Python environment: ready in 10 s"),
    (11.5, "set-up: native programs"),
    (20.0, "  built in 8.5 s"),
    (20.5, "set-up: done in 19 s: Python environment and native programs"),
    (21.0, "making kernel of bookworm"),
    (22.0, "making flashrom of trixie"),
    (30.0, "making snapshot of x86_64-250mips-1c"),
    (38.0, "[1/15] pass write.bundled.250mips.1c.calm.GD25Q16C-typ.write (1.0 s)"),
    (39.0, "[2/15] pass demonstration"),
]


def test_stages_of_a_first_start_are_those_of_its_output_before_the_first_verdict() -> None:
    found = [(stage.name, stage.took_s) for stage in stages_of(OUTPUT, 0.5)]
    assert found == [
        ("launcher", 0.5),
        ("Python environment", 10.5),
        ("native programs", 9.0),
        ("handing over", 0.5),
        ("images", 9.0),
        ("snapshots", 8.0),
    ]


def test_start_without_a_verdict_is_a_rig_fault() -> None:
    with pytest.raises(RigFaultError, match="set-up: native programs"):
        list(stages_of(OUTPUT[:3], 0.0))
