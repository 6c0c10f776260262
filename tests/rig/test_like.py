# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig like`: the cell that resembles a bug report, and what the report does not say."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from delayrig.features.like.cell import ITS_DRIVERS

from tests.rig.builders import CHECKOUT
from tests.rig.like_reports import REPORTS, Reported, banner, cpuinfo, cpupower, lscpu
from tests.rig.running import answer_of, refusal_of

EACH_REPORT = pytest.mark.parametrize("report", REPORTS.values(), ids=list(REPORTS))

FALSE_GUESSES = {
    "a sentence about flashrom": "I ran flashrom -p and it did not work; isn't that odd?\n",
    "the first processor alone": cpuinfo("model name\t: Some CPU\nsiblings\t: 8")
    + banner("?", "x"),
    "one core of several with a clock": cpuinfo(*["model name\t: Some CPU"] * 2)
    + cpupower("0", "800 MHz - 2.00 GHz", "performance"),
}


def write_report(folder: Path, text: str) -> Path:
    report = folder / "report.txt"
    report.write_text(text, encoding="utf-8")
    return report


def like(folder: Path, text: str, *options: str) -> dict[str, Any]:
    """Returns the answer of `rig/rig like` about a report of this text."""
    answer = answer_of("like", write_report(folder, text), "--json", *options)
    found: dict[str, Any] = json.loads(answer)
    return found


@EACH_REPORT
def test_command_fits_the_report_and_lists_the_same_cells_as_its_plan(
    tmp_path: Path, report: Reported
) -> None:
    plan = tmp_path / "like.toml"
    found = like(tmp_path, report.text, "--plan-out", str(plan))
    assert ",".join(question["what"] for question in found["not_told"]) == report.open
    assert shlex.join(found["line"]) == f"rig/rig try {report.words}"
    for words in (found["line"][1:], ["run", "--plan", str(plan)]):
        assert answer_of(*words, "--dry-run").split() == found["cells"]


@EACH_REPORT
def test_suggested_search_is_a_valid_command(tmp_path: Path, report: Reported) -> None:
    found = like(tmp_path, report.text)
    search = found["search"]
    is_searched = {"verify failed", "erase failed"} & set(found["symptoms"])
    assert bool(search) == (bool(is_searched) and "--lane live" not in report.words)
    if search:
        answer_of(*search[1:], "--dry-run")


def test_current_clock_sets_no_speed_but_is_a_hint(tmp_path: Path) -> None:
    found = like(tmp_path, banner("1.3.0", "x86_64") + cpuinfo("cpu MHz\t\t: 1800.057"))
    assert "--mips" not in found["line"]
    why = next(item["why"] for item in found["not_told"] if item["what"] == "speed")
    assert "1800.057 MHz when it was asked (report.txt:3) is like --mips 1000" in why


@pytest.mark.parametrize("text", FALSE_GUESSES.values(), ids=list(FALSE_GUESSES))
def test_uncertain_facts_set_no_option(tmp_path: Path, text: str) -> None:
    words = like(tmp_path, text + banner("1.4.0", "x86_64"))["line"]
    assert not {"--job", "--programmer", "--machine", "--lane"} & set(words)
    assert "--cores 1" not in " ".join(words)


def test_every_programmer_of_our_flashrom_is_known() -> None:
    source = (CHECKOUT / "flashrom/programmers/programmer.c").read_text()
    assert sorted(re.findall(r"&(\w+)_driver,", source)) == list(ITS_DRIVERS)


def test_attachments_of_one_report_are_read_together(tmp_path: Path) -> None:
    log, cpus = tmp_path / "log", tmp_path / "cpus"
    log.write_text(banner("v1.4.0", "x86_64"), encoding="utf-8")
    cpus.write_text(lscpu("x86_64", 2, ("Some CPU", 2, "900.0")), encoding="utf-8")
    answer = answer_of("like", log, cpus)
    assert answer.startswith("rig/rig try debian:trixie --mips 1000 --cores 2 --arch x86_64\n")
    assert "\n  --cores 2: 2 CPUs (cpus:2)\n" in answer


def test_values_that_contradict_each_other_are_named_with_their_places(tmp_path: Path) -> None:
    text = banner("v1.3.0", "x86_64") + banner("v1.4.0", "x86_64")
    answer = answer_of("like", write_report(tmp_path, text))
    assert "  flashrom: 1.3.0 (report.txt:1) and 1.4.0 (report.txt:2);" in answer


def test_file_without_facts_or_text_is_refused(tmp_path: Path) -> None:
    for text, message in (
        ("It does not work.\n", "nothing that flashrom, lscpu"),
        ("\x7fELF\0\0", "is no text of a report"),
    ):
        assert message in refusal_of("like", write_report(tmp_path, text))
