# SPDX-License-Identifier: GPL-2.0-or-later
"""Every wait of the emulator ends at once on a signal, or when its client disconnects."""

import os
import signal
import socket
import struct
import subprocess
import time
from pathlib import Path

import pytest
from delayrig.judge.trust import CUT_OFF
from delayrig.model.events import of_kind, read_events
from delayrig.model.kinds.emulator import Cycle, End, Serprog, Spi

from .emulator import LIMIT_S, PATHS, running

# Each wait below lasts far longer than LIMIT_S. One that ends within the limit was interrupted.
BEGIN_S = 0.3
"""The time in which the emulator begins its wait. A client cannot see when it does."""
ACK, NAK = b"\x06", b"\x15"
SYNCNOP_ANSWERED = NAK + ACK

DELAY_4294_S = bytes([0x0E]) + struct.pack("<I", 0xFFFFFFFF)
WRITE_BYTE = bytes([0x0C, 0x55, 0x55, 0x00, 0xAA])
EXECUTE = bytes([0x0F])
AT_1_HZ = bytes([0x14]) + struct.pack("<I", 1)
READ_STATUS_65535 = bytes([0x13, 1, 0, 0, 0xFF, 0xFF, 0, 0x05])
NOP = b"\x00"

PARALLEL = ("--chip", "SST39SF040")
SPI = ("--chip", "W25Q128JV")
WAITS: dict[str, tuple[tuple[str, ...], bytes, int]] = {
    # Options of the emulator, bytes from the client, and the number of bytes in the answer.
    "native delay": ((*PARALLEL, "--native-delay"), DELAY_4294_S + EXECUTE, 1),
    "native delay on SPI": ((*SPI, "--native-delay"), DELAY_4294_S + EXECUTE, 1),
    "delay between writes": (
        (*PARALLEL, "--native-delay"),
        WRITE_BYTE + DELAY_4294_S + WRITE_BYTE + EXECUTE,
        3,
    ),
    "wire time": ((*SPI, "--spi-wire-time"), AT_1_HZ + READ_STATUS_65535, 5),
    "slow line": ((*SPI, "--link", "baud=1"), NOP * 1000, 0),
    "delayed reply": ((*SPI, "--fault", "delay:3600000000@1"), NOP, 0),
    "next request": (SPI, NOP, 1),
}


def receive(client: socket.socket, wanted: int) -> bytes:
    received = b""
    while len(received) < wanted:
        piece = client.recv(wanted - len(received))
        assert piece, received
        received += piece
    return received


def begin_wait(port: str, name: str) -> socket.socket:
    _, sent, answered = WAITS[name]
    client = socket.create_connection(("127.0.0.1", int(port)), timeout=LIMIT_S)
    client.sendall(sent)
    receive(client, answered)
    time.sleep(BEGIN_S)
    return client


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("name", WAITS)
def test_signal_ends_any_wait_at_once(tmp_path: Path, name: str, number: signal.Signals) -> None:
    with running(tmp_path, *WAITS[name][0]) as (process, port), begin_wait(port, name):
        process.send_signal(number)
        assert process.wait(LIMIT_S) == 0
        assert process.stderr is not None
        assert CUT_OFF in process.stderr.read()
    assert isinstance(read_events(tmp_path)[-1], End)


@pytest.mark.parametrize("name", [name for name in WAITS if name != "next request"])
def test_disconnection_of_the_client_ends_any_wait(tmp_path: Path, name: str) -> None:
    with running(tmp_path, *WAITS[name][0], "--clients", "1") as (process, port):
        client = begin_wait(port, name)
        assert process.poll() is None
        client.close()
        assert process.wait(LIMIT_S) == 0


def test_next_client_is_served_after_one_disconnected_during_its_delay(tmp_path: Path) -> None:
    words = (*PARALLEL, "--native-delay", "--clients", "2")
    with running(tmp_path, *words) as (process, port):
        begin_wait(port, "delay between writes").close()
        with socket.create_connection(("127.0.0.1", int(port)), timeout=LIMIT_S) as client:
            client.sendall(b"\x10")
            assert receive(client, 2) == SYNCNOP_ANSWERED
        assert process.wait(LIMIT_S) == 0
    events = read_events(tmp_path)
    executions = [request for request in of_kind(events, Serprog) if request.op == "0x0f"]
    assert [request.ack for request in executions] == [False]
    # Only the byte before the delay was written.
    assert len(of_kind(events, Cycle)) == 1


def test_interrupted_transfer_does_not_reach_the_part(tmp_path: Path) -> None:
    with running(tmp_path, *SPI, "--spi-wire-time", "--clients", "1") as (process, port):
        begin_wait(port, "wire time").close()
        assert process.wait(LIMIT_S) == 0
    assert of_kind(read_events(tmp_path), Spi) == []


def test_sigterm_ends_an_emulator_in_standby() -> None:
    ready, report_ready = os.pipe()
    requests, send_request = os.pipe()
    process = subprocess.Popen(
        [PATHS.emulator, "--standby", f"{report_ready},{requests}"],
        pass_fds=(report_ready, requests),
        stderr=subprocess.DEVNULL,
    )
    try:
        assert os.read(ready, 1) == b"\0"
        process.terminate()
        assert process.wait(LIMIT_S) == 99
    finally:
        process.kill()
        for fd in (ready, report_ready, requests, send_request):
            os.close(fd)
