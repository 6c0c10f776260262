# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig survey` of a program with symbols and of a stripped one, in real guests."""

from pathlib import Path

import msgspec
import pytest
from delayrig.base.paths import Paths
from delayrig.features.survey.survey import FILE_NAME, Survey

from .conftest import launch
from .plans import group, plan

OFF_PCT_MAX = 2.0
"""A flashrom does a little other work in gaps that contain a wait."""
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
    """Runs a survey once; leaves its output beside its results."""
    folder = tmp_path_factory.mktemp("survey")
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    words = ["bundled", STRIPPED, "--plan", str(folder / "plan.toml"), "--no-color"]
    done = launch(paths, "survey", *words, "--out", str(folder / "out"))
    (folder / "said.txt").write_text(done.stdout, encoding="utf-8")
    assert (folder / "out" / FILE_NAME).is_file(), done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def survey(surveyed: Path) -> Survey:
    return msgspec.json.decode((surveyed / "out" / FILE_NAME).read_bytes(), type=Survey)


def test_calls_and_the_bus_less_service_time_agree_to_two_percent(survey: Survey) -> None:
    found = {(each.subject, each.chip): each for each in survey.agreements}
    chips = ("W25Q128JV", "GD25Q16C")
    assert set(found) == {(name, chip) for name in ("bundled", STRIPPED) for chip in chips}
    for each in found.values():
        assert each.calls >= 256, "64 KiB are 256 pages, each of them waited for"
        assert abs(each.off_pct) <= OFF_PCT_MAX


def test_calls_are_each_as_long_as_asked_for(survey: Survey) -> None:
    assert {each.subject for each in survey.calls} == {"bundled", STRIPPED}
    assert all(each.beyond_ns >= 0 for each in survey.calls)


def test_stripped_program_is_seen_call_by_call_and_says_where(
    survey: Survey, surveyed: Path
) -> None:
    counts = {
        (each.chip, each.requested_us): each.count
        for each in survey.calls
        if each.subject == STRIPPED
    }
    for chip in ("W25Q128JV", "GD25Q16C"):
        assert counts[chip, 10] >= 256, "64 KiB are 256 pages, each of them polled"
        assert counts[chip, 1_000_000] == 1, "its delay function calls another one, which waits"
    (line,) = [line for line in survey.lines if line.startswith(STRIPPED)]
    assert "seen call by call, by QEMU, in address 0x" in line
    assert line in (surveyed / "said.txt").read_text(encoding="utf-8")
    assert line in (surveyed / "out" / "survey.html").read_text(encoding="utf-8")


def test_gaps_of_every_program_are_bounds(survey: Survey, surveyed: Path) -> None:
    bounds = [each for each in survey.bus if each.subject == STRIPPED]
    assert {each.chip for each in bounds} == {"W25Q128JV", "GD25Q16C"}
    assert all(each.at_most_ns >= each.above_service_ns >= 0 for each in bounds)
    page = (surveyed / "out" / "survey.html").read_text(encoding="utf-8")
    assert "(bounds from the bus)" in page


def test_second_of_synchronisation_lies_within_its_bounds(survey: Survey) -> None:
    """1.4.0 waits 1 s after the serprog NOPs; a wait cannot be longer than its gap."""
    known = [
        each for each in survey.known if each.subject == STRIPPED and each.requested_us == 1_000_000
    ]
    assert known
    assert all(each.at_most_ns >= each.at_least_ns >= 10**9 * each.count for each in known)
