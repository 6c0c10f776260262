# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig repro`: the choice of a cell, and the walk through the bug on unequal cores."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest
from delayrig.base.errors import BadInputError, ExitCode, LostGuestError
from delayrig.base.paths import find_paths
from delayrig.decision.choice import Asked, Chosen, choose, delay_options_of, find_id, find_in_run
from delayrig.features.repro import command, guest_entry
from delayrig.features.repro.heterogeneous import (
    PLAN,
    Walk,
    describe_answer,
    describe_stage,
    describe_walk,
    measured_mips,
    read_walk,
)
from delayrig.lanes.stages import BOOTED, CONNECTED, ENDED, PACK
from delayrig.model.cell import Cell, Expect
from delayrig.model.events import Event
from delayrig.model.evidence import Evidence
from delayrig.model.kinds.agent import SubjectEnd, SubjectStart
from delayrig.model.kinds.hazard import Moved
from delayrig.model.kinds.pace import Window
from delayrig.model.lane import LaneName
from delayrig.model.result import Results, Verdict, write_results
from delayrig.plan.request import choose_cells
from delayrig.subjects.delay_function import DelayOptions

from tests.rig.builders import MS, make_cell, make_result, make_run_header, short_sync
from tests.rig.event_builders import made
from tests.rig.reported import keep_gate
from tests.rig.running import answer_of, refusal_of

IDS = [
    "write.bundled.250mips.1c.calm.GD25Q16C-typ.write",
    "write.debian-bookworm.250mips.1c.calm.GD25Q16C-typ.write",
    "tty.bundled.250mips.1c.calm.GD25Q16C-typ.serprog-dev.read",
    "canary-bus.canary-bus.62mips.1c.calm.W25Q128JV-max.write",
]


def found(part: str) -> str:
    return find_id(part, IDS, where="plan p", hint="`list` lists them")


def test_unique_part_of_an_id_finds_its_cell() -> None:
    parts = [IDS[0], "*.bundled.*.write", "write.debian", "TTY", "canary:bus"]
    assert [IDS.index(found(part)) for part in parts] == [0, 0, 1, 2, 3]


def error_of(part: str) -> BadInputError:
    with pytest.raises(BadInputError) as caught:
        found(part)
    return caught.value


def test_ambiguous_or_unknown_part_is_refused_with_similar_ids() -> None:
    several = error_of("bundled").message
    assert IDS[0] in several
    assert IDS[2] in several
    unknown = error_of("canary-buz").hint
    assert f"did you mean {IDS[3]}?" in unknown
    assert "`list` lists them" in unknown
    assert "did you mean" not in error_of("0123456789").hint


def chosen(**asked: object) -> Chosen:
    return choose(Asked(**{"cell": None, **asked}), find_paths())  # type: ignore[arg-type]


def test_choice_without_cell_and_run_hints_at_the_option() -> None:
    with pytest.raises(BadInputError) as caught:
        chosen()
    assert "--from" in caught.value.hint


def test_gate_without_cells_has_no_worst_one(tmp_path: Path) -> None:
    decision = keep_gate(tmp_path)
    assert find_in_run(tmp_path, None)[1] == decision.cells[0].id
    without = msgspec.structs.replace(decision, cells=[])
    (tmp_path / "gate.json").write_bytes(msgspec.json.encode(without))
    with pytest.raises(BadInputError, match="the gate has no cells"):
        find_in_run(tmp_path, None)


def test_cell_of_the_default_or_another_shipped_plan_is_found() -> None:
    picked = chosen(cell="demonstration.debian-bookworm.62mips")
    assert (picked.plan, picked.cell.subject) == ("default", "debian:bookworm")
    assert picked.before is None
    picked = chosen(cell="moved.debian-bookworm", lane=LaneName.LIVE)
    assert (picked.plan, picked.cell.lane) == ("live", LaneName.LIVE)


def test_subject_and_seed_of_the_user_replace_those_of_the_cell() -> None:
    place = "demonstration.debian-bookworm.62mips.4c.low-res-timers+busy-siblings"
    cell_id = f"{place}.W25Q128JV-typ.write"
    picked = chosen(cell=cell_id, plan="default", subject="bundled", seed=7)
    assert (picked.cell.subject, picked.cell.seed) == ("bundled", 7)
    assert picked.cell.id == cell_id.replace("debian-bookworm", "bundled")


CONVICTED = make_cell(subject="debian:bookworm", expect=Expect.TOO_SHORT, seed=5)
PASSED = make_cell()


def finished_run(folder: Path, *, kept: tuple[Cell, ...] = (PASSED, CONVICTED)) -> Path:
    """Writes a run of two cells and the folders of some of them."""
    cells = [
        make_result(PASSED, verdict=Verdict.PASS),
        make_result(CONVICTED, verdict=Verdict.TOO_SHORT),
    ]
    header = make_run_header(seed=5)
    write_results(Results(run=header, cells=cells), folder)
    for cell in kept:
        (folder / cell.id).mkdir()
        (folder / cell.id / "cell.json").write_bytes(msgspec.json.encode(cell))
    return folder


def test_run_without_a_cell_gives_its_first_conviction(tmp_path: Path) -> None:
    picked = chosen(run_folder=finished_run(tmp_path))
    assert picked.cell == CONVICTED
    assert picked.before is not None
    assert picked.before.result.verdict is Verdict.TOO_SHORT


def test_cell_of_a_run_is_read_from_its_folder_and_not_from_the_plan(tmp_path: Path) -> None:
    picked = chosen(run_folder=finished_run(tmp_path), cell="bundled")
    assert picked.cell == PASSED
    assert (picked.plan, picked.cell.seed) == ("smoke", PASSED.seed)


def test_cell_that_no_plan_has_and_no_folder_kept_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="has no cell"):
        chosen(run_folder=finished_run(tmp_path, kept=()), cell="bundled")


def test_cell_of_a_run_with_another_subject_has_no_earlier_result(
    tmp_path: Path,
) -> None:
    picked = chosen(run_folder=finished_run(tmp_path), cell="bookworm", subject="bundled")
    assert (picked.cell.subject, picked.cell.expect) == ("bundled", Expect.PASS)
    assert picked.before is None


def test_cell_of_a_run_moves_to_the_host_lane_but_to_no_lane_whose_speed_it_lacks(
    tmp_path: Path,
) -> None:
    run = finished_run(tmp_path)
    picked = chosen(run_folder=run, cell="bundled", lane=LaneName.HOST)
    assert picked.cell.lane is LaneName.HOST
    assert ".host." in picked.cell.id
    with pytest.raises(BadInputError, match="has no speed of the lane live"):
        chosen(run_folder=run, cell="bundled", lane=LaneName.LIVE)
    own = msgspec.structs.replace(PASSED, icount_shift=0)
    path = run / PASSED.id / "cell.json"
    for lane, speeds in ((LaneName.HOST, ()), (LaneName.LIVE, (40.0,))):
        kept = msgspec.structs.replace(own, lane=lane, core_mips=speeds)
        path.write_bytes(msgspec.json.encode(kept))
        with pytest.raises(BadInputError, match="has no speed of the lane virtual"):
            chosen(run_folder=run, cell="bundled", lane=LaneName.VIRTUAL)


@pytest.mark.parametrize(
    ("rerun", "named"),
    [
        ("rig/rig run --cell x --delay-symbol wait", {"symbol": "wait"}),
        ("rig/rig run --delay-offset 0x3e0", {"offset": 0x3E0}),
        ("rig/rig run --delay-symbol 'wait(int), nap'", {"symbol": "wait(int), nap"}),
        *((rerun, {}) for rerun in ("rig/rig run --cell x", "run 'x", "run --delay-offset far")),
    ],
)
def test_delay_options_are_read_from_the_rerun_command(rerun: str, named: dict[str, Any]) -> None:
    assert delay_options_of(rerun) == DelayOptions(**named)


CELL = make_cell(
    lane=LaneName.LIVE,
    subject="debian:bookworm",
    cores=2,
    core_mips=(10.0, 40.0),
    machine="10:40",
    hazards=("low-res-timers", "move:accept"),
)
SHORT = short_sync(304, 305)


def window(core: int, begin_ms: int, instructions: int, active_ms: int = 100) -> Window:
    return made(
        Window,
        vcpu=core,
        from_ns=begin_ms * MS,
        t_ns=(begin_ms + 100) * MS,
        active_ns=active_ms * MS,
        instructions=instructions,
    )


EVENTS: list[Event] = [
    made(SubjectStart, t_ns=1000 * MS),
    made(Moved, t_ns=4000 * MS, core=1),
    made(SubjectEnd, t_ns=6000 * MS),
]
TRACE = [
    window(0, 0, 50_000_000),  # Before the subject starts, all cores run at full speed.
    window(0, 2000, 990_000),
    window(0, 2100, 1_010_000),
    window(0, 2200, 10, active_ms=1),
    window(1, 4500, 4_000_000),
]


def walk(verdict: Verdict, *evidence: Evidence, subject: str = "debian:bookworm") -> Walk:
    cell = msgspec.structs.replace(CELL, subject=subject)
    return Walk(
        cell=cell,
        result=make_result(cell, verdict=verdict, evidence=list(evidence), reason="as it is"),
        events=EVENTS,
        trace=TRACE,
        stdout="Calibrating delay loop... OK.\nFound chip.\n",
    )


def test_speed_is_measured_in_windows_in_which_the_core_ran_the_subject() -> None:
    convicted = walk(Verdict.TOO_SHORT, SHORT)
    assert measured_mips(convicted, 0, 1000 * MS, 4000 * MS) == pytest.approx(10.0)
    assert measured_mips(convicted, 1, 4000 * MS, 6000 * MS) == pytest.approx(40.0)
    assert measured_mips(convicted, 1, 1000 * MS, 4000 * MS) is None


def test_walk_of_a_conviction_has_both_speeds_the_request_and_the_actual_time() -> None:
    text = "\n".join(describe_walk(walk(Verdict.TOO_SHORT, SHORT)))
    assert "core 0, 10.0 MIPS as measured, for 3.000000 s" in text
    assert "Calibrating delay loop... OK." in text
    assert "core 1, 40.0 MIPS as measured" in text
    assert "Asked for this: 1.000000 s (1 s synchronisation wait" in text
    assert "Got that:       0.304000 s to 0.305000 s, seen by the bus witness" in text
    assert "10.0 / 40.0 of it is 0.250000 s" in text
    assert "The other 0.054000 s: it counts whole turns" in text


@pytest.mark.parametrize(
    ("actual_ms", "explained"),
    [
        ((14, 23), False),
        ((200, 237), False),
        ((200, 238), True),
        ((0, 900), True),
        ((500, 600), True),
        ((501, 600), False),
    ],
)
def test_speeds_are_the_cause_only_of_a_wait_whose_time_agrees_with_them(
    actual_ms: tuple[int, int], explained: bool
) -> None:
    shortest, longest = actual_ms
    short = msgspec.structs.replace(SHORT, actual_ns=(shortest * MS, longest * MS))
    text = "\n".join(describe_walk(walk(Verdict.TOO_SHORT, short)))
    assert ("is over sooner" in text) == explained
    assert ("not explained by the speeds" in text) != explained
    assert "10.0 / 40.0 of it is 0.250000 s" in text
    if not explained:
        assert "The other" not in text


def test_steps_of_several_convictions_are_numbered() -> None:
    lines = describe_walk(walk(Verdict.TOO_SHORT, SHORT, SHORT))
    assert [line[0] for line in lines if line[0] != " "] == list("123456")


def test_walk_of_a_passed_or_a_lost_cell_claims_no_wait(tmp_path: Path) -> None:
    text = "\n".join(describe_walk(walk(Verdict.PASS)))
    assert "3. pass: as it is" in text
    assert "Got that" not in text
    result = make_result(CELL, verdict=Verdict.INFRA_ERROR)
    assert describe_walk(read_walk(CELL, result, tmp_path)) == [f"   {result.reason}"]


def test_stages_of_the_guest_are_explained_and_those_of_the_rig_omitted() -> None:
    for stage in (BOOTED, CONNECTED, ENDED):
        assert describe_stage(CELL, stage, 9.0).startswith("  [  9.0 s] ")
    assert describe_stage(CELL, PACK, 1.0) == ""


def test_answer_claims_the_bug_only_if_one_was_convicted_and_the_other_passed() -> None:
    convicted = walk(Verdict.TOO_SHORT, SHORT)
    ours = walk(Verdict.PASS, subject="bundled")
    doubt = walk(Verdict.INCONCLUSIVE, subject="bundled")
    assert describe_answer([convicted, ours]).startswith("That is the bug, and its remedy")
    assert describe_answer([convicted, doubt]).startswith("This host could not keep it up")
    assert describe_answer([ours, ours]).startswith("Not what is expected here")


def test_plan_of_the_walk_runs_the_expected_conviction_first() -> None:
    choice = choose_cells(plan=PLAN, subjects=[], patterns=[], seed=1, paths=find_paths())
    assert choice.checked.lane is LaneName.LIVE
    assert [(cell.subject, cell.expect) for cell in choice.cells] == [
        ("debian:bookworm", Expect.TOO_SHORT),
        ("bundled", Expect.PASS),
    ]
    assert all(cell.core_mips == (10.0, 40.0) for cell in choice.cells)


@pytest.mark.parametrize(
    "option",
    [
        ("--tree", "."),
        ("--plan", "live"),
        ("--subject", "nonsense"),
        ("--lane", "live"),
        ("--seed", "1"),
        ("--delay-symbol", "wait"),
        ("--delay-offset", "3e0"),
        *((flag,) for flag in ("--shell", "--gdb", "--dry-run", "--json")),
    ],
    ids=lambda words: words[0],
)
def test_option_that_cannot_apply_to_the_walk_is_refused_with_the_remedy(
    option: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "_walk_through", lambda *_, **__: ExitCode.PASS)
    refusal = refusal_of("repro", "heterogeneous", *option)
    assert f"{option[0]} does not apply" in refusal
    assert "--lane live --mips 10:40 --hazard low-res-timers+move:accept" in refusal


def test_walk_takes_the_options_for_its_folder_and_its_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "_walk_through", lambda *_, **__: ExitCode.PASS)
    answer_of("repro", "heterogeneous", "--out", tmp_path / "out", "--keep", "-q", "--no-color")


@pytest.mark.parametrize(
    ("guest_times_out", "error"),
    [(True, TimeoutError), (False, LostGuestError)],
)
def test_guest_that_stays_after_its_visitor_is_lost_and_its_own_error_is_passed_on(
    guest_times_out: bool, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guest_entry, "CELL_LIMIT_S", 0.01)

    async def guest() -> None:
        if guest_times_out:
            raise TimeoutError
        await asyncio.Event().wait()

    with pytest.raises(error):
        asyncio.run(guest_entry.attended(guest(), asyncio.sleep(0), stays=False))
