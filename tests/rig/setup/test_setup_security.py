# SPDX-License-Identifier: GPL-2.0-or-later
"""The output of `doctor --security` for this machine, and for one that confines nothing."""

import io
import json
import os
from pathlib import Path

import pytest
from delayrig.base.paths import find_paths
from delayrig.setup import security
from delayrig.setup.arguments import read_request
from delayrig.setup.console import Console, Context, Finding, Level
from delayrig.setup.doctor import examine
from delayrig.setup.layout import Layout

from tests.rig.builders import CHECKOUT


def context_of(said: io.StringIO) -> Context:
    return Context(
        layout=Layout(checkout=CHECKOUT, state=find_paths().state),
        console=Console(output=said, input=io.StringIO()),
        security=read_request(["doctor", "--security"]).security,
        as_json=True,
    )


def found_by(name: str) -> Finding:
    return security.CHECKS[name](context_of(io.StringIO()))


def test_every_boundary_of_this_machine_is_named_with_its_state() -> None:
    said = io.StringIO()
    code = examine(context_of(said))
    found = {each["check"]: each for each in json.loads(said.getvalue())}
    assert list(found) == list(security.CHECKS)
    assert (code != 0) is any(each["level"] == "problem" for each in found.values())
    assert found["host lane"]["level"] == "ok", found["host lane"]["text"]
    assert found["QEMU's sandbox"]["text"].startswith("on,")
    assert found["user"]["level"] == ("note" if os.geteuid() == 0 else "ok")


def test_machine_without_bubblewrap_has_a_problem_with_two_remedies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = found_by("host lane")
    assert found.level is Level.PROBLEM
    assert "bubblewrap is not installed" in found.text
    assert "install bubblewrap" in found.remedy
    assert "--unconfined" in found.remedy


def test_sandbox_that_qemu_does_not_take_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / security.QEMU
    old.write_text("#!/bin/sh\necho 'There is no option group sandbox' >&2\nexit 1\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert "no option group" in found_by("QEMU's sandbox").text


def test_kernel_that_gives_no_network_leaves_guests_the_loopback_interface(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(security, "NETWORK_PROBE", "print('unshare(2): not permitted')")
    found = found_by("live guests' network")
    assert found.level is Level.NOTE
    assert "loopback interface of this machine: unshare(2): not permitted" in found.text
