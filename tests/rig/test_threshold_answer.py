# SPDX-License-Identifier: GPL-2.0-or-later
"""The head of a threshold's answer, which packagers read: the value, and the build command."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from delayrig.base.errors import BadInputError, ExitCode
from delayrig.features.threshold.answer import Answer, answer_of
from delayrig.features.threshold.builds import asks_for_priority
from delayrig.features.threshold.command import exit_code_of
from delayrig.features.threshold.figures import Cost, Evidence, Standing
from delayrig.features.threshold.machine_list import read_machines
from delayrig.features.threshold.page import threshold_page
from delayrig.features.threshold.present_value import Fit
from delayrig.features.threshold.recommendation_text import build_words
from delayrig.features.threshold.terminal import print_answer
from delayrig.model.result import HostFacts
from msgspec.structs import replace
from rich.console import Console

from tests.rig.answered import make_answer, make_sleep_facts
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
    """Returns the lines of the answer."""
    console = Console(file=io.StringIO(), width=80, no_color=True)
    print_answer(replace(make_answer(), **changes), console, out="out")
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def test_answer_comes_first_then_the_lines_for_the_build_then_what_they_rest_on() -> None:
    answer, lines = make_answer(), printed()
    assert lines[0] == answer.lines[0]
    assert answer.recommended_us is not None
    assert [line.strip() for line in lines[1:3]] == list(build_words(answer.recommended_us))
    sure = lines.index(answer.sureness[0])
    profiles = dict.fromkeys(cost.profile for cost in answer.costs)
    heads = [lines.index(profile) for profile in profiles]
    assert 1 < sure < heads[0] < heads[1]
    assert lines[-1].startswith("results: out/")


def test_without_a_value_there_is_nothing_to_build() -> None:
    assert not any(OPTION in line for line in printed(recommended_us=None))


def test_page_has_the_lines_for_the_build_then_the_chart_then_the_reasons() -> None:
    page = threshold_page(make_answer()).decode()
    places = [page.index(word) for word in (OPTION, "<svg", "Why this one</h2>")]
    assert places == sorted(places)


def test_upstreams_own_default_is_said_to_be_that() -> None:
    assert any("since 1.5 it is the default" in line for line in printed(recommended_us=100))
    assert not any("it is the default" in line for line in printed(recommended_us=1000))


@pytest.mark.parametrize("release", ["1.4", "1.6", "1.7", "1.8"])
def test_printed_line_of_meson_builds_a_tree_with_that_threshold(
    release: str, tmp_path: Path
) -> None:
    tree = laid_out(RELEASES[release](), tmp_path)
    pasted(build_words(1000)[0], tree)
    assert "SLEEP_US=1000" in (tree / "build-1000us" / "compile_commands.json").read_text()
    assert (tree / "build-1000us" / "flashrom").is_file()


def test_printed_line_of_make_builds_a_tree_with_that_threshold(tmp_path: Path) -> None:
    tree = laid_out(RELEASES["1.4"](), tmp_path)
    said = pasted(build_words(1000)[1], tree)
    assert "-Werror" in said
    assert "SLEEP_US=1000" in said
    assert "SLEEP_US=100000" not in said
    assert (tree / "flashrom").is_file()


def pasted(line: str, folder: Path) -> str:
    """Runs the line in a shell, where it must succeed; returns its output."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        line,
        shell=True,
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# Tests of the program's priority.


def costs(profile: str, *figures: tuple[int, int, int]) -> list[Cost]:
    return [
        Cost(
            value_us=value,
            profile=profile,
            standing=Standing.SAFE,
            why="",
            time_ns=time,
            cpu_ns=cpu,
            chip_busy_ns=0,
            wakeups=1,
            overshoot_ns=0,
            margin_ns=None,
        )
        for value, time, cpu in figures
    ]


def answered(found: list[Cost], **changes: object) -> Answer:
    facts = make_sleep_facts(normal=60_000, slack=5_000, fifo=4_000)
    evidence = Evidence(
        subject="bundled",
        lane="virtual",
        seed=1,
        jobs=["write"],
        costs=found,
        costs_by_round=[found],
        sleep=dict.fromkeys({cost.profile for cost in found}, facts),
        doubts=[],
        host=HostFacts(cpus=2, kernel="6.1", machine="x86_64", os="Debian"),
    )
    return answer_of(replace(evidence, **changes))


EQUALS = ((10, 1000, 100), (100, 1000, 100), (1000, 1000, 100))


def test_sleeps_are_judged_by_the_priority_that_the_program_has() -> None:
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


# Tests of a list of machines.


def listed(tmp_path: Path, text: str = MACHINES) -> Path:
    (tmp_path / "list.toml").write_text(text)
    return tmp_path / "list.toml"


def test_machines_of_one_profile_count_together_under_both_names(tmp_path: Path) -> None:
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
def test_a_list_that_is_none_is_named(old: str, new: str, named: str, tmp_path: Path) -> None:
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


def test_the_present_value_fits_where_it_costs_no_more_than_the_rule_allows(
    tmp_path: Path,
) -> None:
    answer = of_list(tmp_path, *EQUALS)
    assert answer.present
    assert (answer.present.fit, exit_code_of(answer)) == (Fit.YES, ExitCode.PASS)
    assert answer.present.words == (
        "Yes: 100 us is the value to take on these machines. Each of them alone would take it as"
        " well."
    )


def test_the_present_value_does_not_fit_where_a_machine_pays_and_that_is_named(
    tmp_path: Path,
) -> None:
    answer = of_list(tmp_path, (10, 1000, 100), (100, 1000, 200), (1000, 1000, 100))
    assert answer.present
    assert (answer.present.fit, exit_code_of(answer)) == (Fit.NO, ExitCode.SLOWER)
    assert answer.present.words.startswith(
        "No: 100 us does not fit. old boards and older boards decides: it takes +0.0 % of time and"
        " +100.0 % of CPU time there"
    )


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
