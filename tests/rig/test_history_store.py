# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs are added to a history completely or not at all, even with several writers."""

import random
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from pathlib import Path

import msgspec
import psycopg
import pytest
from delayrig.base.errors import BadInputError
from delayrig.decision.gate_judge import decide
from delayrig.features.history.address import Choice
from delayrig.features.history.schema import HEAD, VERSION_TABLE, bring_up_to_date, revision_of
from delayrig.features.history.store import History, open_engine
from sqlalchemy import Connection, inspect, text

from tests.conftest import Bound
from tests.rig.history_builders import address_of, finished, history_of, make_run
from tests.rig.many_cells import keep_many
from tests.rig.postgres_server import Server
from tests.rig.running import start_python

ALL = Choice()
RUNS_EACH = 4
LIMIT_S = 120


def test_stored_run_is_loaded_unchanged(history_url: str) -> None:
    runs = [make_run(number, {"a": 1, "b": 2}) for number in (1, 2)]
    store = history_of(history_url, *runs)
    assert [run.id for run in store.runs(ALL)] == [1, 2]
    assert [store.load(number) for number in (1, 2)] == runs
    (found,) = store.runs(Choice(numbers=(2,)))
    assert [(cell.cell, cell.total_ns) for cell in found.cells] == [
        (cell.id, cell.time_ns.total) for cell in runs[1].cells
    ]


def test_run_that_is_added_again_is_not_stored_twice(history_url: str) -> None:
    run = make_run(1, {"a": 1})
    store = history_of(history_url, run)
    again = store.add([finished(run)])
    assert (again.numbers, again.is_new) == ([1], False)
    assert len(store.runs(ALL)) == 1


def test_gate_is_stored_with_its_sides(history_url: str) -> None:
    before, after = make_run(1, {"a": 1}), make_run(1, {"a": 1}, plan="gate")
    decision = decide([before], [after])
    store = history_of(history_url)
    runs = [finished(before, side="baseline"), finished(after, side="candidate")]
    assert store.add(runs, decision).is_new
    assert not store.add(runs, decision).is_new
    gates = [run.gate for run in store.runs(ALL)]
    assert [(gate.gate, gate.side, gate.outcome) for gate in gates if gate] == [
        (1, "baseline", "doubt"),
        (1, "candidate", "doubt"),
    ]
    assert store.decision(1) == decision
    store.forget([1, 2])
    with pytest.raises(BadInputError, match="has no gate 1"):
        store.decision(1)


def test_summary_counts_cells_by_role_subject_and_verdict(history_url: str, tmp_path: Path) -> None:
    results = keep_many(tmp_path, 2500)
    store = history_of(history_url, make_run(1, {"a": 1}), results)
    assert [summary.run.id for summary in store.summaries(ALL)] == [2, 1]
    (summary,) = store.summaries(Choice(numbers=(2,)))
    found = Counter({(kind.role, kind.subject, kind.verdict): kind.cells for kind in summary.kinds})
    assert found == Counter((c.role, c.subject.name, c.verdict) for c in results.cells)
    total_ns = sum(kind.total_ns for kind in summary.kinds)
    assert total_ns == sum(cell.time_ns.total for cell in results.cells)
    assert summary.kinds[0].role == results.cells[0].role
    assert_whole(store, 2)


def test_cell_of_a_large_run_takes_less_than_4_kib_on_disk(tmp_path: Path) -> None:
    file = tmp_path / "history.sqlite"
    history_of(f"sqlite:///{file}", keep_many(tmp_path, 2500))
    assert sum(path.stat().st_size for path in tmp_path.glob("history.sqlite*")) < 2500 * 4096


def test_forgotten_run_leaves_nothing_and_its_number_is_not_reused(history_url: str) -> None:
    runs = [make_run(number, {"a": 1, "b": 2}) for number in range(3)]
    store = history_of(history_url, *runs)
    for number in (9, 2**31, 2**64):
        with pytest.raises(BadInputError, match=f"has no run {number}"):
            store.forget([1, number])
        with pytest.raises(BadInputError, match=f"has no run {number}"):
            store.load(number)
    assert len(store.runs(ALL)) == 3
    store.forget([3])
    assert store.add([finished(runs[2])]).numbers == [4]
    engine = open_engine(address_of(history_url), write=False)
    with engine.connect() as connection:
        for table in ("rig_cell", "rig_document"):
            rows = connection.execute(text(f"SELECT DISTINCT run FROM {table}")).scalars()
            assert sorted(rows) == [1, 2, 4]


def test_choice_filters_by_each_of_its_fields(history_url: str) -> None:
    store = history_of(
        history_url,
        make_run(0, {"a": 1}),
        make_run(1, {"a": 1}, plan="other"),
        make_run(2, {"a": 1}, subject="path:x"),
        make_run(3, {"a": 1}),
    )

    def numbers(choice: Choice) -> list[int]:
        return [run.id for run in store.runs(choice)]

    assert numbers(Choice(subject="bundled")) == [1, 2, 4]
    assert numbers(Choice(plan="other")) == [2]
    assert numbers(Choice(since="2026-01-03T00:00:00+00:00")) == [3, 4]
    assert numbers(Choice(before="2026-01-03T00:00:00+00:00")) == [1, 2]
    assert numbers(Choice(subject="bundled", limit=1)) == [4]
    assert numbers(Choice(lane="host")) == []


def test_reading_before_the_first_run_finds_nothing_and_creates_nothing(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "history.sqlite"
    assert History(address_of(f"sqlite:///{file}")).runs(ALL) == []
    assert not file.parent.exists()


def test_text_that_no_column_can_hold_is_stored_in_the_document(history_url: str) -> None:
    run = make_run(1, {"a": 1}, seed=2**63 - 1)
    odd = msgspec.structs.replace(run.cells[0].subject, version="1\x00\x1b[31m")
    cell = msgspec.structs.replace(run.cells[0], subject=odd, reason="\x00")
    run = msgspec.structs.replace(run, cells=[cell])
    assert history_of(history_url, run).load(1) == run


ADD_RUNS = f"""
import sys
from tests.rig.history_builders import finished, history_of, make_run
store = history_of(sys.argv[1])
for number in range({RUNS_EACH}):
    run = make_run(number, {{"a": 1, "b": 2}}, commit=sys.argv[2])
    print(*store.add([finished(run)]).numbers, flush=True)
"""


@pytest.mark.bounds(writers=(3, 6))
def test_concurrent_writers_of_a_new_history_lose_nothing(history_url: str, bound: Bound) -> None:
    many = bound("writers")
    writers = [start_python("-c", ADD_RUNS, history_url, str(number)) for number in range(many)]
    ends = [writer.communicate(timeout=LIMIT_S) for writer in writers]
    assert [writer.returncode for writer in writers] == [0] * many, ends
    numbers = sorted(int(line) for output, _ in ends for line in output.split())
    assert len(set(numbers)) == many * RUNS_EACH
    store = history_of(history_url)
    assert sorted(run.id for run in store.runs(ALL)) == numbers
    for number in numbers:
        assert_whole(store, number)


def assert_whole(store: History, number: int) -> None:
    (run,) = store.runs(Choice(numbers=(number,)))
    assert [cell.cell for cell in run.cells] == [cell.id for cell in store.load(number).cells]
    assert len(run.cells) == run.cells_planned


DIE_AT_A_CELL = """
import os, signal, sys
from delayrig.features.history import store as module
from tests.rig.history_builders import finished, history_of, make_run
store = history_of(sys.argv[1], make_run(1, {"a": 1, "b": 2}))
whole = module.cell_rows
def dying(number, results):
    for row in whole(number, results):
        if row["position"] == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        yield row
module.cell_rows = dying
module.ROWS_AT_ONCE = 1
store.add([finished(make_run(2, {"a": 1, "b": 2}))])
"""


def test_writer_that_is_killed_within_a_run_loses_only_that_run(history_url: str) -> None:
    writer = start_python("-c", DIE_AT_A_CELL, history_url)
    _, output = writer.communicate(timeout=LIMIT_S)
    assert writer.returncode == -signal.SIGKILL, output
    store = history_of(history_url)
    assert [run.id for run in store.runs(ALL)] == [1]
    added = store.add([finished(make_run(3, {"a": 1}))])
    for number in (1, *added.numbers):
        assert_whole(store, number)


WRITE_ON = """
import sys
from itertools import count
from tests.rig.history_builders import finished, history_of, make_run
store = history_of(sys.argv[1])
for number in count():
    run = make_run(number, {f"c{n}": 1 for n in range(20)}, commit=sys.argv[2])
    print(*store.add([finished(run)]).numbers, flush=True)
"""


@pytest.mark.bounds(kills=(2, 4))
def test_writers_that_are_killed_lose_no_stored_run(history_url: str, bound: Bound) -> None:
    dice = random.Random(1)
    kept: list[int] = []
    kills = bound("kills")
    for number in range(kills):
        writer = start_python("-c", WRITE_ON, history_url, str(number))
        assert writer.stdout is not None
        for _ in range(dice.randrange(1, 12)):
            kept.append(int(writer.stdout.readline()))
        try:
            writer.wait(timeout=dice.random() / 20)
        except subprocess.TimeoutExpired:
            writer.kill()
        # communicate() would miss the lines that readline() has read ahead.
        kept += map(int, writer.stdout.read().split())
        writer.communicate(timeout=LIMIT_S)
    store = history_of(history_url)
    there = {run.id for run in store.runs(ALL)}
    assert set(kept) <= there
    # A killed writer may have stored a last run without printing its number.
    assert len(there) <= len(kept) + kills
    for run in there:
        assert_whole(store, run)


TO_FIRST = [
    *(f"DROP TABLE {table}" for table in ("rig_gate_run", "rig_gate", "rig_document")),
    "DROP INDEX ix_rig_run_results_sha256",
    "ALTER TABLE rig_run DROP COLUMN results_sha256",
    *(
        f"ALTER TABLE rig_cell DROP COLUMN {column}"
        for column in (
            *("mips", "cores", "region_bytes", "chip_busy_ns", "overshoot_ns", "transfers"),
            *("context_switches", "events_sha256", "inputs_sha256"),
        )
    ),
    f"UPDATE {VERSION_TABLE} SET version_num = 'r0001'",
    "INSERT INTO rig_run (started, plan, lane, seed, rig_version, rig_commit, qemu_version, host,"
    " cells_planned, interrupted, exit_code) VALUES ('2025-12-31T00:00:00+00:00', 'smoke',"
    " 'virtual', '1', '0.0.9', 'abc', '10.0', 'x86_64', 1, false, 0)",
    "INSERT INTO rig_cell VALUES (1, 0, 'a.bundled.rest', 'bundled', '1', 'bbb', 'virtual',"
    " 'measure', 'x86_64', '', 'GD25Q16C', 'typ', 'serprog:ip', '', 'write', 'pass', 'pass',"
    " 5000000, 1, 2)",
]
"""Statements that undo the second revision, and then add a run of the first."""


def make_old_history(url: str) -> None:
    """Makes a history of the first revision, with one run."""
    address = address_of(url)
    if address.file:
        address.file.parent.mkdir(parents=True, exist_ok=True)
    with open_engine(address, write=True).begin() as connection:
        bring_up_to_date(connection, address.label)
        for statement in TO_FIRST:
            connection.execute(text(statement))


def test_history_of_the_first_revision_is_upgraded_with_its_runs(history_url: str) -> None:
    make_old_history(history_url)
    store = History(address_of(history_url))
    (old,) = store.runs(ALL)
    assert (old.rig_version, old.results_sha256) == ("0.0.9", None)
    (cell,) = old.cells
    assert (cell.total_ns, cell.user_ns, cell.inputs_sha256) == (5_000_000, 1, None)
    with pytest.raises(BadInputError, match="kept only the figures"):
        store.load(1)
    assert store.add([finished(make_run(1, {"a": 1}))]).numbers == [2]
    assert [run.id for run in store.runs(ALL)] == [1, 2]


def schema_of(connection: Connection) -> dict[str, object]:
    """Returns the tables with their columns, indexes and foreign keys, without their order."""
    found = inspect(connection)
    return {
        table: (
            {c["name"]: (str(c["type"]), c["nullable"]) for c in found.get_columns(table)},
            {i["name"]: (i["column_names"], i["unique"]) for i in found.get_indexes(table)},
            [(k["constrained_columns"], k["options"]) for k in found.get_foreign_keys(table)],
        )
        for table in found.get_table_names()
    }


def test_upgraded_history_has_the_schema_of_a_new_one(history_url: str) -> None:
    schemas = []
    for make in (make_old_history, lambda _: None):
        make(history_url)
        history_of(history_url, make_run(1, {"a": 1}))
        with open_engine(address_of(history_url), write=True).begin() as connection:
            assert revision_of(connection) == HEAD
            schemas.append(schema_of(connection))
            for table in ("gate_run", "gate", "document", "cell", "run"):
                connection.execute(text(f"DROP TABLE rig_{table}"))
            connection.execute(text(f"DROP TABLE {VERSION_TABLE}"))
    upgraded, new = schemas
    assert upgraded == new
    assert len(new) == 6


def test_history_of_a_newer_rig_is_refused(history_url: str) -> None:
    store = history_of(history_url, make_run(1, {"a": 1}))
    with open_engine(address_of(history_url), write=True).begin() as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = 'r0099'"))
    with pytest.raises(BadInputError, match=r"key 'rig_version.version_num' is r0099") as raised:
        store.runs(ALL)
    assert "a newer rig made it" in raised.value.hint
    with pytest.raises(BadInputError, match="r0099"):
        store.add([finished(make_run(2, {"a": 1}))])


def test_other_tables_of_a_database_are_unchanged(postgres: Server) -> None:
    name = postgres.new_database()
    with postgres.connect(name) as connection:
        connection.execute("CREATE TABLE run (id int); INSERT INTO run VALUES (7)")
    url = postgres.tcp_url(name)
    assert History(address_of(url)).runs(ALL) == []
    history_of(url, make_run(1, {"a": 1}))
    with postgres.connect(name) as connection:
        assert connection.execute("SELECT id FROM run").fetchall() == [(7,)]


def test_sqlite_uses_a_write_ahead_log(tmp_path: Path) -> None:
    file = tmp_path / "history.sqlite"
    history_of(f"sqlite:///{file}", make_run(1, {"a": 1}))
    with sqlite3.connect(file) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_damaged_document_makes_only_that_run_unreadable(tmp_path: Path) -> None:
    file = tmp_path / "history.sqlite"
    store = history_of(f"sqlite:///{file}", *(make_run(n, {"a": 1}) for n in range(2)))
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE rig_document SET content = x'00' WHERE run = 1")
    with pytest.raises(BadInputError, match="'content' of run 1 is damaged"):
        store.load(1)
    assert store.load(2).run.plan == "smoke"


def test_hint_for_a_damaged_gate_names_its_runs(tmp_path: Path) -> None:
    file = tmp_path / "history.sqlite"
    before, after = make_run(2, {"a": 1}), make_run(3, {"a": 1}, plan="gate")
    store = history_of(f"sqlite:///{file}", make_run(1, {"a": 1}))
    runs = [finished(before, side="baseline"), finished(after, side="candidate")]
    store.add(runs, decide([before], [after]))
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE rig_gate SET content = x'00'")
    with pytest.raises(BadInputError, match="'content' of gate 1 is damaged") as raised:
        store.decision(1)
    assert "history forget 2 3`" in raised.value.hint


def test_document_of_another_schema_version_is_refused_with_a_hint(history_url: str) -> None:
    newer = msgspec.structs.replace(make_run(1, {"a": 1}), schema=99)
    store = history_of(history_url, newer)
    with pytest.raises(BadInputError, match="run 1: key 'schema' is 99") as raised:
        store.load(1)
    assert "the rig that wrote it" in raised.value.hint


def test_broken_connection_stores_nothing_of_the_run(postgres: Server) -> None:
    url = postgres.url(postgres.new_database())
    store = history_of(url, make_run(1, {"a": 1}))
    with psycopg.connect(url) as other:
        other.execute("LOCK TABLE rig_cell")
        writer = start_python("-c", ADD_RUNS, url, "x", stderr=subprocess.PIPE)
        with postgres.connect() as admin:
            ended, until_s = 0, time.monotonic() + LIMIT_S
            while not ended and time.monotonic() < until_s:
                ended = len(
                    admin.execute(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                        " WHERE wait_event_type = 'Lock' AND query LIKE '%rig_cell%'"
                    ).fetchall()
                )
        assert ended
        _, output = writer.communicate(timeout=LIMIT_S)
    assert writer.returncode != 0
    assert "BadInputError" in output
    assert [run.id for run in store.runs(ALL)] == [1]
