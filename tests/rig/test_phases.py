# SPDX-License-Identifier: GPL-2.0-or-later
"""The phases of a job, and its busy, wire and overshoot times."""

import random

import pytest
from delayrig.model.events import Event
from delayrig.model.phases import VERIFY, TimeSplit, chip_busy_ns, overshoot_ns, split_time, wire_ns
from msgspec.structs import replace

from tests.rig.event_builders import busy, cycle, serprog, spi


def split(*transactions: tuple[str, int], start: int = 0, end: int = 1000) -> TimeSplit:
    return split_time([spi(op, read=at) for op, at in transactions], start, end)


def test_job_without_transactions_is_all_probe() -> None:
    assert split(start=100) == TimeSplit(total=900, probe=900)


def test_phase_begins_with_the_transaction_that_decides_it() -> None:
    found = split(
        ("0x9f", 50), ("0x03", 100), ("0x20", 300), ("0x02", 600), ("0x03", 900), start=10
    )
    assert found == TimeSplit(total=990, probe=90, read=200, erase=300, write=300, verify=100)


@pytest.mark.parametrize("opcode", ["0x20", "0xd8"])
def test_write_enable_belongs_to_what_follows_it(opcode: str) -> None:
    found = split(("0x03", 100), ("0x06", 300), (opcode, 310), ("0x06", 600), ("0x02", 610))
    assert (found.read, found.erase, found.write) == (200, 300, 400)


def test_write_enable_before_more_of_the_same_or_as_the_last_changes_nothing() -> None:
    found = split(("0x06", 100), ("0x02", 110), ("0x06", 200), ("0x02", 210))
    assert found == TimeSplit(total=1000, probe=100, write=900)
    assert split(("0x03", 100), ("0x06", 300)) == TimeSplit(total=1000, probe=100, read=900)


def test_status_reads_change_no_phase() -> None:
    found = split(("0x20", 100), ("0x05", 200), ("0x05", 300), ("0x02", 400), ("0x05", 500))
    assert (found.erase, found.write) == (300, 600)


def test_reading_back_after_an_erase_is_erase_and_after_a_program_verify() -> None:
    found = split(("0x03", 100), ("0x20", 200), ("0x03", 300), ("0x20", 400), ("0x03", 500))
    assert found == TimeSplit(total=1000, probe=100, read=100, erase=800)
    found = split(("0x20", 100), ("0x02", 300), ("0x03", 600))
    assert found == TimeSplit(total=1000, probe=100, erase=200, write=300, verify=400)
    found = split(("0x02", 100), ("0x03", 200), ("0x20", 300), ("0x02", 500), ("0x03", 900))
    assert (found.write, found.verify, found.erase) == (100 + 400, 100 + 100, 200)


@pytest.mark.parametrize(
    ("erase", "program", "read"),
    [("0x21", "0x12", "0x13"), ("0x20", "0xad", "0x03"), ("0x50", "0x84", "0xe8")],
)
def test_other_families_have_commands_of_their_own(erase: str, program: str, read: str) -> None:
    found = split((read, 100), (erase, 200), (program, 500), (read, 900))
    assert found == TimeSplit(total=1000, probe=100, read=100, erase=300, write=400, verify=100)


def test_first_reading_of_a_job_that_verifies_is_verify() -> None:
    events = [spi("0x9f", read=50), spi("0x03", read=100)]
    found = split_time(events, 0, 1000, first_read=VERIFY)
    assert found == TimeSplit(total=1000, probe=100, verify=900)


def test_serprog_request_without_a_transaction_changes_no_phase() -> None:
    query = serprog("Q_IFACE", empty=104, read=105)
    assert split_time([spi("0x06", read=100), query, spi("0x20", read=110)], 0, 1000).erase == 900


@pytest.mark.parametrize("seed", range(20))
def test_phases_always_add_up_to_the_total(seed: int) -> None:
    chance = random.Random(seed)
    times = sorted(chance.sample(range(100, 10_000), 40))
    opcodes = chance.choices(["0x02", "0x03", "0x05", "0x06", "0x20", "0x9f", "0xd8"], k=40)
    found = split(*zip(opcodes, times, strict=True), start=50, end=10_001)
    parts = (found.probe, found.read, found.erase, found.write, found.verify)
    assert sum(parts) == found.total == 9951
    assert min(parts) >= 0


def test_busy_and_wire_times_are_summed() -> None:
    events = [busy("0x20", start=100, until=250), busy("0x02", start=400, until=401)]
    assert chip_busy_ns([*events, spi("0x05", read=500)]) == 151
    assert wire_ns([spi("0x03", read=1, wire=7), spi("0x05", read=2, wire=5)]) == 12


@pytest.mark.parametrize(
    ("reads", "overshoot"),
    [
        ([150, 250], 50),  # The second read finds the chip ready.
        ([200], 0),  # The chip gets ready at this time.
        ([200, 250], 0),
        ([199], 0),  # No read finds the chip ready.
        ([250, 300, 400], 50),  # Only the first read after that counts.
        ([], 0),
    ],
)
def test_overshoot_is_from_ready_until_noticed(reads: list[int], overshoot: int) -> None:
    events = [spi("0x20", read=100), busy("0x20", start=100, until=200)]
    events += [spi("0x05", read=at) for at in reads]
    assert overshoot_ns(events) == overshoot


def test_overshoots_are_summed() -> None:
    events: list[Event] = []
    for at, late in ((100, 5), (200, 7), (300, 0)):
        ready = at + 30
        work = busy("0x02", start=at, until=ready)
        events += [spi("0x02", read=at), work, spi("0x05", read=ready + late)]
    assert overshoot_ns(events) == 12


def test_phases_of_parallel_buses_follow_names_and_reads_longer_than_a_poll() -> None:
    events = [
        cycle("ID_ENTRY", op="0x90", read=50),
        cycle("READ", read=60, rlen=1),
        cycle("READ", read=100, rlen=256),
        cycle("ERASE", op="0x30", read=300),
        cycle("STATUS", read=310, rlen=1),
        cycle("PROGRAM", op="0xa0", read=600),
        cycle("READ", read=610, rlen=1),
        cycle("READ", read=900, rlen=256),
    ]
    found = split_time(events, 0, 1000)
    assert found == TimeSplit(total=1000, probe=100, read=200, erase=300, write=300, verify=100)


def test_opcode_with_another_meaning_is_known_by_its_name() -> None:
    opens_register = replace(spi("0x50", read=200), name="VSREN")
    found = split_time([spi("0x03", read=100), opens_register], 0, 1000)
    assert found == TimeSplit(total=1000, probe=100, read=900)
    events = [cycle("UNKNOWN", op="0x06", read=100), cycle("ERASE", op="0x30", read=200)]
    assert split_time(events, 0, 1000) == TimeSplit(total=1000, probe=200, erase=800)


def test_overshoot_of_a_cycle_after_an_executed_delay_counts_from_its_start() -> None:
    events = [
        cycle("PROGRAM", op="0xa0", read=100, wire=280),
        busy("0xa0", start=380, until=14_380, kind="program"),
        cycle("PROGRAM", op="0xa0", read=100, start=14_400, wire=280),
    ]
    assert overshoot_ns(events) == 20
    assert wire_ns(events) == 560
