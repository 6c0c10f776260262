# SPDX-License-Identifier: GPL-2.0-or-later
"""`results.json`: its content, and how it is written, read and checked."""

import contextlib
import json
import os
import re
import stat
from decimal import Decimal
from enum import StrEnum
from operator import attrgetter
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec

from delayrig.base.atomic_file import write_json
from delayrig.base.errors import NOT_JSON, BadInputError, ExitCode, UnknownNameError
from delayrig.base.garbage import without_collections
from delayrig.base.text import DIRECTIONS
from delayrig.model.cell import WATCHING, Expect, Role, place_of
from delayrig.model.evidence import Evidence
from delayrig.model.kinds.kind import NUMBER_MAX
from delayrig.model.lane import EXACT_LANE
from delayrig.model.phases import Amount, TimeSplit
from delayrig.model.platform import Arch, labelled

SCHEMA = 1
FILE_NAME = "results.json"
FILE_BYTES_MAX = 256 << 20
_MAY_BE_LARGE = re.compile(rb"[0-9]{19}|[0-9][eE]\+?[0-9]{2}")
_DIRECTION = re.compile("|".join(DIRECTIONS).encode())
_CODES = "|".join(f"{ord(control):04x}" for control in DIRECTIONS).encode()
_ESCAPED_DIRECTION = re.compile(rb"\\u(?:" + _CODES + rb")", re.IGNORECASE)
_ESCAPE = re.compile(rb"\\(?:u(" + _CODES + rb")|.)", re.IGNORECASE | re.DOTALL)
ID_DOTS_MIN = 2
"""An id has at least a name, a subject and a place."""
ID_BYTES_MAX = 255
"""The longest name in a file system."""
MISSING = re.compile(r"Object missing required field `(\w+)`")


class Verdict(StrEnum):
    """The verdict of a cell."""

    PASS = "pass"
    TOO_SHORT = "too_short"
    CORRUPT = "corrupt"
    OP_FAILED = "op_failed"
    HUNG = "hung"
    INCONCLUSIVE = "inconclusive"
    INFRA_ERROR = "infra_error"
    SKIPPED = "skipped"


UNSAFE = (Verdict.TOO_SHORT, Verdict.CORRUPT)


class SubjectFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The flashrom of a cell. `version` is what the program itself reports."""

    name: str
    version: str = ""
    sha256: str = ""
    threshold_us: int | None = None
    library: bool = False
    """True if its libflashrom did the job. `sha256` is then that of the library."""


class GuestFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The guest. Speeds are million guest instructions a second of each core."""

    arch: str
    mips: list[float]
    cores: int
    kernel: str = ""
    cmdline: str = ""
    clocksource: str = ""


class CpuTime(msgspec.Struct, frozen=True, kw_only=True):
    """The CPU time of the subject."""

    user: Amount = 0
    sys: Amount = 0


class DelayCount(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of the subject's delay functions."""

    seen: int
    judged: int
    """The calls that the rig could judge: long enough, or too short."""


class SiteWaits(msgspec.Struct, frozen=True, kw_only=True):
    """The delays of one length that one call site asked for."""

    callers: list[str]
    """The frames of its call stack, the nearest first; empty if unknown."""
    requested_ns: int
    count: int
    short: int
    """The number of delays that were too short."""
    least_ns: tuple[int, int]
    """The least and greatest possible duration of the delay with the largest shortfall."""
    error_ns: int
    """The error of the clocks that measured that delay."""


class EmulatorFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The emulator's latency and its real-time rights; null if no emulator served."""

    realtime: bool | None = None
    """True if it had real-time priority and locked memory."""
    wake_latency_ns_max: int | None = None
    """The latency measured before the cell; null if links or faults delay something."""


class Ending(StrEnum):
    """How a subject ended. The data on the chip plays no part."""

    DONE = "done"
    """It reported success."""
    FAILED = "failed"
    """It reported a failure."""
    CRASHED = "crashed"
    """A signal ended it."""
    OUT_OF_TIME = "out-of-time"
    """The rig ended it at its deadline."""
    CUT_OFF = "cut-off"
    """The emulator closed the connection, because the subject sent too many requests."""


class CellResult(msgspec.Struct, frozen=True, kw_only=True):
    """One cell. `reason` explains the verdict in words."""

    id: str
    lane: str
    role: str
    subject: SubjectFacts
    guest: GuestFacts
    hazards: list[str]
    chip: str
    corner: str
    bus: str
    programmer: str
    job: str
    region_bytes: Amount = 0
    verdict: Verdict
    expect: str
    reason: str
    retried_after: str = ""
    """Why the rig lost the first run of this cell; the result is from the second run."""
    not_provided: str = ""
    """The packages that the archive did not deliver, if that is why the cell was skipped."""
    evidence: list[Evidence] = []
    judged: list[str] = []
    unjudged: list[str] = []
    smallest_visible_short_ns: int | None = None
    """The smallest shortfall that would have convicted a delay; null: no delay was judged."""
    delays: DelayCount | None = None
    """The observed calls of delay functions; null if these were not watched."""
    waits: list[SiteWaits] = []
    """The delays that were judged, by call site."""
    not_waited_ns: int = 0
    """The sum of the convicted delays' shortfalls."""
    job_done: bool = False
    """True if the subject reported success and the data is right."""
    ending: Ending | None = None
    """How the subject ended; null if it did not run."""
    unfinished: bool = False
    """True if the rig ended the subject while it was at work; more time might have been enough."""
    time_ns: TimeSplit = TimeSplit()
    cpu_ns: CpuTime = CpuTime()
    chip_busy_ns: Amount = 0
    wire_ns: Amount = 0
    overshoot_ns: Amount = 0
    transfers: Amount = 0
    context_switches: Amount = 0
    emulator: EmulatorFacts = EmulatorFacts()
    events_sha256: str = ""
    host_s: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    worker: str = ""
    """The host name and process id of the cluster's worker that ran it; empty: it ran here."""
    rerun: str

    @property
    def place(self) -> str:
        """Returns its place, which it shares with cells of other subjects."""
        return place_of(self.id)

    @property
    def subject_label(self) -> str:
        """Returns the subject's name, with its architecture if that is not the usual one."""
        return labelled(self.subject.name, Arch(self.guest.arch))

    @property
    def total_cpu_ns(self) -> int:
        return self.cpu_ns.user + self.cpu_ns.sys

    @property
    def is_expected(self) -> bool:
        """Returns True if the plan expects this verdict. Each value but `any` names one verdict."""
        if self.expect == Expect.ANY:
            return self.verdict in (Verdict.PASS, Verdict.TOO_SHORT, Verdict.INCONCLUSIVE)
        return self.verdict == self.expect

    @property
    def exit_code(self) -> ExitCode:
        """Returns the exit code of this cell alone."""
        if self.is_expected:
            return ExitCode.PASS
        if self.not_provided:
            # Any cell may be skipped. The run as a whole checks that enough canaries are left.
            return ExitCode.SKIPPED
        if self.verdict is Verdict.INCONCLUSIVE and self.lane != EXACT_LANE:
            return ExitCode.INCONCLUSIVE  # The machine was busy: not a fault of the rig.
        if self.verdict is Verdict.INFRA_ERROR or self.role != Role.MEASURE:
            return ExitCode.RIG_FAULT
        if self.verdict is Verdict.SKIPPED:
            return ExitCode.SKIPPED
        if self.verdict in UNSAFE or self.expect == Expect.TOO_SHORT:
            return ExitCode.UNSAFE
        return ExitCode.INCONCLUSIVE


class ContrastVerdict(StrEnum):
    """The result of a contrast between two subjects."""

    SEEN = "seen"
    MISSING = "missing"
    UNJUDGED = "unjudged"


class ContrastResult(msgspec.Struct, frozen=True, kw_only=True):
    """A comparison of two subjects in the same place; `cell` and `against` are ids of cells."""

    cell: str
    against: str
    figure: str
    at_least: float
    ours_ns: int
    theirs_ns: int
    verdict: ContrastVerdict
    reason: str

    @property
    def exit_code(self) -> ExitCode:
        """Returns the exit code. A missing contrast counts as a missing conviction."""
        match self.verdict:
            case ContrastVerdict.SEEN:
                return ExitCode.PASS
            case ContrastVerdict.MISSING:
                return ExitCode.UNSAFE
            case ContrastVerdict.UNJUDGED:
                return ExitCode.INCONCLUSIVE

    @property
    def ratio(self) -> float | None:
        """Returns the ratio of the figures; None if the other cell has no such figure."""
        return self.ours_ns / self.theirs_ns if self.theirs_ns else None


class CpuFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One CPU as its kernel describes it; null or empty if unknown."""

    cpu: int
    core: int | None = None
    package: int | None = None
    siblings: str = ""
    """The CPUs that share its core, including itself."""
    capacity: int | None = None
    """The capacity: 1024 for the fastest CPU of the machine, and less for slower ones."""
    khz_min: int | None = None
    khz_max: int | None = None
    khz: int | None = None
    """The frequency when the run began."""
    driver: str = ""
    governor: str = ""
    idle_states: list[str] = []


class HostFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The machine on which the run was made."""

    cpus: int
    kernel: str
    machine: str
    os: str
    clocksource: str = ""
    clocksources: list[str] = []
    idle_driver: str = ""
    smt: str = ""
    rt_runtime_us: str = ""
    cpu: list[CpuFacts] = []


class NotProvided(msgspec.Struct, frozen=True, kw_only=True):
    """Packages that some cells need and the archive did not deliver."""

    what: str
    cause: str


class RunHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The inputs of a run."""

    rig_version: str
    commit: str
    plan: str
    seed: int
    argv: list[str]
    started: str
    host: HostFacts
    qemu_version: str
    libvirt_version: str
    image_digests: dict[str, str]
    lock: str
    """`same` if the packages are those of images/lock.toml, `differs` if the archive has moved on,
    `incomplete` if the lock lacks some."""
    cells_planned: int
    not_provided: list[NotProvided] = []
    workers: list[str] = []
    """The workers of a cluster, by their names in cells; empty if all ran here."""
    interrupted: bool = False
    confined: bool | None = None
    """On the host lane, whether the subject was confined; on the live lane, whether its guest was.

    A confined guest has a network of its own. Null: a virtual guest, which has no network.
    """


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file."""

    schema: int = SCHEMA
    run: RunHeader
    cells: list[CellResult]
    contrasts: list[ContrastResult] = []

    @property
    def measured(self) -> list[CellResult]:
        """Returns the cells that measure a subject, without canaries, controls and floors."""
        return [cell for cell in self.cells if cell.role == Role.MEASURE]

    @property
    def watching(self) -> list[CellResult]:
        """Returns the canaries and controls, which judge the rig."""
        return [cell for cell in self.cells if cell.role in WATCHING]


class _Schema(msgspec.Struct):
    schema: int


def write_results(results: Results, folder: Path) -> None:
    write_json(folder / FILE_NAME, results)


def read_results(run: Path) -> Results:
    """Reads the results of a run, given its folder or the file itself."""
    path = run / FILE_NAME if run.is_dir() else run
    if not path.exists() and any(run.glob("*/cell.json")):
        raise BadInputError(
            f"{run}: holds cells and no {FILE_NAME}: the run was cut off before its end",
            hint="run it again, into another folder; the files of its cells stay here",
        )
    inner = [] if path.exists() else sorted(str(each.parent) for each in run.glob(f"*/{FILE_NAME}"))
    if inner:
        raise BadInputError(
            f"{run}: holds no {FILE_NAME}, but other runs", hint=f"name one: {', '.join(inner)}"
        )
    return decode_results(_content_of(path), str(path))


def decode_results(content: bytes, label: str) -> Results:
    """Reads results from bytes; `label` names their source in errors."""
    with without_collections():
        results = decode_versioned(content, label, Results, schema=SCHEMA)
        _check_words(results, label)
    return results


V = TypeVar("V", bound=msgspec.Struct)


def read_versioned(path: Path, kind: type[V], *, schema: int) -> V:
    """Reads a JSON file of the rig; raises `BadInputError` with file, key and remedy."""
    return decode_versioned(_content_of(path), str(path), kind, schema=schema)


def _content_of(path: Path) -> bytes:
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise BadInputError(
                    f"{path}: no regular file", hint="name the --out folder of a run"
                )
            content = file.read(FILE_BYTES_MAX + 1)
        if len(content) > FILE_BYTES_MAX:
            raise BadInputError(
                f"{path}: more than {FILE_BYTES_MAX >> 20} MiB, which no run writes",
                hint="name the --out folder of a run",
            )
        return content
    except OSError as error:
        raise BadInputError(
            f"{path}: {error.strerror}", hint="name the --out folder of a run"
        ) from error


def decode_versioned(content: bytes, label: str, kind: type[V], *, schema: int) -> V:
    """Reads a JSON file of the rig from bytes; `label` names their source in errors.

    Bidirectional control characters become escapes, so that printing the values is safe.
    """
    content = _with_escapes(content)
    try:
        found = msgspec.json.decode(content, type=_Schema).schema
    except msgspec.ValidationError as error:
        raise BadInputError(
            f"{label}: key 'schema' is missing: this is no {Path(label).name} of the rig",
            hint=f"name the --out folder of a run, or the {FILE_NAME} in it",
        ) from error
    except NOT_JSON as error:
        raise BadInputError(
            f"{label}: {error or 'not JSON'}",
            hint="it is cut off or not JSON; a run writes it whole or not at all, so run it again",
        ) from error
    if found != schema:
        raise BadInputError(
            f"{label}: key 'schema' is {found}, and this rig reads {schema}",
            hint="read it with the rig that wrote it (key 'run.rig_version'), or run it again",
        )
    try:
        value = msgspec.json.decode(content, type=kind)
    except (msgspec.ValidationError, UnicodeDecodeError) as error:
        raise BadInputError(
            f"{label}: {_key_first(str(error))}",
            hint=f"not what schema {schema} says: run it again, or mend the file",
        ) from error
    if large := _large_number(content):
        raise BadInputError(
            f"{label}: key '{_key_of(large, content)}' is out of range: {large:.40}",
            hint="no run leaves that: mend the file, or run it again",
        )
    return value


def _key_of(number: str, content: bytes) -> str:
    """Returns the last key before that number."""
    at = content.index(number.encode())
    keys = re.findall(rb'"(\w+)"\s*:', content[max(at - ID_BYTES_MAX, 0) : at])
    return keys[-1].decode() if keys else ""


def _with_escapes(content: bytes) -> bytes:
    """Returns the JSON with each bidirectional control character as the text of its escape."""
    content = _DIRECTION.sub(lambda found: rb"\\u%04x" % ord(found[0].decode()), content)
    if not _ESCAPED_DIRECTION.search(content):
        return content
    return _ESCAPE.sub(
        lambda found: rb"\\u" + found[1] if found[1] else found[0],
        content,
    )


def _large_number(content: bytes) -> str:
    """Returns a number that is too large for a column of a history; empty if there is none."""
    found: list[str] = []

    def check(text: str) -> int:
        found.extend([text] if abs(Decimal(text)) > NUMBER_MAX else [])
        return 0

    if _MAY_BE_LARGE.search(content):
        with contextlib.suppress(ValueError, RecursionError):  # msgspec reports these.
            json.loads(content, parse_int=check, parse_float=check)
    return next(iter(found), "")


KNOWN_WORDS: dict[str, list[str]] = {
    "role": [*Role],
    "expect": [*Expect],
    "guest.arch": [*Arch],
}
_WORDS_OF = attrgetter(*KNOWN_WORDS)


def _check_words(results: Results, label: str) -> None:
    """Raises `BadInputError` for values of the right type that this rig does not know."""
    places: dict[str, int] = {}
    for number, cell in enumerate(results.cells):
        key = f"{label}: key 'cells[{number}]"
        for (name, known), word in zip(KNOWN_WORDS.items(), _WORDS_OF(cell), strict=True):
            if word not in known:
                raise UnknownNameError(
                    f"{key}.{name}' is {word!r}",
                    word,
                    known,
                    what=f"words for {name!r}",
                    note="a newer rig's file is for that one (key 'run.rig_version')",
                )
        what = f"also that of cells[{places[cell.id]}]" if cell.id in places else id_fault(cell.id)
        if what:
            raise BadInputError(
                f"{key}.id' is {what}: {cell.id!r}", hint="mend the file, or run it again"
            )
        places[cell.id] = number
    _check_contrasts(results, label)


def id_fault(cell_id: str) -> str:
    """Returns why this cannot be the id and folder name of a cell; empty if it can."""
    if cell_id.count(".") < ID_DOTS_MIN:
        return "not the id of a cell"
    if "/" in cell_id or "\\" in cell_id or ".." in cell_id or cell_id.startswith("."):
        return "not the name of a folder below the run's"
    if not cell_id.isprintable() or len(cell_id.encode(errors="replace")) > ID_BYTES_MAX:
        return "not the name of a folder"
    return ""


def own_fault(result: CellResult) -> str:
    """Returns why the result could not be read back, with the key; empty if it can."""
    try:
        msgspec.json.decode(msgspec.json.encode(result), type=CellResult)
    except msgspec.ValidationError as error:
        return _key_first(str(error))
    return ""


def _check_contrasts(results: Results, label: str) -> None:
    ids = {cell.id for cell in results.cells}
    for number, contrast in enumerate(results.contrasts):
        for name in ("cell", "against"):
            found = getattr(contrast, name)
            if found not in ids:
                raise BadInputError(
                    f"{label}: key 'contrasts[{number}].{name}': no such cell: {found!r}",
                    hint="a cell is missing: run it again",
                )


def _key_first(message: str) -> str:
    """Returns msgspec's message with the key first: "... got `str` - at `$.wire_ns`"."""
    words, _, where = message.partition(" - at `$")
    key = where.rstrip("`").lstrip(".")
    missing = MISSING.match(words)
    if missing:
        return f"key '{'.'.join(filter(None, (key, missing[1])))}' is missing"
    return f"key '{key}': {words}" if key else words
