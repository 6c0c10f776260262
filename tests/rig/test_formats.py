# SPDX-License-Identifier: GPL-2.0-or-later
"""Each output format matches the run when the consumer's own parser reads it."""

import json
import re
from io import StringIO
from pathlib import Path
from socket import gethostname
from typing import Any
from urllib.parse import unquote

import jsonschema
import msgspec
import pytest
from delayrig.base.errors import BadInputError, ExitCode
from delayrig.decision.decision import FILE_NAME as GATE_FILE
from delayrig.decision.gate_judge import decide
from delayrig.decision.request import CANDIDATE, rounds_of
from delayrig.features.export import KINDS, schema_of, schema_text
from delayrig.model.lane import LaneName
from delayrig.model.phases import TimeSplit
from delayrig.model.result import CellResult, CpuTime, Results, Verdict, write_results
from delayrig.present.formats.known import FORMATS, wanted_formats
from delayrig.present.formats.report import Report, State, report_of_gate, report_of_run
from delayrig.present.formats.text import ANNOTATIONS_MAX, COMMENT_BYTES_MAX, SUMMARY_BYTES_MAX
from junitparser import Error, Failure, Skipped
from junitparser.cli import main as junitparser_main
from junitparser.xunit2 import JUnitXml
from kcidb_io.schema import LATEST
from markdown_it import MarkdownIt
from mesonbuild.mtest import TAPParser
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from tap.parser import Parser

from tests.rig.builders import SECOND, WATCH, make_cell, make_evidence, make_result, run_of
from tests.rig.running import answer_of, refusal_of

# Characters that a subject may print, or that a path may contain.
NASTY = 'a | b, 100 % # c: <d> & "e" \x1b[31m\x00 `f` *g* \\ é\nnot ok 9 - ::error::\n  ...\n]]>'
TIMES = {"time_ns": TimeSplit(total=SECOND), "cpu_ns": CpuTime(user=SECOND // 4)}


def cell(name: str, **changes: Any) -> CellResult:
    subject = changes.pop("subject", "path:/x|y/flashrom")
    return make_result(make_cell(name=name, subject=subject), **{**TIMES, **changes})


STATES = {
    "good": State.PASS,
    "foreseen": State.PASS,
    "short": State.FAIL,
    "lost": State.ERROR,
    "unclear": State.DOUBT,
    "skipped": State.SKIP,
}
CELLS = [
    cell("good"),
    cell("foreseen", verdict=Verdict.TOO_SHORT, expect="too_short"),
    cell("short", verdict=Verdict.TOO_SHORT, evidence=[make_evidence()], reason=NASTY),
    cell("lost", verdict=Verdict.INFRA_ERROR, time_ns=TimeSplit()),
    cell("unclear", verdict=Verdict.OP_FAILED, reason=NASTY, rerun=f"rig/rig run '{NASTY}'"),
    cell("skipped", verdict=Verdict.SKIPPED, reason=NASTY, time_ns=TimeSplit()),
]


def results_of(*cells: CellResult) -> Results:
    return run_of(*cells, cells_planned=len(cells))


def gated() -> Report:
    """Returns the report of a gate in which one cell is too slow and one was skipped."""
    skipped = make_result(make_cell(name="skipped"), verdict=Verdict.SKIPPED)
    before = results_of(cell("a"), cell("b"), skipped)
    slow = cell("b", time_ns=TimeSplit(total=2 * SECOND))
    after = results_of(cell("a"), slow, skipped, *WATCH)
    return report_of_gate(decide([before], [after]), [after, before])


REPORTS = {
    "run": report_of_run(results_of(*CELLS)),
    "gate": gated(),
    "nothing": report_of_run(results_of()),
    "pass": report_of_run(results_of(cell("good"))),
    "host": report_of_run(results_of(make_result(make_cell(lane=LaneName.HOST), **TIMES))),
}
reports = pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)


def test_state_of_a_case_follows_from_verdict_and_expectation() -> None:
    found = {case.id.partition(".")[0]: case.state for case in REPORTS["run"].cases}
    assert found == STATES
    assert [case.state for case in REPORTS["run"].bad] == [State.FAIL, State.ERROR, State.DOUBT]


def test_states_in_a_gate_are_its_outcomes() -> None:
    report = REPORTS["gate"]
    assert report.code == ExitCode.SLOWER
    found = {case.id.partition(".")[0]: case.state for case in report.cases}
    assert found == {
        "b": State.FAIL,
        "a": State.PASS,
        "skipped": State.SKIP,
        "canary-bus": State.PASS,
        "control-bus": State.PASS,
    }
    assert "time +100.00 %" in report.bad[0].why


@reports
def test_junit_is_read_by_junitparser(report: Report, tmp_path: Path) -> None:
    path = tmp_path / "junit.xml"
    path.write_bytes(FORMATS["junit"](report))
    parsed: Any = JUnitXml.fromfile(str(path))
    (suite,) = parsed
    assert (suite.tests, suite.failures, suite.skipped) == (
        len(report.cases),
        report.count(State.FAIL),
        report.count(State.SKIP),
    )
    assert suite.hostname == gethostname()
    assert suite.errors == report.count(State.ERROR) + report.count(State.DOUBT)
    kinds = {
        State.PASS: [],
        State.FAIL: [Failure],
        State.ERROR: [Error],
        State.DOUBT: [Error],
        State.SKIP: [Skipped],
    }
    for test, case in zip(suite, report.cases, strict=True):
        assert test.name == case.id
        assert test.time == pytest.approx(case.cell.host_s, abs=0.001)
        assert [type(result) for result in test.result] == kinds[case.state]
        properties = {item.name: item.value for item in test.properties()}
        assert properties["verdict"] == case.cell.verdict
        if case.state is State.FAIL:
            assert "again: rig/rig run" in test.result[0].text
            assert all(line in test.result[0].text for line in case.evidence)
    # GitLab ignores all but the first test of a name.
    assert len({(test.classname, test.name) for test in suite}) == len(report.cases)
    # junitparser's own command fails if a test failed.
    bad = report.count(State.FAIL) + report.count(State.ERROR) + report.count(State.DOUBT)
    verify: Any = junitparser_main
    assert verify(["verify", str(path)]) == (1 if bad else 0)


@reports
def test_tap_is_read_by_two_parsers(report: Report) -> None:
    text = FORMATS["tap"](report).decode()
    assert text.startswith("TAP version 14\n1..")
    good = [case.state in (State.PASS, State.SKIP) for case in report.cases]
    lines = list(Parser().parse(StringIO(text)))
    assert {line.category for line in lines} <= {"version", "plan", "diagnostic", "test"}
    tests = [line for line in lines if line.category == "test"]
    assert [test.ok for test in tests] == good
    assert [test.skip for test in tests] == [case.state is State.SKIP for case in report.cases]
    for test, case in zip(tests, report.cases, strict=True):
        assert test.description.replace("\\", "") == f"- {case.id}".replace("\\", "")
        if not test.ok:
            assert test.yaml_block["verdict"] == case.cell.verdict
            assert len(test.yaml_block["evidence"]) == len(case.evidence)
    events = list(TAPParser().parse(iter(text.splitlines(keepends=True))))
    assert not [event for event in events if isinstance(event, TAPParser.Error)]
    seen = [event.result.name for event in events if isinstance(event, TAPParser.Test)]
    skips = {False: "FAIL", True: "OK"}
    assert seen == [
        "SKIP" if case.state is State.SKIP else skips[is_good]
        for case, is_good in zip(report.cases, good, strict=True)
    ]


COMMAND = re.compile(r"::(error|warning|notice) title=([^:,\r\n]*)::([^\r\n]*)")


def annotations(content: bytes) -> list[tuple[str, str, str]]:
    """Parses the annotations by GitHub's grammar: one command a line, with percent-encoding."""
    found = []
    for line in content.decode().splitlines():
        match = COMMAND.fullmatch(line)
        assert match, line
        level, title, message = match.groups()
        assert re.search(r"%(?!25|0D|0A|3A|2C)", title + message) is None
        found.append((level, unquote(title), unquote(message)))
    return found


def test_github_annotations_are_one_a_line_with_the_answer_first() -> None:
    (first, *others) = annotations(FORMATS["github"](REPORTS["run"]))
    assert first[0] == "error"
    assert [level for level, _, _ in others] == ["error", "error", "warning"]
    short = next(case for case in REPORTS["run"].cases if case.id.startswith("short"))
    assert others[0][1] == short.id
    assert "not ok 9 - ::error::" in others[0][2]
    assert annotations(FORMATS["github"](REPORTS["pass"]))[0][0] == "notice"


@pytest.mark.parametrize("count", [8, 9, 10, 40])
def test_github_annotations_are_limited_and_the_rest_is_counted(count: int) -> None:
    cells = [cell(f"c{n}", verdict=Verdict.CORRUPT) for n in range(count)]
    found = annotations(FORMATS["github"](report_of_run(results_of(*cells))))
    assert len(found) == min(count + 1, ANNOTATIONS_MAX)
    if count >= ANNOTATIONS_MAX:
        assert found[-1][2] == f"and {count - 8} cells more"


@reports
def test_markdown_is_parsed_as_headings_and_tables(report: Report) -> None:
    text = FORMATS["markdown"](report).decode()
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(text)
    kinds = [token.type for token in tokens]
    assert "html_block" not in kinds
    assert kinds.count("heading_open") == 2
    assert kinds.count("code_block") == len(report.bad)
    rows = kinds.count("tr_open") - kinds.count("thead_open")
    assert rows == len(report.bad) + len(report.cases) - report.count(State.SKIP)
    assert kinds.count("td_open") == 3 * len(report.bad) + 4 * (
        len(report.cases) - report.count(State.SKIP)
    )
    inline = [child.type for token in tokens for child in token.children or []]
    assert set(inline) <= {"text", "text_special", "strong_open", "strong_close"}


def test_long_summary_is_cut_at_a_line_and_marked() -> None:
    cells = [cell(f"c{n}", verdict=Verdict.CORRUPT, reason="x" * 9000) for n in range(200)]
    report = report_of_run(results_of(*cells))
    for name, limit in (("markdown", SUMMARY_BYTES_MAX), ("gerrit", COMMENT_BYTES_MAX)):
        content = FORMATS[name](report)
        assert len(content) <= limit
        assert content.endswith(b"\n[cut]\n")


@reports
def test_openmetrics_is_read_by_prometheus(report: Report) -> None:
    text = FORMATS["openmetrics"](report).decode()
    read: Any = text_string_to_metric_families
    families = {family.name: family for family in read(text)}
    total = families["flashrom_rig_total_seconds"]
    assert (total.type, total.unit) == ("gauge", "seconds")
    timed = [case for case in report.cases if case.cell.time_ns.total]
    assert [sample.value for sample in total.samples] == [case.total_s for case in timed]
    assert [sample.labels["cell"] for sample in total.samples] == [c.cell.place for c in timed]
    counts = {s.labels["state"]: s.value for s in families["flashrom_rig_cells"].samples}
    assert counts == {state: report.count(state) for state in State}


@reports
def test_gerrit_comment_has_the_answer_and_rerun_commands(report: Report) -> None:
    text = FORMATS["gerrit"](report).decode()
    assert " ".join(report.lines[0].split()) in text
    assert text.count("\n* ") == len(report.bad)
    assert ("\n  rig/rig run" in text) is bool(report.bad)
    assert all(character.isprintable() or character == "\n" for character in text)


@reports
def test_kcidb_document_is_valid(report: Report) -> None:
    document = json.loads(FORMATS["kcidb"](report))
    LATEST.validate(document)
    assert LATEST.is_compatible(document)
    statuses = [test["status"] for test in document["tests"]]
    wanted = {
        State.PASS: "PASS",
        State.FAIL: "FAIL",
        State.ERROR: "MISS",
        State.DOUBT: "ERROR",
        State.SKIP: "SKIP",
    }
    assert statuses == [wanted[case.state] for case in report.cases]
    builds = {build["id"] for build in document["builds"]}
    assert {test["build_id"] for test in document["tests"]} == builds
    assert {build["checkout_id"] for build in document["builds"]} <= {
        checkout["id"] for checkout in document["checkouts"]
    }
    assert len({test["id"] for test in document["tests"]}) == len(report.cases)


# JSON by the schemas that `rig/rig schema` prints.


@pytest.mark.parametrize("kind", KINDS)
def test_schema_is_a_valid_json_schema(kind: str) -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(schema_text(kind)))


@reports
def test_json_is_valid_by_its_schema_and_changed_json_is_not(report: Report) -> None:
    kind = "results" if isinstance(report.document, Results) else "gate"
    validator = jsonschema.Draft202012Validator(schema_of(kind))
    document = json.loads(FORMATS["json"](report))
    validator.validate(document)
    for invalid in (
        {**document, "schema": 2},
        {key: value for key, value in document.items() if key != "schema"},
        {**document, "cells": [{}]},
        {**document, "cells": "none"},
    ):
        assert not validator.is_valid(invalid)


# The commands that write formats.


def kept_run(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    write_results(results_of(*CELLS), folder)
    return folder


def test_export_writes_each_format_to_its_file(tmp_path: Path) -> None:
    run = kept_run(tmp_path / "run")
    wanted = [f"--format={name}:{tmp_path / name}" for name in FORMATS if name != "tap"]
    assert answer_of("export", run, *wanted, "--format=tap").startswith("TAP version 14\n")
    assert {path.name for path in tmp_path.iterdir()} == {*FORMATS, "run"} - {"tap"}
    assert (tmp_path / "json").read_bytes() == (run / "results.json").read_bytes()


def test_export_of_a_gate_has_its_decision(tmp_path: Path) -> None:
    before, after = results_of(cell("a")), results_of(cell("a"), *WATCH)
    for name, results in (("baseline", before), ("candidate", after)):
        (tmp_path / name).mkdir()
        write_results(results, tmp_path / name)
    decision = decide([before], [after])
    (tmp_path / GATE_FILE).write_bytes(msgspec.json.encode(decision))
    assert decision.lines[0] in answer_of("export", tmp_path, "--format=gerrit")


def test_report_of_many_rounds_has_the_cell_that_decided() -> None:
    short = cell("a", lane="live", verdict=Verdict.TOO_SHORT, reason="10 ms were 3")
    before = [results_of(cell("a", lane="live"))] * 2
    after = [results_of(cell("a", lane="live"), *WATCH), results_of(short)]
    report = report_of_gate(decide(before, after), [*after, *before])
    (bad,) = report.bad
    assert bad.cell is short


def test_consecutive_rounds_are_found_in_order(tmp_path: Path) -> None:
    for name in ("candidate", "candidate-2", "candidate-3", "candidate-5", "baseline"):
        (tmp_path / name).mkdir()
    found = [path.name for path in rounds_of(tmp_path, CANDIDATE)]
    assert found == ["candidate", "candidate-2", "candidate-3"]


@pytest.mark.parametrize("word", ["junti", "", "junit:/nonesuch/folder/x.xml"])
def test_format_that_cannot_be_written_is_refused_first(word: str) -> None:
    with pytest.raises(BadInputError, match="--format") as caught:
        wanted_formats([word])
    assert caught.value.hint


def test_full_disk_is_bad_input_and_the_file_is_named(tmp_path: Path) -> None:
    run = kept_run(tmp_path / "run")
    refusal = refusal_of("export", run, "--format=junit:/dev/full")
    assert "/dev/full: could not be written: No space left on device" in refusal
