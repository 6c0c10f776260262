# SPDX-License-Identifier: GPL-2.0-or-later
"""KCIDB's JSON (schema 5.3): a build for each subject, a test for each cell."""

import hashlib
from typing import Any

from delayrig.base.atomic_file import json_document
from delayrig.base.text import one_line, plain
from delayrig.present.formats.report import Case, Report, State

ORIGIN = "flashrom_delay_rig"
VERSION = {"major": 5, "minor": 3}
STATUS = {
    State.PASS: "PASS",
    State.FAIL: "FAIL",
    State.ERROR: "MISS",
    State.DOUBT: "ERROR",
    State.SKIP: "SKIP",
}


def as_kcidb(report: Report) -> bytes:
    """Returns the document. The same run gets the same ids, so it may be sent twice."""
    checkout = _id("checkout", report.run.started, report.run.commit)
    builds = {_build_id(case): case for case in report.cases}
    document = {
        "version": VERSION,
        "checkouts": [{"id": checkout, "origin": ORIGIN, "valid": True}],
        "builds": [_build(id_, case, checkout) for id_, case in builds.items()],
        "tests": [_test(case, report) for case in report.cases],
    }
    return json_document(document)


def _build(id_: str, case: Case, checkout: str) -> dict[str, Any]:
    subject = case.cell.subject
    return {
        "id": id_,
        "checkout_id": checkout,
        "origin": ORIGIN,
        "comment": plain(f"{subject.name} {subject.version}".strip()),
        "architecture": case.cell.guest.arch,
        "misc": {"sha256": subject.sha256},
    }


def _test(case: Case, report: Report) -> dict[str, Any]:
    properties = {name: one_line(value) for name, value in case.properties.items()}
    speed = f", {properties['mips']} MIPS" if case.cell.guest.mips else ""
    return {
        "id": _id("test", report.run.started, report.title, case.id),
        "build_id": _build_id(case),
        "origin": ORIGIN,
        "environment": {"comment": f"{case.cell.lane} lane{speed}"},
        "path": f"flashrom.delay.{case.cell.job}",
        "comment": one_line(case.why),
        "status": STATUS[case.state],
        "start_time": report.run.started,
        "duration": case.total_s,
        "misc": {**properties, "evidence": [one_line(line) for line in case.evidence]},
    }


def _build_id(case: Case) -> str:
    subject = case.cell.subject
    return _id("build", subject.name, subject.sha256)


def _id(*words: str) -> str:
    return f"{ORIGIN}:{hashlib.sha256(repr(words).encode()).hexdigest()[:32]}"
