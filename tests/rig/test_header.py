# SPDX-License-Identifier: GPL-2.0-or-later
"""Facts that a run records about itself. A program that could not answer has no empty answer."""

from pathlib import Path

import pytest
from delayrig.base.errors import RigFaultError
from delayrig.base.paths import Paths
from delayrig.lanes import header
from delayrig.lanes.header import commit_of


def git_that(does: str, folder: Path, patch: pytest.MonkeyPatch) -> Paths:
    """Returns a checkout whose git is a script."""
    (folder / "git").write_text(f"#!/bin/sh\n{does}\n", encoding="ascii")
    (folder / "git").chmod(0o755)
    patch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return Paths(checkout=folder, state=folder / "state")


def test_program_that_fails_has_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert commit_of(git_that("echo none; exit 128", tmp_path, monkeypatch)) == ""
    assert commit_of(git_that("echo abc", tmp_path, monkeypatch)) == "abc"


@pytest.mark.parametrize(
    ("does", "limit_s", "said"),
    [
        ("kill -KILL $$", 20, "was ended by SIGKILL"),
        ("kill -TERM $$", 20, "was ended by SIGTERM"),
        ("sleep 60", 0.2, "said nothing within"),
    ],
)
def test_program_that_could_not_answer_is_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str, limit_s: float, said: str
) -> None:
    monkeypatch.setattr(header, "ANSWER_S", limit_s)
    with pytest.raises(RigFaultError, match=said) as caught:
        commit_of(git_that(f"exec /bin/sh -c '{does}'", tmp_path, monkeypatch))
    assert caught.value.hint
