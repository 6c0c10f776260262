# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig survey` of a program whose calls are seen and of a stripped one, in real guests."""

from pathlib import Path

import msgspec
import pytest
from delayrig.paths import Paths
from delayrig.survey.survey import FILE_NAME, Survey

from .conftest import launch

OFF_PCT_MAX = 1.0
STRIPPED = "debian:trixie"
PLAN = """\
schema = 1
about = "The writes of plan survey"
subjects = ["bundled"]

[[group]]
name = "bus"
[group.over]
mips = [1000]
cores = [1]
job = ["write"]
chip = ["W25Q128JV", "GD25Q16C"]

[[group]]
name = "calls"
witness = "delay"
subject = "bundled"
[group.over]
mips = [1000]
cores = [1]
job = ["write"]
chip = ["W25Q128JV", "GD25Q16C"]
"""


@pytest.fixture(scope="module")
def surveyed(paths: Paths, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run once, with what it said beside it."""
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


def test_calls_and_the_bus_less_service_time_agree_to_a_percent(survey: Survey) -> None:
    found = {each.chip: each for each in survey.agreements}
    assert set(found) == {"W25Q128JV", "GD25Q16C"}
    for each in found.values():
        assert (each.subject, each.job) == ("bundled", "write")
        assert each.calls >= 256, "64 KiB are 256 pages, each of them waited for"
        assert abs(each.off_pct) <= OFF_PCT_MAX


def test_calls_of_bundled_are_each_as_long_as_asked_for(survey: Survey) -> None:
    own = [each for each in survey.calls if each.subject == "bundled"]
    assert own
    assert all(each.beyond_ns >= 0 for each in own)


def test_stripped_program_is_told_of_by_bounds_alone_and_says_so(
    survey: Survey, surveyed: Path
) -> None:
    assert not [each for each in survey.calls if each.subject == STRIPPED]
    (line,) = [line for line in survey.lines if line.startswith(STRIPPED)]
    assert "bounds from the bus" in line
    bounds = [each for each in survey.bus if each.subject == STRIPPED]
    assert {each.chip for each in bounds} == {"W25Q128JV", "GD25Q16C"}
    assert all(each.at_most_ns >= each.above_service_ns >= 0 for each in bounds)
    said = (surveyed / "said.txt").read_text(encoding="utf-8")
    page = (surveyed / "out" / "survey.html").read_text(encoding="utf-8")
    assert line in said
    assert "(bounds from the bus)" in page


def test_second_of_synchronisation_lies_within_its_bounds(survey: Survey) -> None:
    """flashrom 1.4.0 waits 1 s after the serprog NOPs: no wait is longer than its gap."""
    known = [
        each for each in survey.known if each.subject == STRIPPED and each.requested_us == 1_000_000
    ]
    assert known
    assert all(each.at_most_ns >= each.at_least_ns >= 10**9 * each.count for each in known)
