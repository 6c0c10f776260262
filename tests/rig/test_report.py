# SPDX-License-Identifier: GPL-2.0-or-later
"""A report shows what is on disk, in the words of the terminal, or says why it cannot."""

import fcntl
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

import msgspec
import pytest
from delayrig.base import digest
from delayrig.base.durations import rounded
from delayrig.base.errors import BadInputError, ExitCode
from delayrig.features.report.document import document_of
from delayrig.features.report.facts import Cover, WaitMargin, cell_facts
from delayrig.features.report.source import Sources, read_sources, with_facts
from delayrig.features.report.timelines import window_around
from delayrig.features.report.totals import PARTS
from delayrig.judge.exit_code import exit_code_of_run
from delayrig.model.evidence import Witness
from delayrig.model.lane import LaneName
from delayrig.model.result import FILE_NAME, Results, Verdict, read_results, write_results
from delayrig.present.results import answer
from markupsafe import escape

from tests.rig.builders import CHECKOUT, MS, SECOND, make_cell
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


def told(*paths: Path) -> Sources:
    return with_facts(read_sources(paths), jobs=1, done=lambda: None)


def page_of(*paths: Path, patterns: tuple[str, ...] = ()) -> str:
    return document_of(told(*paths), patterns=patterns).content.decode()


class Whole(NamedTuple):
    """A run with its page."""

    results: Results
    page: str


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    folder = tmp_path_factory.mktemp("whole") / "run"
    return Whole(results=keep_run(folder), page=page_of(folder))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Writes a run; returns its folder."""
    keep_run(tmp_path / "run")
    return tmp_path / "run"


def change_results(run: Path, **changes: object) -> None:
    results = read_results(run)
    write_results(msgspec.structs.replace(results, **changes), run)


def test_spans_that_overlap_are_counted_once() -> None:
    cover = Cover([(10, 20), (15, 30), (30, 31), (50, 60), (55, 55)])
    assert cover.spans == [(10, 31), (50, 60)]
    assert cover.within_ns(0, 100) == 31
    assert cover.within_ns(20, 55) == 16
    assert cover.within_ns(31, 50) == cover.within_ns(70, 60) == 0


def test_split_adds_up_to_the_total_and_each_part_is_what_it_was(tmp_path: Path) -> None:
    result = keep_cell(tmp_path, make_cell(), job_events())
    split = cell_facts(tmp_path / result.id, result).split
    assert split.total_ns == result.time_ns.total == 10 * SECOND
    assert split.busy_ns == result.chip_busy_ns == 40 * MS
    assert split.overshoot_ns == 10 * MS + MS + MS - MS
    assert abs(split.fixed_ns - SECOND) < MS
    assert split.rest_ns > 8 * SECOND


def test_silence_is_told_by_what_was_before_and_after_it(tmp_path: Path) -> None:
    result = keep_cell(tmp_path, make_cell(), job_events())
    silences = cell_facts(tmp_path / result.id, result).silences
    longest = max(silences, key=lambda each: each.total_ns)
    assert (longest.after, longest.before) == ("READ", "end")
    assert any((s.after, s.before) == ("NOP", "SYNCNOP") for s in silences)


def test_worst_margin_of_a_convicted_cell_is_negative(tmp_path: Path) -> None:
    result = keep_cell(tmp_path, make_cell(), job_events(is_early=True))
    waits = cell_facts(tmp_path / result.id, result).waits
    chip = next(wait for wait in waits if wait.kind == "chip-busy")
    assert chip.margin_ns == -38 * MS
    assert chip.short == 1


def test_page_begins_with_the_answer_of_the_terminal(whole: Whole) -> None:
    results, page = whole
    code = exit_code_of_run(results.cells)
    assert str(escape(answer(results, code))) in page
    assert page.index(str(escape(answer(results, code)))) < page.index("What was found</h2>")


def test_page_has_every_cell_its_command_and_all_parts_of_its_time(whole: Whole) -> None:
    results, page = whole
    for cell in results.cells:
        assert str(escape(cell.id)) in page
        assert str(escape(cell.rerun)) in page
    for name, _ in PARTS.values():
        assert f">{name}<" in page


def check_links(page: str) -> None:
    """Checks that each link within the page has a target, and that each id is unique."""
    ids = re.findall(r'\sid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    links = re.findall(r'<a [^>]*href="#([^"]+)"', page)
    assert links
    assert set(links) <= set(ids)


def test_links_of_a_page_lead_somewhere(whole: Whole) -> None:
    check_links(whole.page)


def test_command_of_a_run_is_told_without_the_folder_that_is_full(tmp_path: Path) -> None:
    for number, out in enumerate((["--out", "here"], ["--out=here"], [])):
        keep_run(tmp_path / f"{number}", argv=["run", "--subject", "path:a b", *out, "--seed", "7"])
        page = page_of(tmp_path / f"{number}" / FILE_NAME)
        assert "<pre>rig/rig run --subject &#39;path:a b&#39; --seed 7</pre>" in page


def test_what_a_subject_is_called_is_never_markup(whole: Whole) -> None:
    assert HOSTILE not in whole.page
    assert str(escape(HOSTILE)) in whole.page


def test_runs_stand_side_by_side_under_letters(tmp_path: Path) -> None:
    keep_run(tmp_path / "one")
    keep_run(tmp_path / "two", seed=2)
    page = page_of(tmp_path / "one", tmp_path / "two")
    for name in ("A: bundled", "B: bundled", "A: one", "B: two", "seed 2,"):
        assert name in page
    check_links(page)


def test_gate_is_told_by_its_three_lines_and_its_cells(tmp_path: Path) -> None:
    keep_gate(tmp_path / "gate")
    page = page_of(tmp_path / "gate")
    for words in ("No, unsafe: one", "Safety: two", "Cost: three", "Doubt: a doubt", "+100.00 %"):
        assert words in page
    assert "baseline: bundled" in page
    assert "candidate: bundled" in page


def test_real_time_is_called_that(whole: Whole, tmp_path: Path) -> None:
    keep_run(tmp_path / "host", lane=LaneName.HOST)
    assert "real time" not in whole.page
    page = page_of(tmp_path / "host")
    assert "real time" in page
    assert "this machine" in page


def test_results_alone_are_reported_without_what_events_tell(run: Path, tmp_path: Path) -> None:
    alone = tmp_path / "alone.json"
    shutil.copy(run / FILE_NAME, alone)
    page = page_of(alone)
    assert "Only the results are here" in page
    assert "Timelines" not in page


def test_convicted_cell_has_the_first_timeline(whole: Whole) -> None:
    convicted = next(c for c in whole.results.cells if c.verdict is Verdict.TOO_SHORT)
    titles = re.findall(r"<title [^>]*>Timeline of ([^<]+)<", whole.page)
    assert titles[0] == convicted.id
    assert len(titles) == 6


def test_patterns_choose_timelines(run: Path) -> None:
    page = page_of(run, patterns=("control*",))
    assert len(re.findall(r"<title [^>]*>Timeline of control", page)) == 1
    assert page.count("Timeline of ") == 1


def test_runs_that_differ_are_told_apart_cell_by_cell(tmp_path: Path) -> None:
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
    said = reported(run)
    assert f"{run}/report.html: " in said
    assert (run / "report.html").read_bytes().startswith(b"<!DOCTYPE html>")


def test_picture_is_the_chart_by_itself(run: Path, tmp_path: Path) -> None:
    reported(run, "--picture", tmp_path / "time.svg")
    root = ET.fromstring((tmp_path / "time.svg").read_bytes())
    texts = {"".join(each.itertext()) for each in root.iter() if each.tag.endswith("text")}
    assert {"bundled", "debian:bookworm", "chip busy", "total time, s"} <= texts


def test_picture_of_chosen_cells_is_the_timeline_of_the_gravest(tmp_path: Path) -> None:
    results = keep_run(tmp_path / "run")
    bad = next(cell.id for cell in results.cells if cell.verdict is Verdict.TOO_SHORT)
    reported(tmp_path / "run", "--cell", "*bookworm*", "--picture", tmp_path / "bad.svg")
    assert f"Timeline of {bad}" in (tmp_path / "bad.svg").read_text()


def test_picture_that_is_called_png_is_one(run: Path, tmp_path: Path) -> None:
    reported(run, "--picture", tmp_path / "time.png")
    assert (tmp_path / "time.png").read_bytes().startswith(b"\x89PNG")


def test_wait_that_was_cut_short_is_enlarged_although_it_had_to_outlast_the_job() -> None:
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


def test_picture_of_a_run_in_which_nothing_passed_is_a_timeline(tmp_path: Path) -> None:
    results = keep_run(tmp_path / "run")
    bad = [cell for cell in results.cells if cell.verdict is Verdict.TOO_SHORT]
    change_results(tmp_path / "run", cells=bad)
    reported(tmp_path / "run", "--picture", tmp_path / "bad.svg")
    assert "Timeline of " in (tmp_path / "bad.svg").read_text()


def test_folders_that_repro_and_the_gate_of_pipelines_keep_are_reported(tmp_path: Path) -> None:
    run = tmp_path / "gate-out" / "run"
    results = keep_run(run)
    cell = run / results.cells[0].id
    (cell / "cell.json").touch()
    for folder in (tmp_path / "gate-out", cell):
        reported(folder)
        assert (folder / "report.html").is_file()


def test_lengths_are_told_in_the_unit_that_fits() -> None:
    assert [rounded(ns) for ns in (0, 999, -1500, 2_500_000, 1_000_000_000)] == [
        *("0 ns", "999 ns", "-1.5 us", "2.5 ms", "1 s"),
    ]


def failure(*words: object) -> str:
    done = run_report(*words)
    assert done.exit_code == ExitCode.BAD_INPUT, done.output
    assert not isinstance(done.exception, BadInputError)
    return " ".join(done.output.split())


def test_run_of_another_schema_names_file_key_and_remedy(tmp_path: Path) -> None:
    keep_run(tmp_path / "one")
    keep_run(tmp_path / "two")
    change_results(tmp_path / "two", schema=2)
    said = failure(tmp_path / "one", tmp_path / "two")
    assert f"{tmp_path}/two/results.json: key 'schema' is 2, and this rig reads 1" in said
    assert "read it with the rig that wrote it" in said


def test_run_that_was_cut_off_names_folder_and_remedy(run: Path) -> None:
    (run / FILE_NAME).unlink()
    said = failure(run)
    assert "the run was cut off before its end" in said
    assert "run it again" in said


def test_half_written_results_name_file_and_remedy(run: Path) -> None:
    file = run / FILE_NAME
    file.write_bytes(file.read_bytes()[:1000])
    said = failure(run)
    assert str(file) in said
    assert "it is cut off or not JSON" in said


def test_foreign_json_names_file_and_remedy(tmp_path: Path) -> None:
    foreign = tmp_path / "package.json"
    foreign.write_text('{"name": "other"}')
    said = failure(foreign)
    assert f"{foreign}: key 'schema' is missing" in said
    assert "name the --out folder of a run" in said


def test_gate_of_another_schema_or_without_its_runs_names_the_file(tmp_path: Path) -> None:
    keep_gate(tmp_path / "gate")
    shutil.rmtree(tmp_path / "gate" / "baseline")
    assert f"{tmp_path}/gate/baseline" in failure(tmp_path / "gate")
    (tmp_path / "gate" / "gate.json").write_text('{"schema": 7}')
    assert "key 'schema' is 7" in failure(tmp_path / "gate")


def test_cell_that_is_missing_names_its_folder_and_remedy(tmp_path: Path) -> None:
    results = keep_run(tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / results.cells[0].id)
    said = failure(tmp_path / "run")
    assert f"{tmp_path}/run/{results.cells[0].id}/events.jsonl: is not there" in said
    assert "results.json to report without events" in said


@pytest.mark.parametrize("cut", [10, -10])
def test_events_other_than_those_judged_are_refused(tmp_path: Path, cut: int) -> None:
    results = keep_run(tmp_path / "run")
    events = tmp_path / "run" / results.cells[0].id / "events.jsonl"
    events.write_bytes(events.read_bytes()[:cut])
    said = failure(tmp_path / "run")
    assert f"{events}: these are not the events that were judged" in said


def test_foreign_cell_and_senseless_events_are_refused(tmp_path: Path) -> None:
    results = keep_run(tmp_path / "run")
    cell = tmp_path / "run" / results.cells[0].id / "cell.json"
    cell.write_text('{"name": 1}')
    assert str(cell) in failure(tmp_path / "run")
    shutil.rmtree(tmp_path / "run")
    result = keep_cell(tmp_path / "run", make_cell(), job_events())
    events = tmp_path / "run" / result.id / "events.jsonl"
    events.write_bytes(events.read_bytes() + b'{"ev":"serprog","t_ns":1}\n')
    result = msgspec.structs.replace(result, events_sha256=digest.of_file(events))
    write_results(Results(run=results.run, cells=[result]), tmp_path / "run")
    assert "not events that can be shown" in failure(tmp_path / "run")


def test_pattern_that_no_cell_matches_is_refused(run: Path) -> None:
    assert "--cell nothing*: no cell with events matches" in failure(run, "--cell", "nothing*")


def test_folder_that_is_not_there_is_refused_before_anything_is_read(
    run: Path, tmp_path: Path
) -> None:
    said = failure(run, "--out", tmp_path / "none" / "a.html")
    assert f"there is no folder {tmp_path}/none" in said


def test_folder_in_place_of_a_file_is_refused(run: Path, tmp_path: Path) -> None:
    said = failure(run, "--out", tmp_path)
    assert f"--out {tmp_path}: is a folder name a file: {tmp_path}/report.html" in said


def test_reader_who_went_away_changes_no_exit_code(run: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "delayrig", "report", str(run), "--terminal"],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT / "rig")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert child.stdout is not None
    child.stdout.close()
    assert child.stderr is not None
    assert child.stderr.read() == b""
    assert child.wait() == 0


def test_full_disk_below_standard_output_is_told_of(run: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "delayrig", "report", str(run), "--terminal"],
            env={**os.environ, "PYTHONPATH": str(CHECKOUT / "rig")},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == ExitCode.RIG_FAULT
    assert done.stderr.startswith("error: could not write: [Errno 28] No space left on device\n")
    assert "Traceback" not in done.stderr


HELD = """
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
    child = subprocess.Popen(
        [sys.executable, "-c", HELD % held_s, "report", str(run), "--out", str(old)],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT / "rig")},
        stdout=subprocess.PIPE,
        text=True,
    )
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


def test_heavy_libraries_wait_until_they_are_needed() -> None:
    names = "{'matplotlib', 'numpy', 'jinja2'}"
    heavy = f"import sys, delayrig.main; print({names} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", heavy],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT / "rig")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "set()\n"


def test_device_that_is_full_is_told_of(run: Path) -> None:
    said = failure(run, "--out", "/dev/full")
    assert "/dev/full: could not be written: No space left on device" in said


def test_terminal_tells_the_same_answer_as_the_page(tmp_path: Path) -> None:
    results = keep_run(tmp_path / "run")
    said = reported(tmp_path / "run", "--terminal")
    assert answer(results, exit_code_of_run(results.cells)) in said
    assert list((tmp_path / "run").glob("*.html")) == []
    keep_gate(tmp_path / "gate")
    said = reported(tmp_path / "gate", "--terminal")
    assert said.startswith("No, unsafe: one\nSafety: two\nCost: three\n")


def test_pipe_gets_wide_tables_without_colours(tmp_path: Path) -> None:
    results = keep_run(tmp_path / "run")
    said = reported(tmp_path / "run", "--terminal")
    assert "\x1b[" not in said
    header, *lines = said.splitlines()
    assert "overshoot s" in header
    assert sum(line.startswith(("bundled", "debian")) for line in lines) >= 4
    assert all(cell.subject.name in said for cell in results.cells[:4])


def on_a_terminal(run: Path, *, columns: int, options: tuple[str, ...] = (), **env: str) -> str:
    """Returns what `report --terminal` prints on a terminal of that width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    child = subprocess.Popen(
        [sys.executable, "-m", "delayrig", "report", str(run), "--terminal", *options],
        stdout=theirs,
        stdin=subprocess.DEVNULL,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(CHECKOUT / "rig"),
            "TERM": "xterm-256color",
            **env,
        },
    )
    os.close(theirs)
    said = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        said += part
    os.close(ours)
    assert child.wait() == 0
    return said.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_table_fits_the_terminal_and_the_answer_is_whole(tmp_path: Path, columns: int) -> None:
    results = keep_run(tmp_path / "run")
    said = re.sub(r"\x1b\[[0-9;]*m", "", on_a_terminal(tmp_path / "run", columns=columns))
    table = said.split("\n\n")[0].splitlines()
    assert table
    assert max(map(len, table)) <= columns
    assert answer(results, exit_code_of_run(results.cells)) in " ".join(said.split())


@pytest.mark.parametrize("columns", [60, 80])
def test_decision_fits_the_terminal(tmp_path: Path, columns: int) -> None:
    decision = keep_gate(tmp_path / "gate")
    said = re.sub(r"\x1b\[[0-9;]*m", "", on_a_terminal(tmp_path / "gate", columns=columns))
    for line in decision.lines:
        assert line in " ".join(said.split())
    table = said[said.index("\ncell  outcome") :].split("\nagain:")[0].splitlines()
    assert any(line.split()[-2:] == ["CPU", "%"] for line in table)
    assert max(map(len, table)) <= columns
    assert decision.cells[0].id in "".join(line.strip() for line in table)


def test_colours_can_be_turned_off(run: Path) -> None:
    colour = re.compile(r"\x1b\[[0-9;]*3[0-9]m")
    assert colour.search(on_a_terminal(run, columns=120))
    assert not colour.search(on_a_terminal(run, columns=120, NO_COLOR="1"))
    assert not colour.search(on_a_terminal(run, columns=120, options=("--no-color",)))
