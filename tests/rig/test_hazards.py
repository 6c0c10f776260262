# SPDX-License-Identifier: GPL-2.0-or-later
"""Sets of hazards: their words, their order, and what each does to a guest and its emulator."""

import re
import subprocess
from typing import Any

import pytest
from delayrig.base.errors import BadInputError
from delayrig.base.paths import find_paths
from delayrig.hazards import KINDS, cores_needed, hazard_of, host_program, parse_hazards, written
from delayrig.hazards.hazard import Hazard
from delayrig.hazards.host_program import ASKED_US, NOTHING_TO_ASK
from delayrig.hazards.link import PRESETS
from delayrig.hazards.of_cell import hazards_of, is_in_library, shape_of
from delayrig.hazards.seen import Seen
from delayrig.hazards.start_state import STATES
from delayrig.images.recipes import read_recipes
from delayrig.judge.judge import Observed, find_verdict
from delayrig.judge.trust import missed_hazard, rig_fault
from delayrig.lanes.payload import deadline_ms, emulator_words, host_words
from delayrig.model.cell import Cell
from delayrig.model.chips import read_chips
from delayrig.model.events import Event
from delayrig.model.evidence import Evidence
from delayrig.model.kinds.agent import ClockRate, Guest, KernelMessage, SubjectEnd, SubjectStart
from delayrig.model.kinds.emulator import Accept, FaultMade, PowerLost, StateBegins
from delayrig.model.kinds.hazard import (
    HogsRunning,
    HogsStopped,
    LeapAnnounced,
    LeapState,
    MemoryPressureBegin,
    MemoryPressureEnd,
    SiblingsRunning,
    SiblingsStopped,
    Stops,
    SubjectRights,
    WallClockStepped,
)
from delayrig.model.kinds.host_program import HostEnd, HostStart
from delayrig.model.kinds.kind import Kind
from delayrig.model.result import Verdict
from delayrig.model.workload import region_of
from msgspec.structs import replace

from tests.rig.builders import (
    CHECKOUT,
    delay,
    delays_of,
    make_cell,
    make_chip,
    make_evidence,
    make_subject,
)
from tests.rig.event_builders import (
    END_NS,
    START_NS,
    Some,
    changed,
    made,
    seen_of,
    sound_events,
    spi,
    without,
)

ASKS_MAX = 64

RIGHT = [
    *("low-res-timers", "busy-siblings", "busy-siblings:0-5", "busy-siblings:accept,10-30@100"),
    *("busy-siblings:1-2,3-999999", "busy-siblings:0-5,7-10@10"),
    *("hogs:1", "hogs:16", "memory-pressure", "no-rt", "rt-throttle", "preempt-rt", "no-nohz"),
    *("clocksource:tsc", "clocksource:hpet", "clocksource:acpi_pm"),
    *("wall-clock-step:+1", "wall-clock-step:-1666666", "wall-clock-step:+999999999,60000"),
    *("leap-second", "leap-second:delete"),
    *("link:stm32-vserprog", "link:baud=115200", "link:frser-duino,opbuf=12,baud=9600"),
    *("fault:drop@3", "fault:corrupt@in:7", "fault:duplicate@p=0.001", "fault:delay:500@1"),
    *("fault:stall@2", "fault:stall:80@p=0.5", "fault:hang-up@9", "fault:nak@1"),
    "fault:stuck-wip@3",
    *("library", "long-waits", "threads:1", "threads:8", "stop-cont:1", "stop-cont:100"),
    *("signals:1", "signals:1000", "signals:20,usr1", "signals:20,chld,restart"),
    "signals:20,restart",
    *("power-cut:3", "power-cut:3,50%", "power-cut:3,1500", "power-cut:3,0%,1000"),
    *(f"starts:{state}" for state in STATES),
]
WRONG = [
    *("", "busy", "busy-siblings:1", "low-res-timers:", "none"),
    *("busy-siblings:5-5", "busy-siblings:5-4", "busy-siblings:01-2", "busy-siblings:0-2,2-4"),
    *("busy-siblings:0-5@4", "busy-siblings:0-5@0", "busy-siblings:start,0-5", "busy-siblings:"),
    "busy-siblings:" + ",".join(f"{2 * n}-{2 * n + 1}" for n in range(17)),
    *("hogs", "hogs:0", "hogs:17", "hogs:01", "hogs:-1", "memory-pressure:1", "no-rt:1"),
    *("clocksource", "clocksource:kvm-clock", "wall-clock-step", "wall-clock-step:1"),
    *("wall-clock-step:+0", "wall-clock-step:+01", "wall-clock-step:+1,0"),
    *("wall-clock-step:+1,100", "wall-clock-step:+1,", "leap-second:", "leap-second:insert"),
    *("link", "link:", "link:fast", "link:baud=0", "link:baud=x", "link:baud=1,frser-duino"),
    *("fault:", "fault:drop", "fault:drop@0", "fault:drop@p=1.5", "fault:stuck-wip@p=0.1"),
    *("library:1", "threads", "threads:0", "threads:9", "stop-cont:0", "stop-cont:101"),
    *("signals", "signals:0", "signals:1001", "signals:020", "signals:20,hup", "signals:20,"),
    *("signals:20,restart,usr1", "long-waits:5"),
    *("fault:delay@1", "fault:hang-up@in:1", "power-cut:0", "power-cut:3,101%", "power-cut:03"),
    *("starts", "starts:", "starts:ready", "starts:sleeping", "starts:asleep,fresh"),
]


@pytest.mark.parametrize("word", RIGHT)
def test_word_of_a_hazard_is_a_set_of_one(word: str) -> None:
    assert parse_hazards(word) == (word,)


@pytest.mark.parametrize("word", WRONG)
def test_word_that_is_none_is_refused_with_what_would_be_right(word: str) -> None:
    with pytest.raises(BadInputError) as caught:
        hazard_of(word)
    assert caught.value.hint.startswith(("it is written", "known hazards", "did you mean"))


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("link:usb-full-speed", "usb-high-speed"),
        ("link:speed=9600", "baud"),
        ("fault:loss@3", "KIND is drop"),
        ("hogs:17", "1 to 16"),
        ("signals:0", "1 to 1000"),
        ("stop-cont:101", "1 to 100"),
        ("wall-clock-step:+1666667", "1000000000 s"),
        ("wall-clock-step:-999999999,30000", "1000000000 s"),
    ],
)
def test_word_with_a_wrong_value_is_refused_with_the_right_ones(word: str, told: str) -> None:
    with pytest.raises(BadInputError) as caught:
        hazard_of(word)
    assert told in caught.value.hint


def test_none_is_the_empty_set() -> None:
    assert parse_hazards("none") == ()


def test_order_of_words_does_not_make_another_set() -> None:
    text = "power-cut:1+busy-siblings+low-res-timers"
    assert parse_hazards(text) == ("low-res-timers", "busy-siblings", "power-cut:1")


def test_sign_of_a_value_joins_no_words() -> None:
    text = "wall-clock-step:+1+no-rt+hogs:2"
    assert parse_hazards(text) == ("hogs:2", "no-rt", "wall-clock-step:+1")
    assert cell_of("wall-clock-step:+1").id != cell_of("wall-clock-step:-1").id


@pytest.mark.parametrize("word", [word for word in RIGHT if "/" not in word])
def test_word_gives_an_id_that_says_it(word: str) -> None:
    assert word.partition(":")[0] in cell_of(word).id
    assert "path-" not in cell_of(word).id


def cell_of(*words: str) -> Cell:
    return make_cell(hazards=words, cores=4)


def test_word_given_twice_is_one() -> None:
    assert parse_hazards("busy-siblings+busy-siblings") == ("busy-siblings",)


def test_two_values_of_one_hazard_exclude_each_other_unless_it_may_be_repeated() -> None:
    assert len(parse_hazards("fault:nak@1+fault:nak@2")) == 2
    with pytest.raises(BadInputError, match="exclude each other"):
        parse_hazards("link:baud=1+link:baud=2")


def test_cores_are_what_the_most_demanding_needs() -> None:
    assert cores_needed(()) == 1
    assert cores_needed(("low-res-timers",)) == 1
    assert cores_needed(("low-res-timers", "busy-siblings")) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_hazard_has_a_name_a_sentence_and_a_concern(kind: type[Hazard]) -> None:
    assert re.fullmatch(r"[a-z0-9-]+", kind.name)
    assert kind.about
    assert kind.concern
    assert written(kind).startswith(kind.name)


def test_names_are_unique() -> None:
    assert len({kind.name for kind in KINDS}) == len(KINDS)


def test_presets_are_those_of_the_emulator() -> None:
    table = (CHECKOUT / "emulators/link/link_model.c").read_text()
    rows = re.search(r"link_presets\[\] = \{(.*?)\n\};", table, re.DOTALL)
    assert rows
    assert set(re.findall(r'"([a-z0-9-]+)"', rows.group(1))) == set(PRESETS)


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("link:baud=9600", ["--link", "baud=9600"]),
        ("fault:nak@3", ["--fault", "nak@3"]),
        ("power-cut:2,10%", ["--power-cut", "2,10%"]),
        ("starts:asleep", ["--starts", "asleep"]),
    ],
)
def test_emulator_is_told(word: str, words: list[str]) -> None:
    cell = make_cell(hazards=(word,))
    told = emulator_words(cell, region_of(cell, make_chip()))
    assert told[-2:] == words


def test_emulator_reads_every_word_that_is_right() -> None:
    emulator = CHECKOUT / ".rig/build/emulators/serprog/serprog-emu"
    if not emulator.is_file():
        pytest.skip("the emulator is not built")
    for word in RIGHT:
        told = hazard_of(word).emulator_words(make_cell())
        if told:
            # A part that is not there is the last thing it looks for.
            done = subprocess.run(
                [emulator, "--chip", "NONE", *told], capture_output=True, text=True, check=False
            )
            assert "--chip" in done.stderr, done.stderr


def test_states_of_a_part_are_those_that_the_emulator_says_fit() -> None:
    emulator = CHECKOUT / ".rig/build/emulators/serprog/serprog-emu"
    if not emulator.is_file():
        pytest.skip("the emulator is not built")
    for name, chip in read_chips(CHECKOUT).items():
        for state in STATES:
            # An image that is not there is looked for later.
            done = subprocess.run(
                [emulator, "--chip", name, "--starts", state, "--image-in", "/none"],
                capture_output=True,
                text=True,
                check=False,
            )
            refused = "--starts" in done.stderr
            assert refused is bool(hazard_of(f"starts:{state}").chip_refusal(chip)), (name, state)


def test_state_that_did_not_begin_is_a_doubt_and_one_that_did_is_not() -> None:
    assert finding(seen_after(), [], "starts:fresh") is Verdict.INCONCLUSIVE
    seen = seen_after(made(StateBegins, t_ns=1, state="fresh"))
    assert finding(seen, [], "starts:fresh") is Verdict.PASS


def test_command_to_a_sleeping_part_is_no_fault_where_it_was_put_to_sleep() -> None:
    seen = seen_after(
        made(StateBegins, t_ns=1, state="asleep"), spi("0x9f", read=2, violation="power_down")
    )
    assert finding(seen, [], "starts:asleep") is Verdict.PASS
    assert finding(seen, [], "starts:protected") is Verdict.INCONCLUSIVE


def test_subject_that_may_ask_for_ever_gets_less_time() -> None:
    assert deadline_ms(make_cell()) == 600_000
    assert deadline_ms(make_cell(hazards=("low-res-timers", "fault:stuck-wip@1"))) == 60_000


def seen_after(*events: Event) -> Seen:
    return seen_of(*sound_events(), *events)


def finding(seen: Seen, evidence: list[Evidence], *words: str) -> Verdict:
    cell = make_cell(hazards=words)
    return find_verdict(cell, seen, Observed(evidence=evidence)).verdict


@pytest.mark.parametrize("kind", ["drop", "corrupt", "duplicate", "nak"])
def test_what_follows_bytes_altered_or_a_refusal_is_a_doubt(kind: str) -> None:
    word = f"fault:{kind}@1"
    seen = seen_after(made(FaultMade, t_ns=1, kind=kind, at="reply-byte", nth=1))
    assert finding(seen, [make_evidence()], word) is Verdict.INCONCLUSIVE
    assert finding(seen_after(), [make_evidence()], word) is Verdict.TOO_SHORT


def test_late_reply_excuses_no_short_wait() -> None:
    seen = seen_after(made(FaultMade, t_ns=1, kind="delay", at="request", nth=1))
    assert finding(seen, [make_evidence()], "fault:delay:5@1") is Verdict.TOO_SHORT


def test_command_after_a_power_cut_is_a_doubt() -> None:
    seen = seen_after(made(PowerLost, t_ns=1))
    assert finding(seen, [make_evidence()], "power-cut:1") is Verdict.INCONCLUSIVE


LIBRARY_WORDS = ("library", "signals:20", "threads:2", "long-waits")


def test_library_does_the_job_where_any_hazard_needs_it() -> None:
    assert not is_in_library(make_cell(hazards=("low-res-timers", "stop-cont:10")))
    for word in LIBRARY_WORDS:
        assert is_in_library(make_cell(hazards=("low-res-timers", word)))


def test_host_program_is_told_what_to_do_besides_the_job() -> None:
    subject = make_subject(library=True, delay_address=0x1234)
    told = host_words(make_cell(hazards=("signals:20,usr1", "threads:2", "long-waits")), subject)
    assert told[:2] == ["--events", "/tmp/host.jsonl"]
    assert told[2:6] == ["--signals", "20,usr1", "--threads", "2"]
    assert told[6:9] == ["--delay", str(0x1234), "--ask"]
    assert host_words(make_cell(hazards=("stop-cont:10",)), subject) == []


def test_host_program_reads_every_word_that_is_right() -> None:
    program = find_paths().host_program
    if not program.is_file():
        pytest.skip("the host program is not built")
    for word in [word for word in RIGHT if is_in_library(make_cell(hazards=(word,)))]:
        told = hazard_of(word).subject_words(make_subject(delay_address=1))
        # A programmer that is not there is the last thing it looks for.
        done = subprocess.run(
            [program, "-p", "none", "-c", "none", *told],
            capture_output=True,
            text=True,
            check=False,
        )
        assert "flashrom_programmer_init() failed" in done.stdout, (word, done.stderr)


def test_asks_are_on_each_side_of_every_boundary_and_fit() -> None:
    asked = set(ASKED_US)
    assert len(asked) == len(ASKED_US) <= ASKS_MAX
    for boundary_ns in (2**31, 2**32):
        assert {boundary_ns // 1000, boundary_ns // 1000 + 1} <= asked
    assert {2**31 - 1, 2**31, 2**32 - 1} <= asked
    assert sum(ASKED_US) // 1000 * 2 < deadline_ms(make_cell(hazards=("long-waits",)))


def test_library_without_a_delay_function_or_with_several_is_not_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hazard = hazard_of("long-waits")
    assert hazard.refusal(make_subject()) == NOTHING_TO_ASK
    monkeypatch.setattr(host_program, "askable_addresses", lambda _: [1, 2])
    assert hazard.refusal(make_subject()) == "2 functions of its library delay"
    monkeypatch.undo()
    assert hazard.refusal(make_subject(delay_address=0x10)) == ""
    assert hazard_of("signals:20").refusal(make_subject()) == ""


def host_events(**end: int) -> list[Event]:
    """Of a host program that ran for ten seconds."""
    return [
        made(HostStart, t_ns=0),
        made(HostEnd, t_ns=10_000_000_000, **end),
    ]


@pytest.mark.parametrize(
    ("word", "end", "fault"),
    [
        ("library", {}, ""),
        ("signals:20", {"signals": 200}, ""),
        ("signals:20", {}, "none was handled"),
        ("threads:2", {"turns": 1}, ""),
    ],
)
def test_hazard_that_did_not_take_place_is_a_fault(
    word: str, end: dict[str, int], fault: str
) -> None:
    seen = seen_after(*host_events(**end))
    assert hazard_of(word).fault(make_cell(hazards=(word,)), seen) == fault


@pytest.mark.parametrize(
    ("word", "end", "missed"),
    [
        ("signals:20", {"signals": 100}, ""),
        ("signals:20", {"signals": 99}, "it handled 99 signals where 200 were due"),
        ("threads:2", {"turns": 1}, ""),
        ("threads:2", {}, "the other threads never ran"),
    ],
)
def test_hazard_of_a_library_that_it_hardly_met_is_nobodys_fault(
    word: str, end: dict[str, int], missed: str
) -> None:
    seen = seen_after(*host_events(**end))
    hazard = hazard_of(word)
    assert hazard.missed(make_cell(hazards=(word,)), seen) == missed
    assert hazard.fault(make_cell(hazards=(word,)), seen_after(*host_events(signals=1))) == ""


@pytest.mark.parametrize("word", LIBRARY_WORDS)
def test_host_program_that_ended_well_and_told_nothing_is_a_fault(word: str) -> None:
    assert hazard_of(word).fault(make_cell(hazards=(word,)), seen_after())


def test_subject_that_was_hardly_stopped_is_a_fault() -> None:
    cell = make_cell(hazards=("stop-cont:10",))
    (hazard,) = hazards_of(cell)
    lived: list[Event] = [
        made(SubjectStart, t_ns=0),
        made(SubjectEnd, t_ns=2_000_000_000, exit_code=0),
    ]
    for count, fault in ((20, ""), (9, "the subject was stopped 9 times only")):
        seen = seen_of(*lived, made(Stops, t_ns=1, count=count))
        assert hazard.fault(cell, seen) == fault


def test_long_waits_that_nobody_saw_are_told() -> None:
    cell = make_cell(hazards=("long-waits",))
    (hazard,) = hazards_of(cell)
    told = f"{len(ASKED_US)} of {len(ASKED_US)} calls were not seen"
    assert hazard.missed(cell, seen_after(*host_events())) == told
    calls = [delay(us, took_ns=us * 1000) for us in ASKED_US]
    for count in (len(calls), len(calls) - 1):
        seen = replace(seen_after(*host_events()), delays=delays_of(*calls[:count]))
        assert bool(hazard.missed(cell, seen)) is (count < len(calls))


@pytest.mark.parametrize(
    ("word", "lines"),
    [
        ("busy-siblings", ["siblings 3"]),
        (
            "busy-siblings:0-5,7-10@10",
            [
                "siblings 3",
                "siblings_from start",
                "siblings_window 0 5",
                "siblings_window 7 10",
                "siblings_period_ms 10",
            ],
        ),
        (
            "busy-siblings:accept,2-3",
            ["siblings 3", "siblings_from accept", "siblings_window 2 3"],
        ),
        ("hogs:2", ["hogs 2"]),
        ("memory-pressure", ["memory_pressure 1"]),
        ("no-rt", ["realtime_denied 1"]),
        ("rt-throttle", ["rt_runtime_us 20000"]),
        ("wall-clock-step:+1", ["wall_step 1 100"]),
        ("wall-clock-step:-60,7", ["wall_step -60 7"]),
        ("leap-second", ["leap insert 300"]),
        ("leap-second:delete", ["leap delete 300"]),
    ],
)
def test_agent_is_told(word: str, lines: list[str]) -> None:
    assert list(hazard_of(word).spec_lines(cell_of(word))) == lines


def test_kernel_clock_and_words_make_a_guest_of_its_own() -> None:
    words = ["preempt-rt", "clocksource:hpet", "clocksource:acpi_pm", "no-nohz", "low-res-timers"]
    names = {shape_of(cell_of(word)).name for word in words}
    assert len(names) == len(words)
    assert shape_of(cell_of("preempt-rt")).kernel == "preempt-rt"
    usual = shape_of(cell_of())
    assert shape_of(cell_of("clocksource:tsc")) == usual == shape_of(cell_of("hogs:1"))


def test_kernels_are_those_of_the_recipes() -> None:
    recipes = read_recipes(CHECKOUT)
    asked = {shape_of(cell_of(word)).kernel for word in RIGHT} - {""}
    assert asked == set(recipes.kernels)


def test_emulator_leaves_the_core_that_is_throttled() -> None:
    told = emulator_words(cell_of("rt-throttle"), region_of(make_cell(), make_chip()))
    assert told[-4:] == ["--cpu", "1", "--measure-wake", "0"]


MS = 1_000_000
AT = START_NS


def mark(kind: type[Some], t_ns: int = START_NS - 1, **fields: Any) -> Some:
    return made(kind, t_ns=t_ns, **fields)


def spell(begin_ns: int, *, count: int = 3, turns: int = 5) -> list[Event]:
    """Siblings that run for 20 ms and turn so often in it."""
    return [
        mark(SiblingsRunning, begin_ns, count=count, turns_min=7),
        mark(SiblingsStopped, begin_ns + 20 * MS, count=count, turns_min=7 + turns),
    ]


HOGS = [mark(HogsRunning, count=2, turns_min=1), mark(HogsStopped, END_NS, turns_min=2)]
MEMORY = [
    mark(MemoryPressureBegin, reclaimed_pages=8),
    mark(MemoryPressureEnd, END_NS, reclaimed_pages=9),
]
RIGHTS = mark(SubjectRights, cap_sys_nice=0, rtprio_max=0)
THROTTLED = mark(KernelMessage, level=4, text="sched: RT throttling activated")
LEAP = [mark(LeapAnnounced, due_ns=AT + MS), mark(LeapState, END_NS, state=4)]

TOOK_PLACE = [
    ("busy-siblings:10-30", spell(AT + 10 * MS)),
    ("busy-siblings:10-30@90", [*spell(AT + 30 * MS), *spell(AT + 100 * MS)]),
    ("busy-siblings:accept,10-30", spell(AT + 1 + 10 * MS)),
    ("hogs:2", HOGS),
    ("memory-pressure", MEMORY),
    ("no-rt", [RIGHTS]),
    ("rt-throttle", [THROTTLED]),
    ("wall-clock-step:+1", [mark(WallClockStepped, AT + MS)]),
    ("leap-second", LEAP),
    ("leap-second", [LEAP[0], mark(LeapState, END_NS, state=3)]),
]
DID_NOT = [
    ("busy-siblings:10-30", []),
    ("busy-siblings:10-30", spell(AT + 10 * MS - 1)),
    ("busy-siblings:10-30", spell(AT + 30 * MS + 1)),
    ("busy-siblings:10-30", spell(AT + 10 * MS, count=2)),
    ("busy-siblings:10-30", spell(AT + 10 * MS, turns=0)),
    ("busy-siblings:10-30@90", [*spell(AT + 10 * MS), *spell(AT + 100 * MS, turns=0)]),
    ("busy-siblings:accept,10-30", spell(AT + 10 * MS)),
    ("hogs:2", []),
    ("hogs:3", HOGS),
    ("hogs:2", HOGS[:1]),
    ("hogs:2", [replace(HOGS[0], t_ns=AT + 1), HOGS[1]]),
    ("memory-pressure", []),
    ("memory-pressure", MEMORY[:1]),
    ("no-rt", []),
    ("no-rt", [replace(RIGHTS, cap_sys_nice=1)]),
    ("no-rt", [replace(RIGHTS, rtprio_max=1)]),
    ("wall-clock-step:+1", []),
    ("leap-second", []),
    ("leap-second", LEAP[:1]),
    ("leap-second", [LEAP[0], replace(LEAP[1], state=1)]),
]
LATE_LEAP = replace(LEAP[0], due_ns=END_NS + 1)
MET_NOTHING = [
    ("busy-siblings:10000-10001", []),
    ("busy-siblings:accept,9990-10001", []),
    ("hogs:2", [HOGS[0], replace(HOGS[1], turns_min=1)]),
    ("memory-pressure", [MEMORY[0], replace(MEMORY[1], reclaimed_pages=8)]),
    ("rt-throttle", []),
    ("rt-throttle", [replace(THROTTLED, text="something else is wrong")]),
    ("wall-clock-step:+1,10000", []),
    ("leap-second", [LATE_LEAP, LEAP[1]]),
    ("leap-second", [LATE_LEAP, replace(LEAP[1], state=1)]),
]


def seen_beside(events: list[Event]) -> Seen:
    """A cell in which these things happened, and nothing else that a hazard does."""
    plain = without(without(sound_events(), SiblingsRunning), SiblingsStopped)
    return seen_of(*plain, *events)


def trust(word: str, events: list[Event]) -> str:
    """What is wrong with the rig in a cell of that hazard, in which these things happened."""
    return hazard_of(word).fault(cell_of(word), seen_beside(events))


@pytest.mark.parametrize(("word", "events"), TOOK_PLACE)
def test_hazard_that_took_place_is_no_fault(word: str, events: list[Event]) -> None:
    assert trust(word, events) == ""
    assert missed_hazard(cell_of(word), seen_beside(events)) == ""


@pytest.mark.parametrize(("word", "events"), DID_NOT)
def test_hazard_of_the_guest_that_did_not_take_place_is_a_fault(
    word: str, events: list[Event]
) -> None:
    assert trust(word, events)


@pytest.mark.parametrize(("word", "events"), MET_NOTHING)
def test_hazard_that_the_subject_did_not_meet_is_nobodys_fault(
    word: str, events: list[Event]
) -> None:
    assert trust(word, events) == ""
    assert missed_hazard(cell_of(word), seen_beside(events)).startswith(
        f"the subject did not meet {word}: "
    )


def test_siblings_wait_for_a_subject_that_is_never_accepted() -> None:
    seen = seen_of(*without(seen_beside([]).events, Accept))
    hazard = hazard_of("busy-siblings:accept,10-30")
    assert hazard.fault(cell_of(), seen) == ""
    assert hazard.missed(cell_of(), seen)


def test_cell_whose_hazard_came_too_late_is_in_doubt_unless_it_says_something_else() -> None:
    cell = cell_of("wall-clock-step:+1,10000")
    unmet = find_verdict(cell, seen_after(), Observed(evidence=[]))
    assert unmet.verdict is Verdict.INCONCLUSIVE
    assert "ended before the first step" in unmet.reason
    short = find_verdict(cell, seen_after(), Observed(evidence=[make_evidence()]))
    assert short.verdict is Verdict.TOO_SHORT
    failed = guest_with(SubjectEnd, exit_code=1)
    assert find_verdict(cell, failed, Observed(evidence=[])).verdict is Verdict.OP_FAILED


def guest_with(kind: type[Kind], **fields: Any) -> Seen:
    return seen_of(*changed(sound_events(), kind, **fields))


@pytest.mark.parametrize(("ticks", "sound"), [(0, False), (39, False), (40, True), (50, True)])
def test_idle_core_without_nohz_ticks_all_the_time(ticks: int, sound: bool) -> None:
    seen = guest_with(ClockRate, timer_interrupts=ticks)
    assert (hazard_of("no-nohz").fault(cell_of("no-nohz"), seen) == "") is sound


@pytest.mark.parametrize(
    ("version", "sound"), [("#1 SMP PREEMPT_RT Debian", True), ("#1 SMP PREEMPT_DYNAMIC", False)]
)
def test_realtime_kernel_says_that_it_is_one(version: str, sound: bool) -> None:
    seen = guest_with(Guest, version=version)
    assert (hazard_of("preempt-rt").fault(cell_of("preempt-rt"), seen) == "") is sound


@pytest.mark.parametrize(("clock", "sound"), [("hpet", True), ("tsc", False)])
def test_clocksource_in_force_is_the_one_asked_for(clock: str, sound: bool) -> None:
    cell = cell_of("clocksource:hpet")
    assert (rig_fault(cell, guest_with(Guest, clocksource=clock)) == "") is sound


def test_message_of_the_kernel_is_explained_by_the_hazard_that_caused_it_alone() -> None:
    seen = seen_after(THROTTLED)
    assert rig_fault(cell_of("rt-throttle"), seen) == ""
    assert "complains" in rig_fault(cell_of(), seen)
