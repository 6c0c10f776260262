# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest that measures its own CPUs under the CPU plugin."""

import os
import re
import shutil
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from delayrig.base.archive import write_archive
from delayrig.base.paths import Paths
from delayrig.machine.arguments import UNUSED_INITCALLS
from delayrig.model.events import TraceLine, of_kind, parse_trace
from delayrig.model.kinds.pace import Window
from delayrig.model.platform import PLATFORMS, Arch
from delayrig.subjects.guest_image import provide_guest_image
from delayrig.subjects.recipes import read_recipes

RUN_LIMIT_S = 60
RAM_MIB = 256
OFF_MAX = 0.01
STARVED_SHARE = 0.5
WINDOW_MS = 20
CONSOLE_NS = 10_000_000  # the longest time that a console line takes
ROUND = re.compile(rb"round (\d+) cpu (\d+) ns (\d+)")
# A command prefix for realtime priority, which only root may request. A vCPU that runs for 5 s
# without a sleep would starve the host; the limit ends such a QEMU.
REALTIME = ("prlimit", "--rttime=5000000:5000000", "chrt", "--fifo", "1")
PREFERRED = ("nice", "-n", "-15")  # continues if this priority is refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One round of the same work on a CPU; `end_ns` is the host's time when its line arrived."""

    number: int
    cpu: int
    took_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PacedRun:
    """The rounds that a guest measured, and the plugin's trace of the speed that it gave."""

    rounds: list[Round]
    trace: list[TraceLine]

    def kept(self, measured: Round) -> bool:
        """Returns True if the host kept the CPU at its speed in each window, and in all together.

        Only windows inside the round count, because the guest prints or idles before and after it.
        They must cover at least half of the round.
        """
        begin_ns = measured.end_ns - measured.took_ns
        windows = [
            window
            for window in of_kind(self.trace, Window)
            if window.vcpu == measured.cpu
            if begin_ns <= window.from_ns and window.t_ns <= measured.end_ns - CONSOLE_NS
        ]
        off_ns = abs(sum(window.short_ns for window in windows))
        covered_ns = sum(window.active_ns for window in windows)
        if covered_ns < measured.took_ns / 2:
            return False
        return all(window.kept for window in windows) and off_ns < OFF_MAX * covered_ns

    def kept_ns(self, cpu: int) -> list[int]:
        """Returns the times of that CPU's rounds, without the rounds that the host disturbed."""
        return [r.took_ns for r in self.rounds if r.cpu == cpu and self.kept(r)]


def plugin_file(paths: Paths) -> Path:
    """Returns the path of the plugin that meson built."""
    return paths.build / "emulators" / "cpu_plugin" / "cpu-plugin.so"


def _initrd(paths: Paths, folder: Path) -> Path:
    root, archive = folder / "root", folder / "initrd"
    (root / "dev").mkdir(parents=True)
    shutil.copyfile(paths.build / "emulators" / "bench" / "cpu-guest", root / "init")
    (root / "init").chmod(0o755)
    write_archive(root, archive)
    return archive


def _command(paths: Paths, folder: Path, *, cores: int, plugin: str, words: str) -> list[str]:
    image = provide_guest_image(read_recipes(paths.checkout).guest, paths, lambda _: None)
    quiet = f"console=ttyS0 loglevel=3 panic=-1 initcall_blacklist={','.join(UNUSED_INITCALLS)}"
    fast = "tsc=reliable cryptomgr.notests noreplace-smp mitigations=off lsm= pci=lastbus=0"
    pc = PLATFORMS[Arch.X86_64]
    options = pc.machine_options.format(hpet="off")
    throttled = "mips=0" not in plugin
    return [
        *(REALTIME if throttled and os.geteuid() == 0 else PREFERRED),
        *("setpriv", "--pdeathsig", "KILL", pc.program),
        *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *("-machine", f"{pc.machine},{options}", "-cpu", pc.cpu_model),
        *("-smp", str(cores), "-m", str(RAM_MIB), "-bios", pc.firmware),
        *("-accel", "tcg,thread=multi"),
        *("-kernel", image.kernel, "-initrd", str(_initrd(paths, folder))),
        *("-append", f"{quiet} {fast} {words}", "-serial", "stdio"),
        *("-plugin", f"{plugin_file(paths)},{plugin}"),
    ]


def run_paced_guest(
    paths: Paths,
    folder: Path,
    *,
    cores: int,
    plugin: str,
    words: str,
    on_round: Callable[[Round], None] = lambda _: None,
) -> PacedRun:
    """Boots the guest and waits for its end. `words` are arguments of cpu_guest.c.

    Skips the test if the guest did not end and the trace shows that the host gave it too little
    time.
    """
    trace = folder / "trace.jsonl"
    plugin += f",trace={trace},window_ms={WINDOW_MS}"
    command = _command(paths, folder, cores=cores, plugin=plugin, words=words)
    rounds: list[Round] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        watchdog = threading.Timer(RUN_LIMIT_S, process.kill)
        watchdog.start()
        try:
            output = _watch(process, rounds, on_round)
        finally:
            watchdog.cancel()
            process.kill()
    lines = _read_trace(trace)
    if b"done" not in output and _is_starved(lines):
        pytest.skip(f"inconclusive: the host starved the guest; QEMU ended: {process.returncode}")
    assert b"done" in output, (process.returncode, output.decode(errors="replace"))
    return PacedRun(rounds=rounds, trace=lines)


def _read_trace(trace: Path) -> list[TraceLine]:
    """Parses the complete lines of the trace. The last line of a killed QEMU may be incomplete."""
    return parse_trace(trace.read_bytes() if trace.exists() else b"", source=str(trace))


def _is_starved(trace: list[TraceLine]) -> bool:
    """Returns True if the host was late by more than half of the time that a vCPU had work."""
    active_ns, short_ns = Counter[int](), Counter[int]()
    for window in of_kind(trace, Window):
        active_ns[window.vcpu] += window.active_ns
        short_ns[window.vcpu] += window.short_ns
    return any(short_ns[vcpu] > STARVED_SHARE * active_ns[vcpu] for vcpu in active_ns)


def _watch(
    process: subprocess.Popen[bytes], rounds: list[Round], on_round: Callable[[Round], None]
) -> bytes:
    output = b""
    assert process.stdout is not None
    for line in process.stdout:
        output += line
        if found := ROUND.search(line):
            number, cpu, took_ns = map(int, found.groups())
            now_ns = time.monotonic_ns()
            rounds.append(Round(number=number, cpu=cpu, took_ns=took_ns, end_ns=now_ns))
            on_round(rounds[-1])
    return output
