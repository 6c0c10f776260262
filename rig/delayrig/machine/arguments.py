# SPDX-License-Identifier: GPL-2.0-or-later
"""The only place that describes a guest to QEMU. All functions are pure.

Both backends start from `Hardware`: plain QEMU turns it into a command line, libvirt into a domain
with the same devices. `timing_arguments` has what makes two runs identical.

Sources: QEMU docs/devel/tcg-icount, docs/specs/pvpanic, docs/specs/fw_cfg, qemu(1); Linux
Documentation/admin-guide/kernel-parameters.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from delayrig.base.die_with_parent import DIES_WITH_ITS_PARENT
from delayrig.machine.plugins import ChipPlugin, DelayWatch
from delayrig.model.cell import Programmer
from delayrig.model.platform import CPU_FEATURES, UNSUPPORTED_FEATURES
from delayrig.model.programmers import DEVICES
from delayrig.model.shape import TSC, GuestShape

RAM_MIB = 512
HPET = "hpet"
CARD = "vmxnet3"
HOST_ADDRESS = "10.0.2.2"
"""The address of this machine's loopback in guests (QEMU docs, "user mode network stack")."""
SECOND_SERIAL_LINE = "/dev/ttyS1"
LIBRARY_PATH = "LD_LIBRARY_PATH"
PRELOAD_NOTE = "qemu-preload: the CPU thread keeps the lock"
UUID = "6c7cd5c4-3ab5-4a9b-8d1e-9ea7b2a3f501"  # Firmware tables contain the UUID.
RTC_BASE = "2024-01-01T00:00:00"

# The kernel does not use the last 128 MiB: the guest leaves its results there for the host. A write
# of 1 MiB that is polled without a wait leaves 29 MB of events in a `draw` corner, more in `max`.
WINDOW_MIB = 128
KERNEL_MIB = RAM_MIB - WINDOW_MIB
WINDOW_BYTES = WINDOW_MIB << 20

SANDBOX = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=allow"
"""The seccomp filter of QEMU. QEMU is killed if it makes a call that no guest needs.

Its threads are moved between CPUs, which is resource control and must be allowed.
"""
CELL_FW_CFG = "opt/org.flashrom.rig/cell"
SUBJECT_FW_CFG = "opt/org.flashrom.rig/subject"
BRIDGE_FW_CFG = "opt/org.flashrom.rig/bridge"
FW_CFG_NAMES = (CELL_FW_CFG, SUBJECT_FW_CFG, BRIDGE_FW_CFG)
NO_FILE = Path("/dev/null")
"""The placeholder for the file of a fw_cfg name that a cell does not use."""

# Kernel initialisers that cost up to 1.5 s of virtual time and that no cell uses.
UNUSED_INITCALLS = (
    "load_system_certificate_list",
    "init_blk_tracer",
    "blake2s_mod_init",
    "crypto_kdf108_init",
    "init_encrypted",
    "digsig_init",
    "dquot_init",
)


# These switch off work of the kernel in each system call or context switch: pressure stall
# information, checks of copies to and from user space, zeroing of new memory, scheduling groups of
# sessions, memory control groups, and a random stack offset in each call. `nokaslr` puts all
# kernels at one address, so that a reset guest keeps its translations (vm_pool.py).
WITHOUT_UNUSED_WORK = (
    "psi=0",
    "hardened_usercopy=off",
    "init_on_alloc=0",
    "noautogroup",
    "nokaslr",
    "cgroup_disable=memory",
    "randomize_kstack_offset=off",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RealTime:
    """The additional parts of a machine in real time: paced CPUs, and connections to this host."""

    plugin: Path
    """The CPU plugin (emulators/cpu_plugin/)."""
    plugin_words: str
    """The arguments of the plugin, joined by commas."""
    tty: Path | None = None
    """The terminal on this host that is the guest's second serial line."""
    net: str = ""
    """The folder of the network namespaces of QEMU and guest; empty: this host's network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardware:
    """A machine to start. `fw_cfg` maps names to files; `incoming` is a snapshot to resume.

    `memory` is the file of the RAM. A machine that boots writes to it; one that resumes maps it
    privately. Without it, `incoming` must contain all of the RAM.
    """

    shape: GuestShape
    preload: Path | None
    """The library preloaded into QEMU (emulators/qemu_preload/); None if a person uses the console.

    With the library a running CPU would leave the console no time.
    """
    kernel: Path
    initrd: Path
    console: Path
    fw_cfg: dict[str, Path] = field(default_factory=dict)
    incoming: Path | None = None
    memory: Path | None = None
    real: RealTime | None = None
    """The parts for real time. If they are given, `preload` is not used."""
    delays: DelayWatch | None = None
    """The watch of the subject's delays, if there is one. The guest does not notice it."""
    chip: ChipPlugin | None = None
    """The chip that is in QEMU, behind the registers of the shape's programmer."""
    marks: Path | None = None
    """The file in which QEMU records when the guest passed the end of each stage of its cell."""
    is_reset: bool = False
    """True if it will be reset to snapshots, for which the rig needs access to its memory."""
    talk: Path | None = None
    """A socket for the console.

    With it, idle time passes in real time. If it were skipped, time-outs would end before a person
    could type.
    """


def window_address(shape: GuestShape) -> int:
    """Returns the physical address of the memory for the results."""
    return shape.platform.ram_base + (KERNEL_MIB << 20)


def kernel_command_line(shape: GuestShape) -> str:
    """Returns the command line of the guest's kernel, which is part of a snapshot's identity."""
    platform, window = shape.platform, window_address(shape)
    # The kernel finds the TSC of AMD-like models with several cores unreliable, and would use a
    # slow clock instead.
    clock = "tsc=reliable" if shape.clocksource == TSC else f"clocksource={shape.clocksource}"
    filled_in = {
        "clock": clock,
        "mib": WINDOW_MIB,
        "address_mib": window >> 20,
        "kernel_mib": KERNEL_MIB,
    }
    words = [
        f"console={platform.console}",
        "loglevel=4",
        "panic=-1",
        "cryptomgr.notests",
        "mitigations=off",  # TCG does not speculate, so mitigations would only cost time.
        "lsm=",
        *WITHOUT_UNUSED_WORK,
        f"initcall_blacklist={','.join(UNUSED_INITCALLS)}",
        *(word.format(**filled_in) for word in platform.kernel_words),
        f"rig.window_address={window:#x}",
        f"rig.window_bytes={WINDOW_BYTES:#x}",
        *shape.kernel_words,
    ]
    return " ".join(words)


def has_hpet(shape: GuestShape) -> bool:
    return shape.clocksource == HPET


def machine_of(shape: GuestShape) -> Hashable:
    """Returns the same value for machines that can be reset to each other's snapshots."""
    return shape.arch, shape.kernel, shape.cores, shape.cpu, has_hpet(shape), shape.programmer


def cpu_features(shape: GuestShape) -> tuple[str, ...]:
    """Returns the features that its CPU has beyond the usual model; for most guests none."""
    return CPU_FEATURES[shape.cpu] if shape.cpu else ()


def cpu_argument(shape: GuestShape) -> str:
    features = cpu_features(shape)
    forced = dict.fromkeys(filter(None, map(UNSUPPORTED_FEATURES.get, features)))
    more = [*(f"+{feature}" for feature in features), *forced]
    return ",".join(filter(None, [shape.platform.cpu_model, shape.platform.cpu_options, *more]))


def device_arguments(shape: GuestShape) -> tuple[str, ...]:
    """Returns the options for the programmer that the guest has as a device, if it has one."""
    return DEVICES[Programmer(shape.programmer)].qemu_words if shape.programmer else ()


def has_state_in_memory(shape: GuestShape) -> bool:
    """Returns True if a device's state can be loaded only if the guest's memory is restored."""
    return bool(shape.programmer) and DEVICES[Programmer(shape.programmer)].has_state_in_memory


def timing_arguments(shape: GuestShape, *, idle_is_skipped: bool = True) -> list[str]:
    """Returns the options that make time virtual and runs identical.

    The process must also be restricted to one host CPU.
    """
    sleep = "off" if idle_is_skipped else "on"
    return [
        *("-accel", "tcg,thread=single"),
        *("-icount", f"shift={shape.icount_shift},sleep={sleep}"),
        *("-rtc", f"base={RTC_BASE},clock=vm"),
    ]


def clock_arguments(hardware: Hardware) -> list[str]:
    """Returns the options for the clock: instructions, or this host's time.

    In real time there is a thread for each CPU, the plugin that sets its speed, a network card, and
    optionally a second serial line. This card sends a packet during the guest's write to its
    register, and QEMU's user-mode network forwards it at once. So the host kernel's receive time
    stamp is the time at which the guest sent it. The guest has only a route to this network, which
    contains nothing but the loopback interface of the network in which QEMU is started.
    """
    real = hardware.real
    if real is None:
        return timing_arguments(hardware.shape, idle_is_skipped=hardware.talk is None)
    words = [
        *("-accel", "tcg,thread=multi"),
        *("-plugin", f"{_escaped(real.plugin)},{real.plugin_words}"),
        *("-netdev", "user,id=net,ipv6=off"),
        *("-device", f"{CARD},netdev=net,romfile="),
    ]
    if real.tty is not None:
        words += ["-chardev", f"serial,id=programmer,path={_escaped(real.tty)}"]
        words += ["-device", "isa-serial,chardev=programmer,index=1"]
    return words


def hand_over_arguments(hardware: Hardware) -> list[str]:
    """Returns the options that both backends use: the pause, plugins, files, the snapshot."""
    arguments = ["-device", hardware.shape.platform.pause_device, "-action", "panic=pause"]
    arguments += device_arguments(hardware.shape)
    if hardware.delays is not None:
        arguments += _plugin(hardware.delays.plugin, hardware.delays.words(hardware.shape.arch))
    if hardware.chip is not None:
        arguments += _plugin(hardware.chip.plugin, hardware.chip.words)
    for name, path in sorted(hardware.fw_cfg.items()):
        arguments += ["-fw_cfg", f"name={name},file={_escaped(path)}"]
    # Announcing a moved network card would start a host-clock timer.
    arguments += ["-global", "migration.announce-rounds=0"]
    if hardware.incoming is not None and hardware.memory is not None:
        # Only the monitor can set how a state without RAM is read.
        arguments += ["-incoming", "defer"]
    elif hardware.incoming is not None:
        arguments += ["-global", "migration.mapped-ram=on"]
        arguments += ["-incoming", f"file:{_escaped(hardware.incoming)}"]
    return arguments


def _plugin(plugin: Path, words: dict[str, str]) -> list[str]:
    values = (f"{key}={_doubled(value)}" for key, value in words.items())
    return ["-plugin", ",".join([_escaped(plugin), *values])]


def memory_arguments(hardware: Hardware) -> list[str]:
    """Returns the options for RAM in a file.

    The block has the same name as without a file, because snapshots contain the name.
    """
    if hardware.memory is None:
        return []
    block = hardware.shape.platform.ram_block
    share = "on" if hardware.incoming is None else "off"
    backend = f"memory-backend-file,id={block},size={RAM_MIB}M,share={share}"
    path = _escaped(hardware.memory)
    return [
        *("-object", f"{backend},x-use-canonical-path-for-ramblock-id=off,mem-path={path}"),
        *("-machine", f"memory-backend={block}"),
    ]


def console_chardev(hardware: Hardware) -> str:
    log = _escaped(hardware.console)
    if hardware.talk is None:
        return f"file,id=console,path={log}"
    path = _escaped(hardware.talk)
    return f"socket,id=console,path={path},server=on,wait=off,logfile={log}"


def qemu_arguments(
    hardware: Hardware, *, monitor_fd: int | None, qtest_fd: int | None = None
) -> list[str]:
    """Returns the whole command line of plain QEMU, without the program's name.

    `monitor_fd` is a socket for QMP that QEMU inherits; with None, a person enters commands in the
    terminal. `qtest_fd` is a socket that gives access to the guest's memory, unnoticed by its CPUs
    (QEMU docs/devel/testing/qtest). With `hardware.marks` QEMU records the agent's marks
    (images/agent/hypercall.h) and the host's time, also unnoticed.
    """
    shape, platform = hardware.shape, hardware.shape.platform
    monitor, memory, marks = ["-monitor", "stdio"], list[str](), list[str]()
    if monitor_fd is not None:
        monitor = ["-chardev", f"socket,id=monitor,fd={monitor_fd}"]
        monitor += ["-mon", "chardev=monitor,mode=control"]
    if qtest_fd is not None:
        memory = ["-chardev", f"socket,id=qtest,fd={qtest_fd}"]
        memory += ["-object", "qtest,id=memory,chardev=qtest,log=none"]
    if hardware.marks is not None:
        marks = ["-msg", "timestamp=on", "-trace", "fw_cfg_select", "-D", str(hardware.marks)]
    options = platform.machine_options.format(hpet="on" if has_hpet(shape) else "off")
    return [
        *("-nodefaults", "-no-user-config"),
        *("-sandbox", SANDBOX),
        # libvirt names threads, too. emulators/qemu_preload/ reads the names.
        *("-name", "flashrom-rig,debug-threads=on"),
        *("-uuid", UUID),
        *("-boot", "strict=on"),  # libvirt starts every domain like this.
        *("-display", "none"),
        *("-machine", f"{platform.machine},{options}"),
        *platform.qemu_words,
        *("-cpu", cpu_argument(shape)),
        *("-smp", f"{shape.cores},sockets={shape.cores},cores=1,threads=1"),
        *("-m", str(RAM_MIB)),
        *memory_arguments(hardware),
        *(["-bios", platform.firmware] if platform.firmware else []),
        *("-kernel", str(hardware.kernel)),
        *("-initrd", str(hardware.initrd)),
        *("-append", kernel_command_line(shape)),
        *("-chardev", console_chardev(hardware)),
        *("-serial", "chardev:console"),
        *monitor,
        *memory,
        # A running CPU gives the monitor no time until it is idle, so a booting machine starts
        # paused.
        *([] if hardware.incoming else ["-S"]),
        *clock_arguments(hardware),
        *marks,
        *hand_over_arguments(hardware),
    ]


def preloading(preload: Path | None, library_path: str) -> dict[str, str]:
    """Returns additions to QEMU's environment; `library_path` is its present library path.

    A path in LD_PRELOAD would end at a space, so it contains only a name.
    """
    if preload is None:
        return {}
    folders = filter(None, [str(preload.parent), library_path])
    return {"LD_PRELOAD": preload.name, LIBRARY_PATH: ":".join(folders)}


def pinned(cpu: int, command: Sequence[str]) -> list[str]:
    """Returns `command` restricted to one host CPU and ended with its parent.

    QEMU's threads take turns anyway; on one CPU no other CPU has to wake up.
    """
    return [*DIES_WITH_ITS_PARENT, *kept_to(cpu), *command]


def kept_to(cpu: int) -> list[str]:
    """Returns the words before a program that restrict it to one host CPU."""
    return ["taskset", "--cpu-list", str(cpu)]


def _escaped(path: Path) -> str:
    """Returns the path with doubled commas, as QEMU's options need them."""
    return _doubled(str(path))


def _doubled(text: str) -> str:
    return text.replace(",", ",,")
