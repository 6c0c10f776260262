# SPDX-License-Identifier: GPL-2.0-or-later
"""Comparisons of two runs: exact ones, and those of times."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from delayrig.base import digest
from delayrig.base.errors import ExitCode
from delayrig.decision.two_runs import Beside, Comparison, compare_times, first_difference
from delayrig.lanes.choice import Lanes
from delayrig.model.cell import Cell, Programmer
from delayrig.model.lane import LaneName
from delayrig.model.phases import TimeSplit
from delayrig.model.platform import Arch
from delayrig.model.result import (
    FILE_NAME,
    CpuTime,
    Results,
    RunHeader,
    Verdict,
    write_results,
)

from tests.rig.builders import (
    compare_folders,
    make_cell,
    make_evidence,
    make_result,
    make_run_header,
    run_of,
)
from tests.rig.history_builders import DIGESTS, history_of, make_run
from tests.rig.running import answer_of, refusal_of, rig

EVENTS = b'{"ev":"end","t_ns":1}\n'
CELLS = [make_cell(name="a"), make_cell(name="b")]


def keep_run(
    folder: Path, *changes: dict[str, Any], cells: list[Cell] = CELLS, **header: Any
) -> Path:
    """Writes a run of those cells; each change applies to one result, in order."""
    results = []
    for number, cell in enumerate(cells):
        result = make_result(cell, events_sha256=digest.of_bytes(EVENTS))
        results.append(msgspec.structs.replace(result, **dict(*changes[number : number + 1])))
        (folder / cell.id).mkdir(parents=True)
        (folder / cell.id / "events.jsonl").write_bytes(EVENTS)
    folder.mkdir(exist_ok=True)
    run = make_run_header(**{"cells_planned": len(cells), **header})
    write_results(Results(run=run, cells=results), folder)
    return folder


def compared(tmp_path: Path, *changes: dict[str, Any], **more: Any) -> Comparison:
    """Compares a plain run with one that has the changes."""
    return compare_folders(
        keep_run(tmp_path / "one"), keep_run(tmp_path / "other", *changes, **more)
    )


def test_commit_command_and_host_time_do_not_make_runs_different(tmp_path: Path) -> None:
    header = {"commit": "other", "argv": []}
    comparison = compared(tmp_path, {"host_s": 99.0, "rerun": "another"}, **header)
    assert (comparison.exit_code, comparison.compared) == (0, 2)
    assert (comparison.differences, comparison.doubts) == ([], [])


@pytest.mark.parametrize(
    "change",
    [
        {"verdict": Verdict.TOO_SHORT},
        {"time_ns": TimeSplit(total=1)},
        {"cpu_ns": CpuTime(user=1)},
        {"evidence": [make_evidence()]},
        {"judged": ["serprog-sync"]},
        {"unjudged": ["serprog-sync"]},
        {"events_sha256": "0" * 64},
    ],
)
def test_changed_cell_is_a_fault_of_the_rig(tmp_path: Path, change: dict[str, Any]) -> None:
    comparison = compared(tmp_path, {}, change)
    (field,) = change
    assert comparison.exit_code == 99
    assert len(comparison.differences) == 1
    assert comparison.differences[0].startswith(f"{CELLS[1].id}: {field} is ")
    assert comparison.compared == 2


def test_missing_cell_is_a_doubt(tmp_path: Path) -> None:
    whole, part = keep_run(tmp_path / "one"), keep_run(tmp_path / "other", cells=CELLS[:1])
    for runs in ((whole, part), (part, whole)):
        comparison = compare_folders(*runs)
        assert (comparison.exit_code, comparison.compared) == (4, 1)
        assert comparison.doubts == [f"{CELLS[1].id}: in one run only"]


IMAGES = {"kernel": "c" * 64, "qemu": "d" * 64}
LONGER = {"time_ns": TimeSplit(total=1)}


@pytest.mark.parametrize(
    ("header", "doubt"),
    [
        ({"cells_planned": 3}, "2 of 3 planned cells"),
        ({"interrupted": True}, "2 of 2 planned cells"),
        ({"image_digests": {**IMAGES, "kernel": "e" * 64}}, "images are unequal: "),
        ({"image_digests": {"kernel": IMAGES["kernel"]}}, "images are unequal: "),
        ({"image_digests": {}}, "images are unequal: "),
        ({"seed": 2}, "seeds are unequal: 1 and 2"),
    ],
)
def test_incomplete_run_or_other_images_or_seed_are_a_doubt_and_never_a_fault(
    tmp_path: Path, header: dict[str, Any], doubt: str
) -> None:
    same = compared(tmp_path / "same", **header)
    assert (same.exit_code, same.differences) == (4, [])
    assert doubt in same.doubts[0]
    if not header.keys() & {"cells_planned", "interrupted"}:
        different = compared(tmp_path / "different", LONGER, **header)
        assert (different.exit_code, len(different.differences)) == (4, 1)


def test_cell_that_the_rig_lost_in_both_runs_is_a_doubt(tmp_path: Path) -> None:
    lost = {"verdict": Verdict.INFRA_ERROR}
    one, other = (keep_run(tmp_path / name, lost) for name in ("one", "other"))
    comparison = compare_folders(one, other)
    assert (comparison.exit_code, comparison.differences) == (4, [])


@pytest.mark.parametrize("content", [b"", None, b'{"ev":"end","t_ns":2}\n'])
def test_events_unlike_their_digest_are_a_doubt(tmp_path: Path, content: bytes | None) -> None:
    one, other = keep_run(tmp_path / "one"), keep_run(tmp_path / "other")
    path = other / CELLS[0].id / "events.jsonl"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    for runs in ((one, other), (other, one)):
        comparison = compare_folders(*runs)
        assert (comparison.exit_code, comparison.differences) == (4, [])
        assert comparison.doubts[0].startswith(str(path))


def test_events_that_are_empty_in_both_runs_are_a_doubt(tmp_path: Path) -> None:
    empty = {"events_sha256": digest.of_bytes(b"")}
    runs = [keep_run(tmp_path / name, empty, cells=CELLS[:1]) for name in ("one", "other")]
    for run in runs:
        (run / CELLS[0].id / "events.jsonl").write_bytes(b"")
    assert compare_folders(*runs).exit_code == 4


@pytest.mark.parametrize("cells", [(CELLS[:1], CELLS[1:]), ([], [])])
def test_no_common_cell_is_a_doubt(tmp_path: Path, cells: tuple[list[Cell], list[Cell]]) -> None:
    one, other = (keep_run(tmp_path / f"{n}", cells=kept) for n, kept in enumerate(cells))
    comparison = compare_folders(one, other)
    assert (comparison.exit_code, comparison.compared) == (4, 0)
    assert "no virtual cell is in both runs" in comparison.doubts


def test_cells_in_real_time_and_skipped_cells_are_not_compared(tmp_path: Path) -> None:
    changes: list[dict[str, Any]] = [{"lane": "live"}, {"verdict": Verdict.SKIPPED}, {}]
    cells = [*CELLS, make_cell(name="c")]
    one, other = (keep_run(tmp_path / name, *changes, cells=cells) for name in ("one", "other"))
    comparison = compare_folders(one, other)
    assert (comparison.exit_code, comparison.compared) == (0, 1)


def test_run_may_be_named_by_its_results_file(tmp_path: Path) -> None:
    one, other = keep_run(tmp_path / "one"), keep_run(tmp_path / "other")
    assert compare_folders(one / FILE_NAME, other / FILE_NAME).exit_code == 0


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (b"a\nx\ny\n", "event 2 is the first to differ: b and x"),
        (b"a\n", "event 2 is the first to differ: b and nothing"),
        (b"a\nb\nc\n", ""),
    ],
)
def test_first_differing_event_is_named(other: bytes, message: str) -> None:
    assert first_difference(b"a\nb\nc\n", other) == message


def test_same_cells_of_two_programs_are_compared_by_time() -> None:
    beside = compare_times(
        make_run(1, {"a": 10, "b": 5}), make_run(2, {"a": 11, "b": 5}, sha256="0")
    )
    assert beside.exit_code == ExitCode.PASS
    assert [pair.pct for pair in beside.pairs] == [pytest.approx(10), 0]
    assert not any(pair.same_program for pair in beside.pairs)


SIDES = [make_cell(name="a", side="baseline"), make_cell(name="a", side="candidate")]


def test_sides_of_a_gate_are_compared_by_place() -> None:
    runs = [Results(run=make_run_header(), cells=[make_result(cell)]) for cell in SIDES]
    beside = compare_times(*runs)
    assert len(beside.pairs) == 1
    assert (beside.only_first, beside.only_second) == ([], [])
    twice = [make_result(cell) for cell in (SIDES[1], msgspec.structs.replace(SIDES[1], side="x"))]
    beside = compare_times(runs[0], Results(run=make_run_header(), cells=twice))
    assert (beside.pairs, len(beside.only_second)) == ([], 2)


@pytest.mark.parametrize(
    ("lane", "code"), [(LaneName.VIRTUAL, ExitCode.RIG_FAULT), (LaneName.HOST, ExitCode.PASS)]
)
def test_other_virtual_time_of_a_program_is_a_fault(lane: LaneName, code: ExitCode) -> None:
    runs = (make_run(n, {"a": n}, lane=lane) for n in (1, 2))
    assert compare_times(*runs).exit_code == code


@pytest.mark.parametrize(
    ("change", "unlike"),
    [
        ({"seed": 2}, ["seed"]),
        ({"digests": {**DIGESTS, "initrd": "0"}}, ["initrd"]),
        ({"digests": {**DIGESTS, "qemu": "0", "kernel": "0"}}, ["kernel", "qemu"]),
        ({"digests": {k: v for k, v in DIGESTS.items() if k != "turns"}}, ["turns"]),
    ],
)
def test_other_seed_or_image_is_not_compared(change: dict[str, object], unlike: list[str]) -> None:
    beside = compare_times(make_run(1, {"a": 10}), make_run(2, {"a": 11}, **change))  # type: ignore[arg-type]
    assert (beside.exit_code, beside.comparable) == (ExitCode.INCONCLUSIVE, [])
    assert beside.pairs[0].unlike == unlike


def test_images_that_the_cell_does_not_use_may_differ() -> None:
    more = {**DIGESTS, "kernel arm64": "0", "kernel preempt-rt": "0", "subject x": "0"}
    beside = compare_times(make_run(1, {"a": 10}), make_run(2, {"a": 10}, digests=more))
    assert beside.exit_code == ExitCode.PASS


LANES = {"virtual": DIGESTS, "live": {"kernel": "c" * 64, "initrd": "a" * 64, "cpu plugin": "1"}}


def joined(headers: dict[str, RunHeader]) -> RunHeader:
    """Returns the header of a run in several lanes, of which each has one of these."""
    fakes = {lane: SimpleNamespace(header=lambda h=header: h) for lane, header in headers.items()}
    return Lanes(fakes).header()  # type: ignore[arg-type]


def header_of(lanes: dict[str, dict[str, str]]) -> dict[str, str]:
    """Returns the digests of a run in several lanes, of which each has these."""
    held = {lane: make_run_header(image_digests=digests) for lane, digests in lanes.items()}
    return joined(held).image_digests


CONFINED = {"confined": True, "lock": "same"}
UNLOCKED = {"confined": False, "lock": "incomplete"}
MOVED_ON = {"lock": "differs"}


@pytest.mark.parametrize(
    ("lanes", "both"),
    [
        ({"virtual": {}, "host": CONFINED}, CONFINED),
        ({"virtual": {}, "live": UNLOCKED}, UNLOCKED),
        ({"live": CONFINED, "host": UNLOCKED}, UNLOCKED),
        ({"host": UNLOCKED, "virtual": MOVED_ON}, UNLOCKED | MOVED_ON),
        ({"host": {"qemu_version": "", "libvirt_version": ""}, "live": {}}, {}),
    ],
)
def test_header_of_several_lanes_has_what_any_of_them_lacks(
    lanes: dict[str, dict[str, Any]], both: dict[str, Any]
) -> None:
    found = joined({lane: make_run_header(**changes) for lane, changes in lanes.items()})
    assert found == make_run_header(cells_planned=found.cells_planned, **both)


@pytest.mark.parametrize("order", [("virtual", "live"), ("live", "virtual")])
def test_digest_of_the_live_lane_alone_is_named_after_the_lane(order: list[str]) -> None:
    found = header_of({name: LANES[name] for name in order})
    assert found == {**DIGESTS, "live initrd": "a" * 64, "live cpu plugin": "1"}


@pytest.mark.parametrize(("lane", "unlike"), [("virtual", []), ("live", ["initrd"])])
def test_cell_is_compared_by_the_inputs_of_its_lane(lane: str, unlike: list[str]) -> None:
    changed = {**LANES, "live": {**LANES["live"], "initrd": "b" * 64}}
    runs = [make_run(1, {"a": 10}, digests=header_of(lanes)) for lanes in (LANES, changed)]
    for run in runs:
        run.cells[:] = [msgspec.structs.replace(cell, lane=lane) for cell in run.cells]
    assert compare_times(*runs).pairs[0].unlike == unlike


PARTS = ("chip plugin", "device initrd", "device initrd arm64", "kernel full", "kernel full-arm64")


@pytest.mark.parametrize(
    ("arch", "programmer", "unlike"),
    [
        (Arch.X86_64, Programmer.SERPROG_IP, []),
        (Arch.X86_64, Programmer.NICINTEL, ["chip plugin", "device initrd"]),
        (Arch.X86_64, Programmer.LINUX_SPI, ["chip plugin", "device initrd", "kernel full"]),
        (
            Arch.ARM64,
            Programmer.CH341A_SPI,
            ["chip plugin", "device initrd arm64", "kernel full-arm64"],
        ),
    ],
)
def test_cell_is_compared_by_the_parts_of_its_programmers_device(
    arch: Arch, programmer: Programmer, unlike: list[str]
) -> None:
    result = make_result(make_cell(arch=arch, programmer=programmer))
    runs = (
        run_of(
            msgspec.structs.replace(result, time_ns=TimeSplit(total=ns)),
            image_digests=DIGESTS | dict.fromkeys(PARTS, build),
        )
        for build, ns in (("0", 10), ("1", 11))
    )
    assert compare_times(*runs).pairs[0].unlike == unlike


def test_cell_of_one_run_makes_a_comparison_of_times_inconclusive() -> None:
    beside = compare_times(make_run(1, {"a": 10, "b": 1}), make_run(2, {"a": 10, "c": 1}))
    assert beside.exit_code == ExitCode.INCONCLUSIVE
    found = (beside.pairs, beside.only_first, beside.only_second)
    assert [len(cells) for cells in found] == [1, 1, 1]


def test_runs_are_named_by_folder_or_by_number(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'h.sqlite'}"
    first, second = make_run(1, {"a": 10}), make_run(2, {"a": 11}, sha256="0")
    history_of(url, first, second)
    write_results(second, tmp_path)
    for other in ("2", tmp_path):
        assert "+10.00" in answer_of("compare", "--history", url, "1", other)
    answer = answer_of("compare", "--history", url, "--json", "1", tmp_path)
    assert msgspec.json.decode(answer, type=Beside) == compare_times(first, second)


def test_stored_runs_are_compared_exactly_by_their_digests(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'h.sqlite'}"
    history_of(url, make_run(1, {"a": 10}), make_run(2, {"a": 10}), make_run(3, {"a": 11}))
    answer_of("compare", "--history", url, "--exact", "1", "2")
    unequal = rig("compare", "--history", url, "--exact", "1", "3")
    assert (unequal.exit_code, "time_ns is" in unequal.output) == (ExitCode.RIG_FAULT, True)
    assert "has no run 9" in refusal_of("compare", "--history", url, "1", "9")
