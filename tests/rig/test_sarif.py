# SPDX-License-Identifier: GPL-2.0-or-later
"""SARIF output follows the standard, and locates a finding at the line of the delay call."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import unquote

import msgspec
import pytest
from delayrig.model.evidence import Evidence, Witness
from delayrig.model.result import Verdict, write_results
from delayrig.present.formats.report import Report, State, report_of_gate, report_of_run
from delayrig.present.formats.sarif import NOWHERE, RULES, as_sarif

from tests.rig.builders import make_evidence, run_of
from tests.rig.running import answer_of
from tests.rig.test_formats import cell, reports, results_of
from tests.rig.test_gate_judge import AFTER, BEFORE, decided, timed

STACK = (
    "pause (flashrom/include/clock.h:27) < flashrom/core/busy.c:154 < spi_send+0x12"
    " < main (a b/run.c:9)"
)


class Strict(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """An object of the standard (sections 3.13 to 3.52), with only the keys that we use."""


Text = Annotated[str, msgspec.Meta(min_length=1)]
From1 = Annotated[int, msgspec.Meta(ge=1)]
Level = Literal["none", "note", "warning", "error"]


class Message(Strict):
    text: Text


class Artifact(Strict):
    uri: Annotated[str, msgspec.Meta(pattern=r"^[!#-;=?-\[\]_a-z~]+$")]
    uri_base_id: str


class Region(Strict):
    start_line: From1


class Physical(Strict):
    artifact_location: Artifact
    region: Region


class Logical(Strict):
    fully_qualified_name: Text
    kind: Text


class Location(Strict, omit_defaults=True):
    physical_location: Physical
    id: From1 | None = None
    logical_locations: list[Logical] = []


class Result(Strict):
    rule_id: Text
    rule_index: Annotated[int, msgspec.Meta(ge=0)]
    level: Level
    message: Message
    locations: Annotated[list[Location], msgspec.Meta(min_length=1, max_length=1)]
    related_locations: list[Location]
    partial_fingerprints: dict[str, Text]


class Rule(Strict):
    id: Text
    short_description: Message
    default_configuration: dict[Literal["level"], Level]


class Driver(Strict):
    name: Text
    semantic_version: Text
    rules: list[Rule]


class Invocation(Strict):
    execution_successful: bool
    exit_code: int
    start_time_utc: Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]


class Run(Strict):
    tool: dict[Literal["driver"], Driver]
    column_kind: Literal["utf16CodeUnits", "unicodeCodePoints"]
    original_uri_base_ids: dict[str, dict[Literal["description"], Message]]
    automation_details: dict[Literal["id"], Text]
    invocations: list[Invocation]
    results: list[Result]


class Log(msgspec.Struct, forbid_unknown_fields=True):
    version: Literal["2.1.0"]
    runs: Annotated[list[Run], msgspec.Meta(min_length=1, max_length=1)]
    schema: str = msgspec.field(name="$schema")


def read(report: Report) -> Run:
    """Reads the report strictly; checks that ids are unique, and that each reference resolves."""
    (run,) = msgspec.json.decode(as_sarif(report), type=Log).runs
    ids = [rule.id for rule in run.tool["driver"].rules]
    assert len(set(ids)) == len(ids)
    for result in run.results:
        assert ids[result.rule_index] == result.rule_id
        for location in (*result.locations, *result.related_locations):
            base = location.physical_location.artifact_location.uri_base_id
            assert base in run.original_uri_base_ids
    return run


def late(where: str = f"default_delay at 5 ns, thread 1, cpu 0 to 0: {STACK}") -> Evidence:
    """Returns evidence of the delay witness for a short delay called there."""
    return msgspec.structs.replace(make_evidence(Witness.DELAY), where=where)


def found_in(*evidence: Evidence) -> list[Result]:
    """Returns the results about a cell that is too short by this evidence."""
    short = cell("a", verdict=Verdict.TOO_SHORT, evidence=list(evidence))
    return read(report_of_run(results_of(short))).results


def places(results: list[Result]) -> list[tuple[str, int]]:
    found = [result.locations[0].physical_location for result in results]
    return [(unquote(at.artifact_location.uri), at.region.start_line) for at in found]


@reports
def test_each_bad_cell_is_reported_and_a_strict_reader_accepts_it(report: Report) -> None:
    run = read(report)
    cells = [result.partial_fingerprints["cell/v1"] for result in run.results]
    assert list(dict.fromkeys(cells)) == [" ".join(case.id.split()) for case in report.bad]
    assert run.invocations[0].exit_code == int(report.code)
    assert run.invocations[0].execution_successful == (report.count(State.ERROR) == 0)


def test_strict_reader_refuses_an_unknown_key() -> None:
    document = json.loads(as_sarif(report_of_run(results_of(cell("a", verdict=Verdict.HUNG)))))
    document["runs"][0]["results"][0]["locations"][0]["line"] = 7
    with pytest.raises(msgspec.ValidationError, match="line"):
        msgspec.json.decode(json.dumps(document), type=Log)


def test_finding_is_located_at_the_delay_call_with_its_callers() -> None:
    nowhere = late("default_delay at 5 ns, thread 1: 0x62c10 < 0x29002")
    results = found_in(late(), make_evidence(), nowhere)
    assert places(results) == [("flashrom/core/busy.c", 154), (NOWHERE, 1)]
    callers = [location.physical_location for location in results[0].related_locations]
    assert [unquote(caller.artifact_location.uri) for caller in callers] == [
        *("flashrom/include/clock.h", "flashrom/core/busy.c", "a b/run.c")
    ]
    assert {(result.rule_id, result.level) for result in results} == {("too-short", "error")}
    assert "again: rig/rig run" in results[0].message.text


def test_evidence_of_one_line_is_one_result_with_a_count() -> None:
    results = found_in(late("f at 1 ns: busy.c:121"), *[late("f at 1 ns: busy.c:154")] * 13)
    assert places(results) == [("busy.c", 121), ("busy.c", 154)]
    assert results[1].message.text.count("delay witness: ") == 10
    assert "\nand 3 more\n" in results[1].message.text
    assert len({str(result.partial_fingerprints) for result in results}) == 2


def test_call_in_a_header_is_the_location_if_no_other_is_known() -> None:
    results = found_in(late("default_delay at 5 ns: clock.h:27 < main+0x1"))
    assert places(results) == [("clock.h", 27)]


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"verdict": Verdict.CORRUPT}, "data-corrupted"),
        ({"expect": "too_short"}, "missing-conviction"),
        ({"verdict": Verdict.INCONCLUSIVE}, "in-doubt"),
        ({"verdict": Verdict.INFRA_ERROR}, "rig-failed"),
    ],
)
def test_rule_follows_the_verdict(changes: dict[str, Any], rule: str) -> None:
    (result,) = read(report_of_run(results_of(cell("a", **changes)))).results
    assert (result.rule_id, result.level) == (rule, RULES[rule][0])


def test_cell_that_is_slower_in_a_gate_is_a_warning() -> None:
    before, after = timed(BEFORE), timed(AFTER, 10**10)
    decision = decided([before], [after])
    canaries = [c for c in decision.cells if c.role != "measure"]
    assert canaries
    watch = [timed(AFTER, name=c.id, id=c.id, verdict=c.candidate) for c in canaries]
    (result,) = read(report_of_gate(decision, [run_of(after, *watch), run_of(before)])).results
    assert (result.rule_id, result.level) == ("slower", "warning")


def test_same_finding_in_another_run_has_the_same_fingerprints() -> None:
    def prints(at_ns: int, line: int) -> list[dict[str, str]]:
        where = f"default_delay at {at_ns} ns, thread 1: core/busy.c:{line}"
        return [result.partial_fingerprints for result in found_in(late(where))]

    assert prints(5, 154) == prints(6, 155)


def test_files_are_named_relative_to_the_source_tree(tmp_path: Path) -> None:
    tree = tmp_path / "candidate"
    (tree / "core").mkdir(parents=True)
    (tree / "core/busy.c").touch()
    frames = "default_delay at 5 ns: /src/candidate/core/busy.c:3 < other/x.c:4"
    found = cell("a", verdict=Verdict.TOO_SHORT, evidence=[late(frames)])
    report = replace(report_of_run(results_of(found)), source_root=tree)
    (result,) = read(report).results
    assert places([result]) == [("core/busy.c", 3)]
    other = result.related_locations[1].physical_location.artifact_location
    assert other.uri == "other/x.c"


def test_export_names_files_relative_to_the_root_that_it_is_given(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "busy.c").touch()
    found = cell("a", verdict=Verdict.TOO_SHORT, evidence=[late("f at 1 ns: ../src/busy.c:3")])
    write_results(results_of(found), tmp_path / "run")
    options = ("--format=sarif", f"--source-root={tmp_path}")
    (run,) = msgspec.json.decode(answer_of("export", tmp_path / "run", *options), type=Log).runs
    assert places(run.results) == [("busy.c", 3)]
