# SPDX-License-Identifier: GPL-2.0-or-later
"""A network namespace with a loopback interface and nothing else.

A process in it reaches the servers in it, and no other service of this machine. A process can enter
a new one with its future children (`enter_private_net`), or hold one open for others
(`PrivateNet`). Neither needs privileges if user namespaces are allowed.

Source: namespaces(7), user_namespaces(7), nsenter(1), unshare(1), netdevice(7).
"""

import contextlib
import ctypes
import fcntl
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
INTERFACE = struct.Struct("16sh14x")
LOOPBACK = b"lo"
READY, LISTEN = b"ready", b"listen"
WAIT_S = 20
MESSAGE_BYTES = 512
BACKLOG = 8
NO_NETWORK = "no private network"


class PrivateNet:
    """A private network that exists until it is closed. Raises `OSError` if none can be made."""

    def __init__(self) -> None:
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._ours.settimeout(WAIT_S)
        package = str(Path(__file__).parents[2])
        with theirs:
            self._holder = subprocess.Popen(
                [sys.executable, "-S", "-P", "-m", __name__, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                process_group=0,  # Ctrl-C must not reach it: this process ends it.
                env={**os.environ, "PYTHONPATH": package},
            )
        try:
            answer = self._ours.recv(MESSAGE_BYTES)
            if answer != READY:
                raise OSError(answer.decode(errors="replace") or f"{NO_NETWORK}: no answer")
        except OSError:
            self._holder.kill()
            self.close()
            raise

    @property
    def folder(self) -> str:
        """Returns the folder of its namespaces in /proc, valid until it is closed."""
        return f"/proc/{self._holder.pid}/ns"

    def listen(self) -> socket.socket:
        """Returns a socket that listens at a free port of that network's loopback interface."""
        self._ours.send(LISTEN)
        _, descriptors, _, _ = socket.recv_fds(self._ours, MESSAGE_BYTES, 1)
        if not descriptors:
            raise OSError(f"{NO_NETWORK}: its holder is gone")
        return socket.socket(fileno=descriptors[0])

    def close(self) -> None:
        """Closes it. The network lives on while a process runs in it."""
        with contextlib.suppress(OSError):
            self._ours.shutdown(socket.SHUT_RDWR)  # Other processes may have inherited the socket.
        self._ours.close()
        self._holder.wait()

    def __enter__(self) -> "PrivateNet":
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def words_into(folder: str) -> list[str]:
    """Returns the prefix of a command line that runs a program in the namespaces of `folder`.

    The process keeps its id.
    """
    user = [] if os.geteuid() == 0 else [f"--user={folder}/user", "--preserve-credentials"]
    return ["nsenter", *user, f"--net={folder}/net", "--"]


def new_net_words() -> list[str]:
    """Returns the prefix of a command line that runs a program in a new network.

    Even the loopback interface is down there, so the program reaches nothing.
    """
    user = [] if os.geteuid() == 0 else ["--user", "--map-current-user"]
    return ["unshare", *user, "--net", "--"]


def enter_private_net() -> None:
    """Moves this process, with all its future children, to a private network.

    The process must have one thread. Raises `OSError` if no such network can be made.
    """
    try:
        _leave_networks()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            interface = fcntl.ioctl(any_socket, SIOCGIFFLAGS, INTERFACE.pack(LOOPBACK, 0))
            flags = INTERFACE.unpack(interface)[1]
            fcntl.ioctl(any_socket, SIOCSIFFLAGS, INTERFACE.pack(LOOPBACK, flags | IFF_UP))
    except OSError as error:
        raise OSError(f"{NO_NETWORK}: {error}") from error


def _leave_networks() -> None:
    """Enters a new network namespace, and a new user namespace if this process is not root."""
    user, group, is_root = os.geteuid(), os.getegid(), os.geteuid() == 0
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET | (0 if is_root else CLONE_NEWUSER)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"unshare(2): {os.strerror(number)}")
    if not is_root:
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")


def _hold(line: socket.socket) -> None:
    try:
        enter_private_net()
    except OSError as error:
        line.send(str(error).encode()[:MESSAGE_BYTES])
        return
    line.send(READY)
    while line.recv(MESSAGE_BYTES) == LISTEN:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
            listening.bind(("127.0.0.1", 0))
            listening.listen(BACKLOG)
            socket.send_fds(line, [LISTEN], [listening.fileno()])


if __name__ == "__main__":
    _hold(socket.socket(fileno=int(sys.argv[1])))
