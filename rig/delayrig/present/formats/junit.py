# SPDX-License-Identifier: GPL-2.0-or-later
"""JUnit XML: for GitLab's `reports:junit`, Jenkins, and other tools that count test cases.

GitLab shows `classname` as the suite and requires a unique `name` in it; Jenkins cuts `classname`
at its last dot. Doubt and faults of the rig are errors, which are neither failures nor passes.
"""

from socket import gethostname
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from delayrig.base.text import again, one_line, plain
from delayrig.present.formats.report import Case, Report, State

ELEMENTS = {State.FAIL: "failure", State.ERROR: "error", State.DOUBT: "error"}


def as_junit(report: Report) -> bytes:
    """Returns one suite with a test case for each cell; times are the host's."""
    host_s = sum(case.cell.host_s for case in report.cases)
    counts = {
        "tests": f"{len(report.cases)}",
        "failures": f"{report.count(State.FAIL)}",
        "errors": f"{report.count(State.ERROR) + report.count(State.DOUBT)}",
        "skipped": f"{report.count(State.SKIP)}",
        "time": f"{host_s:.3f}",
    }
    root = Element("testsuites", {"name": "flashrom delay rig", **counts})
    suite = SubElement(root, "testsuite", {"name": plain(report.title), **counts})
    suite.set("timestamp", report.run.started.partition("+")[0])
    suite.set("hostname", plain(gethostname()))
    _add_properties(
        suite,
        {
            "plan": report.run.plan,
            "seed": f"{report.run.seed}",
            "rig_commit": report.run.commit,
            "qemu_version": report.run.qemu_version,
            "exit_code": f"{int(report.code)}",
        },
    )
    for case in report.cases:
        _add_case(suite, case, report)
    SubElement(suite, "system-out").text = plain("\n".join(report.lines))
    indent(root)
    content: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _add_case(suite: Element, case: Case, report: Report) -> None:
    subject = case.id.split(".")[1]
    test = SubElement(
        suite,
        "testcase",
        classname=plain(f"{report.run.plan}.{subject}".replace("/", "-")),
        name=plain(case.id),
        time=f"{case.cell.host_s:.3f}",
    )
    _add_properties(test, case.properties)
    message = one_line(case.why)
    if case.state is State.SKIP:
        SubElement(test, "skipped", message=message).text = message
    elif case.state in ELEMENTS:
        element = SubElement(test, ELEMENTS[case.state], message=message)
        element.set("type", case.cell.verdict)
        element.text = plain("\n".join([case.why, *case.evidence, again(case.cell.rerun)]))


def _add_properties(owner: Element, values: dict[str, str]) -> None:
    properties = SubElement(owner, "properties")
    for name, value in values.items():
        SubElement(properties, "property", name=name, value=one_line(value))
