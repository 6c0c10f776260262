# SPDX-License-Identifier: GPL-2.0-or-later
"""Cells on other machines: the addresses in use, the files that travel, and refused workers."""

import zlib
from pathlib import Path

import msgspec
import pytest
from delayrig.base.errors import BadInputError, RigFaultError
from delayrig.plan.cluster import TLS_FILES, check_address, check_cluster
from delayrig.run.artifact_transfer import pack_left, unpack_left
from delayrig.run.cell_runner import keep_result
from delayrig.run.cluster.kit import refusal
from delayrig.run.resume import RESULT

from tests.rig.builders import make_cell, make_result

LEAVES = ["tcp://192.0.2.7:8786", "tcp://[2001:db8::1]:8786", "tcp://rig.example:8786"]
STAYS = ["tcp://127.0.0.1:8786", "tcp://[::1]:8786", "tcp://localhost:8786"]
NO_ADDRESS = ["local:0", "local:", "local:two", "127.0.0.1:8786", "tcp://127.0.0.1", "tcp://:1", ""]


@pytest.fixture
def tls(tmp_path: Path) -> Path:
    for name in TLS_FILES:
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize("address", LEAVES)
def test_address_beyond_loopback_needs_tls(address: str, tls: Path) -> None:
    with pytest.raises(BadInputError, match="needs TLS") as raised:
        check_cluster(address, None)
    assert "--tls DIR" in raised.value.hint
    assert check_cluster(address, tls).address == address.replace("tcp:", "tls:")


@pytest.mark.parametrize("address", STAYS)
def test_loopback_needs_no_tls(address: str) -> None:
    assert check_cluster(address, None).address == address


@pytest.mark.parametrize("given", NO_ADDRESS)
def test_what_is_no_address_is_refused(given: str) -> None:
    with pytest.raises(BadInputError, match="no address of a scheduler"):
        check_cluster(given, None)


def test_local_workers_are_no_address_of_a_scheduler() -> None:
    assert check_cluster("local:3", None).local_workers == 3
    with pytest.raises(BadInputError, match="no address of a scheduler"):
        check_address("local:3", None, option="worker")


@pytest.mark.parametrize("name", TLS_FILES)
def test_file_that_tls_lacks_is_named(name: str, tls: Path) -> None:
    (tls / name).unlink()
    with pytest.raises(BadInputError, match=name):
        check_cluster("tls://rig.example:8786", tls)


def test_what_a_cell_left_arrives_as_it_was(tmp_path: Path) -> None:
    result = make_result(make_cell(name="one"))
    left, arrived = tmp_path / "left", tmp_path / "arrived"
    (left / "first-try").mkdir(parents=True)
    (left / "events.jsonl").write_bytes(b"\0\xff" * 100)
    (left / "first-try" / "qemu.log").touch()
    keep_result(result, left)
    assert unpack_left(pack_left(left), arrived) == result
    (left / RESULT).unlink()  # the receiver writes this file itself, at the end
    assert _files(arrived) == _files(left)


@pytest.mark.parametrize("name", ["../events.jsonl", "/tmp/events.jsonl", "a/../../b", ""])
def test_file_for_another_folder_is_refused(tmp_path: Path, name: str) -> None:
    result = msgspec.json.encode(make_result(make_cell(name="one")))
    files = {name: b"", "result.json": result}
    with pytest.raises(RigFaultError, match="named"):
        unpack_left(zlib.compress(msgspec.msgpack.encode(files)), tmp_path / "cell")
    assert not _files(tmp_path)


def test_worker_with_another_qemu_is_refused_by_names_and_digests() -> None:
    needs = {"qemu": "aaaa", "qemu i386": "bbbb", "turns": "cccc"}
    assert refusal(needs, {**needs, "qemu arm64": "dddd"}) == ""
    why = refusal(needs, {"qemu": "eeee", "turns": "cccc"})
    assert why == (
        "its qemu is eeee, and this run has aaaa; its qemu i386 is missing, and this run has bbbb"
    )


def _files(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}
