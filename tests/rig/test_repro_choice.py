# SPDX-License-Identifier: GPL-2.0-or-later
"""The choice of the cell to run again: by a part of its id, from a plan or a finished run."""

from pathlib import Path

import msgspec
import pytest
from delayrig.base.errors import BadInputError
from delayrig.base.paths import find_paths
from delayrig.decision.choice import Asked, Chosen, choose, delay_options_of, find_id
from delayrig.model.cell import Cell, Expect
from delayrig.model.lane import LaneName
from delayrig.model.result import Results, Verdict, write_results
from delayrig.subjects.delay_function import DelayOptions

from tests.rig.builders import make_cell, make_result, make_run_header

IDS = [
    "write.bundled.250mips.1c.calm.GD25Q16C-typ.write",
    "write.debian-bookworm.250mips.1c.calm.GD25Q16C-typ.write",
    "tty.bundled.250mips.1c.calm.GD25Q16C-typ.serprog-dev.read",
    "canary-bus.canary-bus.62mips.1c.calm.W25Q128JV-max.write",
]


def found(wanted: str) -> str:
    return find_id(wanted, IDS, where="plan p", hint="`list` lists them")


@pytest.mark.parametrize(
    ("wanted", "number"),
    [
        (IDS[0], 0),
        ("*.bundled.*.write", 0),
        ("write.debian", 1),
        ("TTY", 2),
        ("canary:bus", 3),
    ],
)
def test_part_that_one_cell_alone_has_is_enough(wanted: str, number: int) -> None:
    assert found(wanted) == IDS[number]


def test_part_of_many_cells_names_them_and_chooses_none() -> None:
    with pytest.raises(BadInputError) as caught:
        found("bundled")
    assert IDS[0] in caught.value.message
    assert IDS[2] in caught.value.message


def test_unknown_part_names_the_nearest_cell_and_where_they_are_listed() -> None:
    with pytest.raises(BadInputError) as caught:
        found("canary-buz")
    assert f"did you mean {IDS[3]}?" in caught.value.hint
    assert "`list` lists them" in caught.value.hint


def test_part_that_is_like_no_cell_suggests_none() -> None:
    with pytest.raises(BadInputError) as caught:
        found("0123456789")
    assert "did you mean" not in caught.value.hint


def chosen(**asked: object) -> Chosen:
    return choose(Asked(**{"cell": None, **asked}), find_paths())  # type: ignore[arg-type]


def test_neither_cell_nor_run_is_an_error_that_names_both() -> None:
    with pytest.raises(BadInputError) as caught:
        chosen()
    assert "--from" in caught.value.hint


def test_cell_of_the_usual_plan_needs_no_plan() -> None:
    picked = chosen(cell="demonstration.debian-bookworm.62mips")
    assert (picked.plan, picked.cell.subject) == ("default", "debian:bookworm")
    assert picked.before is None


def test_cell_of_another_shipped_plan_is_found_there() -> None:
    picked = chosen(cell="moved.debian-bookworm", lane=LaneName.LIVE)
    assert picked.plan == "live"
    assert picked.cell.lane is LaneName.LIVE


def test_subject_and_seed_of_the_user_are_those_of_the_cell() -> None:
    place = "demonstration.debian-bookworm.62mips.4c.low-res-timers+busy-siblings"
    whole = f"{place}.W25Q128JV-typ.write"
    picked = chosen(cell=whole, plan="default", subject="bundled", seed=7)
    assert (picked.cell.subject, picked.cell.seed) == ("bundled", 7)
    assert picked.cell.id == whole.replace("debian-bookworm", "bundled")


CONVICTED = make_cell(subject="debian:bookworm", expect=Expect.TOO_SHORT, seed=5)
ACQUITTED = make_cell()


def finished_run(folder: Path, *, kept: tuple[Cell, ...]) -> Path:
    cells = [
        make_result(ACQUITTED, verdict=Verdict.PASS),
        make_result(CONVICTED, verdict=Verdict.TOO_SHORT),
    ]
    header = msgspec.structs.replace(make_run_header(), seed=5, plan="smoke")
    write_results(Results(run=header, cells=cells), folder)
    for cell in kept:
        (folder / cell.id).mkdir()
        (folder / cell.id / "cell.json").write_bytes(msgspec.json.encode(cell))
    return folder


def test_run_without_a_cell_gives_its_first_conviction(tmp_path: Path) -> None:
    picked = chosen(run=finished_run(tmp_path, kept=(ACQUITTED, CONVICTED)))
    assert picked.cell == CONVICTED
    assert picked.before is not None
    assert picked.before.result.verdict is Verdict.TOO_SHORT


def test_cell_of_a_run_is_the_one_that_was_run_whatever_its_plan_says_now(tmp_path: Path) -> None:
    run = finished_run(tmp_path, kept=(ACQUITTED, CONVICTED))
    picked = chosen(run=run, cell="bundled")
    assert picked.cell == ACQUITTED
    assert (picked.plan, picked.cell.seed) == ("smoke", ACQUITTED.seed)


def test_cell_that_no_plan_has_and_no_folder_kept_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="has no cell"):
        chosen(run=finished_run(tmp_path, kept=()), cell="bundled")


def test_other_subject_in_the_place_of_a_run_has_nothing_to_be_compared_with(
    tmp_path: Path,
) -> None:
    run = finished_run(tmp_path, kept=(ACQUITTED, CONVICTED))
    picked = chosen(run=run, cell="bookworm", subject="bundled")
    assert (picked.cell.subject, picked.cell.expect) == ("bundled", Expect.PASS)
    assert picked.before is None


def test_run_has_its_plan_already(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="a run has its plan already"):
        chosen(run=finished_run(tmp_path, kept=()), plan="default")


def test_virtual_cell_can_be_run_on_this_machine_and_not_the_other_way(tmp_path: Path) -> None:
    run = finished_run(tmp_path, kept=(ACQUITTED, CONVICTED))
    picked = chosen(run=run, cell="bundled", lane=LaneName.HOST)
    assert picked.cell.lane is LaneName.HOST
    assert ".host." in picked.cell.id
    on_host = msgspec.structs.replace(ACQUITTED, lane=LaneName.HOST, icount_shift=0)
    path = run / ACQUITTED.id / "cell.json"
    path.write_bytes(msgspec.json.encode(on_host))
    with pytest.raises(BadInputError, match="has no speed"):
        chosen(run=run, cell="bundled", lane=LaneName.VIRTUAL)


def test_delay_function_that_was_named_is_named_again() -> None:
    assert delay_options_of("rig/rig run --cell x --delay-symbol wait") == DelayOptions(
        symbol="wait"
    )
    assert delay_options_of("rig/rig run --delay-offset 0x3e0") == DelayOptions(offset=0x3E0)
    assert delay_options_of("rig/rig run --cell x") == DelayOptions()
