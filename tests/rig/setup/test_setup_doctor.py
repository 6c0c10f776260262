# SPDX-License-Identifier: GPL-2.0-or-later
"""The checks of `rig/rig doctor`, with and without guests, and of `doctor --security`."""

import io
import json
import os
from pathlib import Path
from unittest.mock import Mock

import pytest
from delayrig.base.paths import find_paths
from delayrig.setup import doctor, environment, security
from delayrig.setup.arguments import OWN_COMMANDS, QUIET_OPTIONS, VERBOSE_OPTIONS, read_request
from delayrig.setup.console import Console, Context, Finding, Level
from delayrig.setup.distribution import QEMU_VERSION_MIN
from delayrig.setup.doctor import checks_for, examine
from delayrig.setup.errors import UsageError
from delayrig.setup.layout import Layout, find_layout
from delayrig.setup.packages import read_packages
from delayrig.setup.security import QEMU
from delayrig.setup.stamp import GUEST_STEPS, HOST_STEPS

from tests.rig.builders import CHECKOUT
from tests.rig.launching import context_of
from tests.rig.running import install_script, run, write_script


def test_checks_of_guests_are_left_out_if_only_the_host_lane_is_needed(tmp_path: Path) -> None:
    with_guests, without = (
        set(checks_for(context_of(tmp_path, steps=steps))) for steps in (GUEST_STEPS, HOST_STEPS)
    )
    assert with_guests - without == {"QEMU", "libvirt", "archive", "images", "KVM"}


def test_oldest_qemu_is_the_same_for_doctor_packages_and_plugins() -> None:
    plugins = (CHECKOUT / "emulators/cpu_plugin/qemu_plugin_api.h").read_text(encoding="utf-8")
    listed = read_packages(find_layout({}).setup / "packages.toml")
    assert f"QEMU {QEMU_VERSION_MIN} to" in plugins
    assert {package.version_min for package in listed} == {"", QEMU_VERSION_MIN}


def test_doctor_accepts_the_lane_host_and_no_other() -> None:
    assert not read_request(["doctor", "--lane", "host"]).needs_guests
    assert read_request(["doctor"]).needs_guests
    with pytest.raises(UsageError):
        read_request(["doctor", "--lane", "virtual"])


@pytest.mark.parametrize(
    ("version", "level"),
    [
        *(("9.1.2", Level.PROBLEM), ("9.2.0", Level.OK)),
        *(("10.0.2", Level.OK), ("10.2.0", Level.PROBLEM)),
    ],
)
def test_doctor_without_dpkg_compares_versions_of_qemu_and_names_no_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, level: Level
) -> None:
    write_script(tmp_path / QEMU, f"echo QEMU emulator version {version}")
    monkeypatch.setenv("PATH", str(tmp_path))
    context = context_of(CHECKOUT)
    found = {name: checks_for(context)[name](context) for name in ("QEMU", "packages")}
    assert found["QEMU"].level is level
    assert found["packages"].level is Level.NOTE


def test_doctor_prints_one_json_document(tmp_path: Path) -> None:
    output = io.StringIO()
    as_json = read_request(["doctor", "--json"]).has("--json")
    context = context_of(tmp_path, output, steps=HOST_STEPS, as_json=as_json)
    code = examine(context)
    found = json.loads(output.getvalue())
    problems = [finding for finding in found if finding["level"] == "problem"]
    assert [finding["check"] for finding in found] == list(checks_for(context))
    assert (code != 0) is bool(problems)
    assert all(finding["remedy"] for finding in problems)


@pytest.mark.parametrize("command", OWN_COMMANDS)
def test_commands_of_the_launcher_can_be_quiet_or_verbose(command: str) -> None:
    for option in (*QUIET_OPTIONS, *VERBOSE_OPTIONS):
        assert read_request([command, option]).has(option)


def test_moved_environment_is_named_by_doctor_and_made_again_by_setup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = Mock()
    monkeypatch.setattr(environment, "_make", make)
    monkeypatch.setattr(environment, "_fill", Mock())
    for each in (environment, doctor):
        monkeypatch.setattr(each, "succeeds", Mock(return_value=True))
    here, there = (context_of(tmp_path / name, again=True) for name in ("here", "there"))
    venv = here.layout.venv
    assert run(environment.SYSTEM_PYTHON, "-m", "venv", "--without-pip", venv).returncode == 0
    environment.ensure_environment(here)
    make.assert_not_called()
    (tmp_path / "here").rename(tmp_path / "there")
    found = checks_for(there)["Python environment"](there)
    assert found.level is Level.PROBLEM
    assert f"not made at {there.layout.venv}" in found.text
    environment.ensure_environment(there)
    make.assert_called_once_with(there)


def test_quiet_console_prints_only_errors() -> None:
    output = io.StringIO()
    console = Console(output=output, input=io.StringIO(), quiet=True)
    console.begin("images")
    console.say("built in 3 s")
    console.warn("an old one")
    assert output.getvalue() == ""
    console.write("rig/rig: interrupted")
    assert output.getvalue() == "rig/rig: interrupted\n"


def security_context(output: io.StringIO) -> Context:
    """Returns the context of `doctor --security --json` on this machine."""
    layout = Layout(checkout=CHECKOUT, state=find_paths().state)
    security = read_request(["doctor", "--security"]).has("--security")
    return context_of(CHECKOUT, output, layout=layout, security=security, as_json=True)


def found_by(name: str) -> Finding:
    return security.CHECKS[name](security_context(io.StringIO()))


def test_every_boundary_of_this_machine_is_named_with_its_state() -> None:
    output = io.StringIO()
    code = examine(security_context(output))
    found = {finding["check"]: finding for finding in json.loads(output.getvalue())}
    assert list(found) == list(security.CHECKS)
    assert (code != 0) is any(finding["level"] == "problem" for finding in found.values())
    assert found["host lane"]["level"] == "ok", found["host lane"]["text"]
    assert found["QEMU's sandbox"]["text"].startswith("on,")
    assert found["user"]["level"] == ("note" if os.geteuid() == 0 else "ok")


def test_missing_bubblewrap_is_a_problem_with_two_remedies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = found_by("host lane")
    assert found.level is Level.PROBLEM
    assert "bubblewrap is not installed" in found.text
    assert "install bubblewrap" in found.remedy
    assert "--unconfined" in found.remedy


def test_qemu_that_refuses_its_sandbox_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = "#!/bin/sh\necho 'There is no option group sandbox' >&2\nexit 1\n"
    install_script(tmp_path / security.QEMU, script)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    found = found_by("QEMU's sandbox")
    assert found.level is Level.PROBLEM
    assert "no option group" in found.text


def test_qemu_is_not_blamed_if_its_sandbox_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = "#!/bin/sh\necho $0 failed >&2\nexit 1\n"
    layout = Layout(checkout=CHECKOUT, state=tmp_path)
    install_script(layout.python, failing)
    install_script(tmp_path / security.QEMU, failing)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    found = security.CHECKS["QEMU's sandbox"](context_of(tmp_path, layout=layout))
    assert found.level is Level.PROBLEM
    assert found.text == f"not checked: {layout.python} failed"


def test_live_guests_use_loopback_if_the_kernel_gives_no_network_namespace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(security, "NETWORK_PROBE", "print('unshare(2): not permitted')")
    found = found_by("live guests' network")
    assert found.level is Level.NOTE
    assert "loopback interface of this machine: unshare(2): not permitted" in found.text
