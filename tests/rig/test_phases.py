# SPDX-License-Identifier: GPL-2.0-or-later
"""The phases of a job, and its busy, wire and overshoot times."""

import random

import pytest
from delayrig.model.events import Event
from delayrig.model.phases import VERIFY, TimeSplit, chip_busy_ns, overshoot_ns, split_time, wire_ns
from msgspec.structs import replace

from tests.rig.event_builders import busy, cycle, serprog, spi

OTHER_FAMILY = {"read": 100, "erase": 300, "write": 400, "verify": 100}


def split(*transactions: tuple[str, int], start: int = 0, end: int = 1000) -> TimeSplit:
    return split_time([spi(op, read=at) for op, at in transactions], start, end)


def test_job_without_transactions_is_all_probe() -> None:
    assert split(start=100) == TimeSplit(total=900, probe=900)


def test_phase_begins_with_the_transaction_that_decides_it() -> None:
    found = split(
        ("0x9f", 50), ("0x03", 100), ("0x20", 300), ("0x02", 600), ("0x03", 900), start=10
    )
    assert found == TimeSplit(total=990, probe=90, read=200, erase=300, write=300, verify=100)


@pytest.mark.parametrize(
    ("transactions", "expected"),
    [
        ("03@100 06@300 20@310 06@600 02@610", {"read": 200, "erase": 300, "write": 400}),
        ("03@100 06@300 d8@310 06@600 02@610", {"read": 200, "erase": 300, "write": 400}),
        ("06@100 02@110 06@200 02@210", {"write": 900}),
        ("03@100 06@300", {"read": 900}),
        ("20@100 05@200 05@300 02@400 05@500", {"erase": 300, "write": 600}),
        ("03@100 20@200 03@300 20@400 03@500", {"read": 100, "erase": 800}),
        ("20@100 02@300 03@600", {"erase": 200, "write": 300, "verify": 400}),
        ("02@100 03@200 20@300 02@500 03@900", {"write": 500, "verify": 200, "erase": 200}),
        ("13@100 21@200 12@500 13@900", OTHER_FAMILY),
        ("03@100 20@200 ad@500 03@900", OTHER_FAMILY),
        ("e8@100 50@200 84@500 e8@900", OTHER_FAMILY),
    ],
    ids=[
        "write enable belongs to the sector erase or program after it",
        "write enable belongs to the block erase after it",
        "write enable before another program",
        "write enable as the last transaction",
        "status reads change no phase",
        "read after an erase belongs to the erase",
        "read after a program is verify",
        "erase and program after a verify",
        *("4-byte addresses", "AAI program", "AT45"),
    ],
)
def test_phases_follow_the_opcodes(transactions: str, expected: dict[str, int]) -> None:
    pairs = (word.split("@") for word in transactions.split())
    found = split(*((f"0x{opcode}", int(at)) for opcode, at in pairs))
    assert found == TimeSplit(total=1000, probe=100, **expected)


def test_first_read_of_a_verify_job_is_verify() -> None:
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
        ([250, 300, 400], 50),  # Only the first read that finds the chip ready counts.
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
