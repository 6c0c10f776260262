# SPDX-License-Identifier: GPL-2.0-or-later
"""Late wake-ups in a live guest: series, rehearsal, changes under each governor, and chart."""

from xml.etree import ElementTree as ET

import pytest
from delayrig.features.latency.wakeup import (
    Lateness,
    WakeupReport,
    errand_of,
    series_words,
    wakeup_chart,
)
from delayrig.lanes.live.program import spec_text
from delayrig.subjects.subject import Subject


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


def test_change_is_told_for_each_governor() -> None:
    assert REPORT.change("ondemand") == pytest.approx((0.3, 0.3))
    assert REPORT.change("performance") == pytest.approx((1.04, 1.04))


def test_chart_is_an_svg_that_says_its_figures() -> None:
    svg = wakeup_chart(REPORT).svg_file()
    assert ET.fromstring(svg).tag.endswith("svg")
    assert b"ondemand, 2 eaters: 360 us" in svg
