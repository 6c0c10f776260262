# SPDX-License-Identifier: GPL-2.0-or-later
"""One cell: subject x guest x hazards x chip x job, and the verdict that its plan expects."""

import hashlib
import re
from enum import StrEnum

import msgspec

from delayrig.model.lane import REAL_TIME, LaneName
from delayrig.model.platform import Arch
from delayrig.model.shape import mips_of_shift

SEPARATOR = "+"
"""The separator of the words of a set of hazards."""
REGION_KIB = 64
"""The default size of a job's region."""


class Job(StrEnum):
    """The job of the subject."""

    PROBE = "probe"
    DETECT = "detect"
    """A probe for all parts that the subject knows (no `-c`), as users begin."""
    READ = "read"
    ERASE = "erase"
    WRITE = "write"
    VERIFY = "verify"


CHANGING = (Job.ERASE, Job.WRITE)
"""The jobs that change what the part holds."""


class Programmer(StrEnum):
    """The connection between the subject and the chip."""

    SERPROG_IP = "serprog:ip"
    SERPROG_DEV = "serprog:dev"
    SERPROG_NATIVE_DELAY = "serprog:native-delay"
    DUMMY = "dummy"
    NICINTEL = "nicintel"
    INTERNAL = "internal"
    INTERNAL_HWSEQ = "internal:hwseq"
    INTERNAL_MEMORY = "internal:memory"
    CH341A_SPI = "ch341a_spi"
    FT2232_SPI = "ft2232_spi"
    LINUX_SPI = "linux_spi"
    NICINTEL_SPI = "nicintel_spi"


class Expect(StrEnum):
    """The verdict that a plan requires or allows."""

    PASS = "pass"
    TOO_SHORT = "too_short"
    OP_FAILED = "op_failed"
    CORRUPT = "corrupt"
    ANY = "any"


class Role(StrEnum):
    """The purpose of a cell: to judge a subject or the rig, or to find the least possible time."""

    MEASURE = "measure"
    CANARY = "canary"
    CONTROL = "control"
    FLOOR = "floor"


WATCHING = (Role.CANARY, Role.CONTROL)
"""The roles that judge the rig."""


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """All inputs of a cell. Everything that can change its outcome is in here."""

    name: str
    role: Role = Role.MEASURE
    lane: LaneName = LaneName.VIRTUAL
    subject: str
    side: str = ""
    """A gate's name for the subject; empty: the subject's own name."""
    arch: Arch = Arch.X86_64
    icount_shift: int
    cores: int
    machine: str = ""
    """The machine of `delayrig.plan.machines`, by name or file; empty: all cores are alike."""
    core_mips: tuple[float, ...] = ()
    """The speed of each core on the live lane; empty on the others."""
    hazards: tuple[str, ...] = ()
    """Words of `delayrig.hazards`, in their order: the hazards that act on the subject."""
    chip: str
    corner: str
    """The corner, one of `corner.FORMS`."""
    job: Job
    region_kib: int = REGION_KIB
    content_bytes: int = 0
    """The bytes of the region with data before and after a write; 0: all of it."""
    programmer: Programmer
    pin: str = ""
    """The CPUs that the subject may use on the host lane, such as `0,2-3`; empty: any."""
    deadline_ms: int = 0
    """The time that the subject gets, by the clock of its lane; 0: the default."""
    expect: Expect = Expect.PASS
    seed: int

    @property
    def mips(self) -> list[float]:
        """Returns the speed of each core; empty if the cores are this machine's own."""
        match self.lane:
            case LaneName.VIRTUAL:
                return [mips_of_shift(self.icount_shift)] * self.cores
            case LaneName.LIVE:
                return list(self.core_mips)
            case LaneName.HOST:
                return []

    @property
    def in_real_time(self) -> bool:
        return self.lane in REAL_TIME

    @property
    def bridged(self) -> bool:
        """Returns True if socat or a tty may delay bytes between the subject and the emulator."""
        return self.programmer is Programmer.SERPROG_DEV

    @property
    def is_forwarded(self) -> bool:
        """Returns True if bytes may reach the emulator late, by times that differ between bytes.

        A bridge may delay them. In the live lane QEMU's main loop may, while it waits for a CPU.
        """
        return self.bridged or self.lane is LaneName.LIVE

    @property
    def _speed_words(self) -> list[str]:
        match self.lane:
            case LaneName.VIRTUAL:
                return [f"{round(mips_of_shift(self.icount_shift))}mips"]
            case LaneName.LIVE if self.machine:
                return [self.lane, slug(self.machine.removesuffix(".toml"))]
            case LaneName.LIVE:
                return [self.lane, f"{self.core_mips[0]:g}mips".replace(".", "_")]
            case LaneName.HOST:
                return [self.lane]

    @property
    def id(self) -> str:
        """Returns an id, unique in a plan, stable from run to run, and fit for a folder's name."""
        return ".".join(
            [
                self.name,
                self.side or slug(self.subject),
                *([] if self.arch is Arch.X86_64 else [self.arch]),
                *self._speed_words,
                f"{self.cores}c",
                *([f"cpu{slug(self.pin)}"] if self.pin else []),
                SEPARATOR.join(map(slug, self.hazards)) or "calm",
                f"{self.chip}-{slug(self.corner)}",
                *([] if self.region_kib == REGION_KIB else [f"{self.region_kib}kib"]),
                *([f"{self.content_bytes}b"] if self.content_bytes else []),
                *([] if self.programmer is Programmer.SERPROG_IP else [slug(self.programmer)]),
                self.job,
            ]
        )


def place_of(cell: str) -> str:
    """Returns an id without its subject. Cells with the same place differ in the subject alone."""
    name, _, rest = cell.split(".", 2)
    return f"{name}.{rest}"


def slug(name: str) -> str:
    """Returns a name fit for a folder; for a path its last part and a digest."""
    plain = re.sub(r"[^A-Za-z0-9_+-]+", "-", name.rsplit("/", maxsplit=1)[-1])
    if "/" not in name:
        return plain
    return f"path-{plain}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
