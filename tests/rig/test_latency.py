# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig latency`: its series, the parsing of their output, and its sentences and pages."""

import dataclasses
import re

import jsonschema
import msgspec
import pytest
from delayrig.base.errors import BadInputError, RigFaultError
from delayrig.features.export import schema_of
from delayrig.features.latency import explain, rows
from delayrig.features.latency.charts import charts_of
from delayrig.features.latency.page import latency_page
from delayrig.features.latency.place import Line, PlaceFacts
from delayrig.features.latency.profile import SETS, parse_guest, parse_guests
from delayrig.features.latency.program_output import (
    INTERFACES,
    Round,
    parse_cpus,
    parse_lines,
    read_cyclictest,
    reading_of,
    timers_of,
)
from delayrig.features.latency.result import TESTS, Kind, Section, Series, Ticks
from delayrig.features.latency.rows import read_proposal
from delayrig.features.latency.series_plan import (
    GUEST_INSTRUCTIONS,
    QUICK,
    USUAL,
    Extent,
    programme,
)
from delayrig.features.latency.terminal import print_report
from delayrig.model.platform import Arch
from msgspec.structs import replace

from tests.rig.measured import (
    JIFFY_NS,
    MS,
    US,
    S,
    full_machine,
    growing,
    make_machine,
    make_report,
    make_wait,
)
from tests.rig.reported import shown

HOST = PlaceFacts(name="host", lane="host", arch="x86_64", cpus=(0,))
GUEST = PlaceFacts(name="g", lane="virtual", arch="x86_64", core_mips=(1000,), cpus=(0,))
NEW_KERNEL = """\
cpu: 0
  .resolution: 1 nsecs
  .hres_active    : 1
  .nohz           : 1
  .highres        : 1
cpu: 1
  .hres_active    : 0
  .nohz           : 0
  .highres        : 0
 event_handler:  hrtimer_interrupt
"""
OLD_KERNEL = "cpu: 0\n  .hres_active    : 1\n  .nohz_mode      : 2\n"


def facts_line(**keys: object) -> Line:
    return {"resolution_ns": 1, "coarse_resolution_ns": JIFFY_NS, "slack_ns": 50_000, **keys}


def test_guest_is_parsed_from_its_name() -> None:
    guest = parse_guest("x86_64/62/2c/nohz_full=1")
    assert (guest.shape.arch, guest.shape.nominal_mips, guest.shape.cores) == (Arch.X86_64, 62, 2)
    assert guest.shape.kernel_words == ("nohz_full=1",)
    assert guest.measured_cpus(all_cores=False, core=None) == (1,)
    assert parse_guest("arm64/250").shape.clocksource == "arch_sys_counter"
    assert parse_guest("x86_64/250/clocksource:hpet").shape.clocksource == "hpet"
    assert parse_guest("x86_64/250/no-rt").spec_lines == ("realtime_denied 1",)
    hazard, kernel_word = map(parse_guest, ("x86_64/62/low-res-timers", "x86_64/62/highres=off"))
    assert hazard.shape == kernel_word.shape


def test_sets_of_guests_contain_each_guest_once() -> None:
    names = [guest.name for guest in parse_guests((*SETS, "x86_64/250"))]
    assert len(names) == len(set(names))
    assert {"x86_64/16", "x86_64/1000", "x86_64/250/highres=off"} <= set(names)


@pytest.mark.parametrize(
    ("guest", "message"),
    [
        ("x86", "no architecture 'x86'"),
        ("x86_64", "'' is no speed"),
        ("x86_64/17", "'17' is no speed"),
        ("x86_64/fast", "'fast' is no speed"),
        ("x86_64/1.2.3", "'1.2.3' is no speed"),
        ("x86_64/250/busy-siblings", "unknown word 'busy-siblings'"),
        ("x86_64/250/highres", "unknown word 'highres'"),
        ("x86_64/250/nohz_full=1", "nohz_full= needs a core"),
        ("x86_64/250/2c/nohz_full=0", "nohz_full= needs a core"),
        ("x86_64/250/2c/nohz_full=1,0", "nohz_full= needs a core"),
        ("x86_64/250/2c/nohz_full=1-2", "nohz_full= needs a core"),
        ("x86_64/250/2c/nohz_full=,", "unknown word 'nohz_full=,'"),
        ("arm64/250/clocksource:hpet", "clocksource needs a guest of"),
    ],
)
def test_invalid_guest_is_refused_with_a_remedy(guest: str, message: str) -> None:
    with pytest.raises(BadInputError, match=re.escape(message)) as error:
        parse_guest(guest)
    assert error.value.hint


def test_series_is_written_in_the_syntax_of_the_measuring_program() -> None:
    series = Series(kind=Kind.WAIT, wait="nop", count=3, cpu=0, fifo=1, governor="performance")
    assert series.word == (
        "wait:wait=nop,request_ns=0,from_ns=0,to_ns=0,step_ns=0,count=3,limit_ms=0,slack_ns=0,"
        "fifo=1,eaters=0,cpu=0"
    )
    assert Series(kind=Kind.PERIODS, hold_us=0).word.endswith(",hold_us=0")


def series_of(section: Section, facts: PlaceFacts, extent: Extent = USUAL) -> list[Series]:
    found = programme(facts, extent, low_resolution=False)
    return [series for series in found if series.section is section]


def test_table_has_the_proposals_waits_for_each_policy_load_and_core() -> None:
    table = series_of(Section.TABLE, HOST)
    assert {series.count for series in table} == {16_384}
    assert {(series.wait, series.request_ns) for series in table} == set(TESTS)
    assert {(series.policy, series.load) for series in table} == {
        (policy, load) for policy in ("normal", "SCHED_FIFO") for load in ("idle", "loaded")
    }
    cores = series_of(Section.TABLE, dataclasses.replace(HOST, cpus=(0, 1, 5)), QUICK)
    assert {series.cpu for series in cores} == {0, 1, 5}


def test_loaded_series_of_a_guest_keep_the_limit_of_instructions() -> None:
    found = programme(GUEST, USUAL, low_resolution=True)
    loaded = [series for series in found if series.eaters]
    assert {series.section for series in loaded} == {Section.TABLE, Section.JITTER, Section.PERIODS}
    for series in loaded:
        longest_ms = series.limit_ms or series.request_ns * series.count / MS
        assert longest_ms * 1000 * 1000 <= GUEST_INSTRUCTIONS * 1.01


def test_ordinary_process_of_a_guest_is_given_the_usual_slack() -> None:
    """The guest's agent is a real-time process, so its children inherit no timer slack."""
    found = programme(GUEST, USUAL, low_resolution=False)
    for fifo, slacks_ns in ((0, {50 * US}), (1, {0})):
        policy = [series for series in found if series.fifo == fifo]
        table = [series for series in policy if series.section is Section.TABLE]
        assert {series.slack_ns for series in table} == slacks_ns
    assert {series.slack_ns for series in found if not series.fifo} == {1, 50 * US}


def test_every_governor_and_idle_state_of_the_machine_is_measured() -> None:
    facts = dataclasses.replace(
        HOST, governors=("powersave", "performance"), idle_exit_us=(0, 2, 100)
    )
    power = series_of(Section.POWER, facts)
    assert {series.governor for series in power} == {"", "powersave", "performance"}
    assert {series.hold_us for series in power} == {None, 0, 2, 100}


def test_series_contain_no_character_that_a_shell_interprets() -> None:
    words = [series.word for series in programme(GUEST, QUICK, low_resolution=True)]
    assert all(re.fullmatch(r"[a-z]+:([a-z_]+=[a-z0-9_]+,?)+", word) for word in words)


@pytest.mark.parametrize(
    ("text", "cpu", "high", "tick"),
    [
        (NEW_KERNEL, 0, True, "idle"),
        (NEW_KERNEL, 1, False, "periodic"),
        (OLD_KERNEL, 0, True, "idle"),
    ],
)
def test_timer_list_gives_resolution_and_tick(text: str, cpu: int, high: bool, tick: str) -> None:
    timers = timers_of(facts_line(timer_list=text), None, cpu)
    assert (timers.high_resolution, timers.tick) == (high, tick)
    assert timers.source == "/proc/timer_list"


def test_cpu_of_nohz_full_has_a_full_tick() -> None:
    timers = timers_of(facts_line(timer_list=NEW_KERNEL, nohz_full="0,2-3"), None, 0)
    assert timers.tick == "full"
    assert parse_cpus("0,2-3") == {0, 2, 3}
    assert parse_cpus("(null)") == set()


def test_without_timer_list_clocks_and_interrupts_are_used() -> None:
    line = facts_line(timer_list_error="Permission denied")
    few = Ticks(span_ns=200 * MS, idle_interrupts=4, busy_interrupts=50)
    many = Ticks(span_ns=200 * MS, idle_interrupts=50, busy_interrupts=50)
    assert timers_of(line, few, 0).tick == "idle"
    assert timers_of(line, many, 0).tick == ""
    assert timers_of(line, None, 0).high_resolution is True
    assert "Permission denied" in timers_of(line, None, 0).source
    low = timers_of({**line, "resolution_ns": JIFFY_NS}, None, 0)
    assert low.high_resolution is False
    assert "every sleep ends at a tick" in low.sentence


def test_output_needs_one_line_for_each_series_in_order() -> None:
    good = b'{"schema":1,"series":0}\n{"schema":1,"series":1,"refused":"x","why":"y"}\n'
    lines = parse_lines(good, expected=2, source="p")
    reading = reading_of(Series(kind=Kind.WAIT), lines[1])
    assert (reading.refused, reading.why, reading.statistics) == ("x", "y", None)
    for bad, count in ((good, 3), (good, 1), (b'{"schema":2,"series":0}\n', 1), (b"{\n", 1)):
        with pytest.raises(RigFaultError):
            parse_lines(bad, expected=count, source="p")


def test_proposals_figures_are_complete_and_in_order() -> None:
    proposal = read_proposal()
    assert [machine.name for machine in proposal.machine] == ["AMD", "MT8173", "APL", "Xeon", "MTL"]
    for machine in proposal.machine:
        assert set(machine.normal) == set(TESTS.values())
        assert set(machine.fifo) == {"nanosleep 1u", "nanosleep 100u"}
        for mean, least, most in [*machine.normal.values(), *machine.fifo.values()]:
            assert least <= mean <= most


def test_slack_cut_compares_two_medians_of_one_run() -> None:
    (cut,) = explain.slack_cuts(full_machine()).values()
    assert (cut.usual.late_ns_p50, cut.least.late_ns_p50) == (70 * US, 20 * US)
    slack = explain.say_slack(full_machine())
    assert slack is not None
    assert "from 70.0 us to 20.0 us, to 0.29 of it" in slack.figures


@pytest.mark.parametrize(
    ("late_ns", "nice", "figures", "meaning"),
    [
        ((120 * US, 1020 * US), 0, "0.10 % of the wait", "0.1 % of what was asked for"),
        ((5 * MS, 70 * US), 0, "The 0.1 % by which select() may grow cannot be seen", ""),
        ((520 * US, 4_900 * US), 10, "0.49 % of the wait", "0.5 % of what was asked for"),
        ((520 * US, 4_900 * US), 0, "cannot be seen", ""),
    ],
)
def test_growth_of_select_is_explained_only_if_it_is_near_the_kernels_limit(
    late_ns: tuple[int, int], nice: int, figures: str, meaning: str
) -> None:
    readings = [
        *growing("select", dict(zip((100 * MS, S), late_ns, strict=True))),
        *growing("clock_nanosleep", {100 * MS: 70 * US, S: 70 * US}),
    ]
    growth = explain.say_growth(make_machine(readings=readings, nice=nice))
    assert growth is not None
    assert figures in growth.figures
    assert meaning in growth.meaning
    assert bool(growth.meaning) is bool(meaning)


def test_growth_that_others_measured_is_explained_by_the_slack_of_select() -> None:
    assert explain.say_growth(make_machine()) is None
    (growth,) = read_proposal().growth
    text = explain.say_seed_growth(growth.sleep_ms, growth.late_us)
    assert "142.6 us at 100 ms leave 42.6 us" in text
    assert "1042.4 us at 1000 ms leave 42.4 us" in text


@pytest.mark.parametrize(
    ("elapsed_ns", "ticks"),
    [
        (JIFFY_NS, 1),
        (JIFFY_NS - 344, 1),
        (3 * JIFFY_NS + 9000, 3),
        (2 * MS, None),
        (200 * US, None),
    ],
)
def test_wait_that_ended_at_a_tick_is_recognised(elapsed_ns: int, ticks: int | None) -> None:
    assert explain.jiffies_of(elapsed_ns, JIFFY_NS) == ticks


def test_cyclictest_gets_the_options_of_its_interface_and_is_parsed_strictly() -> None:
    rounds = [Round(interface=name, eaters=1, loops=9, cpu=1) for name in INTERFACES]
    commands = [each.words for each in rounds]
    assert ["--posix_timers" in options for options in commands] == [True, True, False]
    assert ["--system" in options for options in commands] == [False, True, False]
    good = b'{"thread":{"0":{"cycles":9,"min":1,"max":30,"avg":2.6}}}'
    read = read_cyclictest(good, rounds[0])
    assert (read.cycles, read.min_ns, read.mean_ns, read.max_ns) == (9, 1, 3, 30)
    for bad in (b"", b"{}", b'{"thread":{}}', b'{"thread":{"0":{"cycles":"x"}}}'):
        with pytest.raises(RigFaultError):
            read_cyclictest(bad, rounds[0])


def test_report_matches_its_published_schema() -> None:
    report = msgspec.json.decode(msgspec.json.encode(make_report(full_machine())))
    jsonschema.validate(report, schema_of("latency"))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**report, "schema": 2}, schema_of("latency"))


def test_page_shows_every_machine_and_escapes_their_names() -> None:
    machines = full_machine("<b>&host"), full_machine("low", high=False)
    page = latency_page(make_report(*machines)).decode()
    assert "&lt;b&gt;&amp;host" in page
    assert "<b>&host" not in page
    for key in ("table", "timers", "interfaces", "select", "jitter", "slack", "method"):
        assert f'<h2 id="{key}"' in page
    assert "mathdefault" not in page
    assert "Interrupted" not in page
    assert "Sleeps of 100 us end late" in page
    assert "was not measured" not in page
    assert "Interrupted" in latency_page(make_report(*machines, complete=False)).decode()
    empty = make_machine(missing=["sched_setscheduler(SCHED_FIFO): Operation not permitted"])
    assert "Operation not permitted" in latency_page(make_report(empty)).decode()


def test_charts_have_distinct_titles() -> None:
    charts = charts_of([full_machine("a"), full_machine("b", high=False)])
    titles = [chart.title for chart in charts]
    assert len(titles) == len(set(titles))
    assert sum(title.startswith("Steps of select") for title in titles) == 1


def test_rows_have_a_value_for_every_column() -> None:
    names = [name for name in dir(rows) if re.fullmatch("[a-z]+_rows", name)]
    makers = [getattr(rows, name) for name in names]
    assert len(makers) >= 11
    for make in makers:
        found = make([full_machine("a"), make_machine("b")])
        lengths = {len(row.values) for row in found.whole_rows()}
        assert lengths <= {len(found.columns)}, found.caption


def test_one_reading_has_a_count_and_no_deviation() -> None:
    wait = make_wait(Section.JITTER, late_ns=60_000, wait="select", request_ns=1_000_000_000)
    assert wait.statistics is not None
    one = replace(wait, statistics=replace(wait.statistics, count=1, deviation_ns=0))
    several = replace(wait, statistics=replace(wait.statistics, count=4, deviation_ns=900))
    tables = [rows.jitter_rows([make_machine(readings=[wait])]) for wait in (one, several)]
    assert [*tables[0].columns[-3:]] == ["1 s mean", "1 s dev.", "1 s n"]
    firsts = [table.whole_rows()[0].values[-3:] for table in tables]
    assert firsts == [["60.0", "-", "1"], ["60.0", "0.9", "4"]]


def test_clocks_show_their_hz() -> None:
    clocks = rows.clock_rows([make_machine()])
    assert clocks.whole_rows()[0].values[clocks.columns.index("HZ")] == "250"


def test_loaded_series_have_the_requested_number_of_eaters() -> None:
    extent = dataclasses.replace(QUICK, eaters=30)
    found = programme(HOST, extent, low_resolution=False)
    assert {series.eaters for series in found} == {0, 30}
    assert {series.load for series in found} == {"idle", "30 eaters"}


@pytest.mark.parametrize(
    ("normal_us", "fifo_us", "verdict"),
    [
        (10, 3, "threshold 100 fits."),
        (54, 3, "threshold 100 fits under SCHED_FIFO alone."),
        (109, 54, "threshold 100 may cost time; `rig/rig threshold` tells how much."),
    ],
)
def test_last_sentence_says_whether_a_threshold_of_100_us_fits(
    normal_us: int, fifo_us: int, verdict: str
) -> None:
    readings = [
        make_wait(
            Section.TABLE, wait="nanosleep", request_ns=100 * US, late_ns=late_us * US, fifo=fifo
        )
        for late_us, fifo in ((normal_us, 0), (fifo_us, 1))
    ]
    machine = make_machine(readings=readings)
    sentence = explain.say_verdict(machine)
    assert sentence.startswith(
        f"Sleeps of 100 us end late by {normal_us:.1f} us at normal priority"
    )
    assert sentence.endswith(verdict)
    printed = shown(lambda console: print_report(make_report(machine), console), width=200)
    assert printed.splitlines()[-1] == f"{machine.title}: {sentence}"
    assert explain.say_verdict(make_machine()).endswith("was not measured.")
