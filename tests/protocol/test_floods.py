# SPDX-License-Identifier: GPL-2.0-or-later
"""Clients that flood the emulator: it disconnects them, reports why, and writes its events."""

import socket
import subprocess
from pathlib import Path

import pytest
from delayrig.model.events import Event, needed, of_kind, read_events
from delayrig.model.kinds.emulator import End, GaveUp

from tests.flooding import Flood, build_flood

from .emulator import running

CHIP = ("--chip", "W25Q128JV")
LIMIT_S = 120
RECORDS = 20_000
RECORD_BYTES_MAX = 400
NOP_ANSWERED = b"\x06"


def flooded(folder: Path, flood: Flood, listen: str) -> tuple[str, list[Event]]:
    """Runs a client that floods; returns the emulator's messages and its events."""
    records = ("--records-max", str(RECORDS))
    with running(folder, *CHIP, "--listen", listen, *records) as (process, place):
        parameters = f"dev={place}:115200" if listen == "pty" else f"ip=127.0.0.1:{place}"
        words = [str(build_flood(flood, folder)), "-p", f"serprog:{parameters}"]
        client = subprocess.run(
            words, timeout=LIMIT_S, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        assert client.returncode != 0
        _, messages = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0, messages
    events = read_events(folder)
    assert (folder / "events.jsonl").stat().st_size <= len(events) * RECORD_BYTES_MAX
    return messages, events


@pytest.mark.parametrize("listen", ["tcp:127.0.0.1:0", "pty"])
@pytest.mark.parametrize(
    ("flood", "bound"),
    [(Flood.GARBAGE, "refused-requests"), (Flood.NOPS, "records"), (Flood.STATUS, "records")],
)
def test_flooding_client_is_disconnected_and_reported(
    tmp_path: Path, flood: Flood, bound: str, listen: str
) -> None:
    messages, events = flooded(tmp_path, flood, listen)
    (gave_up,) = of_kind(events, GaveUp)
    assert gave_up.bound == bound
    assert messages.count("hung up on the client") == 1
    assert f"the bound of {gave_up.count}" in messages
    assert needed(events[-1:], End).clean
    # Records up to the bound, of the start and the end, and of one more request.
    assert len(events) <= RECORDS + 10


def test_client_is_disconnected_after_65536_requests_without_an_operation_on_the_part(
    tmp_path: Path,
) -> None:
    with (
        running(tmp_path, *CHIP) as (process, port),
        socket.create_connection(("127.0.0.1", int(port))) as client,
    ):
        client.sendall(bytes(60_000))
        # An operation on the part resets the count.
        client.sendall(bytes.fromhex("1301000001000005"))
        client.sendall(bytes(65_535))
        wanted = 60_000 + 2 + 65_535
        assert len(client.recv(wanted, socket.MSG_WAITALL)) == wanted
        client.sendall(b"\0")
        assert client.recv(1) == NOP_ANSWERED
        assert client.recv(1) == b""
        assert process.wait(LIMIT_S) == 0
        assert process.stderr is not None
        assert "the bound of 65536" in process.stderr.read()


def test_next_client_is_served_after_a_flooding_one(tmp_path: Path) -> None:
    with running(tmp_path, *CHIP, "--clients", "2") as (process, port):
        with socket.create_connection(("127.0.0.1", int(port))) as client:
            client.sendall(b"\xff" * 4096)
            while client.recv(4096):
                pass
        with socket.create_connection(("127.0.0.1", int(port))) as client:
            client.sendall(b"\0")
            assert client.recv(1) == NOP_ANSWERED
        assert process.wait(LIMIT_S) == 0
