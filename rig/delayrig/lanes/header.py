# SPDX-License-Identifier: GPL-2.0-or-later
"""The inputs of a run, which are the first part of its results."""

import datetime as dt
import os
import platform
import shlex
import signal
import subprocess
from pathlib import Path

from delayrig import __version__
from delayrig.base import digest
from delayrig.base.errors import RigFaultError
from delayrig.base.paths import Paths
from delayrig.base.text import kernel_line
from delayrig.lanes.supplies import Supplies
from delayrig.machine.live_image import LiveImage
from delayrig.machine.snapshot import qemu_sha256
from delayrig.model.platform import PLATFORMS, Arch, labelled
from delayrig.model.result import CpuFacts, HostFacts, NotProvided, RunHeader
from delayrig.plan.request import Request
from delayrig.subjects.lock import Entries, lock_entries, lock_state, subject_entries
from delayrig.subjects.subject import Subject

CPUS = Path("/sys/devices/system/cpu")
CLOCKSOURCE = "/sys/devices/system/clocksource/clocksource0"
ANSWER_S = 20


def make_header(request: Request, supplies: Supplies, paths: Paths) -> RunHeader:
    return _header(
        request,
        paths,
        image_digests=image_digests(supplies, paths),
        locked=lock_entries(supplies.images, supplies.programs, supplies.kernels),
        not_provided=supplies.not_provided,
    )


def make_host_header(
    request: Request, programs: list[Subject], missing: list[NotProvided], paths: Paths
) -> RunHeader:
    digests = {f"subject {subject.name}": subject.archive_sha256 for subject in programs}
    return _header(
        request,
        paths,
        image_digests={"emulator": digest.of_file(paths.emulator), **digests},
        locked=subject_entries(programs),
        not_provided=missing,
        confined=not request.unconfined,
        in_guests=False,
    )


def make_live_header(
    request: Request, supplies: Supplies, image: LiveImage | None, paths: Paths, *, confined: bool
) -> RunHeader:
    return _header(
        request,
        paths,
        image_digests={
            **({"kernel": image.kernel_sha256, "initrd": image.initrd_sha256} if image else {}),
            "cpu plugin": digest.of_file(paths.cpu_plugin),
            "delay plugin": digest.of_file(paths.delay_plugin),
            "emulator": digest.of_file(paths.emulator),
            "qemu": qemu_sha256(PLATFORMS[Arch.X86_64].program),
            **{f"subject {one.label}": one.archive_sha256 for one in supplies.programs},
        },
        locked=subject_entries(supplies.programs),
        not_provided=supplies.not_provided,
        confined=confined,
    )


def _header(
    request: Request,
    paths: Paths,
    *,
    image_digests: dict[str, str],
    locked: Entries,
    not_provided: list[NotProvided],
    confined: bool | None = None,
    in_guests: bool = True,
) -> RunHeader:
    version = [PLATFORMS[Arch.X86_64].program, "--version"]
    return RunHeader(
        rig_version=__version__,
        commit=commit_of(paths),
        plan=request.plan,
        seed=request.seed,
        argv=request.argv,
        started=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        host=host_facts(),
        qemu_version=_answer(version).partition("\n")[0] if in_guests else "",
        libvirt_version=libvirt_version() if in_guests else "",
        image_digests=image_digests,
        lock=lock_state(locked, paths.checkout),
        cells_planned=len(request.cells),
        not_provided=not_provided,
        confined=confined,
    )


def image_digests(supplies: Supplies, paths: Paths) -> dict[str, str]:
    """Returns all digests that decide virtual times: equal digests give equal times."""
    digests = {
        "turns": digest.of_file(paths.qemu_preload),
        "delay plugin": digest.of_file(paths.delay_plugin),
    }
    for arch, image in supplies.images.items():
        digests[labelled("kernel", arch)] = image.kernel_sha256
        digests[labelled("initrd", arch)] = image.initrd_sha256
        digests[labelled("emulator", arch)] = digest.of_file(paths.emulator_of(arch))
        digests[labelled("qemu", arch)] = qemu_sha256(PLATFORMS[arch].program)
    for arch, image in supplies.device_images.items():
        digests[labelled("device initrd", arch)] = image.initrd_sha256
        digests["chip plugin"] = digest.of_file(paths.chip_plugin)
    digests |= {f"kernel {name}": kernel.sha256 for name, kernel in supplies.kernels.items()}
    return digests | {f"subject {one.label}": one.archive_sha256 for one in supplies.programs}


def commit_of(paths: Paths) -> str:
    """Returns the commit of the checkout; empty if it is no checkout of git."""
    return _answer(["git", "-C", str(paths.checkout), "describe", "--always", "--dirty"])


def host_facts() -> HostFacts:
    try:
        name = platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        name = platform.system()
    cpus = sorted(os.sched_getaffinity(0))
    return HostFacts(
        cpus=len(cpus),
        kernel=platform.release(),
        machine=platform.machine(),
        os=name,
        clocksource=kernel_line(f"{CLOCKSOURCE}/current_clocksource"),
        clocksources=kernel_line(f"{CLOCKSOURCE}/available_clocksource").split(),
        idle_driver=kernel_line("/sys/devices/system/cpu/cpuidle/current_driver"),
        smt=kernel_line("/sys/devices/system/cpu/smt/control"),
        rt_runtime_us=kernel_line("/proc/sys/kernel/sched_rt_runtime_us"),
        cpu=[cpu_facts(cpu) for cpu in cpus],
    )


def cpu_facts(cpu: int, cpus: Path = CPUS) -> CpuFacts:
    """Returns the facts of one CPU that the kernel reports; a missing one is empty or None.

    Source of the names: Linux Documentation/ABI/testing/sysfs-devices-system-cpu.
    """
    place = cpus / f"cpu{cpu}"
    return CpuFacts(
        cpu=cpu,
        core=_number(place / "topology/core_id"),
        package=_number(place / "topology/physical_package_id"),
        siblings=kernel_line(place / "topology/thread_siblings_list"),
        capacity=_number(place / "cpu_capacity"),
        khz_min=_number(place / "cpufreq/cpuinfo_min_freq"),
        khz_max=_number(place / "cpufreq/cpuinfo_max_freq"),
        khz=_number(place / "cpufreq/scaling_cur_freq"),
        driver=kernel_line(place / "cpufreq/scaling_driver"),
        governor=kernel_line(place / "cpufreq/scaling_governor"),
        idle_states=[
            kernel_line(state / "name") for state in sorted((place / "cpuidle").glob("state*"))
        ],
    )


def _number(path: Path) -> int | None:
    text = kernel_line(path)
    return int(text) if text.lstrip("-").isdecimal() else None


def _answer(command: list[str]) -> str:
    """Returns the output of a program; empty if it is missing or fails.

    Raises `RigFaultError` if it was killed or took too long, because a resumed run needs the same
    answer.
    """
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=ANSWER_S
        )
    except OSError:
        return ""
    except subprocess.TimeoutExpired as error:
        raise _no_answer(command, f"did not answer within {ANSWER_S} s") from error
    if done.returncode < 0:
        raise _no_answer(command, f"was killed by {signal.Signals(-done.returncode).name}")
    return done.stdout.strip() if done.returncode == 0 else ""


def _no_answer(command: list[str], what: str) -> RigFaultError:
    return RigFaultError(f"`{shlex.join(command)}` {what}", hint="start the run again")


def libvirt_version() -> str:
    """Returns libvirt's version; empty if its Python binding is not installed."""
    try:
        from delayrig.machine import libvirt_machine
    except ImportError:
        return ""
    return libvirt_machine.libvirt_version()
