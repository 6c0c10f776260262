# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks of the doctor, with and without guests, and the answer of `doctor --security`."""

import io
import json
import os
from pathlib import Path

import pytest
from delayrig.base.paths import find_paths
from delayrig.setup import security
from delayrig.setup.arguments import OWN_COMMANDS, read_request
from delayrig.setup.console import Console, Context, Finding, Level
from delayrig.setup.doctor import QEMU_VERSION_MIN, checks_for, examine
from delayrig.setup.errors import UsageError
from delayrig.setup.layout import Layout, find_layout
from delayrig.setup.packages import read_packages
from delayrig.setup.stamp import GUEST_STEPS, HOST_STEPS

from tests.rig.builders import CHECKOUT
from tests.rig.launching import context_of


def test_machine_without_guests_is_not_asked_for_what_runs_them(tmp_path: Path) -> None:
    with_guests, without = (
        set(checks_for(context_of(tmp_path, steps=steps))) for steps in (GUEST_STEPS, HOST_STEPS)
    )
    assert with_guests - without == {"QEMU", "libvirt", "archive", "images", "KVM"}


def test_qemus_that_fit_are_the_same_for_doctor_packages_and_plugins() -> None:
    plugins = (CHECKOUT / "emulators/cpu_plugin/qemu_plugin_api.h").read_text(encoding="utf-8")
    listed = read_packages(find_layout({}).setup / "packages.toml")
    assert f"QEMU {QEMU_VERSION_MIN} to" in plugins
    assert {each.version_min for each in listed} == {"", QEMU_VERSION_MIN}


def test_doctor_takes_the_lane_that_it_is_asked_about() -> None:
    assert not read_request(["doctor", "--lane", "host"]).needs_guests
    assert read_request(["doctor"]).needs_guests
    with pytest.raises(UsageError):
        read_request(["doctor", "--lane", "virtual"])


def test_doctor_answers_as_one_document_where_it_is_asked_to(tmp_path: Path) -> None:
    said = io.StringIO()
    as_json = read_request(["doctor", "--json"]).as_json
    context = context_of(tmp_path, said, steps=HOST_STEPS, as_json=as_json)
    code = examine(context)
    found = json.loads(said.getvalue())
    assert [each["check"] for each in found] == list(checks_for(context))
    assert (code != 0) is any(each["level"] == "problem" for each in found)
    assert all(each["remedy"] for each in found if each["level"] == "problem")


@pytest.mark.parametrize("command", OWN_COMMANDS)
def test_own_commands_are_quiet_and_verbose_as_all_others(command: str) -> None:
    assert read_request([command, "-q"]).quiet
    assert read_request([command, "--quiet"]).quiet
    assert read_request([command, "--verbose"]).verbose
    assert not read_request([command]).quiet


def test_set_up_that_is_quiet_says_errors_alone() -> None:
    said = io.StringIO()
    console = Console(output=said, input=io.StringIO(), quiet=True)
    console.begin("images")
    console.say("built in 3 s")
    console.warn("an old one")
    assert said.getvalue() == ""
    console.write("rig/rig: interrupted")
    assert said.getvalue() == "rig/rig: interrupted\n"


def of_security(said: io.StringIO) -> Context:
    """Returns the context of `doctor --security --json` on this machine."""
    layout = Layout(checkout=CHECKOUT, state=find_paths().state)
    asked = read_request(["doctor", "--security"]).security
    return context_of(CHECKOUT, said, layout=layout, security=asked, as_json=True)


def found_by(name: str) -> Finding:
    return security.CHECKS[name](of_security(io.StringIO()))


def test_every_boundary_of_this_machine_is_named_with_its_state() -> None:
    said = io.StringIO()
    code = examine(of_security(said))
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
