# SPDX-License-Identifier: GPL-2.0-or-later
"""Latencies in live guests: names, rehearsals, windows not kept, resumption, late wake-ups."""

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest
from delayrig import __version__
from delayrig.base.errors import BadInputError
from delayrig.features.latency import rows
from delayrig.features.latency.explain import MARK, doubt_of, marked
from delayrig.features.latency.guest_place import rehearsal_of, with_windows
from delayrig.features.latency.page import latency_page
from delayrig.features.latency.profile import (
    parse_guest,
    parse_live_guest,
    parse_live_guests,
)
from delayrig.features.latency.result import Cyclic, Kind, Section, Series, write_report
from delayrig.features.latency.run import resumed
from delayrig.features.latency.series_plan import QUICK, programme
from delayrig.features.latency.wakeup import (
    Lateness,
    WakeupReport,
    errand_of,
    series_words,
    wakeup_chart,
)
from delayrig.lanes.host.record import ClockReading
from delayrig.lanes.live.agent_connection import GuestClock
from delayrig.lanes.live.program import Left, spec_text
from delayrig.model.events import encode_events
from delayrig.model.kinds.pace import Window
from delayrig.plan.machines import CORE_MIPS_USED_MAX
from delayrig.subjects.subject import Subject

from tests.rig.event_builders import made
from tests.rig.measured import (
    LIVE,
    MS,
    S,
    behind_reading,
    full_machine,
    latency_request,
    live_machine,
    make_report,
)


def test_live_guest_is_a_machine_or_cores_of_one_speed() -> None:
    assert parse_live_guest("10:40").core_mips == (10, 40)
    assert parse_live_guest("x86_64/20/2c").core_mips == (20, 20)
    board = parse_live_guest("mt8173/ondemand")
    assert board.cores == 4
    assert board.governors == ("ondemand", "performance")
    assert max(board.core_mips) <= CORE_MIPS_USED_MAX
    assert board.core_mips[3] / board.core_mips[0] == pytest.approx(2.5, rel=1e-3)
    assert "too slow for more" in board.about
    assert "too slow" not in parse_live_guest("10:40").about


def test_live_guest_has_the_options_of_the_virtual_lane() -> None:
    guest = parse_live_guest("10:40/nohz_full=1/no-rt")
    assert guest.kernel_words == ("nohz_full=1",)
    assert guest.spec_lines == ("realtime_denied 1",)
    assert parse_live_guest("10:40/low-res-timers").kernel_words == ("highres=off",)
    assert len(parse_live_guests(("10:40", "10:40"))) == 1
    of_a_file = parse_live_guest("rig/delayrig/plan/machines/mt8173.toml/highres=off")
    assert (of_a_file.cores, of_a_file.kernel_words) == (4, ("highres=off",))


@pytest.mark.parametrize(
    ("guest", "message"),
    [
        ("speeds", "is a set of guests of the virtual lane"),
        ("mt8174", "unknown machine 'mt8174'"),
        ("10:40/fast", "unknown word 'fast'"),
        ("10:40/preempt-rt", "preempt-rt is a hazard of the virtual lane alone"),
        ("10:40/no-nohz", "no-nohz is a hazard of the virtual lane alone"),
        ("10:40/nohz_full=2", "nohz_full= needs a core"),
        ("arm64/250", "only x86_64 guests"),
        ("x86_64/fast", "'fast' is no speed"),
        ("x86_64", "'' is no speed"),
        ("x86_64/0", "'0' is no speed"),
    ],
)
def test_invalid_live_guest_is_refused_with_a_remedy(guest: str, message: str) -> None:
    with pytest.raises(BadInputError, match=re.escape(message)) as error:
        parse_live_guest(guest)
    assert error.value.hint


def test_measured_cpus_are_the_first_all_or_the_chosen_core() -> None:
    guest = parse_live_guest("10:40/nohz_full=1")
    assert guest.measured_cpus(all_cores=True, core=None) == (1, 0)
    assert guest.measured_cpus(all_cores=False, core=None) == (1,)
    assert parse_guest("x86_64/62/2c").measured_cpus(all_cores=True, core=None) == (0, 1)
    assert guest.measured_cpus(all_cores=False, core=0) == (0,)
    with pytest.raises(BadInputError, match="has no such core") as error:
        guest.measured_cpus(all_cores=False, core=2)
    assert "it has 2 of them" in error.value.hint


def test_slow_live_guest_measures_loaded_waits_of_up_to_a_second() -> None:
    found = programme(LIVE, QUICK, low_resolution=False)
    table, jitter, power = (
        [series for series in found if series.section is section]
        for section in (Section.TABLE, Section.JITTER, Section.POWER)
    )
    assert {series.request_ns for series in jitter if series.eaters} == {10 * MS, 100 * MS, S}
    assert {series.governor for series in power} == {"performance", "ondemand"}
    assert {series.cpu for series in table} == {0, 1}
    assert all(series.limit_ms for series in table)


def test_rehearsal_is_short_and_repeats_no_series() -> None:
    found = programme(LIVE, QUICK, low_resolution=True)
    rehearsed = rehearsal_of(found)
    assert len(rehearsed) == len(set(rehearsed)) <= len(found)
    for word in rehearsed:
        keys = dict(pair.split("=") for pair in word.partition(":")[2].split(","))
        assert int(keys["count"]) <= 5
        assert int(keys["request_ns"]) <= MS
        step_ns = int(keys["step_ns"]) or 1
        assert (int(keys["to_ns"]) - int(keys["from_ns"])) // step_ns <= 6
    audit = Series(kind=Kind.AUDIT, cpu=0)
    assert rehearsal_of([audit]) == [audit.word]


def window(number: int, *, kept: bool) -> Window:
    return made(
        Window,
        vcpu=0,
        from_ns=S + number * 100 * MS,
        t_ns=S + (number + 1) * 100 * MS,
        kept=kept,
        short_ns=0 if kept else 50 * MS,
        lost_ns=0,
    )


def left_with(*windows: Window) -> Left:
    """Returns what a guest left; its clock is one second behind that of the host."""
    begin, end = (ClockReading(ns + S, ns, ns + S) for ns in (0, 10_000 * MS))
    clock = GuestClock(begin=begin, end=end)
    return Left(entries={}, clock=clock, trace=encode_events(windows))


def test_series_has_the_windows_of_its_time_by_the_hosts_clock() -> None:
    left = left_with(*(window(number, kept=number != 3) for number in range(8)))
    for began_ms, ended_ms, not_kept in ((110, 290, 0), (210, 310, 1)):
        line = {"began_ns": began_ms * MS, "ended_ns": ended_ms * MS}
        assert with_windows(line, left) == {**line, "windows": 2, "windows_not_kept": not_kept}
    assert with_windows({"resolution_ns": 1}, left) == {"resolution_ns": 1}


def test_series_in_which_the_host_fell_behind_are_marked_and_counted() -> None:
    assert marked("1.0", behind_reading(not_kept=0), behind_reading()) == f"1.0{MARK}"
    assert marked("1.0", behind_reading(not_kept=0)) == "1.0"
    assert doubt_of([behind_reading(not_kept=0)]) == ""
    few = doubt_of([behind_reading(windows=40), behind_reading(not_kept=0)])
    assert "in 1 of 44 windows" in few
    assert "1 of 2 series" in few
    assert "measure again" not in few
    assert "measure again" in doubt_of([behind_reading()])


def test_report_names_the_live_lane_and_the_series_in_doubt() -> None:
    machine = live_machine()
    (row,) = rows.place_rows([machine]).whole_rows()
    assert row.values[:2] == ["live 10:40", "live"]
    assert row.values[-1] == "1"
    slack = rows.slack_rows([machine]).whole_rows()[0].values
    assert slack[0] == "live 10:40"
    assert slack[-1].endswith(MARK)
    page = latency_page(make_report(machine)).decode()
    assert "In doubt on live 10:40: in 1 of 4 windows" in page
    assert "cores of 10:40 MIPS" in page
    assert "did not hold a core of the guest to its speed" in page
    kept = live_machine("10:40", behind_reading(not_kept=0))
    sound = latency_page(make_report(kept)).decode()
    assert "In doubt" not in sound


def test_guests_of_the_virtual_lane_are_named_with_it_and_have_no_doubts() -> None:
    machine = msgspec.structs.replace(full_machine("x86_64/250"), lane="virtual", core_mips=[250.0])
    (row,) = rows.place_rows([machine]).whole_rows()
    assert (row.values[0], row.values[5], row.values[-1]) == ("virtual x86_64/250", "250", "-")
    assert full_machine("host").title == "host"


@pytest.mark.parametrize(
    ("least", "mean", "most", "wrong"),
    [(1, 2, 3, False), (1, 1, 1, False), (450, 2**54, -46, True), (-1, 2, 3, True)],
)
def test_impossible_figures_of_cyclictest_are_recognised(
    least: int, mean: int, most: int, wrong: bool
) -> None:
    figures = {"cycles": 9, "min_ns": least, "mean_ns": mean, "max_ns": most}
    read = Cyclic(interface="setitimer", loaded=False, command="cyclictest", **figures)
    assert read.contradicts_itself is wrong


def test_same_command_resumes_with_the_machines_that_were_measured_in_full(
    tmp_path: Path,
) -> None:
    report = make_report(live_machine(), complete=False)
    cut_off = msgspec.structs.replace(report, rig_version=__version__)
    request = latency_request(tmp_path, argv=cut_off.argv)
    assert resumed(request) == {}
    write_report(cut_off, tmp_path)
    assert resumed(request) == {"10:40": live_machine()}
    assert resumed(replace(request, argv=["rig/rig", "latency", "--quick"])) == {}
    for changes in ({"rig_version": "other"}, {"complete": True}):
        write_report(msgspec.structs.replace(cut_off, **changes), tmp_path)
        assert resumed(request) == {}
    (tmp_path / "latency.json").write_text("{")
    assert resumed(request) == {}


def reading(governor: str, eaters: int, mean_ns: float) -> Lateness:
    return Lateness(
        governor=governor,
        eaters=eaters,
        count=100,
        mean_ns=mean_ns,
        median_ns=mean_ns,
        deviation_ns=0.0,
    )


REPORT = WakeupReport(
    mips_max=20,
    mips_min=5,
    readings=[
        reading("ondemand", 0, 1200e3),
        reading("ondemand", 2, 360e3),
        reading("performance", 0, 500e3),
        reading("performance", 2, 520e3),
    ],
)


def test_sleeps_are_measured_alone_before_the_eaters_begin() -> None:
    alone, beside = series_words(100, 2)
    assert "eaters" not in alone
    assert beside == f"{alone},eaters=2"


def test_guest_rehearses_with_fewer_sleeps_and_needs_no_emulator() -> None:
    program = Subject(name="p", archive="a", archive_sha256="0", program_sha256="0", packages={})
    text = spec_text(errand_of(program, count=100, eaters=2))
    assert "emulator_outside 1\n" in text
    assert text.count("rehearsal ") == text.count("subject ") == 3
    assert "count=5," in text


def test_report_has_the_change_of_each_governor() -> None:
    assert REPORT.change("ondemand") == pytest.approx((0.3, 0.3))
    assert REPORT.change("performance") == pytest.approx((1.04, 1.04))


def test_chart_is_an_svg_with_its_figures() -> None:
    svg = wakeup_chart(REPORT).svg_file()
    assert ET.fromstring(svg).tag.endswith("svg")
    assert b"ondemand, 2 eaters: 360 us" in svg
