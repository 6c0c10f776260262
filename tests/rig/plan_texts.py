# SPDX-License-Identifier: GPL-2.0-or-later
"""Plans as text, and the facts that are read from them."""

from typing import Any

import pytest
from delayrig.base.errors import BadInputError
from delayrig.base.paths import find_paths
from delayrig.base.toml import parse_toml
from delayrig.hazards.of_cell import shape_of
from delayrig.model.cell import Cell
from delayrig.model.chips import read_chips
from delayrig.model.lane import LaneName
from delayrig.plan.cells import plan_cells
from delayrig.plan.check import CheckedPlan, check_plan
from delayrig.plan.schema import Plan, find_plan, read_plan

from tests.rig.builders import CHECKOUT

CHIPS = read_chips(CHECKOUT)
PATHS = find_paths()
HEAD = 'schema = 1\nabout = "mine"\nsubjects = ["bundled", "debian:trixie"]\n'
OVER = 'mips = [250]\ncores = [1]\njob = ["write"]\nchip = ["M25P80"]\n'
GROUP = f'[[group]]\nname = "g"\n[group.over]\n{OVER}'
FLOOR = GROUP.replace("[group.over]", 'role = "floor"\n[group.over]')
AT = 'mips = 250, cores = 1, job = "write", chip = "M25P80"'
SINGLE = f'[[cell]]\nname = "s"\nat = {{ {AT} }}\n'


def rule(when: str, expect: str) -> str:
    return f'[[rule]]\nwhen = {{ {when} }}\nexpect = "{expect}"\nreason = "because"\n'


def live(at: str) -> str:
    head = HEAD.replace("subjects", 'lane = "live"\nsubjects')
    return head + f'[[cell]]\nname = "x"\nat = {{ job = "write", chip = "W25Q128JV", {at} }}\n'


def shipped(name: str, *subjects: str, seed: int = 1) -> list[Cell]:
    return plan_cells(checked(read_plan(find_plan(name)), *subjects), seed=seed)


def checked(plan: Plan, *subjects: str, lane: LaneName | None = None) -> CheckedPlan:
    return check_plan(plan, PATHS, source="my.toml", subjects=subjects, lane=lane)


def checked_text(text: str, *subjects: str) -> CheckedPlan:
    return checked(parse_toml(text, Plan, source="my.toml"), *subjects)


def cells_of(text: str, *subjects: str) -> list[Cell]:
    return plan_cells(checked_text(text, *subjects), seed=1)


def error_of(text: str) -> BadInputError:
    with pytest.raises(BadInputError) as caught:
        cells_of(text)
    assert caught.value.message.startswith("my.toml: ")
    return caught.value


def levels(cell: Cell) -> dict[str, Any]:
    """Returns the settings of the cell by their names in a plan."""
    return {
        "mips": shape_of(cell).nominal_mips,
        "cores": cell.cores,
        "job": cell.job.value,
        "chip": cell.chip,
        "corner": cell.corner,
        "timers": "low-res" if "low-res-timers" in cell.hazards else "high-res",
        "load": "busy-siblings" if "busy-siblings" in cell.hazards else "none",
        "kernel": "6.1",
        "hazards": "+".join(sorted(set(cell.hazards) - {"low-res-timers", "busy-siblings"}))
        or "none",
        "programmer": cell.programmer.value,
        "arch": cell.arch.value,
        "machine": cell.machine,
    }
