# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks of the doctor, for each kind of user."""

import io
import json
from pathlib import Path

import pytest
from delayrig.setup.arguments import OWN_COMMANDS, read_request
from delayrig.setup.console import Console, Context
from delayrig.setup.doctor import checks_for, examine
from delayrig.setup.errors import UsageError
from delayrig.setup.layout import Layout
from delayrig.setup.stamp import GUEST_STEPS, HOST_STEPS


def names(tmp_path: Path, steps: tuple[str, ...]) -> set[str]:
    layout = Layout(checkout=tmp_path, state=tmp_path / "state")
    console = Console(output=io.StringIO(), input=io.StringIO())
    return set(checks_for(Context(layout=layout, console=console, steps=steps)))


def test_machine_without_guests_is_not_asked_for_what_runs_them(tmp_path: Path) -> None:
    left_out = names(tmp_path, GUEST_STEPS) - names(tmp_path, HOST_STEPS)
    assert left_out == {"QEMU", "libvirt", "archive", "images", "KVM"}


def test_doctor_takes_the_lane_that_it_is_asked_about() -> None:
    assert not read_request(["doctor", "--lane", "host"]).needs_guests
    assert read_request(["doctor"]).needs_guests
    with pytest.raises(UsageError):
        read_request(["doctor", "--lane", "virtual"])


def test_doctor_answers_as_one_document_where_it_is_asked_to(tmp_path: Path) -> None:
    said = io.StringIO()
    context = Context(
        layout=Layout(checkout=tmp_path, state=tmp_path / "state"),
        console=Console(output=said, input=io.StringIO()),
        steps=HOST_STEPS,
        as_json=read_request(["doctor", "--json"]).as_json,
    )
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
