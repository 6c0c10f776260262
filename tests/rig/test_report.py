# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports on runs and gates: the page, pictures, tables on a terminal, and refused input."""

import fcntl
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import termios
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import msgspec
import pytest
from delayrig.base import digest
from delayrig.base.durations import rounded
from delayrig.base.errors import ExitCode
from delayrig.base.paths import as_called
from delayrig.decision.decision import FILE_NAME as GATE_FILE
from delayrig.features.export import read_report
from delayrig.features.report.document import document_of
from delayrig.features.report.facts import WaitMargin, cell_facts, margins_of
from delayrig.features.report.source import Sources, read_sources, with_facts
from delayrig.features.report.timelines import window_around
from delayrig.features.report.totals import PARTS
from delayrig.judge.exit_code import exit_code_of_run
from delayrig.model.evidence import ObservedWait, Witness
from delayrig.model.kinds.agent import SubjectEnd
from delayrig.model.lane import LaneName
from delayrig.model.result import FILE_NAME, Results, Verdict, read_results, write_results
from delayrig.present.results import answer
from markupsafe import escape

from tests.rig.builders import CHECKOUT, MS, SECOND, make_cell, run_of
from tests.rig.event_builders import sound_events, without
from tests.rig.processes import is_running
from tests.rig.reported import (
    HOSTILE,
    job_events,
    keep_cell,
    keep_gate,
    keep_run,
    reported,
    run_report,
)
from tests.rig.running import run_python, start_python


def sources_of(*paths: Path) -> Sources:
    return with_facts(read_sources(paths), jobs=1, done=lambda: None)


def page_of(*paths: Path, patterns: tuple[str, ...] = ()) -> str:
    return document_of(sources_of(*paths), patterns=patterns).content.decode()


class Whole(NamedTuple):
    """A run with its page, and the answer that the terminal gives."""

    results: Results
    page: str
    answer: str


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    folder = tmp_path_factory.mktemp("whole") / "run"
    results = keep_run(folder)
    text = answer(results, exit_code_of_run(results.cells))
    return Whole(results=results, page=page_of(folder), answer=text)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Writes a run; returns its folder."""
    keep_run(tmp_path / "run")
    return tmp_path / "run"


def change_results(run: Path, **changes: object) -> None:
    results = read_results(run)
    write_results(msgspec.structs.replace(results, **changes), run)


def test_time_of_a_cell_is_split_into_parts_and_silences(tmp_path: Path) -> None:
    result = keep_cell(tmp_path, make_cell(), job_events())
    facts = cell_facts(tmp_path / result.id, result)
    split, silences = facts.split, facts.silences
    assert split.total_ns == result.time_ns.total == 10 * SECOND
    assert split.busy_ns == result.chip_busy_ns == 40 * MS
    assert split.overshoot_ns == 10 * MS + MS + MS - MS
    assert abs(split.fixed_ns - SECOND) < MS
    assert split.rest_ns > 8 * SECOND
    longest = max(silences, key=lambda silence: silence.total_ns)
    assert (longest.after, longest.before) == ("READ", "end")
    assert any((s.after, s.before) == ("NOP", "SYNCNOP") for s in silences)


def test_worst_margin_of_a_convicted_cell_is_negative(tmp_path: Path) -> None:
    result = keep_cell(tmp_path, make_cell(), job_events(is_early=True))
    waits = cell_facts(tmp_path / result.id, result).waits
    chip = next(wait for wait in waits if wait.kind == "chip-busy")
    assert chip.margin_ns == -38 * MS
    assert chip.short == 1


def test_worst_wait_of_a_cell_is_the_one_that_lacks_the_largest_share() -> None:
    waits = [
        ObservedWait(
            kind="delay", what="", requested_ns=asked, shortest_ns=0, longest_ns=took, opened_ns=at
        )
        for at, (asked, took) in enumerate([(10 * MS, 9 * MS), (MS, MS // 10)])
    ]
    (worst,) = margins_of(waits)
    assert (worst.opened_ns, worst.margin_ns, worst.relative_margin) == (1, -MS * 9 // 10, -0.9)


def test_page_begins_with_the_answer_of_the_terminal(whole: Whole) -> None:
    at = whole.page.index(str(escape(whole.answer)))
    assert at < whole.page.index("What was found</h2>")


def test_page_has_every_cell_its_command_and_all_parts_of_its_time(whole: Whole) -> None:
    for cell in whole.results.cells:
        assert str(escape(cell.id)) in whole.page
        assert str(escape(cell.rerun)) in whole.page
    for name, _ in PARTS.values():
        assert f">{name}<" in whole.page


def test_names_of_subjects_are_escaped(whole: Whole) -> None:
    assert HOSTILE not in whole.page
    assert str(escape(HOSTILE)) in whole.page


def test_shown_command_of_a_run_omits_its_output_folder(tmp_path: Path) -> None:
    for number, out in enumerate((["--out", "here"], ["--out=here"], [])):
        keep_run(tmp_path / f"{number}", argv=["run", "--subject", "path:a b", *out, "--seed", "7"])
        page = page_of(tmp_path / f"{number}" / FILE_NAME)
        assert "<pre>rig/rig run --subject &#39;path:a b&#39; --seed 7</pre>" in page


def test_several_runs_are_named_by_letters(tmp_path: Path) -> None:
    keep_run(tmp_path / "one")
    keep_run(tmp_path / "two", seed=2)
    page = page_of(tmp_path / "one", tmp_path / "two")
    for name in ("A: bundled", "B: bundled", "A: one", "B: two", "seed 2,"):
        assert name in page


def test_page_of_a_gate_has_its_answer_and_its_cells(tmp_path: Path) -> None:
    keep_gate(tmp_path / "gate")
    page = page_of(tmp_path / "gate")
    for words in ("No, unsafe: one", "Safety: two", "Cost: three", "Doubt: a doubt", "+100.00 %"):
        assert words in page
    assert "baseline: bundled" in page
    assert "candidate: bundled" in page


def test_page_of_the_host_lane_says_real_time(whole: Whole, tmp_path: Path) -> None:
    keep_run(tmp_path / "host", lane=LaneName.HOST)
    assert "real time" not in whole.page
    page = page_of(tmp_path / "host")
    assert "real time" in page
    assert "this machine" in page


def test_results_file_alone_is_reported_without_timelines(run: Path, tmp_path: Path) -> None:
    alone = tmp_path / "alone.json"
    shutil.copy(run / FILE_NAME, alone)
    page = page_of(alone)
    assert "without the events of the cells" in page
    assert "Timelines" not in page


def test_convicted_cell_has_the_first_timeline(whole: Whole) -> None:
    convicted = next(c for c in whole.results.cells if c.verdict is Verdict.TOO_SHORT)
    titles = re.findall(r"<title [^>]*>Timeline of ([^<]+)<", whole.page)
    assert titles[0] == convicted.id
    assert len(titles) == 6


def test_cells_that_differ_between_runs_are_listed(tmp_path: Path) -> None:
    results = keep_run(tmp_path / "one")
    slower = msgspec.structs.replace(results.cells[0].time_ns, total=11 * SECOND)
    changed = [
        msgspec.structs.replace(results.cells[0], time_ns=slower),
        msgspec.structs.replace(results.cells[1], verdict=Verdict.INCONCLUSIVE),
        *results.cells[2:-1],
    ]
    (tmp_path / "two").mkdir()
    write_results(msgspec.structs.replace(results, cells=changed), tmp_path / "two")
    files = [tmp_path / name / FILE_NAME for name in ("one", "two")]
    page = page_of(*files)
    assert "6 cells are in more than one run; 2 of them differ" in page
    assert "In one run alone: 1 cell." in page
    assert "+10.00 %" in page
    differing = page[page.index("Differences</h2>") :]
    assert differing.index(results.cells[1].id) < differing.index(results.cells[0].id)


def test_same_run_gives_the_same_bytes(run: Path) -> None:
    assert page_of(run) == page_of(run)


def test_command_writes_beside_the_run_and_says_where(run: Path) -> None:
    assert f"{run}/report.html: " in reported(run)
    assert (run / "report.html").read_bytes().startswith(b"<!DOCTYPE html>")


def test_picture_is_the_chart_in_the_format_of_the_file_name(run: Path, tmp_path: Path) -> None:
    reported(run, "--picture", tmp_path / "time.svg")
    root = ET.fromstring((tmp_path / "time.svg").read_bytes())
    texts = {"".join(item.itertext()) for item in root.iter() if item.tag.endswith("text")}
    assert {"bundled", "debian:bookworm", "chip busy", "total time, s"} <= texts
    reported(run, "--picture", tmp_path / "time.png")
    assert (tmp_path / "time.png").read_bytes().startswith(b"\x89PNG")


def test_picture_is_a_timeline_if_cells_are_chosen_or_no_cell_passed(
    run: Path, tmp_path: Path
) -> None:
    picture = tmp_path / "bad.svg"
    bad = [c for c in read_results(run).cells if c.verdict is Verdict.TOO_SHORT]
    reported(run, "--cell", "*bookworm*", "--picture", picture)
    assert f"Timeline of {bad[0].id}" in picture.read_text()
    change_results(run, cells=bad)
    reported(run, "--picture", picture)
    assert "Timeline of " in picture.read_text()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("lasts", [True, False])
def test_cell_without_anything_on_its_tracks_has_an_empty_timeline(
    tmp_path: Path, lasts: bool
) -> None:
    events = sound_events() if lasts else without(sound_events(), SubjectEnd)
    failed = keep_cell(tmp_path, make_cell(), events, verdict=Verdict.OP_FAILED)
    write_results(run_of(failed, cells_planned=1), tmp_path)
    assert f"Timeline of {failed.id}" in page_of(tmp_path)


def test_timeline_is_enlarged_around_a_wait_that_was_cut_short() -> None:
    cut = WaitMargin(
        kind="a second",
        witness=Witness.DELAY,
        count=1,
        judged=1,
        short=1,
        requested_ns=SECOND,
        actual_ns=(2 * MS, 2 * MS),
        margin_ns=2 * MS - SECOND,
        opened_ns=10 * MS,
    )
    assert window_around(cut, 0, 500 * MS) == (5 * MS, 17 * MS)
    assert window_around(msgspec.structs.replace(cut, short=0), 0, 500 * MS) is None


def test_folders_that_repro_and_the_gate_of_pipelines_keep_are_reported(tmp_path: Path) -> None:
    run = tmp_path / "gate-out" / "run"
    results = keep_run(run)
    cell = run / results.cells[0].id
    (cell / "cell.json").touch()
    for folder in (tmp_path / "gate-out", cell):
        reported(folder)
        assert (folder / "report.html").is_file()


def test_durations_have_the_unit_that_fits() -> None:
    assert [rounded(ns) for ns in (0, 999, -1500, 2_500_000, 1_000_000_000)] == [
        *("0 ns", "999 ns", "-1.5 us", "2.5 ms", "1 s")
    ]


def failure(*words: object) -> str:
    done = run_report(*words)
    assert done.exit_code == ExitCode.BAD_INPUT, done.output
    return " ".join(done.output.split())


def test_events_that_are_missing_or_changed_since_the_verdict_are_refused(run: Path) -> None:
    events = run / read_results(run).cells[0].id / "events.jsonl"
    judged = events.read_bytes()
    for cut in (10, -10):
        events.write_bytes(judged[:cut])
        assert f"{events}: these are not the events that were judged" in failure(run)
    shutil.rmtree(events.parent)
    message = failure(run)
    assert f"{events}: is missing" in message
    assert "results.json to report without events" in message


def test_invalid_cell_file_or_events_are_refused(run: Path, tmp_path: Path) -> None:
    cell = run / read_results(run).cells[0].id / "cell.json"
    cell.write_text('{"name": 1}')
    assert str(cell) in failure(run)
    result = keep_cell(tmp_path / "other", make_cell(), job_events())
    events = tmp_path / "other" / result.id / "events.jsonl"
    events.write_bytes(events.read_bytes() + b'{"ev":"serprog","t_ns":1}\n')
    result = msgspec.structs.replace(result, events_sha256=digest.of_file(events))
    write_results(Results(run=read_results(run).run, cells=[result]), tmp_path / "other")
    assert "has no events that can be shown" in failure(tmp_path / "other")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--cell", "nothing*"], "--cell nothing*: no cell with events matches"),
        (["--out", "{tmp}/none/a.html"], "there is no folder {tmp}/none"),
        (["--out", "{tmp}"], "--out {tmp}: is a folder name a file: {tmp}/report.html"),
        (["--out", "/dev/full"], "/dev/full: could not be written: No space left on device"),
    ],
)
def test_impossible_options_are_refused(
    run: Path, tmp_path: Path, words: list[str], message: str
) -> None:
    options = [word.format(tmp=tmp_path) for word in words]
    assert message.format(tmp=tmp_path) in failure(run, *options)


def begin_report(run: Path, *options: str, **pipes: Any) -> subprocess.Popen[str]:
    """Starts `report --terminal` in a process of its own."""
    return start_python("-m", "delayrig", "report", run, "--terminal", *options, **pipes)


def test_closed_standard_output_changes_no_exit_code(run: Path) -> None:
    child = begin_report(run, stderr=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.close()
    assert child.stderr is not None
    assert child.stderr.read() == ""
    assert child.wait() == 0


def test_full_disk_behind_standard_output_is_reported(run: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        child = begin_report(run, stdout=full, stderr=subprocess.PIPE)
    _, errors = child.communicate()
    assert child.returncode == ExitCode.RIG_FAULT
    assert errors.startswith("error: could not write: [Errno 28] No space left on device\n")
    assert "Traceback" not in errors


SLOW_REPORT = """
import os, time
import delayrig.features.report.source as source
def cell_facts(*_):
    print(os.getpid(), flush=True)
    time.sleep(%s)
source.cell_facts = cell_facts
from delayrig.main import main
main()
"""


@pytest.mark.parametrize(
    ("sent", "held_s", "code"), [(signal.SIGINT, 0.2, 130), (signal.SIGKILL, 600, -signal.SIGKILL)]
)
def test_report_that_is_ended_leaves_the_old_one_and_no_worker(
    run: Path, tmp_path: Path, sent: signal.Signals, held_s: float, code: int
) -> None:
    old = tmp_path / "report.html"
    old.write_text("the old one")
    child = start_python("-c", SLOW_REPORT % held_s, "report", run, "--out", old)
    assert child.stdout is not None
    worker = int(child.stdout.readline())
    child.send_signal(sent)
    child.communicate()
    assert child.returncode == code
    deadline = time.monotonic() + 20
    while is_running(worker) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_running(worker)
    assert old.read_text() == "the old one"


def test_heavy_libraries_are_not_imported_at_start() -> None:
    names = "{'matplotlib', 'numpy', 'jinja2'}"
    heavy = f"import sys, delayrig.main; print({names} & set(sys.modules))"
    assert run_python("-c", heavy).stdout == "set()\n"


def test_pipe_gets_the_answer_and_wide_tables_without_colours(run: Path, tmp_path: Path) -> None:
    results = read_results(run)
    output = reported(run, "--terminal")
    assert answer(results, exit_code_of_run(results.cells)) in output
    assert list(run.glob("*.html")) == []
    assert "\x1b[" not in output
    header, *lines = output.splitlines()
    assert "overshoot s" in header
    assert sum(line.startswith(("bundled", "debian")) for line in lines) >= 4
    assert all(cell.subject.name in output for cell in results.cells[:4])
    keep_gate(tmp_path / "gate")
    output = reported(tmp_path / "gate", "--terminal")
    assert output.startswith("No, unsafe: one\nSafety: two\nCost: three\n")


def on_a_terminal(run: Path, *options: str, columns: int, **env: str) -> str:
    """Returns what `report --terminal` prints on a terminal of that width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    variables = {"PATH": os.environ["PATH"], "PYTHONPATH": os.environ["PYTHONPATH"]}
    child = begin_report(
        run,
        *options,
        stdout=theirs,
        stdin=subprocess.DEVNULL,
        env={**variables, "TERM": "xterm-256color", **env},
    )
    os.close(theirs)
    output = b""
    with suppress(OSError):  # EIO at the end
        while part := os.read(ours, 65536):
            output += part
    os.close(ours)
    assert child.wait() == 0
    return output.decode().replace("\r\n", "\n")


def without_colours(output: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", output)


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_table_fits_the_terminal_and_the_answer_is_whole(run: Path, columns: int) -> None:
    results = read_results(run)
    output = without_colours(on_a_terminal(run, columns=columns))
    table = output.split("\n\n")[0].splitlines()
    assert table
    assert max(map(len, table)) <= columns
    assert answer(results, exit_code_of_run(results.cells)) in " ".join(output.split())


@pytest.mark.parametrize("columns", [60, 80])
def test_decision_fits_the_terminal(tmp_path: Path, columns: int) -> None:
    decision = keep_gate(tmp_path / "gate")
    output = without_colours(on_a_terminal(tmp_path / "gate", columns=columns))
    for line in decision.lines:
        assert line in " ".join(output.split())
    table = output[output.index("\ncell  outcome") :].split("\nagain:")[0].splitlines()
    assert any(line.split()[-2:] == ["CPU", "%"] for line in table)
    assert max(map(len, table)) <= columns
    assert decision.cells[0].id in "".join(line.strip() for line in table)


def test_colours_can_be_turned_off(run: Path) -> None:
    colour = re.compile(r"\x1b\[[0-9;]*3[0-9]m")
    assert colour.search(on_a_terminal(run, columns=120))
    assert not colour.search(on_a_terminal(run, columns=120, NO_COLOR="1"))
    assert not colour.search(on_a_terminal(run, "--no-color", columns=120))
    assert "\x1b[1m" in on_a_terminal(run, columns=120)
    assert "\x1b[1m" not in on_a_terminal(run, columns=120, NO_COLOR="1")


def test_gate_is_read_without_the_folder_of_its_stored_baseline(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    decision = keep_gate(gate)
    moved = msgspec.structs.replace(decision.baseline, stored=str(tmp_path / "gone/results.json"))
    (gate / GATE_FILE).write_bytes(
        msgspec.json.encode(msgspec.structs.replace(decision, baseline=moved))
    )
    for side in read_sources([gate]).runs:
        assert side.results == read_results(gate / side.label)
    assert read_report(gate).lines[0] == decision.lines[0]


def test_commands_name_the_launcher_as_the_current_folder_can_run_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(CHECKOUT)
    assert as_called("again: rig/rig repro") == "again: rig/rig repro"
    monkeypatch.chdir(tmp_path)
    assert as_called("again: rig/rig repro") == f"again: {CHECKOUT}/rig/rig repro"
