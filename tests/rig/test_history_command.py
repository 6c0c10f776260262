# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig history`, and the recording of runs by `run` and `gate`."""

import datetime as dt
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from delayrig.base.errors import BadInputError, ExitCode
from delayrig.decision.decision import FILE_NAME as GATE_FILE
from delayrig.decision.gate_judge import decide
from delayrig.features.history.address import (
    VARIABLE,
    Address,
    Choice,
    default_file,
    find_address,
    moment,
    without_passwords,
)
from delayrig.features.history.recording import HistoryOptions, record
from delayrig.features.history.store import History, explained
from delayrig.features.history.table import TableFormat, table_of, write_table
from delayrig.model.result import Results, write_results
from delayrig.setup.clean import history_file
from msgspec import json as msgspec_json
from pyarrow import csv, parquet
from sqlalchemy.exc import OperationalError

from tests.rig.builders import MS
from tests.rig.history_builders import address_of, finished, history_of, make_run
from tests.rig.postgres_server import PASSWORD, Server
from tests.rig.running import answer_of, refusal_of, rig, run_python

NOW = dt.datetime(2026, 2, 1, 12, tzinfo=dt.UTC)


def keep(run: Results, folder: Path) -> Path:
    folder.mkdir(parents=True)
    write_results(run, folder)
    return folder


def keep_gate(folder: Path) -> Path:
    runs = {"baseline": make_run(5, {"a": 1}), "candidate": make_run(5, {"a": 1}, plan="gate")}
    for name, run in runs.items():
        keep(run, folder / name)
    decision = decide([runs["baseline"]], [runs["candidate"]])
    (folder / GATE_FILE).write_bytes(msgspec_json.encode(decision))
    return folder


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'h.sqlite'}"


def test_list_filters_runs_and_its_name_may_be_left_out(url: str) -> None:
    history_of(url, make_run(1, {"a": 1}), make_run(2, {"a": 1}, plan="other"))

    def listed(*words: str) -> Any:
        return json.loads(answer_of("history", "--history", url, "--json", *words))

    (run,) = listed("--plan", "other")
    assert (run["number"], run["plan"], run["subjects"]) == (2, "other", {"bundled": "1"})
    assert listed("--lane", "host") == []
    assert len(listed("--lane", "virtual")) == 2
    output = answer_of("history", "list", "--history", url)
    assert "other" in output
    assert "smoke" in output


def test_list_of_no_runs_says_so(url: str) -> None:
    done = rig("history", "--history", url)
    assert done.exit_code == ExitCode.PASS
    assert "no such run is kept" in done.output


@pytest.mark.parametrize("text", ["yesterday", "7x", "999999w", "2026-13-01"])
def test_wrong_date_is_bad_input_with_a_hint(url: str, text: str) -> None:
    refusal = refusal_of("history", "--history", url, "--since", text)
    assert f"--since {text}" in refusal
    assert "give a date" in refusal


def test_run_and_gate_are_added_once_and_shown(url: str, tmp_path: Path) -> None:
    out = keep(make_run(3, {"a": 1}), tmp_path / "out")
    gate = keep_gate(tmp_path / "gate")
    assert "kept as 1 in" in rig("history", "add", out, "--history", url).output
    assert "had been kept as 1 in" in rig("history", "add", out, "--history", url).output
    assert "kept as 2 and 3 in" in rig("history", "add", gate, "--history", url).output
    assert "was the candidate of gate 1" in rig("history", "show", 3, "--history", url).output
    output = answer_of("history", "show", 1, "--json", "--history", url)
    assert output.encode() == (out / "results.json").read_bytes()


def test_plot_has_each_run_and_its_svg_is_xml(url: str, tmp_path: Path) -> None:
    history_of(url, *(make_run(n, {"a": n + 1}) for n in range(3)))
    output = rig("history", "plot", "bundled", "--history", url).output
    assert [output.count(f" 0.00{n} ") for n in (2, 3)] == [1, 1]
    (series,) = json.loads(answer_of("history", "plot", "bundled", "--json", "--history", url))
    found = [(point["run"], point["total_ns"]) for point in series["points"]]
    assert found == [(1, MS), (2, 2 * MS), (3, 3 * MS)]
    svg = tmp_path / "plot.svg"
    answer_of("history", "plot", "bundled", "--svg", svg, "--history", url)
    assert ET.fromstring(svg.read_bytes()).tag == "{http://www.w3.org/2000/svg}svg"
    refusal = refusal_of("history", "plot", "nobody", "--history", url)
    assert "no such run has timed" in refusal


def test_steps_name_programs_and_images_that_changed(url: str) -> None:
    digests = {"kernel": "0", "initrd": "0", "emulator": "0", "qemu": "0", "turns": "0"}
    history_of(
        url,
        make_run(1, {"a": 100}),
        make_run(2, {"a": 103}, sha256="0" * 64),
        make_run(3, {"a": 104}, sha256="0" * 64, digests={**digests}),
    )
    output = answer_of("history", "steps", "bundled", "--history", url)
    assert "run 2" in output
    assert "+3.00 %" in output
    assert "another program" in output
    assert "the same program; also new: emulator, initrd, kernel, qemu, turns" in output
    found = json.loads(answer_of("history", "steps", "bundled", "--json", "--history", url))
    assert [step["run"] for step in found["steps"]] == [2, 3]


def test_forget_takes_numbers_or_a_date(url: str) -> None:
    history_of(url, *(make_run(n, {"a": 1}) for n in range(4)))
    answer_of("history", "forget", 2, "--history", url)
    refusal_of("history", "forget", "--history", url)
    output = rig("history", "forget", "--before", "2026-01-04", "--history", url).output
    assert "2 runs removed" in output
    assert [run.id for run in History(address_of(url)).runs(Choice())] == [4]


@pytest.mark.parametrize("form", TableFormat)
def test_exported_table_is_read_unchanged(
    history_url: str, tmp_path: Path, form: TableFormat
) -> None:
    odd = make_run(2, {'q"u,o\nte': 1.5, "b": 2}, subject="path:ü/x", commit="", seed=2**66)
    store = history_of(history_url, make_run(1, {"a": 1}), odd)
    runs = [make_run(3, {"a": 1}), make_run(4, {"a": 2})]
    decision = decide([runs[0]], [runs[1]])
    store.add([finished(runs[0], side="baseline"), finished(runs[1], side="candidate")], decision)
    table = table_of(store.runs(Choice()))
    file = tmp_path / f"table.{form}"
    write_table(table, form, file)
    if form is TableFormat.PARQUET:
        back = parquet.read_table(file)
    else:
        convert = csv.ConvertOptions(
            column_types=table.schema, strings_can_be_null=True, quoted_strings_can_be_null=False
        )
        back = csv.read_csv(file, convert_options=convert)
    assert back.schema.equals(table.schema)
    assert back.to_pylist() == table.to_pylist()
    assert back.num_rows == 5
    assert {row["gate_side"] for row in back.to_pylist()} == {None, "baseline", "candidate"}


def test_export_of_no_runs_is_an_empty_table(url: str, tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    answer_of("history", "export", file, "--history", url)
    assert parquet.read_table(file).num_rows == 0


def test_export_that_cannot_be_written_is_refused(url: str, tmp_path: Path) -> None:
    history_of(url, make_run(1, {"a": 1}))
    refusal = refusal_of("history", "export", tmp_path / "none" / "t.csv", "--history", url)
    assert "could not be written" in refusal


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2026-01-31", "2026-01-31T00:00:00+00:00"),
        ("2026-01-31T12:00+02:00", "2026-01-31T10:00:00+00:00"),
        ("7d", "2026-01-25T12:00:00+00:00"),
        ("36h", "2026-01-31T00:00:00+00:00"),
    ],
)
def test_date_time_or_age_is_parsed(text: str, found: str) -> None:
    assert moment(text, NOW, option="--since") == found


def test_default_history_is_in_the_data_folder_of_the_user() -> None:
    found = default_file({"XDG_DATA_HOME": "/data"})
    assert found == Path("/data/flashrom-delay-rig/history.sqlite")
    assert default_file({"XDG_DATA_HOME": "relative"}).is_relative_to(Path.home())
    assert find_address(None, {VARIABLE: "none"}) is None
    assert HistoryOptions(url="no url", none=True).address() is None


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("history.sqlite", "is no URL of a database"),
        ("postgresql://host:port/x", "is no URL of a database"),
        ("sqlite://", "names no file"),
        ("sqlite:///:memory:", "names no file"),
        ("nosuch://host/x", "no driver for 'nosuch'"),
        ("oracle://host/x", "no driver for 'oracle'"),
    ],
)
def test_wrong_url_is_bad_input_from_option_and_environment(url: str, fault: str) -> None:
    for given, environment in ((url, {}), (None, {VARIABLE: url})):
        with pytest.raises(BadInputError, match=fault) as raised:
            find_address(given, environment)
        assert raised.value.hint
        assert raised.value.message.startswith("--history" if given else VARIABLE)


def test_wrong_url_is_refused_before_the_run(tmp_path: Path) -> None:
    for command in (["run", "--plan", "smoke"], ["gate", *["--baseline", "a", "--candidate", "b"]]):
        refusal_of(*command, "--history", "nonsense", "--out", tmp_path / "out")
        assert not (tmp_path / "out").exists()


def test_password_is_neither_printed_nor_stored() -> None:
    url = "postgresql://me:s3cret@host/x?sslpassword=s3cret"
    for words in (["run", "--history", url], ["run", f"--history={url}"]):
        assert "s3cret" not in str(without_passwords(words))
        assert "me:***@host/x" in str(without_passwords(words))
    address = address_of(url)
    assert "s3cret" not in address.label + repr(address)
    with pytest.raises(BadInputError) as raised:
        find_address("postgresql://me:s3cret@host:port/x", {})
    assert "s3cret" not in raised.value.message


def test_errors_of_a_server_do_not_contain_the_password(postgres: Server) -> None:
    name = postgres.new_database()
    wrong = postgres.tcp_url(name).replace(PASSWORD, "wr0ng")
    for url, says in ((wrong, "user and password"), (postgres.tcp_url("none"), "createdb")):
        with pytest.raises(BadInputError) as raised:
            History(address_of(url)).runs(Choice())
        assert says in raised.value.hint
        assert "wr0ng" not in raised.value.message + raised.value.hint


SERVER = 'connection failed: connection to server at "127.0.0.1", port 5432 failed: '


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("attempt to write a readonly database", "make it and its folder writable"),
        ("Read-only file system", "make it and its folder writable"),
        ("cannot execute INSERT in a read-only transaction", "a user who may write"),
        ("database or disk is full", "free some space"),
        ("database disk image is malformed", ".recover"),
        ("database is locked", "end that program"),
        (f'{SERVER}FATAL:  password authentication failed for user "me"', "user and password"),
        (f"{SERVER}fe_sendauth: no password supplied", "user and password"),
        (f'{SERVER}FATAL:  database "passwords" does not exist', "createdb"),
        (f'{SERVER}FATAL:  role "me" does not exist', "createdb"),
        (f"{SERVER}Connection refused\n\tIs the server running on that host?", "start the server"),
        (f"{SERVER}timeout expired", "start the server"),
        ("connection timeout expired", "start the server"),
        ("failed to resolve host 'nowhere': [Errno -2] Name unknown", "start the server"),
        ("server closed the connection unexpectedly", "start the server"),
        (f"{SERVER}FATAL:  sorry, too many clients already", "documentation of its database"),
        (f'{SERVER}FATAL:  no pg_hba.conf entry for host "::1"', "documentation of its database"),
        ('relation "rig_run" does not exist', "name another"),
        ("no such table: rig_run", "name another"),
    ],
)
def test_message_of_a_database_has_the_hint_that_fits(message: str, says: str) -> None:
    with pytest.raises(BadInputError) as raised, explained("x"):
        raise OperationalError("SELECT", {}, Exception(message))
    assert says in raised.value.hint


def kept(address: Address, out: Path, capfd: pytest.CaptureFixture[str]) -> str:
    """Records a run in that history, which must never raise; returns the message."""
    record(address, out, make_run(1, {"a": 1}))
    return capfd.readouterr().err


def test_run_and_gate_are_recorded_with_a_message(
    url: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert "history: 1 in" in kept(address_of(url), tmp_path, capfd)
    record(address_of(url), keep_gate(tmp_path / "gate"))
    assert "history: 2, 3 in" in capfd.readouterr().err
    record(None, tmp_path, make_run(2, {"a": 1}))
    assert capfd.readouterr().err == ""


def test_missing_server_is_a_warning(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    output = kept(address_of("postgresql://me@127.0.0.1:1/x"), tmp_path, capfd)
    assert "warning: not kept in the history" in output
    assert "start the server" in output
    assert f"history add {tmp_path}" in output


def test_file_that_is_no_database_is_a_warning_and_unchanged(
    url: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "h.sqlite").write_text("my notes\n" * 100, encoding="utf-8")
    assert "is no SQLite database" in kept(address_of(url), tmp_path, capfd)
    assert (tmp_path / "h.sqlite").read_text(encoding="utf-8") == "my notes\n" * 100


def test_folder_in_place_of_the_file_is_a_warning(
    url: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "h.sqlite").mkdir()
    assert "could not be opened" in kept(address_of(url), tmp_path, capfd)


KEEP = """
import sys
from pathlib import Path
from delayrig.features.history.recording import record
from delayrig.features.history.address import Choice
from delayrig.features.history.store import History
from tests.rig.history_builders import address_of, make_run
address = address_of(sys.argv[1])
for number in range(int(sys.argv[2])):
    times = {f"cell-{n}": 1 for n in range(100)}
    record(address, Path("out"), make_run(number, times))
print(*(run.id for run in History(address).runs(Choice())))
"""


def limited(words: list[str], url: str, runs: int) -> subprocess.CompletedProcess[str]:
    """Records that number of runs, in a process whose command line begins with `words`."""
    return run_python("-c", KEEP, url, runs, within=words, timeout=120)


# Root may write to read-only files while it has its capabilities.
PLAIN = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []


def test_read_only_history_is_a_warning_and_can_be_read(url: str, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    url = f"sqlite:///{folder / 'h.sqlite'}"
    history_of(url, make_run(7, {"a": 1}))
    before = (folder / "h.sqlite").read_bytes()
    (folder / "h.sqlite").chmod(0o444)
    folder.chmod(0o555)
    try:
        done = limited(PLAIN, url, 1)
    finally:
        folder.chmod(0o755)
    assert done.returncode == 0, done.stderr
    assert "warning: not kept in the history" in done.stderr
    assert "make it and its folder writable" in done.stderr or "be allowed to write" in done.stderr
    assert done.stdout.split() == ["1"]
    assert (folder / "h.sqlite").read_bytes() == before


def test_read_only_postgresql_is_a_warning(
    postgres: Server, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    name = postgres.new_database()
    history_of(postgres.url(name), make_run(7, {"a": 1}))
    with postgres.connect() as connection:
        connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    assert "is read-only" in kept(address_of(postgres.url(name)), tmp_path, capfd)
    assert len(History(address_of(postgres.url(name))).runs(Choice())) == 1


def assert_some_of_12_are_recorded(done: subprocess.CompletedProcess[str]) -> int:
    """Checks for a warning about each run that was not recorded; returns the number recorded."""
    assert done.returncode == 0, done.stderr
    kept = len(done.stdout.split())
    assert 0 < kept < 12
    assert done.stderr.count("warning: ") == 12 - kept
    return kept


def test_full_disk_is_a_warning_and_loses_no_recorded_run(tmp_path: Path) -> None:
    place = tmp_path / "full"
    place.mkdir()
    script = f'mount -t tmpfs -o size=512k rig {place} && exec "$@"'
    words = ["unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh"]
    if subprocess.run([*words, "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("no namespaces for users here")
    done = limited(words, f"sqlite:///{place / 'h.sqlite'}", 12)
    assert "no space is left" in done.stderr
    assert_some_of_12_are_recorded(done)


def test_file_size_limit_is_a_warning_and_loses_no_recorded_run(url: str) -> None:
    limit = shutil.which("prlimit")
    assert limit is not None
    done = limited([limit, "--fsize=300000"], url, 12)
    assert len(History(address_of(url)).runs(Choice())) == assert_some_of_12_are_recorded(done)


def test_clean_finds_the_history_that_it_does_not_remove(tmp_path: Path) -> None:
    environment = {"XDG_DATA_HOME": str(tmp_path)}
    assert history_file(environment) is None
    file = default_file(environment)
    history_of(f"sqlite:///{file}", make_run(1, {"a": 1}))
    assert history_file(environment) == file
