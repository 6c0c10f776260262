# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer of `rig/rig threshold`: its words, priorities, lists of machines, odd guests."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from delayrig.base.errors import BadInputError, ExitCode
from delayrig.features.threshold.answer import Answer, Fit, answer_of
from delayrig.features.threshold.builds import asks_for_priority
from delayrig.features.threshold.command import PRESENT_CODES, exit_code_of, threshold
from delayrig.features.threshold.figures import Cost, Standing
from delayrig.features.threshold.guests import (
    PRESETS,
    check_weights,
    parse_guest,
    preset_words,
    read_machines,
    weights_of,
)
from delayrig.features.threshold.page import threshold_page
from delayrig.features.threshold.recommendation_text import build_words
from delayrig.features.threshold.terminal import print_answer
from msgspec.structs import replace

from tests.rig.answered import make_answer, make_cost, make_evidence, make_sleep_facts
from tests.rig.builders import MS, SECOND
from tests.rig.reported import shown
from tests.rig.running import run
from tests.rig.upstream_tree import RELEASES, laid_out

OPTION = "-Ddelay_minimum_sleep_us="
MACHINES = """\
schema = 1
present_us = 100
[[machine]]
name = "the office"
guest = "1000x2"
weight = 3
[[machine]]
name = "old boards"
guest = "62x1"
[[machine]]
name = "older boards"
guest = "62x1"
"""
OFFICE, BOARDS = "1000 MIPS, 2 cores", "62 MIPS, 1 core"


def printed(**changes: object) -> list[str]:
    """Returns the lines that the terminal shows of an answer with the changes."""
    changed = replace(make_answer(), **changes)
    return shown(lambda console: print_answer(changed, console, out="out")).splitlines()


def test_answer_comes_first_then_the_build_lines_then_the_reasons() -> None:
    answer, lines = make_answer(), printed()
    assert lines[0] == answer.lines[0]
    assert answer.recommended_us is not None
    assert [line.strip() for line in lines[1:3]] == list(build_words(answer.recommended_us))
    sure = lines.index(answer.sureness[0])
    profiles = dict.fromkeys(cost.profile for cost in answer.costs)
    heads = [lines.index(profile) for profile in profiles]
    assert 1 < sure < heads[0] < heads[1]
    assert lines[-1].startswith("results: out/")


def test_build_lines_need_a_value_and_say_if_it_is_upstreams_default() -> None:
    assert not any(OPTION in line for line in printed(recommended_us=None))
    assert any("since 1.5 it is the default" in line for line in printed(recommended_us=100))
    assert not any("it is the default" in line for line in printed(recommended_us=1000))


def test_page_has_the_build_lines_then_the_chart_then_the_reasons() -> None:
    page = threshold_page(make_answer()).decode()
    places = [page.index(word) for word in (OPTION, "<svg", "Why this one</h2>")]
    assert places == sorted(places)


def test_page_shows_a_profile_in_which_nothing_is_safe() -> None:
    doubt = {"standing": Standing.DOUBT, "why": "hung in x"}
    answer = answered([replace(cost, **doubt) for cost in costs(BOARDS, *EQUALS)])
    assert exit_code_of(answer) is ExitCode.INCONCLUSIVE
    assert BOARDS in threshold_page(answer).decode()


@pytest.mark.parametrize("release", ["1.4", "1.6", "1.7", "1.8"])
def test_printed_line_of_meson_builds_a_tree_with_that_threshold(
    release: str, tmp_path: Path
) -> None:
    tree = laid_out(RELEASES[release](), tmp_path)
    run_in_shell(build_words(1000)[0], tree)
    assert "SLEEP_US=1000" in (tree / "build-1000us" / "compile_commands.json").read_text()
    assert (tree / "build-1000us" / "flashrom").is_file()


def test_printed_line_of_make_builds_a_tree_with_that_threshold(tmp_path: Path) -> None:
    tree = laid_out(RELEASES["1.4"](), tmp_path)
    output = run_in_shell(build_words(1000)[1], tree)
    assert "-Werror" in output
    assert "SLEEP_US=1000" in output
    assert "SLEEP_US=100000" not in output
    assert (tree / "flashrom").is_file()


def run_in_shell(line: str, folder: Path) -> str:
    """Runs the line in a shell, where it must succeed; returns its standard output."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = run("sh", "-c", line, cwd=folder, env={**os.environ, "PATH": path})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def costs(profile: str, *figures: tuple[int, int, int]) -> list[Cost]:
    return [make_cost(*figure, profile) for figure in figures]


def answered(found: list[Cost], **changes: object) -> Answer:
    return answer_of(make_evidence(found, **changes))


EQUALS = ((10, 1000, 100), (100, 1000, 100), (1000, 1000, 100))


def test_sleeps_are_judged_at_the_priority_of_the_program() -> None:
    found = costs(OFFICE, *EQUALS)
    raising, staying = answered(found), answered(found, realtime=False)
    assert (raising.recommended_us, staying.recommended_us) == (100, 1000)
    assert any("at normal priority, which this flashrom keeps" in line for line in staying.lines)
    assert not any("SCHED_FIFO" in finding.claim for finding in staying.findings)


def test_a_program_that_sets_no_policy_stays_at_normal_priority(tmp_path: Path) -> None:
    for name, call in (("staying", "0"), ("raising", "sched_setscheduler(0, 1, &param)")):
        text = (
            "#define _GNU_SOURCE\n#include <sched.h>\n"
            "int main(void)\n{\nstruct sched_param param = {1};\n(void)param;\n"
            f"return {call};\n}}\n"
        )
        (tmp_path / f"{name}.c").write_text(text)
        subprocess.run(["cc", "-o", name, f"{name}.c"], cwd=tmp_path, check=True)
    assert not asks_for_priority(tmp_path / "staying")
    assert asks_for_priority(tmp_path / "raising")


def listed(tmp_path: Path, text: str = MACHINES) -> Path:
    (tmp_path / "list.toml").write_text(text)
    return tmp_path / "list.toml"


def test_machines_of_one_profile_are_joined_under_both_names(tmp_path: Path) -> None:
    found = read_machines(listed(tmp_path))
    assert found.weights == {OFFICE: 3, BOARDS: 2}
    assert found.names == {OFFICE: "the office", BOARDS: "old boards and older boards"}


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("1000x2", "1000", "--guest '1000'"),
        ("weight = 3", "weight = -1", "machine 'the office': weight"),
        ("schema = 1", "schema = 2", "key 'schema' is 2"),
        (MACHINES, "schema = 1\nmachine = []\n", r"looked for a \[\[machine\]\]"),
    ],
)
def test_invalid_list_of_machines_is_named(old: str, new: str, named: str, tmp_path: Path) -> None:
    path = listed(tmp_path, MACHINES.replace(old, new))
    with pytest.raises(BadInputError, match=named) as error:
        read_machines(path)
    assert str(path) in error.value.message


def of_list(tmp_path: Path, *boards: tuple[int, int, int], **changes: object) -> Answer:
    found = read_machines(listed(tmp_path))
    return answered(
        [*costs(OFFICE, *EQUALS), *costs(BOARDS, *boards)],
        weights=found.weights,
        machines=found.names,
        present_us=found.present_us,
        **changes,
    )


def test_present_value_fits_if_it_costs_no_more_than_the_rule_allows(tmp_path: Path) -> None:
    answer = of_list(tmp_path, *EQUALS)
    assert answer.present
    assert (answer.present.fit, exit_code_of(answer)) == (Fit.YES, ExitCode.PASS)
    assert answer.present.words.startswith("Yes: 100 us ")


def test_present_value_does_not_fit_if_a_machine_pays_and_the_machine_is_named(
    tmp_path: Path,
) -> None:
    boards = [(10, SECOND, 100 * MS), (100, SECOND, 200 * MS), (1000, SECOND, 100 * MS)]
    answer = of_list(tmp_path, *boards)
    assert answer.present
    assert (answer.present.fit, exit_code_of(answer)) == (Fit.NO, ExitCode.SLOWER)
    words = answer.present.words
    assert words.startswith("No: 100 us does not fit. Decided by old boards and older boards:")
    assert "+0.0 % of time and +100.0 % of CPU time" in words
    assert "1,000 us (0.200 s beside 0.100 s;" in words


def test_an_unsafe_present_value_is_refused_however_quick_it_is(tmp_path: Path) -> None:
    found = read_machines(listed(tmp_path))
    bad = [
        replace(cost, standing=Standing.UNSAFE, why="too_short in x")
        if (cost.profile, cost.value_us) == (BOARDS, 100)
        else cost
        for name in (OFFICE, BOARDS)
        for cost in costs(name, *EQUALS)
    ]
    answer = answered(bad, machines=found.names, present_us=100)
    assert answer.present
    assert exit_code_of(answer) is ExitCode.UNSAFE
    assert "is unsafe on old boards and older boards, which decides" in answer.present.words


def test_help_names_each_exit_code_of_a_list_of_machines() -> None:
    text = (threshold.help or "").partition("--machines")[2]
    assert all(f"{code:d} where" in text for code in PRESENT_CODES.values())


COMMON = ("1000 MIPS, 1 core", "250 MIPS, 1 core")
ODD = "62 MIPS, 1 core, low-res-timers"
COSTS = [
    *(make_cost(100, 1000, 100, name) for name in COMMON),
    *(make_cost(1000, 1000, 190, name) for name in COMMON),
    *(make_cost(100, 1500, 100, ODD), make_cost(1000, 1000, 110, ODD)),
]
"""The costs on three guests. On ODD each sleep lasts to the next tick, so 100 us are too slow."""


def answer(costs: list[Cost], **weights: int) -> Answer:
    names = {"fast": COMMON[0], "slow": COMMON[1], "odd": ODD}
    return answered(
        costs,
        costs_by_round=[costs] * 3,
        sleep={ODD: make_sleep_facts(normal=10**7, slack=10**7, fifo=10**7)},
        weights={names[name]: weight for name, weight in weights.items()},
    )


def test_one_odd_guest_is_named_and_does_not_decide() -> None:
    made = answer(COSTS)
    assert made.recommended_us == 100
    assert made.lines[0].startswith(f"100 us, leaving out {ODD}: the fastest in every profile,")
    words = made.lines[1]
    assert words.startswith(f"{ODD} is the odd one.")
    assert "take 1,000 us" in words
    assert f"+90.0 % of CPU time (on {COMMON[1]}) and +0.0 % of time." in words
    assert "100 us costs it -9.1 % of CPU time and +50.0 % of time." in words
    assert [profile.common for profile in made.profiles] == [True, True, False]
    assert [(odd.profile, odd.followed_us) for odd in made.odd] == [(ODD, 1000)]


def test_odd_guest_is_followed_if_its_value_costs_the_others_nothing() -> None:
    alike = [*(make_cost(1000, 1000, 104, name) for name in COMMON), *COSTS[:2], *COSTS[4:]]
    made = answer(sorted(alike, key=lambda cost: (cost.profile == ODD, cost.value_us)))
    assert (made.recommended_us, made.odd) == (1000, [])


def test_guests_with_more_weight_decide_and_the_guest_that_pays_is_named() -> None:
    made = answer(COSTS, odd=2)
    assert made.recommended_us == 1000
    assert f"(on {COMMON[1]} +90.0 % beside" in made.lines[0]
    assert [line for line in made.lines if "compromise" in line] == [
        f"It is a compromise: {name} pays +90.0 % of CPU time and +0.0 % of time beside its own"
        " best, 100 us. `--weight` says which profile counts more."
        for name in COMMON
    ]
    assert answer(COSTS, odd=5).lines[1:3] == made.lines[1:3]


def test_value_that_is_unsafe_on_a_guest_of_weight_0_is_not_recommended() -> None:
    unsafe = [*COSTS[:4], replace(COSTS[4], standing=Standing.UNSAFE), COSTS[5]]
    assert answer(COSTS, odd=0).recommended_us == 100
    assert answer(COSTS, odd=0).odd == []
    assert answer(unsafe, odd=0).recommended_us == 1000


def test_each_profile_has_the_cost_of_the_common_value() -> None:
    odd = answer(COSTS).profiles[2]
    assert odd.recommended_us == 1000
    assert odd.here is not None
    assert (odd.here.time, round(odd.here.cpu, 3)) == (0.5, -0.091)
    assert odd.others is not None
    assert odd.others.cpu == 0.9


def test_presets_are_valid_guests_and_given_weights_replace_theirs() -> None:
    for name, guests in PRESETS.items():
        names = [parse_guest(word).name for word in preset_words([name])]
        assert names == list(weights_of([name], []))
        assert all(guests.values())
    weights = weights_of(["sbc"], ["62x1:low-res-timers=7", "31x1=2"])
    assert (weights[ODD], weights["31 MIPS, 1 core"], weights["250 MIPS, 4 cores"]) == (7, 2, 3)


@pytest.mark.parametrize("word", ["250x1", "250x1=", "=2", "250x1=-1", "250x1=1001", "7x1=2"])
def test_invalid_weight_is_named_with_its_option(word: str) -> None:
    with pytest.raises(BadInputError, match="--weight") as caught:
        weights_of([], [word])
    assert caught.value.hint


def test_weight_of_a_guest_without_jobs_is_refused() -> None:
    check_weights({ODD: 0}, [ODD, *COMMON])
    with pytest.raises(BadInputError, match="no job runs on"):
        check_weights({"4 MIPS, 1 core": 2}, COMMON)
    with pytest.raises(BadInputError, match="weight of 0"):
        check_weights({ODD: 0}, [ODD])
