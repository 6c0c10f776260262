# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig survey` of a program with symbols and of a stripped one, in real guests."""

from pathlib import Path

import msgspec
import pytest
from delayrig.base.paths import Paths
from delayrig.features.survey.survey import FILE_NAME, Survey

from .conftest import launch
from .plans import group, plan, write_plan

OFF_PCT_MAX = 2.0
"""The gaps on the bus that contain a wait also contain a little other work."""
STRIPPED = "debian:trixie"
PLAN = plan(
    group(
        "jobs",
        'mips = [1000], cores = [1], job = ["write"], chip = ["W25Q128JV", "GD25Q16C"]',
        region_kib=64,
    )
)


@pytest.fixture(scope="module")
def surveyed(paths: Paths, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs a survey; writes its output beside its results; returns the folder of both."""
    folder = tmp_path_factory.mktemp("survey")
    words = ["bundled", STRIPPED, "--plan", write_plan(folder, PLAN), "--no-color"]
    done = launch(paths, "survey", *words, "--out", str(folder / "out"))
    (folder / "output.txt").write_text(done.stdout, encoding="utf-8")
    assert (folder / "out" / FILE_NAME).is_file(), done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def survey(surveyed: Path) -> Survey:
    return msgspec.json.decode((surveyed / "out" / FILE_NAME).read_bytes(), type=Survey)


def test_time_of_calls_and_gaps_on_the_bus_agree_to_two_percent(survey: Survey) -> None:
    found = {(each.subject, each.chip): each for each in survey.agreements}
    chips = ("W25Q128JV", "GD25Q16C")
    assert set(found) == {(name, chip) for name in ("bundled", STRIPPED) for chip in chips}
    for each in found.values():
        assert each.calls >= 256, "64 KiB are 256 pages with at least one wait each"
        assert abs(each.off_pct) <= OFF_PCT_MAX


def test_each_call_takes_at_least_the_requested_time(survey: Survey) -> None:
    assert {each.subject for each in survey.calls} == {"bundled", STRIPPED}
    assert all(each.beyond_ns >= 0 for each in survey.calls)


def test_calls_of_a_stripped_program_are_counted_and_output_and_page_name_the_address(
    survey: Survey, surveyed: Path
) -> None:
    counts = {
        (each.chip, each.requested_us): each.count
        for each in survey.calls
        if each.subject == STRIPPED
    }
    for chip in ("W25Q128JV", "GD25Q16C"):
        assert counts[chip, 10] >= 256, "64 KiB are 256 pages, which are polled"
        assert counts[chip, 1_000_000] == 1, "its delay function calls another one, which waits"
    (line,) = [line for line in survey.lines if line.startswith(STRIPPED)]
    assert "call by call" in line
    assert "in address 0x" in line
    assert line in (surveyed / "output.txt").read_text(encoding="utf-8")
    assert line in (surveyed / "out" / "survey.html").read_text(encoding="utf-8")


def test_gaps_on_the_bus_are_bounds_of_the_waits(survey: Survey, surveyed: Path) -> None:
    bounds = [each for each in survey.bus if each.subject == STRIPPED]
    assert {each.chip for each in bounds} == {"W25Q128JV", "GD25Q16C"}
    assert all(each.at_most_ns >= each.above_service_ns >= 0 for each in bounds)
    page = (surveyed / "out" / "survey.html").read_text(encoding="utf-8")
    assert "(bounds from the bus)" in page


def test_synchronisation_wait_of_one_second_lies_within_its_bounds(survey: Survey) -> None:
    """1.4.0 waits 1 s after the serprog NOPs, and a wait cannot be longer than its gap."""
    known = [
        each for each in survey.known if each.subject == STRIPPED and each.requested_us == 1_000_000
    ]
    assert known
    assert all(each.at_most_ns >= each.at_least_ns >= 10**9 * each.count for each in known)
