# SPDX-License-Identifier: GPL-2.0-or-later
"""The subject's library in our library client (images/library_client/), and its hazards."""

import re
from collections.abc import Sequence

from delayrig.base.durations import NS_PER_S, NS_PER_US
from delayrig.hazards.artifacts import Artifacts
from delayrig.hazards.hazard import (
    ANYWHERE,
    Hazard,
    due_times,
    matched,
    number_in,
)
from delayrig.model.cell import Cell
from delayrig.model.events import first
from delayrig.model.kinds.agent import SubjectEnd
from delayrig.model.kinds.library_client import HostEnd, HostStart
from delayrig.model.lane import LaneName
from delayrig.model.platform import Arch
from delayrig.subjects.delay_function import Askable, askable_functions
from delayrig.subjects.subject import Subject

RATES_HZ = range(1, 1001)
_SIGNALS = re.compile(r"([1-9][0-9]*)(,(alrm|chld|usr1))?(,restart)?")

ASKED_US = (
    *(0, 1, 9, 10, 11, 99, 100, 101, 999, 1_000, 1_001),
    # Around the limits at which releases sleep or poll.
    *(9_999, 10_000, 10_001, 99_999, 100_000, 100_001, 999_999, 1_000_000, 1_000_001),
    # 2**31 and 2**32 ns, where nanoseconds in 32 bits wrap; the worst value is just below a whole
    # second.
    *(2_147_483, 2_147_484, 4_294_967, 4_294_968, 4_999_999, 5_000_000, 8_589_935),
    # 2**31 us, where microseconds turn negative, and the longest possible request.
    *(2_147_483_647, 2_147_483_648, 4_294_967_295),
)
SHORT_US, SHORT_CALLS = 99, 400
"""A length below every release's threshold, and how often the client asks for it."""
NOTHING_TO_ASK = (
    "no function that delays was found in its library: build it unstripped, beside the program"
)


class InLibrary(Hazard):
    name = "library"
    archs = (Arch.X86_64,)
    about = "libflashrom in a program of ours, in place of the subject's command line program"
    lanes = ANYWHERE
    in_library = True

    def fault(self, cell: Cell, artifacts: Artifacts) -> str:
        """Returns a fault if the program ended by itself without reporting it."""
        ended = first(artifacts.events, SubjectEnd)
        if ended and ended.exit_code == 0 and first(artifacts.events, HostEnd) is None:
            return "the library client did not report its end"
        return ""


class Signals(InLibrary):
    """A timer of that rate and a handler: each signal interrupts a nanosleep().

    With `restart` the handler has SA_RESTART, which does not resume nanosleep() (signal(7)).
    """

    name = "signals"
    client_option = "--signals"
    form = "RATE[,alrm|chld|usr1][,restart]"
    ends_waits = True
    legend = f"RATE is {RATES_HZ.start} to {RATES_HZ[-1]} a second"
    about = "libflashrom in a program that handles RATE signals a second, such as signals:20"

    def __init__(self, value: str) -> None:
        super().__init__(value)
        self._rate_hz = number_in(matched(_SIGNALS, value)[1], RATES_HZ)
        self.phase_ns = NS_PER_S // self._rate_hz

    def fault(self, cell: Cell, artifacts: Artifacts) -> str:
        """Returns a fault if the program lived to report its signals, and none came."""
        ended = first(artifacts.events, HostEnd)
        if ended is None:
            return super().fault(cell, artifacts)
        due = due_times(artifacts, self._rate_hz, HostStart, HostEnd)
        return "no signal was handled" if due > 1 and not ended.signals else ""

    def missed(self, cell: Cell, artifacts: Artifacts) -> str:
        """Returns a reason if it handled too few: signals in a long system call are merged."""
        ended = first(artifacts.events, HostEnd)
        due = due_times(artifacts, self._rate_hz, HostStart, HostEnd)
        if ended is None or 2 * ended.signals >= due:
            return ""
        return f"it handled {ended.signals} signals where {due} were due"


class Threads(InLibrary):
    """Threads that compute for 1 ms, then sleep for 9: the process uses more CPU than the caller.

    They run on cores that the subject is not restricted to, if there are any. They block all
    signals.
    """

    name = "threads"
    client_option = "--threads"
    form = "N"
    values = range(1, 9)
    about = "libflashrom in a program of which N other threads (1 to 8) compute now and then"
    why_uncounted = "other threads of its program compute"

    def missed(self, cell: Cell, artifacts: Artifacts) -> str:
        ended = first(artifacts.events, HostEnd)
        return "" if ended is None or ended.turns else "the other threads never ran"


class Asked(InLibrary):
    """Calls of the library's delay function after the job, for waits that the rig chooses."""

    lanes = (LaneName.VIRTUAL,)
    why_uncounted = "the rig asked for its waits"

    def words_of(self, subject: Subject, option: str, lengths_us: Sequence[int]) -> Sequence[str]:
        """Returns the client's words for calls of the only function that delays."""
        function = next(iter(askable_functions(subject)), Askable(0))
        asks = ",".join(str(us * function.per_us) for us in lengths_us)
        words = ("--delay", str(function.address), option, asks)
        return (*words, "--argument", str(function.argument)) if function.argument else words

    def refusal(self, subject: Subject) -> str:
        """Returns why no function can be called; empty if exactly one delays.

        If several delay, it is not known which of them accepts every length.
        """
        functions = askable_functions(subject)
        if not functions:
            return NOTHING_TO_ASK
        return "" if len(functions) == 1 else f"{len(functions)} functions of its library delay"


class ShortWaits(Asked):
    """Waits that are short enough to poll, begun 10 ms before a full second of the polled clock.

    A job has few of them. They may be too short if the clock counts the CPU time of all threads (at
    a tick of another core), if the program compares only seconds, or if the clock is stepped.
    """

    name = "short-waits"
    about = f"its delay function is asked for {SHORT_US} us, 400 times, across full seconds"

    def subject_words(self, subject: Subject) -> Sequence[str]:
        return self.words_of(subject, "--across", [SHORT_US])

    def missed(self, cell: Cell, artifacts: Artifacts) -> str:
        calls = artifacts.delays.calls if artifacts.delays else []
        unseen = SHORT_CALLS - sum(call.requested_ns == SHORT_US * NS_PER_US for call in calls)
        return f"{unseen} of {SHORT_CALLS} calls were not seen" if unseen > 0 else ""


class LongWaits(Asked):
    """Calls of the delay function after the job, with lengths at which arithmetic may overflow.

    The virtual lane skips idle time, so hours of waits pass at once.
    """

    name = "long-waits"
    about = "its delay function is asked for 0 to 4295 s, at each side of every known boundary"
    deadline_ms = 20_000_000  # more than all of the waits
    host_limit_s = 45
    """The limit of host time. A subject that polls during these waits would take hours."""

    def subject_words(self, subject: Subject) -> Sequence[str]:
        return self.words_of(subject, "--ask", ASKED_US)

    def missed(self, cell: Cell, artifacts: Artifacts) -> str:
        calls = artifacts.delays.calls if artifacts.delays else []
        unseen = set(ASKED_US) - {call.requested_ns // NS_PER_US for call in calls}
        return f"{len(unseen)} of {len(ASKED_US)} calls were not seen" if unseen else ""
