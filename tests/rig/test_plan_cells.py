# SPDX-License-Identifier: GPL-2.0-or-later
"""The cells of a plan, and their number without making them."""

import itertools
import json
import re
import sys
from pathlib import Path

import msgspec
import pytest
from delayrig.base.errors import BadInputError
from delayrig.base.paths import find_paths
from delayrig.base.toml import parse_toml
from delayrig.model.cell import Expect, Programmer, Role
from delayrig.model.lane import LaneName
from delayrig.model.platform import Arch
from delayrig.plan.cells import count_cells, plan_cells, questions_of
from delayrig.plan.request import choose_cells
from delayrig.plan.schema import Plan, find_plan, read_plan

from tests.rig.builders import make_cell
from tests.rig.plan_texts import (
    AT,
    CHIPS,
    FLOOR,
    GROUP,
    HEAD,
    OVER,
    SINGLE,
    cells_of,
    checked,
    checked_text,
    error_of,
    live,
    rule,
    shipped,
)
from tests.rig.running import rig, run_python

TWO_CORES = GROUP.replace("cores = [1]", "cores = [1, 2]")


def test_omitted_keys_have_default_values() -> None:
    (cell, _) = cells_of(HEAD + GROUP)
    assert cell == make_cell(name="g", chip="M25P80")


@pytest.mark.parametrize("owner", [SINGLE, GROUP], ids=["cell", "group"])
@pytest.mark.parametrize("own", ["debian:bookworm", ["debian:bookworm", "floor"]])
def test_cell_or_group_runs_for_each_subject_or_for_its_own(
    owner: str, own: str | list[str]
) -> None:
    assert [cell.subject for cell in cells_of(HEAD + owner)] == ["bundled", "debian:trixie"]
    text = owner.replace("]]\n", f"]]\nsubject = {json.dumps(own)}\n", 1)
    subjects = [cell.subject for cell in cells_of(HEAD + text, "bundled")]
    assert subjects == ([own] if isinstance(own, str) else own)


def test_product_leaves_out_busy_siblings_on_one_core() -> None:
    cells = cells_of(HEAD + TWO_CORES + 'load = ["none", "busy-siblings"]\n', "bundled")
    assert [(c.cores, c.hazards) for c in cells] == [(1, ()), (2, ()), (2, ("busy-siblings",))]


@pytest.mark.parametrize("strength", [1, 2, 9])
def test_group_with_one_choice_in_each_dimension_is_one_cell_at_any_strength(strength: int) -> None:
    text = GROUP.replace("[group.over]", f"strength = {strength}\n[group.over]")
    assert len(cells_of(HEAD + text, "bundled")) == 1


def expectations(*rules: str) -> list[Expect]:
    return [cell.expect for cell in cells_of(HEAD + SINGLE + "".join(rules))]


@pytest.mark.parametrize(
    ("first", "last"), list(itertools.permutations(["pass", "too_short", "any"], 2))
)
def test_last_rule_that_matches_wins(first: str, last: str) -> None:
    rules = [rule('name = "s"', first), rule('chip = "M25P80"', last), rule('name = "x"', "pass")]
    assert expectations(*rules) == [Expect(last)] * 2


@pytest.mark.parametrize(
    ("when", "matched"),
    [
        ("", 2),
        ('subject = "bundled"', 1),
        ('subject = "debian:*"', 1),
        ('subject = "debian"', 0),
        ('subject = "Bundled"', 0),
        ('name = "s", job = "write", timers = "high-res", load = "none", corner = "typ"', 2),
        ('name = "s", job = "read"', 0),
        ('timers = "low-res"', 0),
        ('load = "busy-siblings"', 0),
        ('corner = "max"', 0),
        ('chip = "W25*"', 0),
    ],
)
def test_rule_matches_if_all_its_keys_match_and_other_cells_must_pass(
    when: str, matched: int
) -> None:
    assert expectations(rule(when, "any")).count(Expect.ANY) == matched
    assert expectations() == [Expect.PASS, Expect.PASS]


@pytest.mark.parametrize("rules", ["", rule("", "any")])
@pytest.mark.parametrize("expect", [Expect.TOO_SHORT, Expect.PASS])
def test_rules_do_not_change_what_canaries_and_controls_expect(rules: str, expect: Expect) -> None:
    role = Role.CANARY if expect is Expect.TOO_SHORT else Role.CONTROL
    (cell,) = cells_of(HEAD + SINGLE + f'role = "{role}"\n' + rules, "bundled")
    assert (cell.role, cell.expect) == (role, expect)


@pytest.mark.parametrize("region_kib", [1, 64, 1024, 16384])
@pytest.mark.parametrize("text", [GROUP, SINGLE])
def test_region_of_a_group_or_a_cell_is_that_of_its_cells(text: str, region_kib: int) -> None:
    large = text.replace("M25P80", "W25Q128JV")
    cells = cells_of(HEAD + large.replace("]]\n", f"]]\nregion_kib = {region_kib}\n"))
    assert [cell.region_kib for cell in cells] == [region_kib] * 2


CORNERS = ["min", "typ", "max", "draw:0", "draw:18446744073709551615", "slow:2", "slow:1000"]


@pytest.mark.parametrize("corner", CORNERS)
def test_cell_has_the_corner_of_the_plan(corner: str) -> None:
    (cell, _) = cells_of(HEAD + GROUP + f'corner = ["{corner}"]\n')
    assert cell.corner == corner


def test_floor_needs_the_corner_zero_and_other_cells_refuse_it() -> None:
    (cell, _) = cells_of(HEAD + FLOOR + 'corner = ["zero"]\n')
    assert (cell.role, cell.corner, cell.expect) == (Role.FLOOR, "zero", Expect.PASS)
    for text in (FLOOR, GROUP + 'corner = ["zero"]\n'):
        error = error_of(HEAD + text)
        assert "key 'group[0].over.corner' is" in error.message
        assert "min, typ, max, draw:SEED, slow:FACTOR" in error.hint
        (plan,) = re.findall(r"plan `(.*)`", error.hint)
        assert any(group.role == Role.FLOOR for group in read_plan(find_plan(plan)).group)


HAZARDS = 'hazards = ["none", "busy-siblings+link:baud=115200", "low-res-timers"]\n'


def test_hazards_are_a_dimension_whose_choices_are_sets() -> None:
    cells = cells_of(HEAD + TWO_CORES + HAZARDS, "bundled")
    assert [(cell.cores, cell.hazards) for cell in cells] == [
        (1, ()),
        (1, ("low-res-timers",)),
        (2, ()),
        (2, ("busy-siblings", "link:baud=115200")),
        (2, ("low-res-timers",)),
    ]


def test_covering_array_leaves_out_hazards_that_need_more_cores() -> None:
    text = TWO_CORES.replace("[group.over]", "strength = 2\n[group.over]")
    cells = cells_of(HEAD + text + HAZARDS, "bundled")
    assert {cell.cores for cell in cells if "busy-siblings" in cell.hazards} == {2}


@pytest.mark.parametrize(
    ("pattern", "matched"),
    [
        ("*", 3),
        ("none", 1),
        ("busy-siblings", 1),
        ("link:*", 1),
        ("link:*+busy-*", 1),
        ("link:*+low-res-timers", 0),
        ("low-res-timers", 1),
    ],
)
def test_rule_matches_if_the_cell_has_the_hazards(pattern: str, matched: int) -> None:
    text = GROUP.replace("cores = [1]", "cores = [2]") + HAZARDS
    cells = cells_of(HEAD + text + rule(f'hazards = "{pattern}"', "any"), "bundled")
    assert [cell.expect for cell in cells].count(Expect.ANY) == matched


def test_timers_and_hazards_make_one_set() -> None:
    at = f'{AT}, timers = "low-res", hazards = "link:baud=9600"'
    (cell, _) = cells_of(HEAD + SINGLE.replace(AT, at))
    assert cell.hazards == ("low-res-timers", "link:baud=9600")


def test_dimension_of_one_architecture_changes_no_other() -> None:
    over = OVER.replace("[250]", "[250, 62]").replace("[1]", "[1, 2]") + 'corner = ["typ", "max"]\n'
    group = f'{HEAD}[[group]]\nname = "g"\nstrength = 2\n[group.over]\n{over}'
    arm64 = cells_of(group + 'arch = ["arm64"]\n')
    assert [msgspec.structs.replace(cell, arch=Arch.X86_64) for cell in arm64] == cells_of(group)
    assert all(".arm64." in cell.id for cell in arm64)


def test_rule_matches_an_architecture() -> None:
    group = GROUP + 'arch = ["i386", "arm64"]\n'
    cells = cells_of(HEAD + group + rule('arch = "arm64"', "any"), "bundled")
    assert [cell.expect for cell in cells] == [Expect.PASS, Expect.ANY]


@pytest.mark.parametrize(
    ("at", "mips", "part_of_id"),
    [
        ("mips = 20, cores = 2", [20.0, 20.0], ".live.20mips.2c."),
        ('machine = "10:40"', [10.0, 40.0], ".live.10-40.2c."),
    ],
)
def test_live_cell_has_the_speed_of_each_core_and_rules_of_its_lane(
    at: str, mips: list[float], part_of_id: str
) -> None:
    (cell,) = cells_of(live(at) + rule('lane = "live"', "any"), "bundled")
    assert (cell.mips, cell.cores, cell.expect) == (mips, 2, Expect.ANY)
    assert part_of_id in cell.id


def test_questions_are_kept_by_place_of_measured_cells_and_change_no_cell() -> None:
    asking = SINGLE.replace("at =", 'must_answer = "what signals do"\nat =')
    assert cells_of(HEAD + asking) == cells_of(HEAD + SINGLE)
    control = SINGLE.replace('"s"', '"c"').replace("at =", 'role = "control"\nat =')
    plan = checked_text(HEAD + GROUP + asking + control)
    assert questions_of(plan.plan, plan_cells(plan, seed=1)) == {
        "s.250mips.1c.calm.M25P80-typ.write": "what signals do"
    }


OWN_LANE = (
    '[[cell]]\nname = "real"\nlane = "live"\n'
    'at = { machine = "10:40", job = "write", chip = "M25P80" }\n'
)


def test_cell_with_its_own_lane_is_left_out_if_the_user_names_another() -> None:
    cells = cells_of(HEAD + SINGLE + OWN_LANE, "bundled")
    assert [(cell.name, cell.lane) for cell in cells] == [("s", "virtual"), ("real", "live")]
    assert cells[1].core_mips == (10, 40)
    plan = parse_toml(HEAD + SINGLE + OWN_LANE, Plan, source="my.toml")
    for lane, names in ((LaneName.VIRTUAL, ["s"]), (LaneName.LIVE, ["s", "real"])):
        cells = plan_cells(checked(plan, "bundled", lane=lane), seed=1)
        assert [cell.name for cell in cells] == names
    error = error_of(HEAD + OWN_LANE.replace("live", "lively"))
    assert "key 'cell[0].lane': unknown value 'lively'" in error.message


BY_SERPROG = "serprog:ip"
PROGRAMMED = (
    ("nor", "W25Q128JV", BY_SERPROG, "none", "measure"),
    ("rom", "SST29EE010", "serprog:dev", "none", "measure"),
    ("card", "SST29EE010", "nicintel", "none", "measure"),
    ("adapter", "W25Q128JV", "ft2232_spi", "none", "measure"),
    ("slow", "W25Q128JV", BY_SERPROG, "link:silent=1", "measure"),
    ("canary", "W25Q128JV", BY_SERPROG, "none", "canary"),
)


def test_chosen_programmers_replace_serprog_in_measured_cells() -> None:
    plan = HEAD + "".join(
        f'[[cell]]\nname = "{name}"\nrole = "{role}"\nat = {{ mips = 62, cores = 1, job = "probe",'
        f' chip = "{chip}", programmer = "{programmer}", hazards = "{hazards}" }}\n'
        for name, chip, programmer, hazards, role in PROGRAMMED
    )
    wanted = (Programmer.CH341A_SPI, Programmer.NICINTEL)
    found = plan_cells(checked_text(plan, "bundled"), seed=1, programmers=wanted)
    assert [(cell.name, cell.programmer) for cell in found] == [
        ("nor", Programmer.CH341A_SPI),
        ("rom", Programmer.NICINTEL),
        ("card", Programmer.NICINTEL),
        ("canary", BY_SERPROG),
    ]


def test_programmer_that_reaches_no_chip_of_a_plan_is_refused() -> None:
    with pytest.raises(BadInputError, match="nicintel: reaches no chip"):
        choose_cells(plan="survey", paths=find_paths(), programmers=[Programmer.NICINTEL])


SECONDS_MAX = 5
"""The limit of CPU time; elapsed time would depend on other programs."""
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
"""A small program of its own, because ru_maxrss of a child includes its parent's memory."""


def plan_of_millions() -> str:
    """Returns the text of a plan of millions of cells."""
    chips = ", ".join(f'"{chip}"' for chip in CHIPS)
    hazards = ", ".join(f'"hogs:{rate}"' for rate in range(1, 11))
    group = f'[[group]]\nname = "g"\n[group.over]\n{WIDE}chip = [{chips}]\nhazards = [{hazards}]\n'
    return HEAD + group


@pytest.mark.parametrize(
    "text",
    [
        HEAD + GROUP + SINGLE,
        HEAD + TWO_CORES + 'load = ["none", "busy-siblings"]\n',
        HEAD + GROUP.replace("[group.over]", 'subject = "bundled"\n[group.over]'),
        HEAD + TWO_CORES.replace("[group.over]", "strength = 2\n[group.over]"),
        live('machine = "10:40"'),
    ],
)
def test_count_equals_the_number_of_cells(text: str) -> None:
    assert count_cells(checked_text(text)) == len(cells_of(text))


@pytest.mark.parametrize("name", ["default", "full", "gate", "live", "past-mistakes", "smoke"])
def test_shipped_plan_has_no_more_cells_than_are_counted(name: str) -> None:
    assert len(shipped(name)) <= count_cells(checked(read_plan(find_plan(name))))


def test_millions_of_cells_are_counted_fast_in_little_memory_and_not_listed(tmp_path: Path) -> None:
    plan = tmp_path / "million.toml"
    plan.write_text(plan_of_millions(), encoding="utf-8")
    words = ["run", "--plan", str(plan), "--dry-run"]
    measured = run_python("-c", MEASURE, sys.executable, "-m", "delayrig", *words, "--quiet")
    code, cpu_s, memory_kib = measured.stdout.split()
    assert code == "0"
    assert float(cpu_s) < SECONDS_MAX
    assert int(memory_kib) < MEMORY_KIB_MAX
    done = rig(*words, "--json")
    assert done.exit_code == 0, done.output
    at_most = 2 * 7 * 5 * 3 * 2 * 3 * 2 * len(CHIPS) * 10 * 5
    assert f"{at_most:,} cells at most" in done.stderr
    assert json.loads(done.stdout) == {"cells_at_most": at_most}
