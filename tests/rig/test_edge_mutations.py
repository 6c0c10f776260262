# SPDX-License-Identifier: GPL-2.0-or-later
"""Seeded mutations of input from outside: each is accepted, or refused with a RigError."""

import itertools
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from delayrig.base.errors import RigError
from delayrig.model.result import decode_results, own_fault, read_results, write_results
from delayrig.plan.schema import find_plan, read_plan

from tests.conftest import Bound
from tests.rig.builders import make_cell, make_evidence, make_result, run_of

SECONDS = (2, 15)
"""The seconds of mutations for each reader, in the quick tier and with --all."""
MUTATIONS_MIN = 50
TOKENS = (
    *(b"-1", b"null", b"1e999", b"18446744073709551616", b'"', b"{", b"[[[[[[[[", b"]", b"\n"),
    *(b"\x00", b"\xff\xfe", b'"../../../../etc"', b"true", b"0.5", b"\xf0\x9f\x92\xa9", b"inf"),
)


def mutated(content: bytes, draws: random.Random) -> bytes:
    """Returns the content with one to four random changes."""
    for _ in range(draws.randint(1, 4)):
        at = draws.randrange(len(content) + 1)
        end = min(at + draws.choice((1, 1, 4, 40)), len(content))
        kind = draws.randrange(5)
        if kind == 0:
            content = content[:at] + draws.choice(TOKENS) + content[at:]
        elif kind == 1:
            content = content[:at] + draws.choice(TOKENS) + content[end:]
        elif kind == 2:
            content = content[:at] + content[end:]
        elif kind == 3:
            content = content[:end] + content[at:]
        else:
            content = content[:at] + draws.randbytes(end - at) + content[end:]
    return content


def read_results_twice(content: bytes, folder: Path) -> None:
    """Checks that accepted results can be written and read again unchanged."""
    results = decode_results(content, "results.json")
    assert [own_fault(cell) for cell in results.cells] == [""] * len(results.cells)
    write_results(results, folder)
    assert read_results(folder) == results
    assert all((folder / cell.id).resolve().parent == folder.resolve() for cell in results.cells)


def read_plan_of(content: bytes, folder: Path) -> None:
    path = folder / "mutated.toml"
    path.write_bytes(content)
    read_plan(path)


def results_content(folder: Path) -> bytes:
    cell = make_cell(hazards=("busy-siblings",), cores=2)
    results = run_of(make_result(cell, evidence=[make_evidence()]))
    write_results(results, folder)
    assert read_results(folder) == results
    return (folder / "results.json").read_bytes()


Reader = tuple[Callable[[Path], bytes], Callable[[bytes, Path], None]]
READERS: dict[str, Reader] = {
    "results": (results_content, read_results_twice),
    "plan": (lambda _: find_plan("smoke").read_bytes(), read_plan_of),
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.bounds(seconds=SECONDS)
def test_mutated_input_is_accepted_or_refused(name: str, tmp_path: Path, bound: Bound) -> None:
    make, read = READERS[name]
    sound = make(tmp_path)
    read(sound, tmp_path)
    until_s, refused = time.monotonic() + bound("seconds"), 0
    for seed in itertools.count():
        if seed >= MUTATIONS_MIN and time.monotonic() > until_s:
            break
        content = mutated(sound, random.Random(f"{name} {seed}"))
        try:
            read(content, tmp_path)
        except RigError:
            refused += 1
        except Exception as error:  # noqa: BLE001 - any other exception is a finding
            pytest.fail(f"{name}, seed {seed}: {error!r}")
    assert refused > 0
