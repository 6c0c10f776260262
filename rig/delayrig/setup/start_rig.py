# SPDX-License-Identifier: GPL-2.0-or-later
"""The start of the rig once the machine is set up, and the meaning of its exit."""

import os
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence

from delayrig.setup.errors import ExitCode
from delayrig.setup.layout import STATE_VARIABLE, Layout

STARTED_BY = "started_by"
"""The -X option that tells the rig which process waits for it."""
SAYS_UNSAFE = 101
"""The exit code that stands for 1 between rig and launcher: Python exits with 1 if it fails."""
DEATHS_OF_PYTHON = (1, 120)  # 120: output could not be flushed at the end
PASSED_ON = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
SI_KERNEL = 0x80  # sigaction(2): from the terminal, which sends it to the program as well


def rig_argv(layout: Layout, arguments: Sequence[str]) -> list[str]:
    return [str(layout.python), "-P", "-m", "delayrig", *arguments]


def rig_environment(layout: Layout, environment: Mapping[str, str]) -> dict[str, str]:
    """Returns the rig's environment variables, without the user's own Python packages.

    Byte code goes to the state, so that the checkout stays clean. Without byte code each start
    takes three times as long, so PYTHONDONTWRITEBYTECODE is ignored.
    """
    return {
        **environment,
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": environment.get("PYTHONPYCACHEPREFIX") or str(layout.bytecode),
        "PYTHONPATH": str(layout.package_path),
        "PYTHONNOUSERSITE": "1",
        STATE_VARIABLE: str(layout.state),
    }


def run_rig(layout: Layout, arguments: Sequence[str]) -> int:
    """Runs the rig, and returns its exit code; 99 if it fails.

    The rig unblocks SIGINT as soon as it can handle it. Python would print a traceback if it were
    interrupted while it starts.
    """
    python, *rest = rig_argv(layout, arguments)
    argv = [python, "-X", f"{STARTED_BY}={os.getpid()}", *rest]
    blocked = {signal.SIGINT}
    status, received = run_forwarding(argv, rig_environment(layout, os.environ), blocked=blocked)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in received:
        _die_of(os.WTERMSIG(status))
    return _exit_code(os.waitstatus_to_exitcode(status))


def run_forwarding(
    argv: list[str], environment: Mapping[str, str], *, blocked: Iterable[int] = ()
) -> tuple[int, set[int]]:
    """Runs a program, and forwards the signals that only this process receives.

    The program starts with the `blocked` signals blocked. Returns its wait status, and the signals
    that this process received.
    """
    sys.stderr.flush()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {*PASSED_ON, signal.SIGCHLD})
    program = os.posix_spawnp(argv[0], argv, environment, setsigmask={*before, *blocked})
    numbers: set[int] = set()
    while True:
        received = signal.sigwaitinfo({*PASSED_ON, signal.SIGCHLD})
        if received.si_signo == signal.SIGCHLD:
            ended, status = os.waitpid(program, os.WNOHANG)
            if ended:
                return status, numbers
            continue
        numbers.add(received.si_signo)
        if received.si_code != SI_KERNEL or received.si_signo == signal.SIGHUP:
            os.kill(program, received.si_signo)


def _die_of(number: int) -> None:
    """Ends this process as the rig was ended, by a signal that both got."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})


def _exit_code(code: int) -> int:
    if code == SAYS_UNSAFE:
        return ExitCode.UNSAFE
    if code >= 0 and code not in DEATHS_OF_PYTHON:
        return code
    how = f"signal {-code}" if code < 0 else f"exit code {code} of Python"
    sys.stderr.write(f"rig/rig: the rig died ({how}), which says nothing about any flashrom\n")
    return ExitCode.RIG_FAULT
