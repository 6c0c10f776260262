# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports what is wrong with this machine, and the remedy. Changes nothing.

Before the first set-up it also checks that this machine can get what the rig needs.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from delayrig.setup import security, stamp
from delayrig.setup.apt import KEYRING, find_debian, has_debian, parse_targets
from delayrig.setup.arguments import named_archive
from delayrig.setup.command import answer, succeeds
from delayrig.setup.console import Colour, Context, Finding, Level, human_size, note, ok, problem
from delayrig.setup.container import present_engines
from delayrig.setup.distribution import QEMU_VERSION_MIN, Machine, refusal, this_release
from delayrig.setup.environment import SYSTEM_PYTHON, is_made_here
from delayrig.setup.errors import ExitCode, SetupError
from delayrig.setup.install import AptGet, read_targets
from delayrig.setup.native import is_configured
from delayrig.setup.packages import lacking_of, new_enough, read_wanted, refused
from delayrig.setup.security import QEMU, run_python

FREE_BYTES_MIN = 2 * 1024**3
QEMU_PACKAGE = "qemu-system-x86"
QEMU_VERSION_END = "10.2"
"""The first version with another plugin interface (emulators/cpu_plugin/)."""
RT_RUNTIME = Path("/proc/sys/kernel/sched_rt_runtime_us")
SET_UP = "rig/rig setup"

LIBVIRT_WAIT_S = 20
LIBVIRT_SETTINGS = """\
stdio_handler = "file"
security_driver = "none"
namespaces = []
cgroup_controllers = []
"""
LIBVIRT_PROBE = """\
import sys, libvirt
libvirt.virEventRegisterDefaultImpl()
libvirt.registerErrorHandler(lambda *_: None, None)
connection = libvirt.open("qemu:///embed?root=" + sys.argv[1])
version = connection.getLibVersion()
print(f"{version // 1000000}.{version // 1000 % 1000}.{version % 1000}")
"""
COLOURS = {Level.OK: Colour.GREEN, Level.NOTE: Colour.YELLOW, Level.PROBLEM: Colour.RED}


def examine(context: Context) -> int:
    """Does every check and prints each with its remedy; with --json prints them all at the end."""
    found = {}
    for name, check in checks_for(context).items():
        found[name] = _guarded(check, context)
        if not context.as_json:
            _show(context, name, found[name])
    if context.as_json:
        answers = [{"check": name, **asdict(finding)} for name, finding in found.items()]
        context.console.write(json.dumps(answers, indent=1))
    has_problem = any(finding.level is Level.PROBLEM for finding in found.values())
    return ExitCode.RIG_FAULT if has_problem else ExitCode.PASS


def checks_for(context: Context) -> dict[str, Callable[[Context], Finding]]:
    """Returns the checks by name, in order. Without guests it omits those that only guests need."""
    if context.security:
        return security.CHECKS
    if context.steps != stamp.HOST_STEPS:
        return CHECKS
    return {name: check for name, check in CHECKS.items() if name not in OF_GUESTS}


def _show(context: Context, name: str, finding: Finding) -> None:
    level = context.console.paint(f"{finding.level:<7}", COLOURS[finding.level])
    context.console.write(f"{level}  {name}: {finding.text}")
    for line in finding.remedy.splitlines():
        context.console.write(f"         {line}")


def _guarded(check: Callable[[Context], Finding], context: Context) -> Finding:
    try:
        return check(context)
    except SetupError as error:
        return problem(error.message, error.remedy)
    except (OSError, subprocess.TimeoutExpired) as error:
        return problem(str(error), "see what the message names, then ask the doctor again")


def _check_packages(context: Context) -> Finding:
    if shutil.which("dpkg-query") is None:
        return note("not checked without dpkg; meson says which are missing", "")
    wanted = read_wanted(context.layout, for_guests=context.steps != stamp.HOST_STEPS)
    if lacking := lacking_of(wanted):
        return problem(
            "missing " + ", ".join(package.label for package in lacking),
            f"{SET_UP}, or {refused('', lacking).remedy}",
        )
    return ok("all that the rig needs are installed")


def _check_qemu(_context: Context) -> Finding:
    words = answer([QEMU, "--version"]).split()
    version = words[3] if len(words) > 3 else ""
    where = shutil.which(QEMU)
    if not version or where is None:
        return problem(f"{QEMU} does not start", SET_UP)
    if _numbers(version) >= _numbers(QEMU_VERSION_END):
        return problem(
            f"{where} is {version}, and the rig's plugins fit versions before {QEMU_VERSION_END}",
            "put the qemu-system-x86 of Debian 13, or of bookworm-backports, first in the PATH",
        )
    if _numbers(version) >= _numbers(QEMU_VERSION_MIN):
        return ok(f"{version} ({where})")
    return problem(
        f"{where} is {version}, and the rig's plugins fit {QEMU_VERSION_MIN} or newer",
        SET_UP if where.startswith("/usr/bin/") else f"take {where} off the PATH",
    )


def _numbers(version: str) -> list[int]:
    """Returns the first two numbers of a version, to compare it even without dpkg."""
    return [int(number) for number in re.findall(r"\d+", version)[:2]]


def _check_libvirt(context: Context) -> Finding:
    python = context.layout.python if context.layout.python.exists() else Path(SYSTEM_PYTHON)
    with tempfile.TemporaryDirectory(prefix="rig-doctor-") as root:
        settings = Path(root) / "etc" / "qemu.conf"
        settings.parent.mkdir()
        settings.write_text(LIBVIRT_SETTINGS, encoding="utf-8")
        try:
            works, said = run_python(LIBVIRT_PROBE, root, python=python, timeout_s=LIBVIRT_WAIT_S)
        except subprocess.TimeoutExpired:
            why = f"no answer within {LIBVIRT_WAIT_S} s"
            return problem(why, f"{SET_UP}; {QEMU} may be broken")
    if works:
        return ok(f"embedded driver works, version {said}")
    return problem(f"embedded driver does not open: {said}", SET_UP)


def check_machine(context: Context) -> None:
    """Raises an error if guests are needed and this machine cannot get what they need.

    The error names the other ways to run the rig. A machine that got its packages before is not
    checked, except by `rig/rig setup`.
    """
    is_prepared = stamp.PACKAGES in stamp.read_marks(context.layout.stamp) and not context.again
    if stamp.PACKAGES not in context.steps or is_prepared:
        return
    refused = refusal(examine_machine(context))
    if refused is not None:
        raise refused


def examine_machine(context: Context) -> Machine:
    release = this_release()
    has_apt = shutil.which("apt-get") is not None and shutil.which("dpkg") is not None
    with_debian = has_debian(read_targets(), release)
    offers = () if with_debian or not has_apt else AptGet(context=context).offers(QEMU_PACKAGE)
    return Machine(
        release=release,
        has_apt=has_apt,
        has_debian=with_debian,
        has_named=bool(named_archive(os.environ)),
        qemu_versions=() if any(new_enough(each, QEMU_VERSION_MIN) for each in offers) else offers,
        engine=next(iter(present_engines()), ""),
    )


def _check_archive(context: Context) -> Finding:
    refused_here = refusal(examine_machine(context))
    if refused_here is not None:
        return problem(refused_here.message, refused_here.remedy)
    if not named_archive(os.environ):
        base = find_debian(parse_targets(read_targets()), this_release())
        return ok(f"apt knows Debian's archive, with {base.codename or base.release}")
    if not Path(KEYRING).is_file():
        return problem(
            f"an archive is named, but {KEYRING}, with the keys to verify its packages, is missing",
            "install the package debian-archive-keyring",
        )
    return ok("the one that you named")


def _check_environment(context: Context) -> Finding:
    python = context.layout.python
    if not python.exists():
        return problem("not made yet", SET_UP)
    if not is_made_here(context.layout):
        where = context.layout.venv
        return problem(f"not made at {where}, so its programs do not start from there", SET_UP)
    modules = "click, covertable, jinja2, matplotlib, mesonbuild, msgspec, elftools, rich"
    if not succeeds([str(python), "-P", "-c", f"import {modules}"]):
        return problem(f"{python} lacks packages of requirements.lock", SET_UP)
    return _fresh(context, stamp.ENVIRONMENT, "complete")


def _check_build(context: Context) -> Finding:
    if not is_configured(context):
        return problem("native programs are not built", SET_UP)
    return _fresh(context, stamp.NATIVE, "native programs are built")


def _fresh(context: Context, step: str, text: str) -> Finding:
    if step in stamp.stale_steps(context.layout, stamp.wanted_marks(context.layout)):
        return note("inputs have changed since; the next start does this step", "")
    return ok(text)


def _check_disk(context: Context) -> Finding:
    place = context.layout.state
    while not place.exists():
        place = place.parent
    free_bytes = shutil.disk_usage(place).free
    text = f"{human_size(free_bytes)} free at {place}"
    if not os.access(place, os.W_OK):
        return problem(f"{place} is not writable", "move the state with $FLASHROM_RIG_STATE")
    if free_bytes < FREE_BYTES_MIN:
        text = f"{text}; {human_size(FREE_BYTES_MIN)} are wanted"
        return problem(text, "free some, or move it with $FLASHROM_RIG_STATE")
    return ok(text)


def _check_realtime(_context: Context) -> Finding:
    runtime = RT_RUNTIME.read_text(encoding="ascii").strip() if RT_RUNTIME.exists() else "-1"
    if runtime == "0":
        return problem(
            f"{RT_RUNTIME} is 0: no process may run above others, as the emulator must",
            f"run, as root: echo 950000 > {RT_RUNTIME}",
        )
    return ok(f"allowed ({RT_RUNTIME.name} is {runtime})")


def _check_cores(_context: Context) -> Finding:
    cores = len(os.sched_getaffinity(0))
    if cores < 2:
        return note("1 core: cells run one after the other", "")
    return ok(f"{cores} for this process")


def _check_kvm(_context: Context) -> Finding:
    there = "there" if os.access("/dev/kvm", os.R_OK | os.W_OK) else "not there"
    return ok(f"{there}; the virtual lane does not need it")


CHECKS: dict[str, Callable[[Context], Finding]] = {
    "packages": _check_packages,
    "QEMU": _check_qemu,
    "libvirt": _check_libvirt,
    "archive": _check_archive,
    "Python environment": _check_environment,
    "build": _check_build,
    "images": lambda context: _fresh(context, stamp.IMAGES, "up to date"),
    "disk": _check_disk,
    "realtime priority": _check_realtime,
    "cores": _check_cores,
    "KVM": _check_kvm,
}
OF_GUESTS = ("QEMU", "libvirt", "archive", "images", "KVM")
