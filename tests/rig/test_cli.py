# SPDX-License-Identifier: GPL-2.0-or-later
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from delayrig.base.errors import BadInputError, ExitCode, RigFaultError
from delayrig.cli.command import explained
from delayrig.main import main


def exit_code_of(error: Exception) -> int | str | None:
    """Returns the exit code of a command that raises the error."""

    @explained
    def command() -> None:
        raise error

    with pytest.raises(SystemExit) as caught:
        command()
    return caught.value.code


@pytest.mark.parametrize("error", [ZeroDivisionError(), OSError("disk full"), KeyError("x")])
def test_error_that_nobody_foresaw_is_a_fault_of_the_rig_and_convicts_nobody(
    error: Exception,
) -> None:
    assert exit_code_of(error) == ExitCode.RIG_FAULT
    assert exit_code_of(ExceptionGroup("of tasks", [error])) == ExitCode.RIG_FAULT


def test_error_of_the_rig_has_its_own_code_also_in_a_group() -> None:
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


def test_list_that_nobody_reads_to_its_end_is_quiet_and_claims_nothing() -> None:
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


def test_dry_run_of_a_gate_lists_the_cells_of_both_and_makes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["--baseline", "debian:trixie", "--candidate", "bundled", "--build", "exit 1"]
    done = CliRunner().invoke(main, ["gate", *words, "--dry-run"])
    sides = {line.split()[0] for line in done.stdout.splitlines()}
    assert (done.exit_code, sides) == (0, {"baseline", "candidate"})
    assert not list(tmp_path.iterdir())
