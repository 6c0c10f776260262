# SPDX-License-Identifier: GPL-2.0-or-later
"""`results.json`: its shape is fixed by the design; the schema version comes first."""

from enum import StrEnum
from pathlib import Path

import msgspec

from delayrig.errors import BadInputError
from delayrig.evidence import Evidence
from delayrig.phases import TimeSplit

SCHEMA = 1
FILE_NAME = "results.json"


class Verdict(StrEnum):
    """What may be said of a cell."""

    PASS = "pass"
    TOO_SHORT = "too_short"
    CORRUPT = "corrupt"
    OP_FAILED = "op_failed"
    HUNG = "hung"
    INCONCLUSIVE = "inconclusive"
    INFRA_ERROR = "infra_error"
    SKIPPED = "skipped"


class SubjectFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Which flashrom it was; `version` is what it calls itself."""

    name: str
    version: str = ""
    sha256: str = ""
    threshold_us: int | None = None
    library: bool = False
    """Whether its libflashrom did the job, in our host program; `sha256` is then the library's."""


class GuestFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The guest; speeds are million guest instructions a second of each core."""

    arch: str
    mips: list[float]
    cores: int
    kernel: str = ""
    cmdline: str = ""
    clocksource: str = ""


class CpuTime(msgspec.Struct, frozen=True, kw_only=True):
    """The subject's CPU time."""

    user: int = 0
    sys: int = 0


class EmulatorFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the emulator could do about its own latency; null where nobody served anything."""

    realtime: bool | None = None
    """Whether it had real-time priority and locked memory."""
    wake_latency_ns_max: int | None = None
    """As it measured it before the cell; null where nothing follows from that."""


class CellResult(msgspec.Struct, frozen=True, kw_only=True):
    """One cell. `reason` says in words what the verdict rests on."""

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
    witness: str = ""
    """What looked on besides the usual; its probes cost time."""
    job: str
    region_bytes: int = 0
    verdict: Verdict
    expect: str
    reason: str
    evidence: list[Evidence] = []
    judged: list[str] = []
    unjudged: list[str] = []
    smallest_visible_short_ns: int | None = None
    time_ns: TimeSplit = TimeSplit()
    cpu_ns: CpuTime = CpuTime()
    chip_busy_ns: int = 0
    wire_ns: int = 0
    overshoot_ns: int = 0
    transfers: int = 0
    context_switches: int = 0
    emulator: EmulatorFacts = EmulatorFacts()
    events_sha256: str = ""
    host_s: float = 0.0
    rerun: str


class ContrastVerdict(StrEnum):
    """Whether one subject cost as much more than another as its plan says."""

    SEEN = "seen"
    MISSING = "missing"
    UNJUDGED = "unjudged"


class ContrastResult(msgspec.Struct, frozen=True, kw_only=True):
    """Two subjects in one cell, `cell` and `against` by their ids."""

    cell: str
    against: str
    figure: str
    at_least: float
    ours_ns: int
    theirs_ns: int
    verdict: ContrastVerdict
    reason: str

    @property
    def ratio(self) -> float | None:
        """How many times as much; None where the other cell has no such figure."""
        return self.ours_ns / self.theirs_ns if self.theirs_ns else None


class CpuFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One CPU as its kernel describes it; null or empty where that says nothing."""

    cpu: int
    core: int | None = None
    package: int | None = None
    siblings: str = ""
    """CPUs that share its core, itself among them."""
    capacity: int | None = None
    """1024 for the fastest of the machine; in proportion for slower ones."""
    khz_min: int | None = None
    khz_max: int | None = None
    khz: int | None = None
    """As the run began."""
    driver: str = ""
    governor: str = ""
    idle_states: list[str] = []


class HostFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The machine that the run was made on."""

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


class RunHeader(msgspec.Struct, frozen=True, kw_only=True):
    """What was run, with what."""

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
    """`same` as images/lock.toml, or `differs` where the archive has moved on."""
    cells_planned: int
    interrupted: bool = False


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file."""

    schema: int = SCHEMA
    run: RunHeader
    cells: list[CellResult]
    contrasts: list[ContrastResult] = []


class _Schema(msgspec.Struct):
    schema: int


def write_results(results: Results, folder: Path) -> None:
    """Writes the file in one step: a reader sees the old one or the new one."""
    scratch = folder / f".{FILE_NAME}.new"
    scratch.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n")
    scratch.replace(folder / FILE_NAME)


def read_results(run: Path) -> Results:
    """The results of a run, given its folder or the file itself."""
    path = run / FILE_NAME if run.is_dir() else run
    try:
        content = path.read_bytes()
        if msgspec.json.decode(content, type=_Schema).schema != SCHEMA:
            raise msgspec.ValidationError("another schema")
        return msgspec.json.decode(content, type=Results)
    except OSError as error:
        raise BadInputError(
            f"{path}: {error.strerror}", hint="name the --out folder of a run"
        ) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInputError(
            f"{path}: {error}", hint=f"is it a results.json of schema {SCHEMA}?"
        ) from error
