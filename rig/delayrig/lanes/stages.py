# SPDX-License-Identifier: GPL-2.0-or-later
"""The host time of a cell by stage, from times noted on the host and marks of the guest."""

import re
import time
from itertools import pairwise
from pathlib import Path

import msgspec

FILE_NAME = "stages.json"
MARKS_NAME = "marks.log"

PACK = "pack the cell"
LOAD = "start or reset QEMU, load the snapshot"
READ_BACK = "read the results back"
STOP = "stop QEMU"
KEEP = "write the cell's folder"
JUDGE = "judge"

# The stages that end at the marks of images/agent/hypercall.h, by the number of the mark.
GUEST = {
    1: "guest: take in the cell",
    2: "guest: take in the subject",
    3: "guest: settle, compare the clocks",
    4: "guest: tell the emulator its chip",
    5: "guest: start the subject, to its connection",
    6: "guest: the job",
    7: "guest: end the emulator",
    8: "guest: pack the results",
}
BOOTED = "boot the guest, take in the cell, rehearse"
"""A stage of the live lane only, whose guests call this host instead of passing marks."""
CONNECTED, ENDED = GUEST[5], GUEST[6]
KEY_OF_MARKS = 0x3F00
MARK = re.compile(r"\d+@(?P<at_s>\d+\.\d+):fw_cfg_select .* key 0x(?P<key>[0-9a-f]+) ")
STAGES = (PACK, LOAD, BOOTED, *GUEST.values(), READ_BACK, STOP, KEEP, JUDGE)


class StageWatch:
    """Records when each stage of a cell ended, by the host's wall clock, as QEMU does for marks."""

    def __init__(self) -> None:
        self._moments = [("", time.time())]

    def ended(self, stage: str) -> None:
        self._moments.append((stage, time.time()))

    def write(self, folder: Path) -> None:
        """Writes the length of each stage, in seconds, to the cell's folder."""
        marks = folder / MARKS_NAME
        found = read_marks(marks.read_text(encoding="utf-8")) if marks.is_file() else []
        lengths = stage_lengths([*self._moments, *found])
        (folder / FILE_NAME).write_bytes(msgspec.json.format(msgspec.json.encode(lengths)))


def read_marks(log: str) -> list[tuple[str, float]]:
    """Returns the stages of the guest with the times of their ends."""
    found = []
    for match in filter(None, map(MARK.match, log.splitlines())):
        number = int(match["key"], 16) - KEY_OF_MARKS
        if number in GUEST:
            found.append((GUEST[number], float(match["at_s"])))
    return found


def stage_lengths(moments: list[tuple[str, float]]) -> dict[str, float]:
    """Returns the length of each stage, counted from the end of the previous one.

    The earliest entry is the start of the cell, not the end of a stage.
    """
    ordered = sorted(moments, key=lambda moment: moment[1])
    return {stage: at_s - before_s for (_, before_s), (stage, at_s) in pairwise(ordered)}
