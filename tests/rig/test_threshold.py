# SPDX-License-Identifier: GPL-2.0-or-later
"""Thresholds: the rule at its boundaries, users' values and programs, figures, and folders."""

import asyncio
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from delayrig.base.atomic_file import write_json
from delayrig.base.errors import BadInputError
from delayrig.base.paths import find_paths
from delayrig.features.threshold.answer import answer_of
from delayrig.features.threshold.builds import (
    DEFAULT,
    Candidate,
    build_candidates,
    check_command,
    given_candidates,
    parse_values,
    provide_own,
)
from delayrig.features.threshold.figures import Measured, Standing, costs_of
from delayrig.features.threshold.guests import job_of, moved, parse_guest, profile_of
from delayrig.features.threshold.recommend import recommend, safe_costs, with_fronts
from delayrig.features.threshold.recommendation_text import share
from delayrig.features.threshold.sleep_facts import FIFO, NORMAL, SLACK, reasoning
from delayrig.features.threshold.trials import (
    Trials,
    claim_folder,
    plan_trials,
    rig_digest,
    run_trials,
)
from delayrig.model.cell import Cell, Role
from delayrig.model.lane import LaneName
from delayrig.model.phases import TimeSplit
from delayrig.model.platform import Arch
from delayrig.model.result import Verdict, write_results
from delayrig.run.resume import CELL, RESULT

from tests.rig.answered import COARSE, FINE, make_cost, make_evidence, make_sleep_facts
from tests.rig.builders import MS, make_cell, make_result, request_of, run_of
from tests.rig.test_host_lane import Silent
from tests.rig.upstream_tree import laid_out


def test_an_unsafe_value_is_never_recommended_however_good_it_is() -> None:
    unsafe = make_cost(10, 1, 1, standing=Standing.UNSAFE)
    choice = recommend([unsafe, make_cost(100, 900, 900)], accurate_us=None)
    assert choice.value_us == 100
    assert choice.quick == (100,)
    assert recommend([unsafe], accurate_us=1).value_us is None
    assert recommend([], accurate_us=1).value_us is None


def test_exactly_2_percent_slower_and_5_percent_more_cpu_are_the_limits() -> None:
    costs = [make_cost(1000, 10_000, 900), make_cost(100, 10_200, 10), make_cost(10, 10_201, 1)]
    choice = recommend(costs, accurate_us=None)
    assert choice.quick == (100, 1000)
    assert choice.value_us == 100
    costs = [make_cost(1, 100, 10_000), make_cost(2, 100, 10_500), make_cost(3, 100, 10_501)]
    assert recommend(costs, accurate_us=None).frugal == (1, 2)


@pytest.mark.parametrize(("accurate_us", "us"), [(50, 50), (51, 100), (501, 500), (None, 500)])
def test_among_equals_the_smallest_accurate_value_is_recommended_else_the_largest(
    accurate_us: int | None, us: int
) -> None:
    costs = [make_cost(us, 100, 100) for us in (0, 50, 100, 500)]
    assert recommend(costs, accurate_us=accurate_us).value_us == us


def test_limit_is_relaxed_if_no_value_is_quick_in_every_profile() -> None:
    figures = {10: (100, 200), 100: (110, 110), 1000: (200, 100)}
    costs = [
        make_cost(value, time, 1, profile)
        for value, times in figures.items()
        for profile, time in zip("pq", times, strict=True)
    ]
    assert recommend(costs, accurate_us=None).quick == (100,)


def test_order_of_costs_changes_nothing() -> None:
    costs = [make_cost(us, 100 + us, 1000 - us) for us in (0, 1, 2, 50, 100)]
    assert recommend(costs, accurate_us=2) == recommend(costs[::-1], accurate_us=2)


def test_pareto_keeps_what_nothing_else_beats() -> None:
    points = [(0, 10, 5), (2, 10, 5), (10, 12, 5), (100, 8, 9), (1000, 8, 10)]
    found = with_fronts([make_cost(*point, profile) for point in points for profile in "pq"])
    assert [cost.value_us for cost in found if cost.on_front] == [0, 0, 2, 2, 100, 100]


def test_values_are_sorted() -> None:
    assert parse_values("100, 0,2") == [0, 2, 100]
    assert len(parse_values(DEFAULT)) == 9


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("10,x", "'x'"),
        ("1.5", "'1.5'"),
        ("", "''"),
        ("10,-5", "-5 is negative"),
        ("7,7", "7 is there twice"),
        ("4294967296", "4294967296"),
    ],
)
def test_invalid_value_is_named_with_its_option(text: str, named: str) -> None:
    with pytest.raises(BadInputError, match="--values") as caught:
        parse_values(text)
    assert named in caught.value.message
    assert caught.value.hint


def test_guest_has_a_speed_cores_and_hazards() -> None:
    guest = parse_guest("62x2:low-res-timers+busy-siblings")
    assert guest.name == "62 MIPS, 2 cores, low-res-timers, busy-siblings"


@pytest.mark.parametrize("word", ["62", "77x1", "62x3", "62x1:nonsense", "62x1:busy-siblings"])
def test_invalid_guest_is_named_with_its_option(word: str) -> None:
    with pytest.raises(BadInputError) as caught:
        parse_guest(word)
    assert f"--guest {word!r}" in caught.value.message
    assert caught.value.hint


def test_each_job_is_run_once_in_each_guest() -> None:
    cells = [make_cell(icount_shift=shift, cores=1) for shift in (0, 2)]
    cells += [make_cell(icount_shift=0, chip="M25P80")]
    guests = [parse_guest("250x1"), parse_guest("62x2")]
    found = moved(cells, guests)
    assert len({cell.id for cell in found}) == len(found) == 4
    assert {profile_of(cell).name for cell in found} == {guest.name for guest in guests}
    assert profile_of(make_cell(lane=LaneName.HOST)).name == "this machine"


@pytest.mark.long("two builds from nothing; quick: builds by a user's own command")
def test_only_values_that_were_not_built_before_are_built(tmp_path: Path) -> None:
    paths = find_paths()
    state = replace(paths, state=tmp_path)
    (tmp_path / "venv").symlink_to(paths.state / "venv")
    built: list[str] = []
    first = provide_own([7], state, built.append)
    both = provide_own([7, 4_294_967_295], state, built.append)
    assert both[0] == first[0]
    assert [text.partition(" of ")[2] for text in built] == ["7 us", "4294967295 us"]
    printed = subprocess.run([both[1].program, "--version"], capture_output=True, check=False)
    assert b"delay_minimum_sleep_us 4294967295 " in printed.stdout


def build(command: str, *values: int) -> list[Candidate]:
    return build_candidates(command, values, find_paths(), print)


@pytest.mark.parametrize(
    ("command", "values", "complaints", "hint"),
    [
        ("echo nothing-{threshold}", (10,), ["names no file"], "echo"),
        ("echo /bin/true # {threshold}", (0, 2), ["0 and 2 us are the same"], ""),
        (
            "echo first; echo worse >&2; exit 7 # {threshold}",
            (10,),
            ["--build for 10 us", "ended with 7", "first\n  worse"],
            "",
        ),
    ],
    ids=["no file", "one program", "failure"],
)
def test_build_that_fails_or_makes_no_new_program_is_refused(
    command: str, values: tuple[int, ...], complaints: list[str], hint: str
) -> None:
    with pytest.raises(BadInputError) as caught:
        build(command, *values)
    assert all(words in caught.value.message for words in complaints)
    assert hint in caught.value.hint


def test_build_command_without_the_threshold_is_refused() -> None:
    with pytest.raises(BadInputError, match="no \\{threshold\\} in"):
        check_command("make")


UPSTREAM = {
    "meson_options.txt": "option('delay_minimum_sleep_us', type : 'integer', value : 100)\n",
    "meson.build": (
        "project('flashrom', 'c')\n"
        "us = get_option('delay_minimum_sleep_us')\n"
        "macro = '-DCONFIG_DELAY_MINIMUM_SLEEP_US=@0@'.format(us)\n"
        "executable('flashrom', 'flashrom.c', c_args : macro)\n"
    ),
    "flashrom.c": "int main(void) { return CONFIG_DELAY_MINIMUM_SLEEP_US; }\n",
}
"""The smallest tree with flashrom's option and its macro, in files of the same names."""


@pytest.mark.parametrize("page", ["how-to/choose-a-threshold.md", "reference/command-line.txt"])
def test_documented_command_builds_a_tree_with_flashroms_own_option(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (find_paths().checkout / "rig" / "docs" / page).read_text(encoding="utf-8")
    found = re.search(r"--build '([^']+)'", text)
    assert found is not None
    monkeypatch.chdir(laid_out(UPSTREAM, tmp_path))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    candidates = build(found[1], 3, 7)
    assert [subprocess.run([each.program], check=False).returncode for each in candidates] == [3, 7]


def test_programs_that_a_build_overwrites_are_copied_before(tmp_path: Path) -> None:
    programs = {1: "/bin/true", 2: "/bin/false"}
    cases = " ".join(f"{value}) cp {path} {tmp_path}/p;;" for value, path in programs.items())
    found = build(f"case {{threshold}} in {cases} esac; echo {tmp_path}/p", 1, 2)
    assert [each.program.read_bytes() for each in found] == [
        Path(path).read_bytes() for path in programs.values()
    ]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["/bin/true"], "--binary"),
        (["5="], "--binary"),
        (["5=/nowhere/flashrom"], "--binary"),
        (["x=/bin/true"], "--binary"),
        (["5=/bin/true", "5=/bin/false"], "5 is there twice"),
    ],
)
def test_invalid_binary_option_is_refused(words: list[str], complaint: str) -> None:
    with pytest.raises(BadInputError, match=complaint):
        given_candidates(words)


def measured(
    value: int, *verdicts: Verdict, time_ns: int = 100 * MS, **of_cell: object
) -> Measured:
    cell = make_cell(subject=f"path:/f-{value}", **of_cell)
    results = [
        make_result(cell, verdict=verdict, time_ns=TimeSplit(total=time_ns + number))
        for number, verdict in enumerate(verdicts)
    ]
    return Measured(value_us=value, cell=cell, results=results, margin_ns=value)


def test_one_conviction_makes_a_value_unsafe_and_a_doubt_keeps_it_from_being_safe() -> None:
    seconds = (Verdict.TOO_SHORT, Verdict.INCONCLUSIVE, Verdict.PASS)
    found = costs_of([measured(us, Verdict.PASS, each) for us, each in enumerate(seconds, start=1)])
    assert [cost.standing for cost in found] == [Standing.UNSAFE, Standing.DOUBT, Standing.SAFE]
    assert [cost.value_us for cost in safe_costs(found)] == [3]


def test_jobs_are_summed_up_and_rounds_are_medians() -> None:
    rounds = [Verdict.PASS] * 3
    other = measured(1, *rounds, time_ns=1000, chip="M25P80")
    (cost,) = costs_of([measured(1, *rounds, time_ns=100), other])
    assert cost.time_ns == 101 + 1001
    assert cost.margin_ns == 1


def test_job_that_one_program_skips_is_left_out_for_all_on_that_architecture() -> None:
    did, did_other = measured(1, Verdict.PASS), measured(2, Verdict.PASS, chip="M25P80")
    could_not = measured(1, Verdict.SKIPPED, chip="M25P80")
    found = costs_of([did, could_not, measured(2, Verdict.PASS), did_other])
    assert [cost.time_ns for cost in found] == [100 * MS, 100 * MS]
    could_not = measured(1, Verdict.SKIPPED, arch=Arch.ARM64)
    found = costs_of([could_not, did, measured(1, Verdict.PASS, arch=Arch.ARM64, chip="M25P80")])
    assert [cost.profile for cost in found] == ["250 MIPS, 1 core", "250 MIPS, 1 core, arm64"]


def test_sleeps_are_accurate_from_the_length_where_they_are_at_most_a_tenth_late() -> None:
    fact = make_sleep_facts(normal=10_001, slack=10_000, fifo=1_000)
    assert [fact.accurate_us(way) for way in (NORMAL, SLACK, FIFO)] == [1000, 100, 10]


def test_reasoning_confirms_the_proposal_on_fine_timers_and_names_coarse_ones() -> None:
    found = {finding.claim: finding for finding in reasoning({"m": FINE}, realtime=True)}
    assert found["a context switch takes about 2 us"].holds
    assert found["sleeps of 100 us are accurate to 10 % under SCHED_FIFO"].holds
    normal = found["sleeps of 100 us are accurate to 10 % at normal priority"]
    assert not normal.holds
    assert "timer slack of 50 us" in normal.words
    assert all("HZ=250" in each.words for each in reasoning({"m": COARSE}, realtime=True))


def test_the_answer_says_what_why_and_what_is_unsafe() -> None:
    costs = [
        make_cost(10, 1001, 100),
        make_cost(100, 1003, 101),
        make_cost(100_000, 1000, 1200),
        make_cost(1, 1, 1, standing=Standing.UNSAFE, why="too_short in x: y"),
    ]
    made = answer_of(make_evidence(costs))
    assert made.recommended_us == 100
    assert made.lines[0].startswith(
        "100 us: within 0.3 % of the fastest, with a twelfth of the CPU"
    )
    assert any("1 us is unsafe" in line and "too_short in x" in line for line in made.lines)
    assert [c.value_us for c in made.costs if c.on_front] == [10, 100_000]
    assert answer_of(make_evidence(made.costs)) == made


def test_share_is_a_word_if_there_is_one() -> None:
    shares = [share(1, 12), share(100, 100), share(10, 11), share(1, 30)]
    assert shares == ["a twelfth", "100 %", "91 %", "3 %"]


def candidate(value: int) -> Candidate:
    return Candidate(value_us=value, program=Path(f"/f-{value}"), sha256=f"{value}")


def trials_in(out: Path, cells: list[Cell], *candidates: Candidate) -> Trials:
    """Returns a comparison of two rounds, after claiming the folder for it."""
    request = replace(request_of(cells, out), plan="threshold")
    made = Trials(
        subject="bundled",
        candidates=candidates,
        request=request,
        rounds=2,
        rig=rig_digest(find_paths()),
        weights={},
        machines=None,
    )
    claim_folder(made)
    return made


def test_folder_holds_one_comparison_only(tmp_path: Path) -> None:
    cells = [make_cell(subject="path:/f-1")]
    first = trials_in(tmp_path, cells, candidate(1))
    assert trials_in(tmp_path, cells, candidate(1)).inputs == first.inputs
    with pytest.raises(BadInputError, match="'programs'") as caught:
        trials_in(tmp_path, cells, replace(candidate(1), sha256="else"))
    assert caught.value.hint


def test_later_rounds_repeat_only_the_jobs_with_other_seeds(tmp_path: Path) -> None:
    cells = [
        make_cell(subject="path:/f-1"),
        make_cell(name="c", role=Role.CANARY, subject="canary:bus"),
    ]
    trials = trials_in(tmp_path, cells, candidate(1))
    assert [cell.seed for cell in trials.cells(1)] == [1, 1]
    assert [(cell.subject, cell.seed) for cell in trials.cells(2)] == [("path:/f-1", 2)]


def test_round_is_whole_though_its_last_start_stored_only_the_cells_that_it_ran(
    tmp_path: Path,
) -> None:
    cells = [make_cell(subject="path:/f-1"), make_cell(subject="path:/f-1", chip="M25P80")]
    trials = trials_in(tmp_path, cells, candidate(1))
    for number in (1, 2):
        for cell in trials.cells(number):
            folder = trials.folder(number) / cell.id
            folder.mkdir(parents=True)
            write_json(folder / CELL, cell)
            write_json(folder / RESULT, make_result(cell))
        ran = [make_result(cells[1])] if number == 1 else list(map(make_result, cells))
        write_results(run_of(*ran), trials.folder(number))
    for results in asyncio.run(run_trials(trials, find_paths(), Silent())):
        assert [result.id for result in results.cells] == [cell.id for cell in cells]


def test_coarse_timers_are_measured_in_each_guest_but_run_no_jobs() -> None:
    cells = [make_cell(subject="path:/f-1"), make_cell(subject="sleep-facts", name="s")]
    found = plan_trials(cells, [candidate(1)], [parse_guest("250x1")])
    assert [(job_of(cell), cell.hazards) for cell in found if cell.subject == "sleep-facts"] == [
        (job_of(cells[1]), ()),
        (job_of(cells[1]), ("low-res-timers",)),
    ]
    assert [cell.hazards for cell in found if cell.subject == "path:/f-1"] == [()]
    with pytest.raises(BadInputError, match="has no cell"):
        plan_trials([make_cell(subject="bundled")], [candidate(1)], [])
