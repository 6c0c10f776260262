# SPDX-License-Identifier: GPL-2.0-or-later
"""What a fault campaign as a whole has to say; runs themselves are made in tests/protocol."""

from typing import Any

import msgspec
import pytest
from delayrig.errors import ExitCode
from delayrig.fault_campaign import (
    EmulatorEnd,
    FaultRun,
    exit_code_of_faults,
    fault_table,
    rerun_command,
    scenes_of,
)
from delayrig.fault_scene import End, FaultKind, draw_scene


def make_run(number: int = 0, **changes: Any) -> FaultRun:
    """A run that ended well."""
    plain = FaultRun(
        subject="bundled",
        scene=draw_scene(1, number),
        end=End.DONE,
        exit_code=0,
        emulator=EmulatorEnd.ENDED,
        faults=1,
        said="done",
        host_s=1.5,
        rerun="",
    )
    return msgspec.structs.replace(plain, **changes)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({}, ExitCode.PASS),
        ({"end": End.REFUSED}, ExitCode.PASS),
        ({"end": End.HUNG}, ExitCode.UNSAFE),
        ({"end": End.LIED}, ExitCode.UNSAFE),
        ({"emulator": EmulatorEnd.TOLD}, ExitCode.PASS),
        ({"end": End.LIED, "emulator": EmulatorEnd.FAILED}, ExitCode.RIG_FAULT),
    ],
)
def test_gravest_run_decides_the_exit_code(changes: dict[str, Any], code: ExitCode) -> None:
    assert exit_code_of_faults([make_run(), make_run(**changes), make_run()]) is code


def test_table_counts_ends_by_fault_and_subject() -> None:
    kinds = len(FaultKind)
    runs = [
        make_run(0),
        make_run(kinds, end=End.HUNG),
        make_run(1, subject="debian:trixie", end=End.REFUSED),
        make_run(0, subject="debian:trixie"),
    ]
    assert fault_table(runs).splitlines() == [
        "| fault | bundled | debian:trixie |",
        "| --- | --- | --- |",
        "| drop | 1 done, 1 hung | 1 done |",
        "| drop in |  | 1 refused |",
        "| all | 1 done, 1 hung | 1 done, 1 refused |",
    ]


def test_command_that_makes_a_run_again_names_subject_seed_and_number() -> None:
    (scene,) = scenes_of(3, range(17, 18))
    assert rerun_command("path:a b", scene) == (
        "rig/rig faults --subject 'path:a b' --seed 3 --run 17"
    )
