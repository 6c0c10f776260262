# SPDX-License-Identifier: GPL-2.0-or-later
"""Hazards: their syntax, their order, and their effect on guest and emulator."""

import re

import pytest
from delayrig.base.errors import BadInputError
from delayrig.hazards import KINDS, cores_needed, hazard_of, parse_hazards, written
from delayrig.hazards.link import PRESETS
from delayrig.hazards.of_cell import shape_of
from delayrig.hazards.start_state import STATES
from delayrig.judge.judge import Observed, find_verdict
from delayrig.judge.trust import trust_of
from delayrig.judge.waits import JudgedWaits
from delayrig.lanes.payload import deadline_ms, emulator_words
from delayrig.model.chips import read_chips
from delayrig.model.events import Event
from delayrig.model.evidence import Evidence
from delayrig.model.kinds.emulator import FaultMade, PowerLost, StateBegins
from delayrig.model.programmers import DEVICES
from delayrig.model.result import Verdict
from delayrig.model.workload import region_of
from delayrig.subjects.recipes import read_recipes

from tests.rig.builders import CHECKOUT, cell_of, make_cell, make_chip, make_evidence
from tests.rig.event_builders import made, seen_after, spi
from tests.rig.running import run

RIGHT = [
    *("low-res-timers", "busy-siblings", "busy-siblings:0-5", "busy-siblings:accept,10-30@100"),
    *("busy-siblings:1-2,3-999999", "busy-siblings:0-5,7-10@10"),
    *("hogs:1", "hogs:32", "memory-pressure", "no-rt", "rt-throttle", "preempt-rt", "no-nohz"),
    *("kernel:5.10", "kernel:6.12"),
    *("clocksource:tsc", "clocksource:hpet", "clocksource:acpi_pm"),
    *("wall-clock-step:+1", "wall-clock-step:-1666666", "wall-clock-step:+999999999,60000"),
    *("refused:sleep,eperm", "refused:select,enosys", "refused:poll,einval"),
    *("refused:timerfd,enosys", "refused:clock,eperm"),
    *("few:descriptors,4", "few:memory,64", "few:threads"),
    *("uptime:u32ms", "uptime:i32us,7", "uptime:i32s"),
    *("leap-second", "leap-second:delete"),
    *("link:stm32-vserprog", "link:baud=115200", "link:frser-duino,opbuf=12,baud=9600"),
    *("link:reply-us=53-570,silent=1", "link:serprog_pico,cs-late-us=5,ack-bytes=16"),
    *("fault:drop@3", "fault:corrupt@in:7", "fault:duplicate@p=0.001", "fault:delay:500@1"),
    *("fault:stall@2", "fault:stall:80@p=0.5", "fault:hang-up@9", "fault:nak@1"),
    "fault:stuck-wip@3",
    *("library", "long-waits", "threads:1", "threads:8", "stop-cont:1", "stop-cont:100"),
    *("signals:1", "signals:1000", "signals:20,usr1", "signals:20,chld,restart"),
    "signals:20,restart",
    *("power-cut:3", "power-cut:3,50%", "power-cut:3,1500", "power-cut:3,0%,1000"),
    *(f"starts:{state}" for state in STATES),
    "unverified",
]
"""Hazards of the virtual lane, in each form of their arguments."""
WRONG = [
    *("", "busy", "busy-siblings:1", "low-res-timers:", "none"),
    *("busy-siblings:5-5", "busy-siblings:5-4", "busy-siblings:01-2", "busy-siblings:0-2,2-4"),
    *("busy-siblings:0-5@4", "busy-siblings:0-5@0", "busy-siblings:start,0-5", "busy-siblings:"),
    "busy-siblings:" + ",".join(f"{2 * n}-{2 * n + 1}" for n in range(17)),
    *("hogs", "hogs:0", "hogs:33", "hogs:01", "hogs:-1", "memory-pressure:1", "no-rt:1"),
    *("clocksource", "clocksource:kvm-clock", "wall-clock-step", "wall-clock-step:1"),
    *("cpu", "cpu:x86-64-v4", "cpu:max"),
    *("few", "few:descriptors", "few:descriptors,0", "few:threads,1", "few:files,4"),
    *("uptime", "uptime:u31ms", "uptime:u32ms,0", "uptime:u32ms,"),
    *("refused", "refused:sleep", "refused:sleep,EPERM", "refused:fork,eperm"),
    *("wall-clock-step:+0", "wall-clock-step:+01", "wall-clock-step:+1,0"),
    *("wall-clock-step:+1,100", "wall-clock-step:+1,", "leap-second:", "leap-second:insert"),
    *("link", "link:", "link:fast", "link:baud=0", "link:baud=x", "link:baud=1,frser-duino"),
    *("fault:", "fault:drop", "fault:drop@0", "fault:drop@p=1.5", "fault:stuck-wip@p=0.1"),
    *("library:1", "threads", "threads:0", "threads:9", "stop-cont:0", "stop-cont:101"),
    *("signals", "signals:0", "signals:1001", "signals:020", "signals:20,hup", "signals:20,"),
    *("signals:20,restart,usr1", "long-waits:5"),
    *("fault:delay@1", "fault:hang-up@in:1", "power-cut:0", "power-cut:3,101%", "power-cut:03"),
    *("starts", "starts:", "starts:ready", "starts:sleeping", "starts:asleep,fresh"),
    "unverified:1",
]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        *((word, (word,)) for word in RIGHT),
        ("none", ()),
        ("busy-siblings+busy-siblings", ("busy-siblings",)),
        # Words have a fixed order. The sign of a value does not separate words.
        (
            "power-cut:1+busy-siblings+low-res-timers",
            ("low-res-timers", "busy-siblings", "power-cut:1"),
        ),
        ("wall-clock-step:+1+no-rt+hogs:2", ("hogs:2", "no-rt", "wall-clock-step:+1")),
        ("fault:nak@1+fault:nak@2", ("fault:nak@1", "fault:nak@2")),
    ],
)
def test_text_is_parsed_as_a_set_of_words(text: str, words: tuple[str, ...]) -> None:
    assert parse_hazards(text) == words


@pytest.mark.parametrize("text", ["link:baud=1+link:baud=2", "kernel:6.12+preempt-rt"])
def test_words_that_exclude_each_other_are_refused(text: str) -> None:
    with pytest.raises(BadInputError, match="exclude each other"):
        parse_hazards(text)


@pytest.mark.parametrize("word", WRONG)
def test_wrong_word_is_refused_with_a_hint(word: str) -> None:
    with pytest.raises(BadInputError) as caught:
        hazard_of(word)
    assert caught.value.hint.startswith(("it is written", "known hazards", "did you mean"))


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("link:usb-full-speed", "usb-high-speed"),
        ("link:speed=9600", "baud"),
        ("fault:loss@3", "KIND is drop"),
        ("hogs:33", "1 to 32"),
        ("signals:0", "1 to 1000"),
        ("stop-cont:101", "1 to 100"),
        ("wall-clock-step:+1666667", "1000000000 s"),
        ("wall-clock-step:-999999999,30000", "1000000000 s"),
    ],
)
def test_hint_for_a_wrong_value_names_valid_ones(word: str, hint: str) -> None:
    with pytest.raises(BadInputError) as caught:
        hazard_of(word)
    assert hint in caught.value.hint


@pytest.mark.parametrize("word", RIGHT)
def test_id_of_a_cell_has_its_hazard(word: str) -> None:
    assert word.partition(":")[0] in cell_of(word).id


def test_sign_of_a_value_is_in_the_id() -> None:
    assert cell_of("wall-clock-step:+1").id != cell_of("wall-clock-step:-1").id


def test_cores_are_those_of_the_most_demanding_hazard() -> None:
    assert cores_needed(()) == 1
    assert cores_needed(("low-res-timers",)) == 1
    assert cores_needed(("low-res-timers", "busy-siblings")) == 2


def test_hazards_have_unique_names_and_descriptions() -> None:
    assert len({kind.name for kind in KINDS}) == len(KINDS)
    for kind in KINDS:
        assert re.fullmatch(r"[a-z0-9-]+", kind.name)
        assert kind.about
        assert written(kind).startswith(kind.name)


def test_presets_are_those_of_the_emulator() -> None:
    table = (CHECKOUT / "emulators/link/link_model.c").read_text()
    rows = re.search(r"link_presets\[\] = \{(.*?)\n\};", table, re.DOTALL)
    assert rows
    assert set(re.findall(r'\{"([a-z0-9_-]+)"', rows.group(1))) == set(PRESETS)


def test_keys_of_links_are_those_of_the_emulator() -> None:
    table = (CHECKOUT / "emulators/link/link_model.c").read_text()
    rows = re.findall(r'\{KEY\("([a-z-]+)", [a-z_.]+, ([A-Z0-9_]+)\)(.*)\}', table)
    assert rows
    for key, most, more in rows:
        value = "16-17" if "is_range" in more else "1" if most == "1" else "16"
        assert hazard_of(f"link:{key}={value}").value == f"{key}={value}"


def test_firmware_refuses_a_chip_on_a_bus_that_it_lacks() -> None:
    chips = read_chips(CHECKOUT)
    duino, memory = hazard_of("link:frser-duino,baud=9600"), hazard_of("link:frser-atmega644")
    refusal = duino.chip_refusal(chips["SST29EE010"])
    assert "no parallel bus" in refusal
    assert "link:frser-atmega644" in refusal
    assert not duino.chip_refusal(chips["W25Q128JV"])
    assert not memory.chip_refusal(chips["SST29EE010"])
    assert not hazard_of("link:baud=9600").chip_refusal(chips["SST29EE010"])


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("link:baud=9600", ["--link", "baud=9600"]),
        ("fault:nak@3", ["--fault", "nak@3"]),
        ("power-cut:2,10%", ["--power-cut", "2,10%"]),
        ("starts:asleep", ["--starts", "asleep"]),
    ],
)
def test_hazard_adds_options_of_the_emulator(word: str, words: list[str]) -> None:
    cell = make_cell(hazards=(word,))
    options = emulator_words(cell, region_of(cell, make_chip()))
    assert options[-2:] == words


def error_of_emulator(*words: str) -> str:
    """Returns our emulator's error about these arguments."""
    emulator = CHECKOUT / ".rig/build/emulators/serprog/serprog-emu"
    if not emulator.is_file():
        pytest.skip("the emulator is not built")
    return run(emulator, *words).stderr


def test_emulator_accepts_each_hazard() -> None:
    for word in RIGHT:
        options = hazard_of(word).emulator_words(make_cell())
        if options:
            # It reads arguments in their order, so it reports an unknown part last.
            error = error_of_emulator(*options, "--chip", "NONE")
            assert "--chip: no such chip" in error, word


def test_start_states_of_a_part_are_those_that_the_emulator_accepts() -> None:
    for name, chip in read_chips(CHECKOUT).items():
        for state in STATES:
            # It reports a missing image only after it has read this argument.
            error = error_of_emulator("--chip", name, "--starts", state, "--image-in", "/none")
            refused = bool(hazard_of(f"starts:{state}").chip_refusal(chip))
            assert ("--starts" in error) is refused, (name, state)


ASLEEP = made(StateBegins, t_ns=1, state="asleep"), spi("0x9f", read=2, violation="power_down")
SHORT = [make_evidence()]


def faulty(kind: str) -> Event:
    return made(FaultMade, t_ns=1, kind=kind, at="request", nth=1)


@pytest.mark.parametrize(
    ("word", "events", "evidence", "verdict"),
    [
        ("starts:fresh", [], [], Verdict.INCONCLUSIVE),
        ("starts:fresh", [made(StateBegins, t_ns=1, state="fresh")], [], Verdict.PASS),
        # A command to a sleeping part is no fault if the hazard put it to sleep.
        ("starts:asleep", ASLEEP, [], Verdict.PASS),
        ("starts:protected", ASLEEP, [], Verdict.INCONCLUSIVE),
        # A short wait after altered bytes, a refusal or a power cut is a doubt.
        *(
            (f"fault:{kind}@1", [faulty(kind)], SHORT, Verdict.INCONCLUSIVE)
            for kind in ("drop", "corrupt", "duplicate", "nak")
        ),
        ("power-cut:1", [made(PowerLost, t_ns=1)], SHORT, Verdict.INCONCLUSIVE),
        ("fault:drop@1", [], SHORT, Verdict.TOO_SHORT),
        # A late reply excuses no short wait.
        ("fault:delay:5@1", [faulty("delay")], SHORT, Verdict.TOO_SHORT),
    ],
)
def test_hazard_excuses_only_what_it_causes(
    word: str, events: list[Event], evidence: list[Evidence], verdict: Verdict
) -> None:
    cell, artifacts = make_cell(hazards=(word,)), seen_after(*events)
    trust = trust_of(cell, artifacts)
    observed = Observed(trust=trust, evidence=evidence, waits=JudgedWaits())
    assert find_verdict(cell, artifacts, observed).verdict is verdict


def test_subject_that_may_poll_for_ever_gets_less_time() -> None:
    assert deadline_ms(make_cell()) == 600_000
    assert deadline_ms(make_cell(hazards=("low-res-timers", "fault:stuck-wip@1"))) == 60_000


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
        ("busy-siblings:accept,2-3", ["siblings 3", "siblings_from accept", "siblings_window 2 3"]),
        ("hogs:2", ["hogs 2"]),
        ("memory-pressure", ["memory_pressure 1"]),
        ("no-rt", ["realtime_denied 1"]),
        ("rt-throttle", ["rt_runtime_us 20000"]),
        ("refused:sleep,eperm", ["refused sleep eperm"]),
        ("few:descriptors,4", ["few_descriptors 4"]),
        ("few:memory,64", ["few_memory_mib 64"]),
        ("few:threads", ["few_threads 1"]),
        ("uptime:u32ms", ["uptime_ns 4294967196000000"]),
        ("cpu:x86-64-v3", []),
        ("cpu:invariant-tsc", ["tsc_mhz 2400"]),
        ("uptime:i32s,5", ["uptime_ns 2147483647995000000"]),
        ("wall-clock-step:+1", ["wall_step 1 100"]),
        ("wall-clock-step:-60,7", ["wall_step -60 7"]),
        ("leap-second", ["leap insert 300"]),
        ("leap-second:delete", ["leap delete 300"]),
    ],
)
def test_hazard_adds_lines_for_the_agent(word: str, lines: list[str]) -> None:
    assert list(hazard_of(word).spec_lines(cell_of(word))) == lines


def test_kernel_clock_and_kernel_options_make_another_guest() -> None:
    words = ["preempt-rt", "clocksource:hpet", "clocksource:acpi_pm", "no-nohz", "low-res-timers"]
    names = {shape_of(cell_of(word)).name for word in words}
    assert len(names) == len(words)
    assert shape_of(cell_of("preempt-rt")).kernel == "preempt-rt"
    assert shape_of(cell_of("kernel:5.10")).kernel == "linux-5.10"
    usual = shape_of(cell_of())
    assert shape_of(cell_of("clocksource:tsc")) == usual == shape_of(cell_of("hogs:1"))


def test_each_kernel_has_a_recipe_and_each_recipe_is_used() -> None:
    recipes = read_recipes(CHECKOUT)
    needed = {shape_of(cell_of(word)).kernel for word in RIGHT}
    needed |= {device.kernel_of(arch) for device in DEVICES.values() for arch in device.archs}
    assert needed - {""} == set(recipes.kernels)


def test_emulator_runs_on_another_core_than_the_throttled_one() -> None:
    options = emulator_words(cell_of("rt-throttle"), region_of(make_cell(), make_chip()))
    assert options[-4:] == ["--cpu", "1", "--measure-wake", "0"]
