# SPDX-License-Identifier: GPL-2.0-or-later
"""The bus witness judges a wait by its shortest and its longest possible duration."""

import pytest
from delayrig.judge.bus import observe_waits
from delayrig.judge.waits import convict_waits
from delayrig.model.events import Event
from delayrig.model.evidence import ObservedWait, Witness
from delayrig.model.kinds.agent import SubjectStart
from delayrig.subjects.profiles.profile import Profile, Wait
from msgspec.structs import replace

from tests.rig.builders import ERASE_WAIT, MS, SECOND, SYNC_WAIT, make_profile
from tests.rig.event_builders import DELAY, NOP, SYNCNOP, cycle, made, serprog, spi, started

CHIP = "GD25Q16C"
BUSY = "0x03"
REQUESTED = 10 * MS
OPENED = 5 * SECOND


def observe(
    events: list[Event], *waits: Wait, wake: int | None = None, is_forwarded: bool = False
) -> list[ObservedWait]:
    profile: Profile = make_profile(*(waits or (ERASE_WAIT,)))
    return observe_waits([started(wake=wake), *events], profile, CHIP, is_forwarded=is_forwarded)


def erase_polls(*, empty: int, read: int) -> list[Event]:
    """Returns an erase and two status reads; the first is answered busy at OPENED."""
    return [
        spi("0x06", read=OPENED - 3000),
        spi("0x20", read=OPENED - 2000, sr=BUSY),
        spi("0x05", read=OPENED - 700, reply=OPENED, sr=BUSY),
        spi("0x05", empty=empty, read=read, sr="0x00"),
    ]


def sync(*, closing_empty: int, closing_read: int) -> list[Event]:
    return [
        serprog(NOP, empty=20, read=40),
        serprog(NOP, empty=100, read=300),
        serprog(SYNCNOP, empty=closing_empty, read=closing_read),
    ]


@pytest.mark.parametrize(
    ("empty", "read", "short", "judged", "visible"),
    [
        (0, 0, True, True, 1),
        (1, 2, True, True, 1),
        (0, REQUESTED - 1, True, True, 1),
        (0, REQUESTED, False, False, 1),
        (0, REQUESTED + 1, False, False, 2),
        (0, REQUESTED + 49, False, False, 50),
        (REQUESTED - 1, 2 * REQUESTED - 1, False, False, REQUESTED),
        (REQUESTED, 2 * REQUESTED - 1, False, True, REQUESTED),
        (REQUESTED + 1, 2 * REQUESTED - 1, False, True, REQUESTED),
        # Even a wait of 0 ns might not be visible.
        (REQUESTED, 2 * REQUESTED, False, False, REQUESTED + 1),
        (REQUESTED, 9 * REQUESTED, False, False, 8 * REQUESTED + 1),
        # The lower bound is negative, so the wait may have lasted 0 ns.
        (-500, 2, True, True, 1),
    ],
)
def test_wait_is_short_if_its_longest_is_and_good_if_its_shortest_is(
    empty: int, read: int, short: bool, judged: bool, visible: int
) -> None:
    (wait,) = observe(erase_polls(empty=OPENED + empty, read=OPENED + read))
    assert (wait.shortest_ns, wait.longest_ns) == (max(empty, 0), read)
    assert (wait.is_short, wait.is_judged, wait.visible_short_ns) == (short, judged, visible)
    assert bool(convict_waits([wait])) is short


@pytest.mark.parametrize(
    ("arrived", "empty", "read", "shortest", "short", "judged"),
    [
        (None, SECOND + 300, SECOND + 900, SECOND, False, True),
        (250, SECOND + 300, SECOND + 900, SECOND + 50, False, True),
        (None, 5000, 9000, 4700, True, True),
        (None, 400, 100 + SECOND - 1, 100, True, True),
        (None, 400, 100 + SECOND, 100, False, False),
        (None, 300 + SECOND - 1, 2 * SECOND, SECOND - 1, False, False),
        (None, 300 + SECOND, 2 * SECOND, SECOND, False, True),
    ],
)
def test_sync_wait_opens_between_the_last_empty_read_and_the_arrival_of_the_nops(
    arrived: int | None, empty: int, read: int, shortest: int, short: bool, judged: bool
) -> None:
    events = sync(closing_empty=empty, closing_read=read)
    events[1] = replace(events[1], arrived_ns=arrived)
    (wait,) = observe(events, SYNC_WAIT)
    assert (wait.opened_ns, wait.shortest_ns, wait.longest_ns) == (100, shortest, read - 100)
    assert (wait.is_short, wait.is_judged) == (short, judged)


def test_second_synchronisation_of_a_connection_is_not_a_wait() -> None:
    events = sync(closing_empty=5000, closing_read=9000)
    assert len(observe([*events, *events], SYNC_WAIT)) == 1


NOPS, SYNCED = serprog(NOP, empty=1, read=2), serprog(SYNCNOP, empty=30, read=40)
ERASE, LATER_POLL = spi("0x20", read=1000, sr=BUSY), spi("0x05", read=4000, sr=BUSY)
POLL, NEXT_POLL = (spi("0x05", read=read, sr=BUSY) for read in (2000, 3000))
NO_WAITS: list[list[Event]] = [
    # NOPs or SYNCNOP are missing, or something is between them.
    [SYNCED],
    [NOPS],
    [NOPS, serprog("Q_IFACE", empty=3, read=4), SYNCED],
    [NOPS, cycle("READ", read=20, rlen=1), SYNCED],
    # The polls follow no operation, or an operation whose polls are not in the profile.
    [POLL, NEXT_POLL],
    *([spi(op, read=1000), POLL, NEXT_POLL] for op in ("0x02", "0xd8", "0x01", "0x06")),
    [ERASE, spi("0x02", read=1500), POLL, NEXT_POLL],
    # Something is between the polls.
    [ERASE, POLL, spi("0x9f", read=2500), NEXT_POLL, LATER_POLL],
    [ERASE, POLL, serprog("S_PIN_STATE", empty=2400, read=2500), NEXT_POLL, LATER_POLL],
    # The part answers that it is ready.
    *([ERASE, spi("0x05", read=2000, sr=sr), NEXT_POLL] for sr in ("0x00", "0x02", "0xfe")),
    # 20h also erases over FWH, where this subject polls without a wait.
    [cycle("ERASE", op="0x20", read=1), *(cycle("STATUS", read=at, rlen=1) for at in (20, 30))],
]


@pytest.mark.parametrize("events", NO_WAITS)
def test_requests_without_a_wait_of_the_profile_are_ignored(events: list[Event]) -> None:
    assert observe(events, ERASE_WAIT, SYNC_WAIT) == []


@pytest.mark.parametrize(
    ("wake", "closed"),
    [
        (None, 1000),  # it arrived after empty_ns; nothing more is known
        (0, 8000),
        (100, 7900),  # it arrived at most 100 ns before it was read
        (6999, 1001),
        (7000, 1000),
        (9000, 1000),  # it arrived after empty_ns, however large the latency
    ],
)
def test_wait_ends_after_empty_and_at_most_a_wake_latency_before_read(
    wake: int | None, closed: int
) -> None:
    (wait,) = observe(erase_polls(empty=OPENED + 1000, read=OPENED + 8000), wake=wake)
    assert wait.shortest_ns == closed
    assert wait.longest_ns == 8000


def test_every_poll_of_an_operation_ends_a_wait() -> None:
    polls = [spi("0x05", read=1000 * n, sr=BUSY) for n in range(2, 6)]
    ready = spi("0x05", read=9000, sr="0x00")
    waits = observe([spi("0x20", read=1000, sr=BUSY), *polls, ready, spi("0x05", read=9500)])
    assert [wait.longest_ns for wait in waits] == [990, 990, 990, 9000 - 5010]


def test_poll_of_the_next_erase_does_not_end_a_wait_of_the_previous_one() -> None:
    events = [
        spi("0x20", read=1000, sr=BUSY),
        spi("0x05", read=2000, sr=BUSY),
        spi("0x20", read=3000, sr=BUSY),
        spi("0x05", read=4000, sr=BUSY),
        spi("0x05", read=5000),
    ]
    assert [wait.longest_ns for wait in observe(events)] == [990]


def test_request_for_the_chip_overrides_the_general_one_and_without_both_nothing_is_seen() -> None:
    events = erase_polls(empty=OPENED, read=OPENED + 1)
    wait = replace(ERASE_WAIT, requested_us_by_chip={CHIP: 7, "M25P80": 5})
    assert [seen.requested_ns for seen in observe(events, wait)] == [7000]
    other = replace(ERASE_WAIT, requested_us=None, requested_us_by_chip={"M25P80": 5})
    assert observe(events, other) == []


def test_evidence_is_the_worst_wait_of_its_kind_with_the_number_of_short_ones() -> None:
    polls = [
        spi("0x05", read=read, reply=read + 10, sr=BUSY) for read in (1000, 4000, 5000, 5_000_000)
    ]
    waits = observe([spi("0x20", read=500, sr=BUSY), *polls, spi("0x05", read=60 * MS)])
    (evidence,) = convict_waits(waits)
    assert evidence.count == 3
    assert evidence.actual_ns == (985, 990)
    assert (evidence.requested_ns, evidence.margin_ns) == (REQUESTED, 990 - REQUESTED)
    assert evidence.where == "bus at 4010 ns"
    assert (evidence.witness, evidence.grade) == (Witness.BUS, "profile")
    assert ERASE_WAIT.what in evidence.what


def test_each_kind_of_wait_is_convicted_separately() -> None:
    events = [
        *sync(closing_empty=301, closing_read=302),
        *erase_polls(empty=OPENED, read=OPENED + 1),
    ]
    evidence = convict_waits(observe(events, SYNC_WAIT, ERASE_WAIT))
    assert [item.requested_ns for item in evidence] == [SECOND, REQUESTED]


@pytest.mark.parametrize(
    ("empty", "read", "short"),
    [(5 * REQUESTED, 6 * REQUESTED, False), (0, REQUESTED - 1, True), (0, REQUESTED, False)],
)
def test_forwarded_wait_can_be_found_short_and_never_good(
    empty: int, read: int, short: bool
) -> None:
    events = erase_polls(empty=OPENED + empty, read=OPENED + read)
    (wait,) = observe(events, wake=10, is_forwarded=True)
    assert (wait.shortest_ns, wait.longest_ns) == (0, read)
    assert (wait.is_short, wait.is_judged) == (short, short)


@pytest.mark.parametrize(("longest", "convicted"), [(SECOND - 1, True), (SECOND, False)])
def test_forwarded_sync_wait_opens_at_the_start_of_the_subject(
    longest: int, convicted: bool
) -> None:
    events: list[Event] = [made(SubjectStart, t_ns=50)]
    events += sync(closing_empty=400, closing_read=50 + longest)
    (wait,) = observe(events, SYNC_WAIT, wake=10, is_forwarded=True)
    assert (wait.shortest_ns, wait.longest_ns) == (0, longest)
    assert wait.is_short is convicted


def test_wait_during_a_delay_of_the_programmer_is_ignored() -> None:
    early = OPENED + MS
    polls = erase_polls(empty=early, read=early)
    assert [wait.is_short for wait in observe(polls)] == [True]
    delay = serprog(DELAY, empty=OPENED + 100, read=OPENED + 200)
    assert observe([*polls[:-1], delay, polls[-1]]) == []


def test_wait_before_the_first_delay_of_the_programmer_is_judged() -> None:
    wait_first = sync(closing_empty=SECOND // 2, closing_read=SECOND // 2)
    delay = serprog(DELAY, empty=2 * SECOND, read=2 * SECOND)
    (wait,) = observe([*wait_first, delay], SYNC_WAIT)
    assert wait.is_short
