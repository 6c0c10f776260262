# SPDX-License-Identifier: GPL-2.0-or-later
"""Output of a guest that a hostile subject controls: 102,000 seeded mutations with `--all`.

Each is refused as a fault of the rig, or gives a result that can be written and read again. No file
appears outside the cell's folder.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
from delayrig.base.errors import RigError
from delayrig.machine.session import unpack
from delayrig.model import workload
from delayrig.model.result import CellResult, Results, decode_results, own_fault

from tests.conftest import Bound
from tests.rig.builders import make_cell, make_chip, make_run_header, sparse_image
from tests.rig.event_builders import as_lines, sound_events
from tests.rig.test_edge_mutations import mutated
from tests.rig.test_parcel import TWO
from tests.rig.test_verdict_folder import bus_of_write, judged

CONSOLE = b'flashrom 1.4.0 on Linux 6.1\nUsing region: "rig".\nErase/write done.\nVERIFIED.\n'
IMAGE = sparse_image(
    workload.final_content(make_cell(), workload.region_of(make_cell(), make_chip()))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """An output of a guest, and the reader of it."""

    sound: bytes
    take: Callable[[bytes, Path], CellResult | None]


def take_parcel(content: bytes, _folder: Path) -> None:
    assert sum(map(len, unpack(content).values())) <= len(content)


def take_events(content: bytes, folder: Path) -> CellResult:
    (folder / "events.jsonl").write_bytes(content)
    return judged(folder)


def take_console(content: bytes, folder: Path) -> CellResult:
    (folder / "stdout.txt").write_bytes(content)
    return judged(folder)


SAID = {
    "parcel": Said(sound=TWO, take=take_parcel),
    "events": Said(sound=as_lines(sound_events(*bus_of_write())), take=take_events),
    "console": Said(sound=CONSOLE, take=take_console),
}


def sound_folder(folder: Path) -> Path:
    """Makes the folder of a cell that passes."""
    cell = folder / "run" / "cell"
    cell.mkdir(parents=True)
    for name, content in (("events.jsonl", SAID["events"].sound), ("stdout.txt", CONSOLE)):
        (cell / name).write_bytes(content)
    (cell / "image.sparse").write_bytes(IMAGE)
    return cell


def is_read_again(result: CellResult) -> bool:
    results = Results(run=make_run_header(), cells=[result])
    read = decode_results(msgspec.json.encode(results), "results.json")
    return read == results and own_fault(result) == ""


@pytest.mark.parametrize("name", SAID)
@pytest.mark.bounds(mutations=(300, 34_000))
def test_whatever_a_guest_says_is_refused_or_makes_a_result_that_can_be_read(
    name: str, tmp_path: Path, bound: Bound
) -> None:
    said, cell = SAID[name], sound_folder(tmp_path)
    outcomes: set[str] = set()
    for seed in range(bound("mutations")):
        content = mutated(said.sound, random.Random(f"hostile {name} {seed}"))
        try:
            result = said.take(content, cell)
        except RigError:
            outcomes.add("refused")
            continue
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a hole in the edge
            pytest.fail(f"{name}, seed {seed}: {error!r}")
        outcomes.add(result.verdict if result else "read")
        assert result is None or is_read_again(result), f"{name}, seed {seed}"
    assert len(outcomes) > 1, outcomes
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["cell"]
