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
    """The fate of the operation."""

    HANG_UP = "the link is cut before it gets through"
    GARBAGE = "its answer is no serprog answer"
    SILENCE = "it is never answered"
    LIE = "it is answered as done, but never gets through"


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultyOperation:
    """The `nth` operation that sends `opcode` to the chip, and each one after it if `forever`."""

    fault: Fault
    opcode: int
    nth: int = 1
    forever: bool = False
    answer: bytes | None = None  # the bytes that a LIE reads; None for zeros


def is_operation(request: bytes, opcode: int) -> bool:
    """Returns True if the request is a SPI operation with that opcode."""
    return len(request) > HEADER_BYTES and request[0] == O_SPIOP and request[7] == opcode


def split(sent: bytes) -> list[bytes]:
    """Splits the bytes of a client into SPI operations, and the rest after them."""
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
    """Both ends of the link, and the number of times that the operation was seen."""

    def __init__(
        self, host: socket.socket, device: socket.socket, operation: FaultyOperation
    ) -> None:
        self._host = host
        self._device = device
        self._operation = operation
        self._seen = 0

    def run(self) -> None:
        """Passes requests and answers until an end hangs up or the fault ends the link."""
        going = True
        while going:
            ready, _, _ = select.select([self._host, self._device], [], [])
            if self._device in ready:
                going = self._pass_answer()
            if going and self._host in ready:
                going = self._pass_request()

    def _pass_answer(self) -> bool:
        answer = self._device.recv(CHUNK_BYTES)
        self._host.sendall(answer)
        return bool(answer)

    def _pass_request(self) -> bool:
        sent = self._host.recv(CHUNK_BYTES)
        unanswered = 0
        for request in split(sent):
            if self._is_hit(request):
                self._pass_exactly(unanswered)
                return self._go_wrong(request)
            self._device.sendall(request)
            unanswered += answer_bytes(request)
        return bool(sent)

    def _pass_exactly(self, count: int) -> None:
        """Passes that number of bytes: the answers to all requests before the faulty operation."""
        while count > 0:
            answer = self._device.recv(count)
            self._host.sendall(answer)
            count -= len(answer) or count

    def _is_hit(self, request: bytes) -> bool:
        if not is_operation(request, self._operation.opcode):
            return False
        self._seen += 1
        late = self._operation.forever and self._seen > self._operation.nth
        return self._seen == self._operation.nth or late

    def _go_wrong(self, request: bytes) -> bool:
        match self._operation.fault:
            case Fault.HANG_UP:
                return False
            case Fault.GARBAGE:
                self._host.sendall(b"\x55")
            case Fault.SILENCE:
                pass
            case Fault.LIE:
                self._host.sendall(false_answer(request, self._operation.answer))
        return True


def _serve(listener: socket.socket, device_port: int, operation: FaultyOperation) -> None:
    try:
        host, _ = listener.accept()
    except OSError:  # No client has come.
        return
    with host, socket.create_connection(("127.0.0.1", device_port)) as device:
        for end in (host, device):  # else TCP delays requests until it has an answer
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # A client that has all that it wanted may hang up while an answer is on its way.
        try:
            _Relay(host, device, operation).run()
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
