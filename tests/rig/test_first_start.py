# SPDX-License-Identifier: GPL-2.0-or-later
"""The stages of a first start, read from a run's messages."""

import pytest
from delayrig.base.errors import RigFaultError
from delayrig.features.selfcheck.benchmark import stages_of

SAID = [
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


def test_stages_follow_each_other_up_to_the_first_verdict() -> None:
    found = [(stage.name, stage.took_s) for stage in stages_of(SAID, 0.5)]
    assert found == [
        ("launcher", 0.5),
        ("Python environment", 10.5),
        ("native programs", 9.0),
        ("handing over", 0.5),
        ("images", 9.0),
        ("snapshots", 8.0),
    ]


def test_start_without_a_verdict_is_a_fault() -> None:
    with pytest.raises(RigFaultError, match="set-up: native programs"):
        list(stages_of(SAID[:3], 0.0))
