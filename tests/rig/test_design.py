# SPDX-License-Identifier: GPL-2.0-or-later
"""Names and numbers that users rely on. They are repeated here, so that none changes unnoticed."""

import json
from pathlib import Path

import pytest
from delayrig.base import digest
from delayrig.base.errors import BadInputError, ExitCode, LostGuestError, RigError, RigFaultError
from delayrig.hazards import KINDS
from delayrig.model.cell import Expect
from delayrig.model.evidence import Witness
from delayrig.model.result import FILE_NAME, Verdict, write_results

from tests.rig.builders import make_cell, make_evidence, make_result, run_of

CELL_KEYS = """
    id lane role subject guest hazards chip corner bus programmer job region_bytes verdict expect
    reason retried_after not_provided evidence judged unjudged smallest_visible_short_ns delays
    waits not_waited_ns job_done ending unfinished time_ns cpu_ns chip_busy_ns wire_ns overshoot_ns
    transfers context_switches emulator events_sha256 host_s worker rerun
"""
RUN_KEYS = """
    rig_version commit plan seed argv started host qemu_version libvirt_version image_digests lock
    cells_planned not_provided workers interrupted confined
"""
HOST_KEYS = """
    cpus kernel machine os clocksource clocksources idle_driver smt rt_runtime_us cpu
"""
INNER_KEYS = {
    "emulator": "realtime wake_latency_ns_max",
    "subject": "name version sha256 threshold_us library",
    "guest": "arch mips cores kernel cmdline clocksource",
    "time_ns": "total probe read erase write verify",
    "cpu_ns": "user sys",
}
EVIDENCE_KEYS = "what witness requested_ns actual_ns margin_ns grade where count rule command"


def test_exit_codes_do_not_change() -> None:
    assert {code.name: int(code) for code in ExitCode} == {
        "PASS": 0,
        "UNSAFE": 1,
        "BAD_INPUT": 2,
        "SLOWER": 3,
        "INCONCLUSIVE": 4,
        "SKIPPED": 77,
        "RIG_FAULT": 99,
    }


@pytest.mark.parametrize(
    ("kind", "code"),
    [(RigError, 99), (BadInputError, 2), (RigFaultError, 99), (LostGuestError, 99)],
)
def test_error_has_its_exit_code_and_hint(kind: type[RigError], code: int) -> None:
    error = kind("it broke", hint="mend it")
    assert (error.exit_code, str(error), error.hint) == (code, "it broke", "mend it")


def test_names_of_verdicts_do_not_change() -> None:
    verdicts = "pass too_short corrupt op_failed hung inconclusive infra_error skipped"
    assert [verdict.value for verdict in Verdict] == verdicts.split()


def test_words_of_plans_do_not_change() -> None:
    expected = "pass too_short op_failed corrupt any"
    assert [expect.value for expect in Expect] == expected.split()
    assert {"low-res-timers", "busy-siblings"} <= {kind.name for kind in KINDS}
    assert {"chip", "bus"} <= {witness.value for witness in Witness}


def test_keys_of_results_and_their_order_do_not_change(tmp_path: Path) -> None:
    result = make_result(make_cell(hazards=("busy-siblings",), cores=2), evidence=[make_evidence()])
    write_results(run_of(result), tmp_path)
    tree = json.loads((tmp_path / FILE_NAME).read_text(encoding="utf-8"))
    assert list(tree) == ["schema", "run", "cells", "contrasts"]
    assert tree["schema"] == 1
    assert list(tree["run"]) == RUN_KEYS.split()
    assert list(tree["run"]["host"]) == HOST_KEYS.split()
    (cell,) = tree["cells"]
    assert list(cell) == CELL_KEYS.split()
    assert {key: " ".join(cell[key]) for key in INNER_KEYS} == INNER_KEYS
    assert [list(item) for item in cell["evidence"]] == [EVIDENCE_KEYS.split()]
    assert cell["hazards"] == ["busy-siblings"]
    assert cell["guest"]["mips"] == [250.0, 250.0]


def test_results_file_is_replaced_in_one_step(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    path.write_bytes(b"old")
    with path.open("rb") as reader:
        write_results(run_of(), tmp_path)
        assert reader.read() == b"old"
    assert list(tmp_path.iterdir()) == [path]
    assert json.loads(path.read_bytes())["cells"] == []


def test_digest_of_a_value_ignores_the_order_of_keys(tmp_path: Path) -> None:
    assert digest.of_value({"a": 1, "b": [2]}) == digest.of_value({"b": [2], "a": 1})
    assert digest.of_value({"a": 1}) != digest.of_value({"a": "1"})
    (tmp_path / "x").write_bytes(b"abc")
    known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert digest.of_file(tmp_path / "x") == digest.of_bytes(b"abc") == known
