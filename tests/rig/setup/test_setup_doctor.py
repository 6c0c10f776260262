# SPDX-License-Identifier: GPL-2.0-or-later
"""What the doctor looks at, for whom."""

import io
from pathlib import Path

import pytest
from delayrig.setup.arguments import read_request
from delayrig.setup.console import Console
from delayrig.setup.context import Context
from delayrig.setup.doctor import checks_for
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
