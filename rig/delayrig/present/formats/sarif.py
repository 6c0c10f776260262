# SPDX-License-Identifier: GPL-2.0-or-later
"""SARIF 2.1.0 for code scanning: a finding is at the line of the delay call.

The delay witness knows that line if the program has debug information. Code scanning refuses a
result without a file, so a finding without a line names a file that does not exist.
"""

import re
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from delayrig.base.atomic_file import json_document
from delayrig.base.text import again, one_line, plain
from delayrig.decision.decision import Decision, Outcome
from delayrig.decision.decision_text import group_words
from delayrig.decision.faults import DATA, REFUSING, Change
from delayrig.model.evidence import Evidence
from delayrig.model.result import Verdict
from delayrig.present.formats.report import Case, Report, State, evidence_line

VERSION = "2.1.0"
ROOT_ID = "SRCROOT"
NOWHERE = "no-source-line"
SHOWN = 10
"""The number of pieces of evidence shown at one line."""
FRAME = re.compile(r"(?:[^ ]+ \()?(?P<file>[^:]+?):(?P<line>[1-9][0-9]*)\)?")
Frames = list[tuple[str, int]]

RULES = {
    "too-short": ("error", "A wait ended before the time that it asked for, or that a chip needs."),
    "data-corrupted": ("error", "The flash chip does not hold what was written to it."),
    "missing-conviction": (
        "error",
        "The plan expects a conviction of this cell, and there is none.",
    ),
    "known-fault": (
        "warning",
        "A fault that the baseline has as well; it does not change the answer.",
    ),
    "slower": ("warning", "A job takes more time or CPU time than the gate allows."),
    "in-doubt": ("warning", "The cell could not be judged, so nothing is known about its waits."),
    "rig-failed": ("note", "The rig itself failed, which says nothing about the program."),
}
"""The severity and the description of each rule."""
CONVICTIONS = {Verdict.TOO_SHORT: "too-short", Verdict.CORRUPT: "data-corrupted"}


def as_sarif(report: Report) -> bytes:
    """Returns one run, with a result for each line of a bad cell's evidence, else for the cell."""
    run = {
        "tool": {"driver": _driver(report)},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {
            ROOT_ID: {"description": {"text": "The tree that the program was built from."}}
        },
        "automationDetails": {"id": f"flashrom-delay-rig/{report.run.plan}/"},
        "invocations": [
            {
                "executionSuccessful": report.count(State.ERROR) == 0,
                "exitCode": int(report.code),
                "startTimeUtc": report.run.started.replace("+00:00", "Z"),
            }
        ],
        "results": [*_of_gate(report), *(r for case in report.bad for r in _results(case, report))],
    }
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": VERSION,
        "runs": [run],
    }
    return json_document(document)


def _driver(report: Report) -> dict[str, Any]:
    return {
        "name": "flashrom delay rig",
        "semanticVersion": report.run.rig_version,
        "rules": [
            {
                "id": rule,
                "shortDescription": {"text": about},
                "defaultConfiguration": {"level": level},
            }
            for rule, (level, about) in RULES.items()
        ],
    }


def _of_gate(report: Report) -> list[dict[str, Any]]:
    """Returns a result for each fault of a gate: errors for new ones, warnings for known ones."""
    if not isinstance(report.document, Decision):
        return []
    rules = {
        **dict.fromkeys(REFUSING, "too-short"),
        **dict.fromkeys((Change.AS_BEFORE, Change.BETTER), "known-fault"),
    }
    groups = [group for group in report.document.groups if not group.known]
    nth: dict[str, int] = {}
    found = []
    for group in groups:
        rule = rules.get(group.fault.change)
        if rule is None:
            continue
        rule = "data-corrupted" if group.fault.witness == DATA and rule == "too-short" else rule
        lines = [group_words(group), group.fault.where, again(group.rerun)]
        calls = frames_in(group.fault.where)
        place = call_of(calls)[0]
        nth[place] = nth.get(place, -1) + 1
        found.append(_entry(rule, lines, calls, group.cells[0], report, nth[place]))
    return found


def rule_of(case: Case) -> str:
    match case.state:
        case State.ERROR:
            return "rig-failed"
        case State.DOUBT:
            return "in-doubt"
        case _ if case.cell.verdict in CONVICTIONS:
            return CONVICTIONS[case.cell.verdict]
        case _:
            return "slower" if case.gated else "missing-conviction"


def _results(case: Case, report: Report) -> list[dict[str, Any]]:
    if case.state is State.FAIL and case.gated and case.gated.outcome is not Outcome.SLOWER:
        return []  # `_of_gate()` reports its faults.
    by_line: dict[tuple[str, int], list[Evidence]] = {}
    for item in case.cell.evidence:
        by_line.setdefault(call_of(frames_of(item)), []).append(item)
    files = [file for file, _ in by_line]
    # Findings of a file are numbered, because lines move when it is edited.
    nth = [files[:at].count(file) for at, file in enumerate(files)] or [0]
    found = list(by_line.values()) or [[]]
    return [_result(case, items, report, at) for items, at in zip(found, nth, strict=True)]


def _result(case: Case, items: list[Evidence], report: Report, nth: int) -> dict[str, Any]:
    lines = [case.why, *map(evidence_line, items[:SHOWN])]
    if len(items) > SHOWN:
        lines.append(f"and {len(items) - SHOWN} more")
    lines.append(again(case.cell.rerun))
    calls = frames_of(items[0]) if items else []
    return _entry(rule_of(case), lines, calls, case.id, report, nth)


def _entry(
    rule: str, lines: list[str], calls: Frames, cell_id: str, report: Report, nth: int
) -> dict[str, Any]:
    """Returns a result at the line of the call; it is the `nth` one of its file."""
    frames = [(_in_tree(file, report.source_root), line) for file, line in calls]
    at = call_of(frames)
    cell = {"fullyQualifiedName": one_line(cell_id), "kind": "cell"}
    prints = {"cell/v1": one_line(cell_id), "place/v1": one_line(f"{at[0]} {nth}")}
    return {
        "ruleId": rule,
        "ruleIndex": list(RULES).index(rule),
        "level": RULES[rule][0],
        "message": {"text": plain("\n".join(filter(None, lines)))},
        "locations": [{**_location(at), "logicalLocations": [cell]}],
        "relatedLocations": [
            {"id": number, **_location(frame)} for number, frame in enumerate(frames, start=1)
        ],
        "partialFingerprints": prints,
    }


def frames_of(item: Evidence) -> Frames:
    """Returns the calls that led to a delay and have a line, the nearest first."""
    return frames_in(item.where.rpartition(": ")[2])


def frames_in(stack: str) -> Frames:
    found = (FRAME.fullmatch(frame) for frame in stack.split(" < "))
    return [(match["file"], int(match["line"])) for match in found if match]


def call_of(frames: Frames) -> tuple[str, int]:
    """Returns the call that requested the delay. A function in a header only passes it on."""
    in_code = (frame for frame in frames if not frame[0].endswith(".h"))
    return next(in_code, frames[0] if frames else (NOWHERE, 1))


def _in_tree(file: str, root: Path | None) -> str:
    """Returns the file's path in the tree. The compiler's path may contain the tree's folder."""
    parts = PurePosixPath(file).parts
    inner = ("/".join(parts[start:]) for start in range(len(parts)))
    return next((name for name in inner if root and (root / name).is_file()), file)


def _location(at: tuple[str, int]) -> dict[str, Any]:
    file, line = at
    artifact = {"uri": quote(file), "uriBaseId": ROOT_ID}
    return {"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": line}}}
