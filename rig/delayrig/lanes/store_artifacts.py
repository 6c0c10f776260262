# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the results of a cell of any lane to its folder, for the judge."""

from collections.abc import Sequence
from pathlib import Path

from delayrig.base.atomic_file import replace_file
from delayrig.lanes.delay_record import read_record
from delayrig.model.delays import FILE_NAME, delays_since, encode_delays
from delayrig.model.events import first, merge_events, read_events
from delayrig.model.kinds.agent import SubjectStart
from delayrig.model.workload import Region
from delayrig.subjects import dummy
from delayrig.subjects.delay_function import DelayFunction


def write_entries(entries: dict[str, bytes], folder: Path, region: Region) -> None:
    """Writes the cell's results to its folder, with all of its event streams merged.

    If the chip is inside the subject, its events replace the emulator's, which had no client.
    """
    agent = entries.pop("agent.jsonl", b"")
    emulator = entries.pop("events.jsonl", b"")
    if "dummy.jsonl" in entries:
        emulator = dummy.on_the_clock_of(agent, entries.pop("dummy.jsonl"))
    if "chip.bin" in entries:
        entries["image.sparse"] = dummy.sparse_image(entries.pop("chip.bin"), region)
    host = entries.pop("host.jsonl", b"")
    replace_file(folder / "events.jsonl", merge_events(agent, emulator, host))
    for entry, content in entries.items():
        replace_file(folder / entry, content)


def write_delays(
    saw: bytes, folder: Path, functions: Sequence[DelayFunction], insn_ns: int
) -> None:
    """Writes the delay plugin's record to the cell's folder. `insn_ns` is an instruction's time.

    In real time it is 0, and the delays of the subject's rehearsal are left out.
    """
    delays = read_record(saw, functions, insn_ns=insn_ns)
    if not insn_ns:
        started = first(read_events(folder), SubjectStart)
        delays = delays_since(delays, started.t_ns if started else 0)
    replace_file(folder / FILE_NAME, encode_delays(delays))
