# SPDX-License-Identifier: GPL-2.0-or-later
"""The number of a plan's cells, without making them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from delayrig.base.toml import parse_toml
from delayrig.main import main
from delayrig.plan.cells import count_cells
from delayrig.plan.schema import Plan, find_plan, read_plan

from tests.rig.plan_texts import CHIPS, GROUP, HEAD, SINGLE, cells_of, live

SECONDS_MAX = 5
"""CPU time, since others may use this machine."""
MEMORY_KIB_MAX = 500_000
WIDE = """\
mips = [1000, 500, 250, 125, 62, 31, 16]
cores = [1, 2, 4]
job = ["write", "erase", "read", "probe", "verify"]
corner = ["min", "typ", "max"]
timers = ["high-res", "low-res"]
load = ["none", "busy-siblings"]
arch = ["x86_64", "i386", "arm64"]
programmer = ["serprog:ip", "serprog:dev"]
"""
MEASURE = """
import os, subprocess, sys
run = subprocess.Popen(sys.argv[1:])
_, status, usage = os.wait4(run.pid, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
"""
"""A process of its own: a child's memory counts from its parent's at the start."""
TWO_CORES = GROUP.replace("cores = [1]", "cores = [1, 2]")


def million() -> str:
    """Returns a plan of about a million cells."""
    chips = ", ".join(f'"{chip}"' for chip in CHIPS)
    hazards = ", ".join(f'"signals:{rate}"' for rate in range(1, 11))
    group = f'[[group]]\nname = "g"\n[group.over]\n{WIDE}chip = [{chips}]\nhazards = [{hazards}]\n'
    return HEAD + group


def counted(text: str) -> int:
    plan = parse_toml(text, Plan, source="my.toml")
    return count_cells(plan, source="my.toml", subjects=(), chips=CHIPS, lane=None)


@pytest.mark.parametrize(
    "text",
    [
        HEAD + GROUP + SINGLE,
        HEAD
        + GROUP.replace("cores = [1]", "cores = [1, 2]")
        + 'load = ["none", "busy-siblings"]\n',
        HEAD + GROUP.replace("[group.over]", 'subject = "bundled"\n[group.over]'),
        HEAD
        + GROUP.replace("cores = [1]", "cores = [1, 2, 4]").replace(
            "[group.over]", "strength = 2\n[group.over]"
        ),
        live('machine = "10:40"'),
    ],
)
def test_count_is_that_of_the_cells(text: str) -> None:
    assert counted(text) == len(cells_of(text))


@pytest.mark.parametrize("name", ["default", "full", "gate", "live", "past-mistakes", "smoke"])
def test_shipped_plan_has_no_more_cells_than_are_counted(name: str) -> None:
    path = find_plan(name)
    plan = read_plan(path)
    made = cells_of(path.read_text(encoding="utf-8"))
    found = count_cells(plan, source=path.name, subjects=(), chips=CHIPS, lane=None)
    assert len(made) <= found


def test_millions_are_counted_in_seconds_and_little_memory(tmp_path: Path) -> None:
    plan = tmp_path / "million.toml"
    plan.write_text(million(), encoding="utf-8")
    words = ["run", "--plan", str(plan), "--dry-run", "--quiet"]
    argv = [sys.executable, "-c", MEASURE, sys.executable, "-m", "delayrig", *words]
    said = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    code, cpu_s, memory_kib = said.split()
    assert code == "0"
    assert float(cpu_s) < SECONDS_MAX
    assert int(memory_kib) < MEMORY_KIB_MAX


def test_dry_run_of_a_million_cells_counts_them_and_lists_none(tmp_path: Path) -> None:
    plan = tmp_path / "million.toml"
    plan.write_text(million(), encoding="utf-8")
    done = CliRunner().invoke(main, ["run", "--plan", str(plan), "--dry-run", "--json"])
    assert done.exit_code == 0, done.output
    at_most = 2 * 7 * 5 * 3 * 2 * 3 * 2 * len(CHIPS) * 10 * 5
    assert f"{at_most:,} cells at most" in done.stderr
    assert json.loads(done.stdout) == {"cells_at_most": at_most}
