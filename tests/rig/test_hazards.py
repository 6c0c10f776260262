# SPDX-License-Identifier: GPL-2.0-or-later
"""Sets of hazards: their words, their order, and what each does to a guest and its emulator."""

import re
import subprocess
from typing import Any

import pytest
from delayrig.errors import BadInputError
from delayrig.evidence import Evidence
from delayrig.hazards import KINDS, cores_needed, hazard_of, parse_hazards, written
from delayrig.hazards.hazard import Hazard
from delayrig.hazards.link import PRESETS
from delayrig.payload import deadline_ms, emulator_words
from delayrig.result import Verdict
from delayrig.seen import Seen
from delayrig.verdict import find_verdict
from delayrig.workload import region_of

from tests.rig.builders import CHECKOUT, make_cell, make_chip, make_evidence, sound_events

RIGHT = [
    *("low-res-timers", "busy-siblings"),
    *("link:stm32-vserprog", "link:baud=115200", "link:frser-duino,opbuf=12,baud=9600"),
    *("fault:drop@3", "fault:corrupt@in:7", "fault:duplicate@p=0.001", "fault:delay:500@1"),
    *("fault:stall@2", "fault:stall:80@p=0.5", "fault:hang-up@9", "fault:nak@1"),
    "fault:stuck-wip@3",
    *("power-cut:3", "power-cut:3,50%", "power-cut:3,1500", "power-cut:3,0%,1000"),
]
WRONG = [
    *("", "busy", "busy-siblings:1", "low-res-timers:", "none"),
    *("link", "link:", "link:fast", "link:baud=0", "link:baud=x", "link:baud=1,frser-duino"),
    *("fault:", "fault:drop", "fault:drop@0", "fault:drop@p=1.5", "fault:stuck-wip@p=0.1"),
    *("fault:delay@1", "fault:hang-up@in:1", "power-cut:0", "power-cut:3,101%", "power-cut:03"),
]


@pytest.mark.parametrize("word", RIGHT)
def test_word_of_a_hazard_is_a_set_of_one(word: str) -> None:
    assert parse_hazards(word) == (word,)


@pytest.mark.parametrize("word", WRONG)
def test_word_that_is_none_is_refused_with_what_would_be_right(word: str) -> None:
    with pytest.raises(BadInputError) as caught:
        hazard_of(word)
    assert caught.value.hint.startswith(("it is written", "known hazards", "did you mean"))


def test_none_is_the_empty_set() -> None:
    assert parse_hazards("none") == ()


def test_order_of_words_does_not_make_another_set() -> None:
    text = "power-cut:1+busy-siblings+low-res-timers"
    assert parse_hazards(text) == ("low-res-timers", "busy-siblings", "power-cut:1")


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


def test_subject_that_may_ask_for_ever_gets_less_time() -> None:
    assert deadline_ms(make_cell()) == 600_000
    assert deadline_ms(make_cell(hazards=("low-res-timers", "fault:stuck-wip@1"))) == 60_000


def seen_after(*events: dict[str, Any]) -> Seen:
    return Seen(events=[*sound_events(), *events], output=b"", image=b"", read_back=None)


def finding(seen: Seen, evidence: list[Evidence], *words: str) -> Verdict:
    cell = make_cell(hazards=words)
    return find_verdict(cell, seen, evidence, [], [], None).verdict


@pytest.mark.parametrize("kind", ["drop", "corrupt", "duplicate"])
def test_what_follows_bytes_that_were_altered_is_a_doubt(kind: str) -> None:
    word = f"fault:{kind}@1"
    seen = seen_after({"ev": "fault", "t_ns": 1, "kind": kind, "at": "reply-byte", "nth": 1})
    assert finding(seen, [make_evidence()], word) is Verdict.INCONCLUSIVE
    assert finding(seen_after(), [make_evidence()], word) is Verdict.TOO_SHORT


def test_late_reply_excuses_no_short_wait() -> None:
    seen = seen_after({"ev": "fault", "t_ns": 1, "kind": "delay", "at": "request", "nth": 1})
    assert finding(seen, [make_evidence()], "fault:delay:5@1") is Verdict.TOO_SHORT


def test_command_after_a_power_cut_is_a_doubt() -> None:
    seen = seen_after({"ev": "power_cut", "t_ns": 1})
    assert finding(seen, [make_evidence()], "power-cut:1") is Verdict.INCONCLUSIVE
