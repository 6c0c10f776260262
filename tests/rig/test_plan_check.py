# SPDX-License-Identifier: GPL-2.0-or-later
"""Mistakes in plans, and the messages about them."""

from pathlib import Path

import pytest
from delayrig.base.errors import BadInputError
from delayrig.plan.schema import find_plan, read_plan

from tests.rig.plan_texts import AT, GROUP, HEAD, OVER, SINGLE, cells_of, error_of, live, rule


@pytest.mark.parametrize("strength", [-1, 0, 11])
def test_strength_beyond_the_dimensions_is_refused(strength: int) -> None:
    error = error_of(HEAD + GROUP.replace("[group.over]", f"strength = {strength}\n[group.over]"))
    assert f"key 'group[0].strength' is {strength}" in error.message
    assert "1 to 10" in error.hint


def test_canaries_of_adds_canaries_and_controls_of_a_shipped_plan(tmp_path: Path) -> None:
    file, text = tmp_path / "my.toml", HEAD + 'canaries_of = "smoke"\n' + SINGLE
    file.write_text(text, encoding="utf-8")
    own, *judging = read_plan(file).cell
    assert own.name == "s"
    shipped = [cell for cell in read_plan(find_plan("smoke")).cell if cell.role != "measure"]
    assert judging == shipped
    assert [cell.role for cell in judging] == ["canary", "control"] * 2
    file.write_text(text.replace("smoke", "smoky"), encoding="utf-8")
    with pytest.raises(BadInputError, match=f"{file}: key 'canaries_of': unknown plan") as caught:
        read_plan(file)
    assert "'smoke'" in caught.value.hint


def test_cells_of_one_name_with_two_questions_or_roles_are_refused() -> None:
    nor, eeprom = (
        SINGLE.replace("at =", f'must_answer = "{question}"\nat =')
        for question in ("SPI NOR", "EEPROM")
    )
    error = error_of(HEAD + nor + eeprom)
    assert "key 'cell[1].must_answer' is 'EEPROM', and other cells called 's'" in error.message
    assert "another name" in error.hint
    canary = SINGLE + 'role = "canary"\n'
    assert "differ in role" in error_of(HEAD + SINGLE + canary).message


@pytest.mark.parametrize("content_bytes", [-1, 4097])
def test_content_that_does_not_fit_the_region_names_its_key(content_bytes: int) -> None:
    error = error_of(HEAD + SINGLE + f"region_kib = 4\ncontent_bytes = {content_bytes}\n")
    assert f"key 'cell[0].content_bytes' is {content_bytes}" in error.message
    assert "1 to 4096 bytes" in error.hint


@pytest.mark.parametrize("region_kib", [-1, 0, 16385])
def test_impossible_region_names_its_key(region_kib: int) -> None:
    key = f"region_kib = {region_kib}\n"
    for owner, text in (
        ("cell", SINGLE + key),
        ("group", GROUP.replace("[group.over]", f"{key}[group.over]")),
    ):
        assert f"key '{owner}[0].region_kib' is {region_kib}" in error_of(HEAD + text).message


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
def test_wrong_value_of_a_cell_or_a_group_names_key_and_remedy(
    old: str, new: str, key: str, remedy: str
) -> None:
    error = error_of(HEAD + GROUP + SINGLE.replace(old, new))
    assert f"key 'cell[0].at.{key}'" in error.message
    assert remedy in error.hint
    pairs = [part.split(" = ") for part in AT.replace(old, new).split(", ")]
    over = "".join(f"{name} = [{value}]\n" for name, value in pairs)
    error = error_of(f'{HEAD}{GROUP}[[group]]\nname = "h"\n[group.over]\n{over}')
    assert f"key 'group[1].over.{key}'" in error.message
    assert remedy in error.hint


RULES_WITHOUT_A_CELL = rule('name = "other"', "any") + rule('name = "no"', "tooshort")


@pytest.mark.parametrize(
    ("text", "key", "near"),
    [
        ('role = "canry"\n', "cell[0].role", "'canary'"),
        (RULES_WITHOUT_A_CELL, "rule[1].expect", "'too_short'"),
    ],
)
def test_unknown_role_or_expectation_is_named_even_if_no_cell_matches(
    text: str, key: str, near: str
) -> None:
    error = error_of(HEAD + SINGLE + text)
    assert f"key '{key}': unknown value" in error.message
    assert near in error.hint


@pytest.mark.parametrize(
    ("key", "pattern", "remedy"),
    [
        ("chip", "W25Q128JVV", "'W25Q128JV'"),
        ("chip", "M25Q*", "rig/rig chips"),
        ("load", "bussy-siblings", "'busy-siblings'"),
        ("load", "bussy*", "busy-siblings"),
        ("timers", "lowres", "'low-res'"),
        ("kernel", "6.13", "6.12"),
        ("lane", "vitual", "'virtual'"),
        ("arch", "arm", "arm64"),
        ("job", "wrte*", "'write'"),
        ("corner", "slow:1", "slow:FACTOR"),
        ("corner", "drow:*", "draw:SEED"),
        ("hazards", "low-res-timers+singals:*", "signals"),
        ("hazards", "signals", "signals:RATE"),
    ],
)
def test_pattern_of_a_rule_that_no_value_can_match_names_key_and_remedy(
    key: str, pattern: str, remedy: str
) -> None:
    error = error_of(HEAD + SINGLE + rule(f'{key} = "{pattern}"', "any"))
    assert f"key 'rule[0].when.{key}'" in error.message
    assert remedy in error.hint


@pytest.mark.parametrize(
    ("key", "pattern"),
    [
        *(("chip", "W25*"), ("corner", "slow:[23]"), ("corner", "*:7"), ("kernel", "6.1?")),
        *(("hazards", "*"), ("hazards", "none"), ("hazards", "sig*0+[l]ink:*+stop-cont:1?")),
        *(("name", "other"), ("subject", "path:elsewhere")),
    ],
)
def test_pattern_of_a_rule_may_match_no_cell_of_the_plan(key: str, pattern: str) -> None:
    assert len(cells_of(HEAD + SINGLE + rule(f'{key} = "{pattern}"', "any"))) == 2


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
def test_missing_or_empty_dimension_is_named(key: str, strength: str) -> None:
    head = f'{HEAD}[[group]]\nname = "g"\n{strength}[group.over]\n'
    others = [line for line in OVER.splitlines(keepends=True) if not line.startswith(key)]
    error = error_of(head + "".join(others))
    assert f".over.{key}' is missing" in error.message
    error = error_of(head + "".join([*others, f"{key} = []\n"]))
    assert f"key 'group[0].over.{key}' is empty" in error.message


LIVE_CANARY = SINGLE.replace("at =", 'role = "canary"\nat =').replace(
    AT, f'{AT}, hazards = "hogs-each:2"'
)


@pytest.mark.parametrize("text", ["", GROUP + 'load = ["busy-siblings"]\n', LIVE_CANARY])
def test_plan_without_possible_cells_is_refused(text: str) -> None:
    assert "names no cell" in error_of(HEAD + text).message


@pytest.mark.parametrize(("text", "key"), [(GROUP, "group[0]"), (SINGLE, "cell[0]")])
def test_cell_or_group_without_a_subject_is_named(text: str, key: str) -> None:
    without = HEAD.replace('"bundled", "debian:trixie"', "")
    assert f"key '{key}': names no subject" in error_of(without + text).message


def test_plan_needs_no_subjects_where_its_cells_name_them() -> None:
    head = HEAD.replace('subjects = ["bundled", "debian:trixie"]\n', "")
    assert head != HEAD
    own = SINGLE.replace("]]\n", ']]\nsubject = "bundled"\n', 1)
    assert [cell.subject for cell in cells_of(head + own)] == ["bundled"]


def test_siblings_on_one_core_of_a_named_cell_are_refused() -> None:
    error = error_of(HEAD + SINGLE.replace("cores = 1", 'cores = 1, load = "busy-siblings"'))
    assert "key 'cell[0].at.load' asks for more cores" in error.message
    assert "'cell[0].at.cores'" in error.hint


@pytest.mark.parametrize("name", ["", "../../x", "a b", "a.b", "-x", "x" * 65, "\\u0000"])
def test_name_that_is_unfit_for_a_folder_is_refused(name: str) -> None:
    error = error_of(HEAD + SINGLE.replace('"s"', f'"{name}"'))
    assert "key 'cell[0].name'" in error.message


@pytest.mark.parametrize(
    ("hazards", "message"),
    [("busy", "unknown hazard 'busy'"), ("link:baud=1+link:baud=2", "exclude each other")],
)
def test_invalid_hazards_name_the_key(hazards: str, message: str) -> None:
    error = error_of(HEAD + GROUP + f'hazards = ["{hazards}"]\n')
    assert "key 'group[0].over.hazards'" in error.message
    assert message in error.message


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ('hazards = "clocksource:hpet", arch = "arm64"', "'clocksource:hpet' is not for arm64"),
        ('hazards = "no-nohz", arch = "arm64"', "'no-nohz' is not for arm64"),
        ('hazards = "preempt-rt", arch = "i386"', "'preempt-rt' is not for i386"),
        ('hazards = "signals:20", arch = "i386"', "'signals:20' is not for i386"),
        ('kernel = "6.12", arch = "armhf"', "'kernel:6.12' is not for armhf"),
        ('hazards = "low-res-timers+no-nohz", arch = "riscv64"', "'no-nohz' is not for riscv64"),
        ('arch = "ppc64el"', "unknown value 'ppc64el'"),
    ],
)
def test_choice_that_the_architecture_lacks_is_refused(choice: str, message: str) -> None:
    assert message in error_of(HEAD + SINGLE.replace(AT, f"{AT}, {choice}")).message


@pytest.mark.parametrize(
    ("at", "message"),
    [
        *((f'machine = "{name}"', f"unknown machine '{name}'") for name in ("mt8713", "10:x")),
        ('machine = "10:40", mips = 20', "key 'cell[0].at.mips' cannot be used with"),
        ("mips = 20", "key 'cell[0].at.cores' is missing"),
        ("cores = 2", "key 'cell[0].at.mips' is missing"),
        ("cores = 2, mips = 0.5", "key 'cell[0].at.mips' is 0.5"),
    ],
)
def test_live_cell_without_a_valid_speed_is_refused(at: str, message: str) -> None:
    assert message in error_of(live(at)).message


def test_machine_on_the_virtual_lane_is_refused() -> None:
    error = error_of(live('machine = "10:40"').replace('"live"', '"virtual"', 1))
    assert "machines are for the live lane" in error.message


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("group[0].over", GROUP + 'load = ["busy-siblings"]\nhazards = ["BOTH"]\n'),
        ("cell[0].at", SINGLE.replace(AT, f'{AT}, load = "busy-siblings", hazards = "BOTH"')),
    ],
)
def test_load_and_hazards_that_exclude_each_other_name_the_key(key: str, text: str) -> None:
    error = error_of(HEAD + text.replace("BOTH", "busy-siblings:100-200"))
    beginning = f"my.toml: key '{key}.hazards': hazards busy-siblings:100-200 and "
    assert error.message.startswith(beginning)
    assert "exclude each other" in error.message
