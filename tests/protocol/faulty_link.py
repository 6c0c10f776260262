# SPDX-License-Identifier: GPL-2.0-or-later
"""A link to the serprog emulator that fails at one chosen SPI operation."""

import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum

ACK = b"\x06"
O_SPIOP = 0x13
HEADER_BYTES = 7  # the opcode of serprog, and two lengths of 24 bits
CHUNK_BYTES = 65536


class Fault(Enum):
    """A fault of one SPI operation."""

    HANG_UP = "the link is cut before the operation reaches the device"
    GARBAGE = "the answer is not a serprog answer"
    SILENCE = "the operation gets no answer"
    LIE = "the answer is an ACK, but the operation does not reach the device"


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultyOperation:
    """The `nth` operation that sends `opcode` to the chip; with `forever` also all later ones."""

    fault: Fault
    opcode: int
    nth: int = 1
    forever: bool = False
    answer: bytes | None = None  # the bytes that a LIE reads; None for zeros


def is_operation(request: bytes, opcode: int) -> bool:
    """Returns True if the request is a SPI operation with that opcode."""
    return len(request) > HEADER_BYTES and request[0] == O_SPIOP and request[7] == opcode


def split(sent: bytes) -> list[bytes]:
    """Splits the bytes of a client into SPI operations and the rest."""
    requests: list[bytes] = []
    while sent[:1] == bytes([O_SPIOP]):
        size_bytes = HEADER_BYTES + int.from_bytes(sent[1:4], "little")
        requests.append(sent[:size_bytes])
        sent = sent[size_bytes:]
    return [*requests, sent] if sent else requests


def answer_bytes(request: bytes) -> int:
    """Returns the size of the answer to a SPI operation: an ACK, and the bytes that it reads."""
    return len(ACK) + int.from_bytes(request[4:7], "little")


def false_answer(request: bytes, answer: bytes | None) -> bytes:
    """Returns a false answer of the same size as the true one."""
    return ACK + (answer or bytes(answer_bytes(request) - len(ACK)))


class _Relay:
    """The two connections of the link, and the number of matching operations so far."""

    def __init__(
        self, client: socket.socket, device: socket.socket, operation: FaultyOperation
    ) -> None:
        self._client = client
        self._device = device
        self._operation = operation
        self._seen = 0

    def run(self) -> None:
        """Passes requests and answers until one end closes or the fault ends the link."""
        going = True
        while going:
            ready, _, _ = select.select([self._client, self._device], [], [])
            if self._device in ready:
                going = self._pass_answer()
            if going and self._client in ready:
                going = self._pass_request()

    def _pass_answer(self) -> bool:
        answer = self._device.recv(CHUNK_BYTES)
        self._client.sendall(answer)
        return bool(answer)

    def _pass_request(self) -> bool:
        sent = self._client.recv(CHUNK_BYTES)
        unanswered = 0
        for request in split(sent):
            if self._is_faulty(request):
                self._pass_exactly(unanswered)
                return self._inject_fault(request)
            self._device.sendall(request)
            unanswered += answer_bytes(request)
        return bool(sent)

    def _pass_exactly(self, count: int) -> None:
        """Passes that number of bytes: the answers to all requests before the faulty operation."""
        while count > 0:
            answer = self._device.recv(count)
            self._client.sendall(answer)
            count -= len(answer) or count

    def _is_faulty(self, request: bytes) -> bool:
        if not is_operation(request, self._operation.opcode):
            return False
        self._seen += 1
        return self._seen == self._operation.nth or (
            self._operation.forever and self._seen > self._operation.nth
        )

    def _inject_fault(self, request: bytes) -> bool:
        match self._operation.fault:
            case Fault.HANG_UP:
                return False
            case Fault.GARBAGE:
                self._client.sendall(b"\x55")
            case Fault.SILENCE:
                pass
            case Fault.LIE:
                self._client.sendall(false_answer(request, self._operation.answer))
        return True


def _serve(listener: socket.socket, device_port: int, operation: FaultyOperation) -> None:
    try:
        client, _ = listener.accept()
    except OSError:  # The link was closed before a client connected.
        return
    with client, socket.create_connection(("127.0.0.1", device_port)) as device:
        for end in (client, device):  # otherwise TCP delays requests until it has an answer
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # A client that has finished may hang up before it has received the last answer.
        try:
            _Relay(client, device, operation).run()
        except ConnectionError:
            return


@contextmanager
def faulty_link(device_port: int, operation: FaultyOperation) -> Iterator[int]:
    """Opens a link to `device_port` for one client; yields the port of the link."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_serve, args=(listener, device_port, operation))
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)  # This ends accept(), which close() does not.
            thread.join()
