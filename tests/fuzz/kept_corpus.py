# SPDX-License-Identifier: GPL-2.0-or-later
"""Corpora in the tree: text files with one input a line, in hexadecimal, up to a size limit."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterator
from pathlib import Path

CORPORA = Path(__file__).resolve().parent / "corpora"
TEXT_BYTES_MAX = 22000  # size limit of a corpus
HEAD = "# SPDX-License-Identifier: GPL-2.0-or-later\n# Written by run_fuzz.py --pack.\n"

Reach = dict[Path, set[int]]
"""The features that each input reaches, by libFuzzer's numbers."""


def kept_inputs(target: str) -> list[bytes]:
    file = CORPORA / f"{target}.txt"
    if not file.exists():
        return []
    lines = file.read_text(encoding="ascii").splitlines()
    return [bytes.fromhex(line) for line in lines if not line.startswith("#")]


def unpack(target: str, folder: Path) -> None:
    """Writes the inputs of the target's file into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for content in kept_inputs(target):
        (folder / hashlib.sha1(content, usedforsecurity=False).hexdigest()).write_bytes(content)


def pack(target: str, reach: Reach) -> None:
    """Writes inputs to the target's file, up to the size limit."""
    lines = sorted(map(to_line, chosen(reach)), key=lambda line: (len(line), line))
    (CORPORA / f"{target}.txt").write_text(HEAD + "".join(lines), encoding="ascii")


def to_line(path: Path) -> str:
    return path.read_bytes().hex() + "\n"


def line_bytes(path: Path) -> int:
    return 2 * path.stat().st_size + 1


def chosen(reach: Reach) -> Iterator[Path]:
    """Yields inputs up to the size limit, those with the most new features per byte first."""
    seen: set[int] = set()
    room = TEXT_BYTES_MAX
    # The gain of an input never grows. So an input is the best one if its present gain is no less
    # than the earlier gains of the others.
    queue = [(-len(reached) / line_bytes(path), path) for path, reached in reach.items()]
    heapq.heapify(queue)
    while queue:
        _, path = heapq.heappop(queue)
        gain = len(reach[path] - seen) / line_bytes(path)
        if gain == 0 or line_bytes(path) > room:
            continue
        if queue and gain < -queue[0][0]:
            heapq.heappush(queue, (-gain, path))
            continue
        seen |= reach[path]
        room -= line_bytes(path)
        yield path


def read_reach(control: Path) -> Reach:
    """Reads libFuzzer's control file of a merge: two counts, the inputs, and their features."""
    count, _, *lines = control.read_text(encoding="utf-8").splitlines()
    paths = [Path(line) for line in lines[: int(count)]]
    reach: Reach = {}
    for line in lines[int(count) :]:
        kind, index, *numbers = line.split()
        if kind == "FT":
            reach[paths[int(index)]] = {int(number) for number in numbers}
    return reach
