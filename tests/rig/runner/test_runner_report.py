# SPDX-License-Identifier: GPL-2.0-or-later
"""The runner's report of its layers, and the file that `--last-failed` reads."""

from pathlib import Path

from tests.runner.memory import failed_last, remember
from tests.runner.outcome import (
    CaseResult,
    LayerResult,
    Outcome,
    counted,
    read_record,
    write_record,
)
from tests.runner.report import closing_lines, human, layer_line, slowest_lines


def one(name: str, outcome: Outcome = Outcome.PASSED, took_s: float = 1.0) -> CaseResult:
    return CaseResult(name=name, outcome=outcome, took_s=took_s)


def layer(name: str, *tests: CaseResult, is_sound: bool = True) -> LayerResult:
    return LayerResult(layer=name, tests=tests, is_sound=is_sound, took_s=61.0, cpu_s=2.0)


def test_layer_is_closed_by_one_line_with_its_counts() -> None:
    tests = [one("a"), one("b"), one("c", Outcome.FAILED), one("d", Outcome.SKIPPED)]
    assert counted("unit", tests) == "unit: 2 passed, 1 failed, 1 skipped"


def test_layer_says_how_long_it_took() -> None:
    said = layer_line(layer("rig", one("a")))
    assert said == "-- rig: 1 tests took 1 min 1 s, 2.0 s of CPU: all well"


def test_layer_that_broke_off_failed_though_none_of_its_tests_did() -> None:
    broken = layer("unit", one("a"), is_sound=False)
    assert not broken.good
    assert layer_line(broken).endswith(": FAILED")
    assert "unit: see above" in list(closing_lines([broken], 62.0))


def test_ten_slowest_of_all_layers_come_slowest_first() -> None:
    results = [
        layer("unit", *(one(f"u{number}", took_s=number) for number in range(8))),
        layer("rig", *(one(f"tests/rig/{number}", took_s=number + 0.5) for number in range(8))),
    ]
    head, *lines = slowest_lines(results)
    assert head == "== the 10 slowest tests =="
    assert len(lines) == 10
    assert [line.split()[-1] for line in lines[:2]] == ["tests/rig/7", "u7"]
    times = [float(line.split()[0]) for line in lines]
    assert times == sorted(times, reverse=True)


def test_end_names_what_failed_and_counts_over_all_layers() -> None:
    results = [
        layer("unit", one("a", Outcome.FAILED)),
        layer("rig", one("tests/rig/b"), one("c", Outcome.SKIPPED)),
    ]
    lines = list(closing_lines(results, 62.0))
    assert "unit a" in lines
    assert "again: tests/run --last-failed" in lines
    assert lines[-1] == "== 1 passed, 1 failed, 1 skipped in 2 layers and 1 min 2 s =="


def test_times_are_as_somebody_reads_them() -> None:
    assert [human(took) for took in (0.04, 59.9, 60, 3599.6)] == [
        "0.0 s",
        "59.9 s",
        "1 min 0 s",
        "60 min 0 s",
    ]


def test_record_comes_back_as_it_was_written(tmp_path: Path) -> None:
    tests = (one("a"), one("b", Outcome.FAILED, 0.5))
    for test in tests:
        write_record(tmp_path / "record", test)
    assert read_record(tmp_path / "record") == tests
    assert read_record(tmp_path / "none") == ()


def test_failure_is_remembered_until_the_test_itself_passes(tmp_path: Path) -> None:
    remember(tmp_path, layer("rig", one("a", Outcome.FAILED), one("b", Outcome.FAILED)))
    remember(tmp_path, layer("guest", one("g", Outcome.FAILED)))
    remember(tmp_path, layer("rig", one("a"), one("c")))
    assert failed_last(tmp_path) == {"rig": ["b"], "guest": ["g"]}
    remember(tmp_path, layer("rig", one("b")))
    assert failed_last(tmp_path)["rig"] == []


def test_note_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    (tmp_path / "failed.json").write_text("{", encoding="utf-8")
    assert failed_last(tmp_path) == {}
