# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig bug-report` gives a maintainer what they need, without paths and names of the user."""

import getpass
import json
import platform
import pwd
from pathlib import Path
from typing import Any

import pytest
from delayrig.features.bug_report import neutral
from delayrig.model.cell import Cell, Role
from delayrig.model.result import SubjectFacts, Verdict, write_results

from tests.rig.builders import make_cell, make_evidence, run_of
from tests.rig.reported import job_events, keep_cell, keep_gate, keep_run
from tests.rig.running import answer_of, refusal_of, rig

PRIVATE = "/home/somebody/their work/flashrom"
LINE = "    rig/rig try debian:bookworm --lane virtual --arch x86_64 "


def keep_convicted(run: Path, cell: Cell, **changes: Any) -> None:
    plain: dict[str, Any] = {"verdict": Verdict.TOO_SHORT, "reason": "it was short"}
    plain["evidence"] = [make_evidence()]
    result = keep_cell(run, cell, job_events(is_early=True), **(plain | changes))
    write_results(run_of(result), run)


def test_first_convicted_cell_is_reported_with_picture_trace_and_command(tmp_path: Path) -> None:
    keep_run(tmp_path)
    words = answer_of("bug-report", tmp_path).splitlines()[0].split()
    text = (tmp_path / "bug-report.md").read_text(encoding="utf-8")
    assert text.startswith("# debian:bookworm (1.3.0): too short, write of a GD25Q16C\n")
    assert LINE in text
    assert "](bug-report.png)" in text
    assert (tmp_path / "bug-report.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((tmp_path / "bug-report.json").read_bytes())["traceEvents"]
    (cell,) = rig(*words[1:], "--dry-run").stdout.split()
    assert cell.startswith("try.debian-bookworm.")
    assert ".2c.busy-siblings.GD25Q16C-typ." in cell


def test_gate_is_reported_with_its_answer(tmp_path: Path) -> None:
    keep_gate(tmp_path / "gate")
    answer_of("bug-report", tmp_path / "gate", "--cell", "loaded.debian")
    text = (tmp_path / "gate" / "bug-report.md").read_text(encoding="utf-8")
    assert "\n**No, unsafe: one**\n" in text


def test_paths_of_the_user_and_the_host_name_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "node", lambda: "workshop.example")
    cell = make_cell(subject=f"path:{PRIVATE}")
    facts = SubjectFacts(name=cell.subject, sha256="5" * 64)
    reason = f"{PRIVATE} on workshop: a wait in /home/somebody/src/serprog.c:160 was short"
    keep_convicted(tmp_path, cell, subject=facts, reason=reason)
    answer_of("bug-report", tmp_path)
    files = [(tmp_path / f"bug-report.{kind}").read_bytes() for kind in ("md", "json", "png")]
    assert not [file for file in files if b"somebody" in file or b"workshop" in file]
    text = files[0].decode()
    assert "try path:./flashrom " in text
    assert "./flashrom on HOST: a wait in ./serprog.c:160 was short" in text
    assert f"the program of SHA-256 {'5' * 64}" in text


def test_cell_that_no_options_describe_is_reported_with_its_plan(tmp_path: Path) -> None:
    rerun = "rig/rig run --cell x --delay-offset 0x3e0"
    keep_convicted(tmp_path, make_cell(content_bytes=100), rerun=rerun)
    line = answer_of("bug-report", tmp_path).splitlines()[0]
    assert line.startswith("rig/rig run --plan cell.toml --seed ")
    assert line.endswith(" --delay-offset 0x3e0")
    text = (tmp_path / "bug-report.md").read_text(encoding="utf-8")
    assert planned(text, tmp_path).startswith("reported.bundled.")


def planned(text: str, folder: Path, *words: str) -> str:
    """Returns the cells of the plan in a report."""
    block = text.partition("with this `cell.toml`:\n\n")[2].partition("\n\nThis needs")[0]
    plan = folder / "cell.toml"
    plan.write_text(block.replace("\n    ", "\n").removeprefix("    "), encoding="utf-8")
    return answer_of("run", "--plan", plan, "--dry-run", *words)


@pytest.mark.parametrize("name", ["git:v1.8.0-rc1-0-gb946ca13a21a", "git:b946ca13a21a"])
@pytest.mark.parametrize(("changes", "taken"), [("", False), ("-dirty-7174130ed5c9", True)])
@pytest.mark.parametrize("content_bytes", [0, 100])
def test_uncommitted_sources_are_to_be_attached_and_named_by_their_folder(
    tmp_path: Path, name: str, changes: str, taken: bool, content_bytes: int
) -> None:
    cell = make_cell(subject=f"{name}{changes}", content_bytes=content_bytes)
    keep_convicted(tmp_path, cell)
    line = answer_of("bug-report", tmp_path).splitlines()[0]
    assert (" git: " in line and " --tree DIR" in line) == taken
    assert cell.subject not in line or not taken
    text = (tmp_path / "bug-report.md").read_text(encoding="utf-8")
    assert ("in no commit: attach their changes" in text) == taken
    if content_bytes:
        assert f" --subject {'git:' if taken else cell.subject}" in line
        cells = planned(text, tmp_path, "--subject", "bundled")
        assert cells.startswith("reported.bundled.")


def test_tag_with_a_slash_is_no_path(tmp_path: Path) -> None:
    tagged = "git:release/1.5-0-gb946ca13a21a"
    keep_convicted(tmp_path, make_cell(subject=tagged), subject=SubjectFacts(name=tagged))
    answer_of("bug-report", tmp_path)
    assert f"| flashrom | {tagged} " in (tmp_path / "bug-report.md").read_text(encoding="utf-8")


def test_run_without_a_conviction_is_refused_unless_a_cell_is_named(tmp_path: Path) -> None:
    keep_convicted(tmp_path, make_cell(), verdict=Verdict.PASS, evidence=[])
    assert "no cell was convicted" in rig("bug-report", tmp_path).stderr
    answer_of("bug-report", tmp_path, "--cell", "bundled")


@pytest.mark.parametrize("name", ["results.md", "report.json", "report.png"])
def test_report_whose_attachments_would_replace_other_files_is_refused(
    tmp_path: Path, name: str
) -> None:
    keep_convicted(tmp_path, make_cell())
    before = (tmp_path / "results.json").read_bytes()
    assert "would be replaced" in refusal_of("bug-report", tmp_path, "--out", tmp_path / name)
    assert (tmp_path / "results.json").read_bytes() == before


def test_floor_is_refused_because_it_runs_no_flashrom(tmp_path: Path) -> None:
    floor = make_cell(role=Role.FLOOR, subject="floor")
    keep_convicted(tmp_path, floor, verdict=Verdict.PASS, evidence=[])
    assert "is a floor" in refusal_of("bug-report", tmp_path, "--cell", floor.id)


def test_events_that_were_not_judged_are_not_drawn(tmp_path: Path) -> None:
    keep_convicted(tmp_path, make_cell(), verdict=Verdict.INFRA_ERROR, events_sha256="")
    answer_of("bug-report", tmp_path, "--cell", "bundled")
    assert not (tmp_path / "bug-report.png").exists()


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("see /home/me/x/flash.log, please", "see ./flash.log, please"),
        ("../../up/flashrom and ~/b/flashrom", "./flashrom and ./flashrom"),
        ("reads /dev/mem and /proc/cpuinfo", "reads /dev/mem and /proc/cpuinfo"),
        ("a/b MHz, 3 / 4, https://example.org/x", "a/b MHz, 3 / 4, https://example.org/x"),
    ],
)
def test_paths_are_shortened_and_other_slashes_kept(text: str, reported: str) -> None:
    assert neutral(text) == reported


def test_user_or_host_name_that_is_a_word_of_the_report_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(getpass, "getuser", lambda: "flashrom")
    monkeypatch.setattr(platform, "node", lambda: "debian")
    assert neutral("debian:bookworm by flashrom") == "debian:bookworm by flashrom"


def test_report_needs_no_user_name_and_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("HOME", "LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(
        pwd, "getpwuid", {}.__getitem__
    )  # The user of a container may have no entry.
    assert neutral("/srv/flashrom was slow") == "./flashrom was slow"
