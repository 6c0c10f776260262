# SPDX-License-Identifier: GPL-2.0-or-later
"""Known-bad builds and past mistakes: the table, the plans, and a gate's answers."""

import re
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from delayrig.base.errors import BadInputError, ExitCode
from delayrig.base.paths import find_paths
from delayrig.decision.decision import Outcome
from delayrig.features.selfcheck.known_bad import (
    KnownBad,
    answer_all,
    choose_for,
    in_disguise,
    known_bad_page,
    summary,
)
from delayrig.hazards.of_cell import check_cell
from delayrig.model.cell import Cell, Expect, Role
from delayrig.model.chips import read_chips
from delayrig.model.platform import Arch
from delayrig.model.result import CellResult, Verdict
from delayrig.plan.schema import Contrast, find_plan, own_subjects, read_plan
from delayrig.subjects.elf import read_elf
from delayrig.subjects.known_bad import (
    LIBRARY,
    PROGRAM,
    Change,
    Kind,
    Mistake,
    Sight,
    changed_sources,
    find_mistake,
    provide_build,
    read_mistakes,
)
from delayrig.subjects.recipes import read_recipes
from delayrig.subjects.subject import OWN_PROGRAMS, PAST_MISTAKES, check_subject

from tests.rig.builders import CHECKOUT, SECOND, WATCH, make_cell, make_result, run_of
from tests.rig.plan_texts import shipped
from tests.rig.running import run
from tests.rig.test_gate_judge import timed

MISTAKES = read_mistakes(CHECKOUT)

# Builds of each class; `reads-merged` changes a header, `function-renamed` three files.
DOZEN = (
    *("eintr-ends-a-wait", "coarse-clock", "calibrated-loop", "wrap-32bit-ns", "polls-everything"),
    *("trusts-typical-times", "wait-before-buffered-write", "wake-not-waited"),
    *("aai-words-not-waited", "id-wait-of-another-family", "reads-merged", "function-renamed"),
)


def count(kind: Kind) -> int:
    return sum(mistake.kind is kind for mistake in MISTAKES.values())


def test_table_has_sixty_mistakes_and_a_dozen_legal_changes() -> None:
    assert count(Kind.UNSAFE) + count(Kind.WASTEFUL) >= 60
    assert count(Kind.LEGAL) >= 12
    assert {mistake.sight for mistake in MISTAKES.values()} == set(Sight)


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=lambda mistake: mistake.name)
def test_change_applies_to_each_of_its_files(mistake: Mistake) -> None:
    for file, text in changed_sources(mistake, CHECKOUT).items():
        assert text != (CHECKOUT / "flashrom" / file).read_text(encoding="utf-8")
    assert mistake.what
    assert mistake.origin
    check_subject(f"known-bad:{mistake.name}", read_recipes(CHECKOUT), "--subject")


def test_page_names_known_bad_builds_for_each_rule_of_the_chip_model() -> None:
    """The rule `stuck` has none, because no wait of a client causes it."""
    model = (CHECKOUT / "emulators/model/chip.h").read_text(encoding="utf-8")
    page = (CHECKOUT / "rig/docs/explanation/chip-model.md").read_text(encoding="utf-8")
    rows = re.findall(r"^- (`.+?): .*\((.*)\)$", page.split("## The rules")[1], re.MULTILINE)
    builds = {
        rule: re.findall(r"`([^`]+)`", names)
        for rules, names in rows
        for rule in re.findall(r"`([^`]+)`", rules)
    }
    assert set(builds) == set(re.findall(r'RULE\(\w+, "(\w+)"\)', model))
    assert [rule for rule, names in builds.items() if not names] == ["stuck"]
    assert not {name for names in builds.values() for name in names} - set(MISTAKES)


def make_mistake(kind: Kind = Kind.UNSAFE, *, old: str = "a", file: str = "core/busy.c") -> Mistake:
    """Returns a mistake outside the table, which replaces `old` by text that is not C."""
    sight = Sight.NOBODY if kind is Kind.LEGAL else Sight.CHIP
    change = [Change(file=file, old=old, new="not C")]
    return Mistake(name="x", what="w", origin="o", kind=kind, sight=sight, change=change)


@pytest.mark.parametrize(
    ("old", "file", "message"),
    [
        ("not in the file", "core/busy.c", r"'x': its text occurs \d+ times"),
        ("return error;", "core/busy.c", r"'x': its text occurs \d+ times"),
        ("x", "core/gone.c", r"flashrom/core/gone\.c"),
    ],
)
def test_change_that_does_not_apply_is_an_error_that_names_build_or_file(
    old: str, file: str, message: str
) -> None:
    with pytest.raises(BadInputError, match=message):
        changed_sources(make_mistake(old=old, file=file), CHECKOUT)


def test_unknown_name_is_an_error_that_hints_at_the_nearest() -> None:
    with pytest.raises(BadInputError) as caught:
        find_mistake("coarse-clok", MISTAKES)
    assert "'coarse-clock'" in caught.value.hint


def test_change_that_does_not_compile_is_an_error_that_names_the_build() -> None:
    with pytest.raises(BadInputError, match="building known-bad build 'x' failed"):
        provide_build(make_mistake(old="#define POLLS_PER_TYP 32\n"), find_paths())


@pytest.mark.parametrize("name", DOZEN)
def test_build_differs_from_ours_and_runs(name: str) -> None:
    paths = find_paths()
    folder = provide_build(MISTAKES[name], paths)
    usual = paths.flashrom_build / PROGRAM
    done = run(folder / PROGRAM, "--version")
    assert done.returncode == 0
    assert done.stdout.startswith("flashrom")
    assert (folder / PROGRAM).read_bytes() != usual.read_bytes()
    assert read_elf(folder / LIBRARY).machine == read_elf(usual).machine


def test_build_is_made_once_and_is_reproducible(tmp_path: Path) -> None:
    paths = find_paths()
    folder = provide_build(MISTAKES["wake-not-waited"], paths)
    first = (folder / PROGRAM).read_bytes()
    made = (folder / PROGRAM).stat().st_mtime_ns
    assert (provide_build(MISTAKES["wake-not-waited"], paths) / PROGRAM).stat().st_mtime_ns == made
    folder.rename(tmp_path / "aside")
    assert (provide_build(MISTAKES["wake-not-waited"], paths) / PROGRAM).read_bytes() == first


def test_build_for_another_architecture_has_no_library() -> None:
    paths = find_paths()
    if not (paths.build_of(Arch.ARM64) / "built-for").is_file():
        pytest.skip("nothing was built for arm64 here yet")
    folder = provide_build(MISTAKES["wake-not-waited"], paths, Arch.ARM64)
    assert read_elf(folder / PROGRAM).machine == "EM_AARCH64"
    assert not (folder / LIBRARY).exists()


CHIPS = read_chips(CHECKOUT)
CELLS = shipped("known-bad")


def answered(kind: Kind, *cells: CellResult, watch: list[CellResult] | None = None) -> KnownBad:
    watching = WATCH if watch is None else watch
    results = run_of(timed("bundled"), *cells, *watching)
    return answer_all(results, [make_mistake(kind)])


SHORT: dict[str, Any] = {"verdict": Verdict.TOO_SHORT, "reason": "RDID came too early"}
RIGHT = [
    (Kind.UNSAFE, Outcome.UNSAFE, SHORT),
    (Kind.UNSAFE, Outcome.UNSAFE, {"verdict": Verdict.CORRUPT}),
    (Kind.UNSAFE, Outcome.UNSAFE, {"verdict": Verdict.OP_FAILED}),
    (Kind.WASTEFUL, Outcome.SLOWER, {"total_ns": 2 * SECOND}),
    (Kind.LEGAL, Outcome.PASS, {}),
]
WRONG = [
    (Kind.UNSAFE, Outcome.PASS, {}),
    (Kind.UNSAFE, Outcome.DOUBT, {"verdict": Verdict.INCONCLUSIVE}),
    (Kind.WASTEFUL, Outcome.PASS, {}),
    (Kind.LEGAL, Outcome.SLOWER, {"total_ns": 2 * SECOND}),
]


@pytest.mark.parametrize(
    ("right", "kind", "outcome", "changes"),
    [*((True, *case) for case in RIGHT), *((False, *case) for case in WRONG)],
)
def test_build_is_right_if_its_outcome_fits_its_class_else_exit_is_inconclusive(
    right: bool, kind: Kind, outcome: Outcome, changes: dict[str, Any]
) -> None:
    answer = answered(kind, timed("known-bad:x", **changes))
    assert [(build.outcome, build.right) for build in answer.builds] == [(outcome, right)]
    assert answer.exit_code is (ExitCode.PASS if right else ExitCode.INCONCLUSIVE)


@pytest.mark.parametrize("kind", [Kind.LEGAL, Kind.WASTEFUL])
def test_conviction_of_a_build_that_is_not_unsafe_is_a_rig_fault(kind: Kind) -> None:
    answer = answered(kind, timed("known-bad:x", **SHORT))
    assert answer.exit_code is ExitCode.RIG_FAULT
    assert "accused safe builds: x" in summary(answer)


def test_acquitted_canary_is_a_rig_fault() -> None:
    acquitted = [make_result(make_cell(name="c", role=Role.CANARY, expect="too_short")), WATCH[1]]
    answer = answered(Kind.UNSAFE, timed("known-bad:x", **SHORT), watch=acquitted)
    assert answer.exit_code is ExitCode.RIG_FAULT


@pytest.mark.parametrize(
    ("kind", "changes", "right"),
    [
        (Kind.UNSAFE, SHORT, True),
        (Kind.UNSAFE, {"verdict": Verdict.INCONCLUSIVE}, True),
        (Kind.UNSAFE, {}, False),
        (Kind.LEGAL, {"verdict": Verdict.INCONCLUSIVE}, True),
        (Kind.LEGAL, SHORT, False),
    ],
)
def test_stripped_build_may_be_in_doubt_but_an_unsafe_one_must_not_pass(
    kind: Kind, changes: dict[str, Any], right: bool
) -> None:
    results = run_of(timed("bundled"), timed("stripped:known-bad:x", **changes), *WATCH)
    answer = answer_all(results, [make_mistake(kind)], "stripped:")
    assert [build.right for build in answer.builds] == [right]


def test_choice_of_one_build_adds_the_shipped_program_canaries_and_controls() -> None:
    chosen = choose_for(["wall-clock"], CELLS)
    assert {cell.role for cell in chosen} == {Role.MEASURE, Role.CANARY, Role.CONTROL}
    for cells, name in (
        (chosen, "known-bad:wall-clock"),
        (in_disguise("stripped:", chosen), "stripped:known-bad:wall-clock"),
    ):
        assert [cell.subject for cell in measured(cells)] == ["bundled", name]


@pytest.mark.parametrize("disguise", ["", "stripped:"])
@pytest.mark.parametrize("cells", [[], [{"verdict": Verdict.SKIPPED}]], ids=["no cell", "skipped"])
def test_build_that_was_not_run_is_not_answered(disguise: str, cells: list[dict[str, Any]]) -> None:
    ours = [timed(f"{disguise}known-bad:x", **changes) for changes in cells]
    run = run_of(timed("bundled"), *ours, *WATCH)
    answer = answer_all(run, [make_mistake(Kind.LEGAL)], disguise)
    assert [build.right for build in answer.builds] == [False]
    assert answer.exit_code is ExitCode.INCONCLUSIVE
    assert summary(answer).startswith("0 of 1 builds")


def test_page_has_a_row_with_the_reason_for_each_build_that_ran() -> None:
    page = known_bad_page(answered(Kind.UNSAFE, timed("known-bad:x", **SHORT))).decode()
    assert "Class unsafe" in page
    assert "RDID came too early" in page


def measured(cells: list[Cell]) -> list[Cell]:
    return [cell for cell in cells if cell.role is Role.MEASURE]


def test_each_build_has_a_cell_in_the_plan_beside_the_shipped_program() -> None:
    usual = [cell for cell in measured(CELLS) if "musl" not in cell.subject]
    names = {cell.subject.removeprefix("known-bad:") for cell in usual}
    assert names == set(MISTAKES) | {"bundled"}
    for name, same in groupby(usual, key=lambda cell: cell.name):
        assert next(same).subject == "bundled", name


def test_each_cell_of_the_plan_is_possible_with_its_chip() -> None:
    for cell in CELLS:
        check_cell(cell, CHIPS[cell.chip], "known-bad")


FOLDER = CHECKOUT / "flashrom" / "past_mistakes"
PLAN = read_plan(find_plan("past-mistakes"))
MISTAKEN = measured(shipped("past-mistakes"))
SHIPPED = {"bundled", "control:chip"}


def test_past_mistakes_are_those_that_meson_builds() -> None:
    built = re.findall(r"^  '([a-z0-9-]+)': \{", (FOLDER / "meson.build").read_text(), re.MULTILINE)
    assert built == sorted(PAST_MISTAKES) == list(PAST_MISTAKES)


@pytest.mark.parametrize("name", PAST_MISTAKES)
def test_past_mistake_is_a_subject_and_is_listed_on_the_page(name: str) -> None:
    check_subject(f"past-mistake:{name}", read_recipes(CHECKOUT), "--subject")
    assert OWN_PROGRAMS[f"past-mistake:{name}"].endswith(f"past-mistake-{name}")
    page = (FOLDER.parent / "known_bad" / "README.md").read_text(encoding="utf-8")
    assert len(re.findall(rf"^- `{name}`: ", page, re.MULTILINE)) == 1


def test_plan_expects_a_conviction_or_a_cost_of_each_past_mistake() -> None:
    convicted = {cell.subject for cell in MISTAKEN if cell.expect is Expect.TOO_SHORT}
    contrasted = {contrast.subject for contrast in PLAN.contrast}
    mistakes = {f"past-mistake:{name}" for name in PAST_MISTAKES}
    assert (convicted | contrasted) == mistakes
    assert {cell.subject for cell in MISTAKEN} == mistakes | SHIPPED


def test_plan_expects_the_shipped_layer_and_mistakes_without_their_hazard_to_pass() -> None:
    for name, same in groupby(MISTAKEN, key=lambda cell: cell.name):
        expects = {cell.subject: cell.expect for cell in same}
        assert expects.keys() > SHIPPED, name
        assert {expects[subject] for subject in SHIPPED} == {Expect.PASS}
    calm = {c.subject for c in MISTAKEN if not c.hazards and c.expect is Expect.PASS}
    assert calm >= {c.subject for c in MISTAKEN if c.hazards and c.expect is Expect.TOO_SHORT}


@pytest.mark.parametrize("contrast", PLAN.contrast, ids=lambda contrast: contrast.subject)
def test_contrast_names_a_cell_that_runs_both_subjects(contrast: Contrast) -> None:
    (single,) = (cell for cell in PLAN.cell if cell.name == contrast.cell)
    assert {contrast.subject, contrast.against} < set(own_subjects(single))
