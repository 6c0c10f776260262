# SPDX-License-Identifier: GPL-2.0-or-later
"""The bus witness: it judges waits as intervals, and only if no doubt is left."""

import msgspec
import pytest
from delayrig.judge.bus import observe_waits
from delayrig.model.events import Event
from delayrig.model.evidence import ObservedWait, Witness, convict_waits
from delayrig.model.kinds.agent import SubjectStart
from delayrig.subjects.profiles.profile import Profile, Wait
from msgspec.structs import replace

from tests.rig.builders import ERASE_WAIT, MS, SECOND, SYNC_WAIT, make_profile
from tests.rig.event_builders import DELAY, NOP, SYNCNOP, cycle, made, serprog, spi, started

CHIP = "GD25Q16C"
BUSY = "0x03"
ASKED = 10 * MS
OPENED = 5 * SECOND


def observe(
    events: list[Event], *waits: Wait, wake: int | None = None, bridged: bool = False
) -> list[ObservedWait]:
    profile: Profile = make_profile(*(waits or (ERASE_WAIT,)))
    return observe_waits([started(wake=wake), *events], profile, CHIP, bridged=bridged)


def erase_polls(*, empty: int, read: int) -> list[Event]:
    """Returns an erase and two status reads; the first is answered busy at OPENED."""
    return [
        spi("0x06", read=OPENED - 3000),
        spi("0x20", read=OPENED - 2000, sr=BUSY),
        spi("0x05", read=OPENED - 700, reply=OPENED, sr=BUSY),
        spi("0x05", empty=empty, read=read, sr="0x00"),
    ]


def sync(
    *, nop_empty: int = 100, nop_read: int = 300, closing_empty: int, closing_read: int
) -> list[Event]:
    return [
        serprog(NOP, empty=20, read=40),
        serprog(NOP, empty=nop_empty, read=nop_read),
        serprog(SYNCNOP, empty=closing_empty, read=closing_read),
    ]


@pytest.mark.parametrize(("arrived", "shortest"), [(None, SECOND), (250, SECOND + 50)])
def test_gap_opens_no_later_than_the_kernel_had_its_request(
    arrived: int | None, shortest: int
) -> None:
    events = sync(nop_read=300, closing_empty=SECOND + 300, closing_read=SECOND + 900)
    if arrived is not None:
        events[1] = replace(events[1], arrived_ns=arrived)
    (wait,) = observe(events, SYNC_WAIT)
    assert wait.shortest_ns == shortest


@pytest.mark.parametrize(
    ("longest", "convicted"), [(ASKED - 1, True), (ASKED, False), (ASKED + 1, False), (0, True)]
)
def test_wait_is_convicted_only_if_its_longest_is_below_what_was_asked(
    longest: int, convicted: bool
) -> None:
    (wait,) = observe(erase_polls(empty=OPENED, read=OPENED + longest))
    assert wait.longest_ns == longest
    assert wait.is_short is convicted
    assert bool(convict_waits([wait])) is convicted


@pytest.mark.parametrize(
    ("shortest", "judged"), [(ASKED - 1, False), (ASKED, True), (ASKED + 1, True)]
)
def test_wait_is_acquitted_only_if_its_shortest_reaches_what_was_asked(
    shortest: int, judged: bool
) -> None:
    (wait,) = observe(erase_polls(empty=OPENED + shortest, read=OPENED + 2 * ASKED - 1))
    assert (wait.shortest_ns, wait.longest_ns) == (shortest, 2 * ASKED - 1)
    assert wait.is_judged is judged
    assert not wait.is_short


@pytest.mark.parametrize(
    ("longest", "judged"), [(2 * ASKED - 1, True), (2 * ASKED, False), (9 * ASKED, False)]
)
def test_wait_that_a_round_trip_could_hide_whole_is_not_acquitted(
    longest: int, judged: bool
) -> None:
    (wait,) = observe(erase_polls(empty=OPENED + ASKED, read=OPENED + longest))
    assert wait.is_judged is judged
    assert not wait.is_short


def test_short_wait_is_judged() -> None:
    (wait,) = observe(erase_polls(empty=OPENED + 1, read=OPENED + 2))
    assert wait.is_judged


def test_wait_that_ended_before_it_was_seen_to_open_is_no_less_than_nothing() -> None:
    (wait,) = observe(erase_polls(empty=OPENED - 500, read=OPENED + 2))
    assert wait.shortest_ns == 0


@pytest.mark.parametrize(
    ("longest", "visible"), [(ASKED - 1, 1), (ASKED, 1), (ASKED + 1, 2), (ASKED + 49, 50)]
)
def test_smallest_visible_shortening_is_one_more_than_the_slack(longest: int, visible: int) -> None:
    (wait,) = observe(erase_polls(empty=OPENED, read=OPENED + longest))
    assert wait.visible_short_ns == visible


def test_sync_gap_opens_at_empty_for_longest_and_at_read_for_shortest() -> None:
    (wait,) = observe(sync(closing_empty=5000, closing_read=9000), SYNC_WAIT)
    assert (wait.shortest_ns, wait.longest_ns) == (5000 - 300, 9000 - 100)
    assert wait.opened_ns == 100


@pytest.mark.parametrize(("at", "convicted"), [(SECOND - 1, True), (SECOND, False)])
def test_sync_gap_is_convicted_from_the_moment_no_nop_was_there(at: int, convicted: bool) -> None:
    (wait,) = observe(sync(closing_empty=400, closing_read=100 + at), SYNC_WAIT)
    assert wait.is_short is convicted


@pytest.mark.parametrize(("at", "judged"), [(SECOND - 1, False), (SECOND, True)])
def test_sync_gap_is_acquitted_from_the_moment_the_nops_were_read(at: int, judged: bool) -> None:
    (wait,) = observe(sync(closing_empty=300 + at, closing_read=2 * SECOND), SYNC_WAIT)
    assert wait.is_judged is judged


def test_second_synchronisation_of_a_connection_is_not_a_wait() -> None:
    events = sync(closing_empty=5000, closing_read=9000)
    assert len(observe([*events, *events], SYNC_WAIT)) == 1


@pytest.mark.parametrize(
    "events",
    [
        [serprog(SYNCNOP, empty=1, read=2)],
        [
            serprog(NOP, empty=1, read=2),
            serprog("Q_IFACE", empty=3, read=4),
            serprog(SYNCNOP, empty=5, read=6),
        ],
        [serprog(NOP, empty=1, read=2)],
    ],
)
def test_synchronisation_without_nops_right_before_it_is_not_a_wait(events: list[Event]) -> None:
    assert observe(events, SYNC_WAIT) == []


@pytest.mark.parametrize(
    ("wake", "closed"),
    [
        (None, 1000),  # only known: it was not there at empty_ns
        (0, 8000),
        (100, 7900),  # it arrived at most 100 ns before it was read
        (6999, 1001),
        (7000, 1000),
        (9000, 1000),  # a latency above the stretch adds nothing
    ],
)
def test_closing_is_no_earlier_than_empty_and_than_wake_latency_before_read(
    wake: int | None, closed: int
) -> None:
    (wait,) = observe(erase_polls(empty=OPENED + 1000, read=OPENED + 8000), wake=wake)
    assert wait.shortest_ns == closed
    assert wait.longest_ns == 8000


def test_events_without_start_know_no_wake_latency() -> None:
    events = erase_polls(empty=OPENED + 1000, read=OPENED + 8000)
    (wait,) = observe_waits(events, make_profile(ERASE_WAIT), CHIP, bridged=False)
    assert wait.shortest_ns == 1000


def test_every_poll_within_an_operation_is_one_wait() -> None:
    polls = [spi("0x05", read=1000 * n, sr=BUSY) for n in range(2, 6)]
    ready = spi("0x05", read=9000, sr="0x00")
    waits = observe([spi("0x20", read=1000, sr=BUSY), *polls, ready, spi("0x05", read=9500)])
    assert [wait.longest_ns for wait in waits] == [990, 990, 990, 9000 - 5010]


@pytest.mark.parametrize("operation", ["0x02", "0xd8", "0x01", "0x06"])
def test_status_polls_of_another_operation_are_not_counted(operation: str) -> None:
    busy_twice = [spi("0x05", read=2000, sr=BUSY), spi("0x05", read=3000, sr=BUSY)]
    assert observe([spi(operation, read=1000), *busy_twice]) == []
    after_erase = [spi("0x20", read=100), spi(operation, read=1000), *busy_twice]
    assert observe(after_erase) == []


@pytest.mark.parametrize(
    "between", [spi("0x9f", read=2500), serprog("S_PIN_STATE", empty=2400, read=2500)]
)
def test_request_between_two_polls_ends_the_wait(between: Event) -> None:
    events = [
        spi("0x20", read=1000, sr=BUSY),
        spi("0x05", read=2000, sr=BUSY),
        between,
        spi("0x05", read=3000, sr=BUSY),
        spi("0x05", read=4000, sr=BUSY),
    ]
    assert observe(events) == []


def test_poll_of_the_next_erase_does_not_end_the_wait_of_the_one_before() -> None:
    events = [
        spi("0x20", read=1000, sr=BUSY),
        spi("0x05", read=2000, sr=BUSY),
        spi("0x20", read=3000, sr=BUSY),
        spi("0x05", read=4000, sr=BUSY),
        spi("0x05", read=5000),
    ]
    assert [wait.longest_ns for wait in observe(events)] == [990]


def test_status_read_before_any_operation_opens_nothing() -> None:
    assert observe([spi("0x05", read=1000, sr=BUSY), spi("0x05", read=2000, sr=BUSY)]) == []


@pytest.mark.parametrize("sr", ["0x00", "0x02", "0xfe"])
def test_status_answered_ready_opens_nothing(sr: str) -> None:
    events = [spi("0x20", read=1000), spi("0x05", read=2000, sr=sr), spi("0x05", read=2001)]
    assert observe(events) == []


def test_wait_without_figure_for_the_chip_observes_nothing() -> None:
    other = msgspec.structs.replace(
        ERASE_WAIT, requested_us=None, requested_us_by_chip={"M25P80": 5}
    )
    assert observe(erase_polls(empty=OPENED, read=OPENED + 1), other) == []


def test_figure_of_the_chip_goes_before_the_general_one() -> None:
    wait = msgspec.structs.replace(ERASE_WAIT, requested_us_by_chip={CHIP: 7, "M25P80": 5})
    (seen,) = observe(erase_polls(empty=OPENED, read=OPENED + 1), wait)
    assert seen.requested_ns == 7000


def test_profile_without_waits_observes_and_convicts_nothing() -> None:
    events = [*sync(closing_empty=301, closing_read=302), *erase_polls(empty=OPENED, read=OPENED)]
    waits = observe_waits(events, make_profile(), CHIP, bridged=False)
    assert waits == []
    assert convict_waits(waits) == []


def test_evidence_is_the_worst_of_its_kind_with_their_number() -> None:
    polls = [
        spi("0x05", read=read, reply=read + 10, sr=BUSY) for read in (1000, 4000, 5000, 5_000_000)
    ]
    waits = observe([spi("0x20", read=500, sr=BUSY), *polls, spi("0x05", read=60 * MS)])
    (evidence,) = convict_waits(waits)
    assert evidence.count == 3
    assert evidence.actual_ns == (985, 990)
    assert (evidence.requested_ns, evidence.margin_ns) == (ASKED, 990 - ASKED)
    assert evidence.where == "bus at 4010 ns"
    assert (evidence.witness, evidence.grade) == (Witness.BUS, "profile")
    assert ERASE_WAIT.what in evidence.what


def test_kinds_of_waits_are_convicted_apart() -> None:
    events = [
        *sync(closing_empty=301, closing_read=302),
        *erase_polls(empty=OPENED, read=OPENED + 1),
    ]
    evidence = convict_waits(observe(events, SYNC_WAIT, ERASE_WAIT))
    assert [item.requested_ns for item in evidence] == [SECOND, ASKED]


def test_behind_a_bridge_no_wait_is_ever_acquitted() -> None:
    (wait,) = observe(
        erase_polls(empty=OPENED + 5 * ASKED, read=OPENED + 6 * ASKED), wake=10, bridged=True
    )
    assert (wait.shortest_ns, wait.longest_ns) == (0, 6 * ASKED)
    assert not wait.is_judged


@pytest.mark.parametrize(("longest", "convicted"), [(ASKED - 1, True), (ASKED, False)])
def test_behind_a_bridge_wait_after_a_reply_is_still_convicted(
    longest: int, convicted: bool
) -> None:
    (wait,) = observe(erase_polls(empty=OPENED, read=OPENED + longest), wake=10, bridged=True)
    assert wait.is_short is convicted


@pytest.mark.parametrize(("longest", "convicted"), [(SECOND - 1, True), (SECOND, False)])
def test_behind_a_bridge_sync_gap_may_have_opened_at_the_start_of_the_subject(
    longest: int, convicted: bool
) -> None:
    events: list[Event] = [made(SubjectStart, t_ns=50)]
    events += sync(closing_empty=400, closing_read=50 + longest)
    (wait,) = observe(events, SYNC_WAIT, wake=10, bridged=True)
    assert (wait.shortest_ns, wait.longest_ns) == (0, longest)
    assert wait.is_short is convicted


def test_opcode_of_another_bus_is_not_the_operation_of_the_profile() -> None:
    """20h also erases over FWH, where this subject polls without a wait."""
    events = [
        cycle("ERASE", op="0x20", read=OPENED - 1000),
        cycle("STATUS", read=OPENED, rlen=1),
        cycle("STATUS", read=OPENED + 100, rlen=1),
    ]
    assert observe(events) == []


def test_cycle_ends_the_run_of_nops() -> None:
    events = [
        serprog(NOP, empty=OPENED, read=OPENED + 10),
        cycle("READ", read=OPENED + 20, rlen=1),
        serprog(SYNCNOP, empty=OPENED + 30, read=OPENED + 40),
    ]
    assert observe(events, SYNC_WAIT) == []


def test_wait_that_was_left_to_the_programmer_is_none_of_the_subject() -> None:
    early = OPENED + MS
    polls = erase_polls(empty=early, read=early)
    assert [wait.is_short for wait in observe(polls)] == [True]
    delay = serprog(DELAY, empty=OPENED + 100, read=OPENED + 200)
    assert observe([*polls[:-1], delay, polls[-1]]) == []


def test_wait_before_the_programmer_could_be_asked_is_the_subjects_own() -> None:
    begins = sync(closing_empty=SECOND // 2, closing_read=SECOND // 2)
    delay = serprog(DELAY, empty=2 * SECOND, read=2 * SECOND)
    (wait,) = observe([*begins, delay], SYNC_WAIT)
    assert wait.is_short
