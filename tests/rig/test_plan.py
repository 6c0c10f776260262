# SPDX-License-Identifier: GPL-2.0-or-later
"""Plans: what they cover, whom they expect what of, and how they say that they are wrong."""

import itertools
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from delayrig.cell import Cell, Expect, Job, Probe, Programmer, Role
from delayrig.chips import read_chips
from delayrig.corner import Corner
from delayrig.errors import BadInputError
from delayrig.guest.platform import Arch
from delayrig.plan import Plan, find_plan, plan_cells, plan_names, read_plan
from delayrig.toml import parse_toml

from tests.rig.builders import CHECKOUT

CHIPS = list(read_chips(CHECKOUT))
SHIPPED = [
    *("chips", "default", "full", "gate", "live", "live-hazards", "long-jobs"),
    *("museum", "proposal", "releases", "smoke", "survey", "threshold", "write-time"),
]
DEMONSTRATING = ["default", "full", "smoke"]


def shipped(name: str, *subjects: str, seed: int = 1) -> list[Cell]:
    path = find_plan(name)
    return plan_cells(read_plan(path), source=path.name, subjects=subjects, chips=CHIPS, seed=seed)


def cells_of(text: str, *subjects: str) -> list[Cell]:
    plan = parse_toml(text, Plan, source="my.toml")
    return plan_cells(plan, source="my.toml", subjects=subjects, chips=CHIPS, seed=1)


def error_of(text: str) -> BadInputError:
    with pytest.raises(BadInputError) as caught:
        cells_of(text)
    assert caught.value.message.startswith("my.toml: ")
    return caught.value


def levels(cell: Cell) -> dict[str, Any]:
    """The cell in the words of a plan's span."""
    return {
        "mips": cell.shape.nominal_mips,
        "cores": cell.cores,
        "job": cell.job.value,
        "chip": cell.chip,
        "corner": cell.corner,
        "timers": "low-res" if "low-res-timers" in cell.hazards else "high-res",
        "load": "busy-siblings" if "busy-siblings" in cell.hazards else "none",
        "hazards": "+".join(set(cell.hazards) - {"low-res-timers", "busy-siblings"}) or "none",
        "programmer": cell.programmer.value,
        "arch": cell.arch.value,
        "machine": cell.machine,
    }


def span_of(plan: Plan) -> dict[str, list[Any]]:
    """Of its main group: those after it are about something of their own."""
    group = plan.group[0]
    return dict(msgspec.structs.asdict(group.over))


def is_possible(*choices: tuple[str, Any]) -> bool:
    """Siblings need a core of their own; nothing else in a plan excludes anything."""
    return not {("load", "busy-siblings"), ("cores", 1)} <= set(choices)


def pairs_of(row: dict[str, Any]) -> set[tuple[tuple[str, Any], tuple[str, Any]]]:
    return set(itertools.combinations(row.items(), 2))


# The plans that come with the rig.


def test_shipped_plans_are_those_of_the_design() -> None:
    assert plan_names() == SHIPPED


def test_releases_plan_has_every_part_and_job_and_delays_for_those_that_need_them() -> None:
    cells = [cell for cell in shipped("releases", "bundled") if cell.role is Role.MEASURE]
    wanted = itertools.product(CHIPS, ("typ", "max"), Job)
    assert sorted((c.chip, c.corner, c.job) for c in cells) == sorted(wanted)
    facts = read_chips(CHECKOUT)
    for cell in cells:
        delays = cell.programmer is Programmer.SERPROG_NATIVE_DELAY
        assert delays is (facts[cell.chip].bus != "spi"), cell.id


@pytest.mark.parametrize("subject", read_plan(find_plan("default")).subjects)
def test_default_plan_covers_every_possible_pair_for_each_subject(subject: str) -> None:
    span = span_of(read_plan(find_plan("default")))
    rows = [levels(c) for c in shipped("default") if (c.name, c.subject) == ("pairs", subject)]
    wanted = {
        ((first, one), (second, other))
        for first, second in itertools.combinations(span, 2)
        for one in span[first]
        for other in span[second]
        if is_possible((first, one), (second, other))
    }
    assert set().union(*map(pairs_of, rows)) == wanted
    # Speeds times cores is the least that pairs can do with.
    assert 9 <= len(rows) <= 12


def test_default_plan_spans_what_it_says() -> None:
    span = span_of(read_plan(find_plan("default")))
    assert {name: len(choices) for name, choices in span.items()} == {
        "mips": 3,
        "cores": 3,
        "job": 2,
        "chip": 2,
        "corner": 2,
        "timers": 2,
        "load": 2,
        "hazards": 1,
        "programmer": 1,
        "arch": 1,
        "machine": 1,
    }


def test_full_plan_is_the_product_without_the_impossible() -> None:
    plan = read_plan(find_plan("full"))
    span = span_of(plan)
    wanted = {
        tuple(zip(span, row, strict=True))
        for row in itertools.product(*span.values())
        if is_possible(*zip(span, row, strict=True))
    }
    assert set(span["chip"]) <= set(CHIPS)
    for subject in plan.subjects:
        cells = [c for c in shipped("full") if (c.name, c.subject) == ("product", subject)]
        assert {tuple(levels(cell).items()) for cell in cells} == wanted
        assert len(cells) == len(wanted)


def test_smoke_plan_is_small() -> None:
    assert len(shipped("smoke")) <= 20


@pytest.mark.parametrize("name", SHIPPED)
def test_ids_are_unique_and_fit_for_folders(name: str) -> None:
    ids = [cell.id for cell in shipped(name)]
    assert len(set(ids)) == len(ids)
    assert not [id_ for id_ in ids if {"/", ":", " ", "*", "["} & set(id_) or len(id_) > 200]


PROBES = {"probe": Probe.DELAY}
"""Witnesses that have cells of their own, by the names of their canary and control."""


@pytest.mark.parametrize("name", SHIPPED)
def test_canary_and_control_of_a_witness_stand_in_the_same_cell(name: str) -> None:
    for arch in {cell.arch for cell in shipped(name)}:
        check_canaries([cell for cell in shipped(name) if cell.arch is arch])


def check_canaries(cells: list[Cell]) -> None:
    judging = {c.name: c for c in cells if c.role in (Role.CANARY, Role.CONTROL)}
    witnesses = {name.removeprefix("canary-") for name in judging if name.startswith("canary-")}
    used = {cell.witness for cell in cells}
    assert witnesses >= {"bus", "chip", *(key for key, probe in PROBES.items() if probe in used)}
    for witness in sorted(witnesses):
        canary, control = judging.pop(f"canary-{witness}"), judging.pop(f"control-{witness}")
        assert levels(canary) == levels(control)
        assert canary.witness is control.witness is PROBES.get(witness, Probe.NONE)
        assert (canary.role, canary.expect) == (Role.CANARY, Expect.TOO_SHORT)
        assert (control.role, control.expect) == (Role.CONTROL, Expect.PASS)
        assert canary.subject != control.subject
    assert judging == {}


@pytest.mark.parametrize("name", DEMONSTRATING)
def test_demonstration_expects_a_conviction_of_one_subject_alone(name: str) -> None:
    cells = [cell for cell in shipped(name) if cell.name == "demonstration"]
    for arch in {cell.arch for cell in shipped(name)}:
        assert {cell.subject: cell.expect for cell in cells if cell.arch is arch} == {
            "bundled": Expect.PASS,
            "debian:bookworm": Expect.TOO_SHORT,
            "debian:trixie": Expect.PASS,
        }


@pytest.mark.parametrize("name", ["default", "full"])
def test_plan_has_guests_of_every_architecture(name: str) -> None:
    assert {cell.arch for cell in shipped(name)} == set(Arch)


def test_ids_stay_as_they_are() -> None:
    ids = {cell.id for cell in shipped("smoke")}
    assert {
        "write.debian-trixie.250mips.1c.calm.GD25Q16C-typ.write",
        "demonstration.bundled.62mips.4c.low-res-timers+busy-siblings.W25Q128JV-typ.write",
        "canary-bus.canary-bus.250mips.1c.calm.W25Q128JV-max.write",
    } <= ids


def test_other_process_gives_the_same_cells_in_the_same_order() -> None:
    program = (
        "import msgspec, sys\n"
        "from delayrig.plan import find_plan, plan_cells, read_plan\n"
        "path = find_plan('default')\n"
        "cells = plan_cells(read_plan(path), source='', subjects=[], chips=sys.argv[1:], seed=1)\n"
        "sys.stdout.buffer.write(msgspec.json.encode(cells))\n"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", program, *CHIPS],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONPATH": str(CHECKOUT / "rig"), "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert answers == {msgspec.json.encode(shipped("default"))}


@pytest.mark.parametrize("name", ["default", "smoke"])
def test_subject_of_a_cell_and_its_id_name_that_very_cell_again(name: str) -> None:
    by_subject = {cell.subject: shipped(name, cell.subject) for cell in shipped(name)}
    for cell in shipped(name):
        assert [again for again in by_subject[cell.subject] if again.id == cell.id] == [cell]


def test_seed_goes_into_cells_and_changes_nothing_else() -> None:
    plain, seeded = shipped("default"), shipped("default", seed=7)
    assert {cell.seed for cell in seeded} == {7}
    assert [msgspec.structs.replace(cell, seed=1) for cell in seeded] == plain


def test_subject_replaces_those_of_the_plan_and_canaries_and_controls_stay() -> None:
    usual, cells = shipped("default"), shipped("default", "path:/opt/flashrom")
    judging = [cell for cell in usual if cell.role is not Role.MEASURE]
    assert [cell for cell in cells if cell.role is not Role.MEASURE] == judging
    measured = {cell.subject for cell in cells if cell.role is Role.MEASURE}
    assert measured == {"path:/opt/flashrom"}
    theirs = [levels(c) for c in usual if c.subject == "debian:trixie"]
    assert [levels(c) for c in cells if c.role is Role.MEASURE] == theirs


def test_subject_named_twice_is_run_once() -> None:
    assert shipped("smoke", "bundled", "bundled") == shipped("smoke", "bundled")


def test_plan_is_found_by_name_and_by_file() -> None:
    assert find_plan("smoke").name == "smoke.toml"
    assert find_plan("mine.toml") == Path("mine.toml")
    assert find_plan("there/mine") == Path("there/mine")


def test_unknown_plan_gets_the_nearest_name() -> None:
    with pytest.raises(BadInputError) as caught:
        find_plan("defualt")
    assert "did you mean 'default'?" in caught.value.hint


# Plans of a user's own.

HEAD = 'schema = 1\nabout = "mine"\nsubjects = ["bundled", "debian:trixie"]\n'
OVER = 'mips = [250]\ncores = [1]\njob = ["write"]\nchip = ["M25P80"]\n'
GROUP = f'[[group]]\nname = "g"\n[group.over]\n{OVER}'
AT = 'mips = 250, cores = 1, job = "write", chip = "M25P80"'
SINGLE = f'[[cell]]\nname = "s"\nat = {{ {AT} }}\n'


def rule(when: str, expect: str) -> str:
    return f'[[rule]]\nwhen = {{ {when} }}\nexpect = "{expect}"\nreason = "because"\n'


def test_left_out_keys_have_plain_values() -> None:
    (cell, _) = cells_of(HEAD + GROUP)
    assert cell == Cell(
        name="g",
        subject="bundled",
        icount_shift=2,
        cores=1,
        chip="M25P80",
        corner=Corner.TYP,
        job=Job.WRITE,
        programmer=Programmer.SERPROG_IP,
        seed=1,
    )


def test_single_cell_runs_for_each_subject_or_for_its_own() -> None:
    assert [cell.subject for cell in cells_of(HEAD + SINGLE)] == ["bundled", "debian:trixie"]
    own = SINGLE + 'subject = "debian:bookworm"\n'
    assert [cell.subject for cell in cells_of(HEAD + own, "bundled")] == ["debian:bookworm"]


@pytest.mark.parametrize("owner", [SINGLE, GROUP], ids=["cell", "group"])
def test_own_subjects_may_be_several(owner: str) -> None:
    text = owner.replace("]]\n", ']]\nsubject = ["debian:bookworm", "floor"]\n', 1)
    subjects = [cell.subject for cell in cells_of(HEAD + text, "bundled")]
    assert subjects == ["debian:bookworm", "floor"]


def test_group_without_strength_leaves_out_siblings_on_one_core() -> None:
    text = GROUP.replace("cores = [1]", "cores = [1, 2]") + 'load = ["none", "busy-siblings"]\n'
    cells = cells_of(HEAD + text, "bundled")
    assert [(c.cores, c.hazards) for c in cells] == [(1, ()), (2, ()), (2, ("busy-siblings",))]


@pytest.mark.parametrize("strength", [1, 2, 9])
def test_group_of_one_choice_each_is_one_cell_at_any_strength(strength: int) -> None:
    text = GROUP.replace("[group.over]", f"strength = {strength}\n[group.over]")
    assert len(cells_of(HEAD + text, "bundled")) == 1


@pytest.mark.parametrize("strength", [-1, 0, 10])
def test_strength_beyond_the_dimensions_is_refused(strength: int) -> None:
    error = error_of(HEAD + GROUP.replace("[group.over]", f"strength = {strength}\n[group.over]"))
    assert f"key 'group[0].strength' is {strength}" in error.message
    assert "1 to 9" in error.hint


def expectations(*rules: str) -> list[Expect]:
    return [cell.expect for cell in cells_of(HEAD + SINGLE + "".join(rules))]


def test_without_rules_everything_is_to_pass() -> None:
    assert expectations() == [Expect.PASS, Expect.PASS]


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
def test_rule_matches_by_every_key_it_gives(when: str, matched: int) -> None:
    assert expectations(rule(when, "any")).count(Expect.ANY) == matched


def test_canary_expects_a_conviction_without_any_rule() -> None:
    (cell, _) = cells_of(HEAD + SINGLE + 'role = "canary"\n')
    assert (cell.role, cell.expect) == (Role.CANARY, Expect.TOO_SHORT)
    (cell, _) = cells_of(HEAD + SINGLE + 'role = "control"\n')
    assert (cell.role, cell.expect) == (Role.CONTROL, Expect.PASS)


@pytest.mark.parametrize("region_kib", [1, 64, 1024, 16384])
@pytest.mark.parametrize("text", [GROUP, SINGLE])
def test_region_of_a_group_or_a_cell_is_that_of_its_cells(text: str, region_kib: int) -> None:
    key = f'name = "{text.split(chr(34))[1]}"\n'
    cells = cells_of(HEAD + text.replace(key, f"{key}region_kib = {region_kib}\n"))
    assert [cell.region_kib for cell in cells] == [region_kib] * 2


@pytest.mark.parametrize("text", [GROUP, SINGLE])
def test_witness_of_a_group_or_a_cell_is_that_of_its_cells(text: str) -> None:
    key = f'name = "{text.split(chr(34))[1]}"\n'
    cells = cells_of(HEAD + text.replace(key, f'{key}witness = "delay"\n'))
    assert {cell.witness for cell in cells} == {Probe.DELAY}
    assert all(cell.id.endswith(".delay") for cell in cells)


def test_witness_that_does_not_exist_names_its_key() -> None:
    error = error_of(HEAD + SINGLE + 'witness = "delays"\n')
    assert "key 'cell[0].witness': unknown value 'delays'" in error.message


@pytest.mark.parametrize("region_kib", [-1, 0, 16385])
def test_region_that_no_cell_may_have_names_its_key(region_kib: int) -> None:
    single = SINGLE + f"region_kib = {region_kib}\n"
    assert f"key 'cell[0].region_kib' is {region_kib}" in error_of(HEAD + single).message
    group = GROUP.replace("[group.over]", f"region_kib = {region_kib}\n[group.over]")
    assert f"key 'group[0].region_kib' is {region_kib}" in error_of(HEAD + group).message


def test_group_with_a_subject_of_its_own_runs_for_that_one_whoever_the_others_are() -> None:
    group = GROUP.replace("[group.over]", 'subject = "debian:bookworm"\n[group.over]')
    assert [cell.subject for cell in cells_of(HEAD + group, "bundled")] == ["debian:bookworm"]


CORNERS = ["min", "typ", "max", "draw:0", "draw:18446744073709551615", "slow:2", "slow:1000"]
FLOOR = GROUP.replace("[group.over]", 'role = "floor"\n[group.over]')


@pytest.mark.parametrize("corner", CORNERS)
def test_corner_of_a_cell_is_as_the_plan_has_it(corner: str) -> None:
    (cell, _) = cells_of(HEAD + GROUP + f'corner = ["{corner}"]\n')
    assert cell.corner == corner


@pytest.mark.parametrize(
    "corner",
    [
        *("", "draw", "draw:", "draw:-1", "draw:01", "draw:x", "draw:18446744073709551616"),
        *("slow", "slow:0", "slow:1", "slow:1001", "slow:1.5", "typ:1", "zero:1", "Zero", "min "),
    ],
)
def test_corner_that_the_emulator_does_not_know_is_named(corner: str) -> None:
    error = error_of(HEAD + GROUP + f'corner = ["{corner}"]\n')
    assert f"key 'group[0].over.corner': unknown value {corner!r}" in error.message
    assert "draw:SEED" in error.hint


def test_floor_is_where_nothing_is_ever_busy_and_nothing_else_is() -> None:
    (cell, _) = cells_of(HEAD + FLOOR + 'corner = ["zero"]\n')
    assert (cell.role, cell.corner, cell.expect) == (Role.FLOOR, "zero", Expect.PASS)
    for text in (FLOOR, GROUP + 'corner = ["zero"]\n'):
        assert "key 'group[0].over.corner' is" in error_of(HEAD + text).message


def test_floors_of_the_write_time_plan_stand_under_every_measured_cell() -> None:
    cells = shipped("write-time")

    def work(cell: Cell) -> dict[str, Any]:
        return {**levels(cell), "corner": "", "region_kib": cell.region_kib}

    floors = [work(cell) for cell in cells if cell.role is Role.FLOOR]
    measured = [cell for cell in cells if cell.role is Role.MEASURE]
    assert {cell.subject for cell in measured} == {"bundled", "debian:trixie"}
    assert {cell.region_kib for cell in measured} == {1024}
    assert all(floors.count(work(cell)) == 1 for cell in measured)
    by_corner = Counter(cell.corner.partition(":")[0] for cell in measured)
    assert by_corner["draw"] > by_corner["typ"] > 0


@pytest.mark.parametrize(
    ("text", "key", "near"),
    [
        (HEAD + 'subject = ["a"]\n' + GROUP, "subject", "subjects"),
        (HEAD + GROUP.replace('name = "g"', 'name = "g"\nstrenght = 2'), "strenght", "strength"),
        (HEAD + GROUP + 'corners = ["typ"]\n', "corners", "corner"),
        (HEAD + SINGLE + 'subjct = "bundled"\n', "subjct", "subject"),
        (HEAD + SINGLE.replace("cores", "core"), "core", "cores"),
        (HEAD + GROUP + rule('timer = "low-res"', "any"), "timer", "timers"),
        (HEAD + GROUP + rule("", "any") + 'reasons = "x"\n', "reasons", "reason"),
    ],
)
def test_unknown_key_names_the_file_the_key_and_the_nearest(text: str, key: str, near: str) -> None:
    error = error_of(text)
    assert "unknown key" in error.message
    assert f"{key}'" in error.message
    assert f"did you mean {near!r}?" in error.hint


WRONG = [
    ('chip = "M25P80"', 'chip = "M25P08"', "chip", "'M25P80'"),
    ('job = "write"', 'job = "wrte"', "job", "'write'"),
    ("cores = 1", "cores = 3", "cores", "1, 2 or 4"),
    ("cores = 1", "cores = 0", "cores", "1, 2 or 4"),
    ("mips = 250", "mips = 251", "mips", "250"),
    ("mips = 250", "mips = 0", "mips", "250"),
    ("mips = 250", "mips = 2000", "mips", "1000"),
    ("cores = 1", 'cores = 1, corner = "maximum"', "corner", "max"),
    ("cores = 1", 'cores = 1, timers = "lowres"', "timers", "'low-res'"),
    ("cores = 1", 'cores = 2, load = "busy-sibling"', "load", "'busy-siblings'"),
    ("cores = 1", 'cores = 1, programmer = "serprog:pi"', "programmer", "'serprog:ip'"),
]


@pytest.mark.parametrize(("old", "new", "key", "remedy"), WRONG)
def test_wrong_value_of_a_cell_names_key_and_remedy(
    old: str, new: str, key: str, remedy: str
) -> None:
    error = error_of(HEAD + GROUP + SINGLE.replace(old, new))
    assert f"key 'cell[0].at.{key}'" in error.message
    assert remedy in error.hint


@pytest.mark.parametrize(("old", "new", "key", "remedy"), WRONG)
def test_wrong_value_of_a_group_names_key_and_remedy(
    old: str, new: str, key: str, remedy: str
) -> None:
    at = AT.replace(old, new)
    over = "".join(
        f"{name} = [{value}]\n" for name, value in (part.split(" = ") for part in at.split(", "))
    )
    second = f'[[group]]\nname = "h"\n[group.over]\n{over}'
    error = error_of(HEAD + GROUP + second)
    assert f"key 'group[1].over.{key}'" in error.message
    assert remedy in error.hint


@pytest.mark.parametrize(
    ("text", "key", "near"),
    [
        (HEAD + SINGLE + 'role = "canry"\n', "cell[0].role", "'canary'"),
        (
            HEAD + SINGLE + rule('name = "other"', "any") + rule('name = "no"', "tooshort"),
            "rule[1].expect",
            "'too_short'",
        ),
    ],
)
def test_wrong_word_of_a_role_or_rule_is_named_even_if_nothing_matches(
    text: str, key: str, near: str
) -> None:
    error = error_of(text)
    assert f"key '{key}': unknown value" in error.message
    assert near in error.hint


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("mips = [250]", 'mips = ["fast"]'),
        ("cores = [1]", "cores = [1.5]"),
        ("cores = [1]", "cores = 1"),
        ('job = ["write"]', "job = [5]"),
    ],
)
def test_wrong_type_names_the_key(old: str, new: str) -> None:
    error = error_of(HEAD + GROUP.replace(old, new))
    assert f".over.{old.split()[0]}" in error.message


@pytest.mark.parametrize("key", ["mips", "cores", "job", "chip"])
@pytest.mark.parametrize("strength", ["", "strength = 2\n"])
def test_empty_dimension_is_named(key: str, strength: str) -> None:
    lines = [f"{key} = []\n" if line.startswith(key) else f"{line}\n" for line in OVER.splitlines()]
    error = error_of(f'{HEAD}[[group]]\nname = "g"\n{strength}[group.over]\n{"".join(lines)}')
    assert f"key 'group[0].over.{key}' is empty" in error.message


@pytest.mark.parametrize(
    "text", [HEAD, HEAD.replace('"bundled", "debian:trixie"', "") + GROUP + SINGLE]
)
def test_plan_without_cells_is_refused(text: str) -> None:
    assert "names no cell" in error_of(text).message


def test_group_that_is_impossible_as_a_whole_is_refused() -> None:
    assert "names no cell" in error_of(HEAD + GROUP + 'load = ["busy-siblings"]\n').message


def test_siblings_on_one_core_of_a_named_cell_are_refused() -> None:
    error = error_of(HEAD + SINGLE.replace("cores = 1", 'cores = 1, load = "busy-siblings"'))
    assert "key 'cell[0].at.load' asks for more cores" in error.message
    assert "'cell[0].at.cores'" in error.hint


@pytest.mark.parametrize("missing", ["mips", "cores", "job", "chip"])
def test_missing_dimension_is_named(missing: str) -> None:
    kept = [line for line in OVER.splitlines() if not line.startswith(missing)]
    error = error_of(f'{HEAD}[[group]]\nname = "g"\n[group.over]\n' + "\n".join(kept) + "\n")
    assert f".over.{missing}' is missing" in error.message


ONE_CELL = """\
schema = 1
about = "x"
subjects = ["bundled"]
[[cell]]
name = "NAME"
at = { mips = 250, cores = 1, job = "write", chip = "W25Q128JV" }
"""


@pytest.mark.parametrize("name", ["", "../../x", "a b", "a.b", "-x", "x" * 65, "\\u0000"])
def test_name_that_is_unfit_for_a_folder_is_refused(name: str) -> None:
    error = error_of(ONE_CELL.replace("NAME", name))
    assert "key 'cell[0].name'" in error.message


def test_rule_over_everything_leaves_canaries_and_controls_alone() -> None:
    rule = '[[rule]]\nwhen = {}\nexpect = "any"\nreason = "x"\n'
    for role, expect in (("canary", Expect.TOO_SHORT), ("control", Expect.PASS)):
        text = ONE_CELL.replace("NAME", "x").replace("at =", f'role = "{role}"\nat =')
        (cell,) = cells_of(text + rule)
        assert cell.expect is expect


def test_two_cells_of_one_name_that_differ_in_role_are_refused() -> None:
    cell = ONE_CELL.replace("NAME", "x")
    canary = cell[cell.index("[[cell]]") :].replace("at =", 'role = "canary"\nat =')
    assert "differ in role" in error_of(cell + canary).message


HAZARDS = 'hazards = ["none", "busy-siblings+link:baud=115200", "low-res-timers"]\n'


def test_hazards_are_a_dimension_whose_choices_are_sets() -> None:
    text = GROUP.replace("cores = [1]", "cores = [1, 2]") + HAZARDS
    assert [(cell.cores, cell.hazards) for cell in cells_of(HEAD + text, "bundled")] == [
        (1, ()),
        (1, ("low-res-timers",)),
        (2, ()),
        (2, ("busy-siblings", "link:baud=115200")),
        (2, ("low-res-timers",)),
    ]


def test_covering_array_leaves_out_hazards_that_need_more_cores() -> None:
    text = GROUP.replace("cores = [1]", "cores = [1, 2]").replace(
        "[group.over]", "strength = 2\n[group.over]"
    )
    cells = cells_of(HEAD + text + HAZARDS, "bundled")
    assert {cell.cores for cell in cells if "busy-siblings" in cell.hazards} == {2}


def test_timers_load_and_hazards_make_one_set() -> None:
    at = f'{AT}, timers = "low-res", hazards = "link:baud=9600"'
    (cell, _) = cells_of(HEAD + SINGLE.replace(AT, at))
    assert cell.hazards == ("low-res-timers", "link:baud=9600")


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
def test_rule_matches_hazards_that_the_set_holds(pattern: str, matched: int) -> None:
    text = GROUP.replace("cores = [1]", "cores = [2]") + HAZARDS
    cells = cells_of(HEAD + text + rule(f'hazards = "{pattern}"', "any"), "bundled")
    assert [cell.expect for cell in cells].count(Expect.ANY) == matched


@pytest.mark.parametrize(
    ("hazards", "says"),
    [("busy", "unknown hazard 'busy'"), ("link:baud=1+link:baud=2", "exclude each other")],
)
def test_hazards_that_are_none_name_the_key(hazards: str, says: str) -> None:
    error = error_of(HEAD + GROUP + f'hazards = ["{hazards}"]\n')
    assert "key 'group[0].over.hazards'" in error.message
    assert says in error.message


def test_one_architecture_alone_moves_no_other_dimension() -> None:
    over = OVER.replace("[250]", "[250, 62]").replace("[1]", "[1, 2]") + 'corner = ["typ", "max"]\n'
    group = f'{HEAD}[[group]]\nname = "g"\nstrength = 2\n[group.over]\n{over}'
    arm64 = cells_of(group + 'arch = ["arm64"]\n')
    assert [msgspec.structs.replace(cell, arch=Arch.X86_64) for cell in arm64] == cells_of(group)
    assert all(".arm64." in cell.id for cell in arm64)


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ('hazards = "clocksource:hpet", arch = "arm64"', "'clocksource:hpet' is not for arm64"),
        ('hazards = "preempt-rt", arch = "i386"', "'preempt-rt' is not for i386"),
        ('hazards = "signals:20", arch = "i386"', "'signals:20' is not for i386"),
        ('arch = "armhf"', "unknown value 'armhf'"),
    ],
)
def test_what_an_architecture_does_not_have_is_refused(choice: str, words: str) -> None:
    assert words in error_of(HEAD + SINGLE.replace(AT, f"{AT}, {choice}")).message


def test_delay_witness_is_refused_where_it_cannot_probe() -> None:
    single = SINGLE.replace(AT, f'{AT}, arch = "arm64"') + 'witness = "delay"\n'
    assert "delay witness" in error_of(HEAD + single).message


def test_rule_may_be_about_an_architecture() -> None:
    group = GROUP + 'arch = ["i386", "arm64"]\n'
    cells = cells_of(HEAD + group + rule('arch = "arm64"', "any"), "bundled")
    assert [cell.expect for cell in cells] == [Expect.PASS, Expect.ANY]


LIVE = HEAD.replace("subjects", 'lane = "live"\nsubjects')


def live(at: str) -> str:
    return LIVE + f'[[cell]]\nname = "x"\nat = {{ job = "write", chip = "W25Q128JV", {at} }}\n'


def test_mips_of_a_live_cell_is_the_speed_of_each_core() -> None:
    cell = cells_of(live("mips = 20, cores = 2"), "bundled")[0]
    assert (cell.mips, cell.cores) == ([20.0, 20.0], 2)
    assert ".live.20mips.2c." in cell.id


def test_machine_says_how_many_cores_and_how_fast() -> None:
    cell = cells_of(live('machine = "10:40"'), "bundled")[0]
    assert (cell.mips, cell.cores) == ([10.0, 40.0], 2)
    assert ".live.10-40.2c." in cell.id


@pytest.mark.parametrize(
    ("at", "says"),
    [
        ('machine = "mt8713"', "unknown machine 'mt8713'"),
        ('machine = "10:40", mips = 20', "key 'cell[0].at.mips' stands beside"),
        ("mips = 20", "key 'cell[0].at.cores' is missing"),
        ("cores = 2", "key 'cell[0].at.mips' is missing"),
        ("cores = 2, mips = 0.5", "key 'cell[0].at.mips' is 0.5"),
    ],
)
def test_live_cell_of_no_clear_speed_is_refused(at: str, says: str) -> None:
    assert says in error_of(live(at)).message


def test_machine_on_the_virtual_lane_is_refused() -> None:
    error = error_of(live('machine = "10:40"').replace('"live"', '"virtual"', 1))
    assert "machines are for the live lane" in error.message


def test_rule_may_be_about_a_lane() -> None:
    rules = rule('lane = "live"', "any")
    text = live("mips = 20, cores = 2") + rules
    assert {cell.expect for cell in cells_of(text, "bundled")} == {Expect.ANY}
