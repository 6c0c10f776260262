# SPDX-License-Identifier: GPL-2.0-or-later
"""A bisection marks a revision as bad only if the gate convicts it."""

import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner
from delayrig.base.errors import BadInputError, BuildError, ExitCode, RigFaultError
from delayrig.decision.request import bisect_code, build_candidate, check_built
from delayrig.features.gate import command as command
from delayrig.main import main


@pytest.mark.parametrize(
    ("code", "bisected"),
    [
        (ExitCode.PASS, 0),
        (ExitCode.UNSAFE, 1),
        (ExitCode.SLOWER, 1),
        (ExitCode.INCONCLUSIVE, 125),
        (ExitCode.SKIPPED, 125),
        (ExitCode.RIG_FAULT, 125),
        (ExitCode.BAD_INPUT, 128),
    ],
)
def test_every_exit_code_has_its_meaning_for_git(code: ExitCode, bisected: int) -> None:
    assert bisect_code(code) == bisected
    assert bisect_code(code, untestable=True) == 125


def ended(monkeypatch: pytest.MonkeyPatch, outcome: ExitCode | Exception, *more: str) -> int:
    """Returns the exit code of a gate whose work has that outcome."""

    def worked(*_: object, **__: object) -> ExitCode:
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    monkeypatch.setattr(command, "_gate", worked)
    arguments = ["gate", "--baseline", "bundled", "--candidate", "path:x", *more]
    return CliRunner().invoke(main, arguments).exit_code


@pytest.mark.parametrize(
    ("outcome", "plain", "bisected"),
    [
        (ExitCode.SLOWER, 3, 1),
        (ExitCode.INCONCLUSIVE, 4, 125),
        (BuildError("no"), 2, 125),
        (BadInputError("no such plan"), 2, 128),
        (RigFaultError("lost"), 99, 125),
        (ZeroDivisionError(), 99, 125),
    ],
)
def test_gate_ends_with_codes_for_people_or_for_git(
    monkeypatch: pytest.MonkeyPatch, outcome: ExitCode | Exception, plain: int, bisected: int
) -> None:
    assert ended(monkeypatch, outcome) == plain
    assert ended(monkeypatch, outcome, "--bisect") == bisected


def test_wrong_option_ends_a_bisection_and_convicts_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for wrong in (["--max-slowdown", "much"], ["--nonesuch"], ["--rounds", "0"]):
        assert ended(monkeypatch, ExitCode.PASS, *wrong) == 2
        assert ended(monkeypatch, ExitCode.PASS, "--bisect", *wrong) == 128


def test_build_that_fails_cannot_be_tested(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="ended with 3"):
        build_candidate("exit 3")
    with pytest.raises(BuildError, match="left no file"):
        check_built(f"path:{tmp_path}/flashrom")
    build_candidate(f"touch {tmp_path}/flashrom")
    check_built(f"path:{tmp_path}/flashrom")
    check_built("bundled")


SCRIPT = """#!/bin/sh
case $(cat delay) in
98) code={bad} ;;
broken) code=125 ;;
*) code=0 ;;
esac
exit $code
"""


def test_git_finds_the_revision_by_these_codes(tmp_path: Path) -> None:
    """Here git itself reads the exit codes; tests/guest bisects with real gates."""

    def git(*words: str) -> str:
        who = ["-c", "user.name=t", "-c", "user.email=t@t.invalid"]
        done = subprocess.run(
            ["git", *who, *words], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return done.stdout

    git("init", "-q")
    for number, delay in enumerate(["100", "100", "broken", "100", "98", "98", "98"]):
        (tmp_path / "delay").write_text(f"{delay}\n")
        (tmp_path / "number").write_text(f"{number}\n")
        git("add", "-A")
        git("commit", "-qm", f"revision {number}")
    script = tmp_path / ".git" / "gate.sh"
    script.write_text(SCRIPT.format(bad=bisect_code(ExitCode.SLOWER)))
    git("bisect", "start", "HEAD", "HEAD~6")
    said = git("bisect", "run", "sh", str(script))
    assert "is the first" in said
    assert "revision 4" in said
