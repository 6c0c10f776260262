# SPDX-License-Identifier: GPL-2.0-or-later
"""The one place that knows how a guest is described to QEMU; pure functions of their inputs.

Both backends start from `Hardware`: plain QEMU turns it into a command line, libvirt into a
domain of the same devices. What makes two runs identical is in `timing_arguments`.

Sources: QEMU docs/devel/tcg-icount, docs/specs/pvpanic, docs/specs/fw_cfg, qemu(1); Linux
Documentation/admin-guide/kernel-parameters.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from delayrig.base.die_with_parent import DIES_WITH_ITS_PARENT
from delayrig.machine.delay_watch import DelayWatch
from delayrig.model.shape import TSC, GuestShape

RAM_MIB = 512
HPET = "hpet"
CARD = "vmxnet3"
HOST_ADDRESS = "10.0.2.2"
"""Of this machine's loopback, as guests see it (QEMU docs, "user mode network stack")."""
SECOND_SERIAL_LINE = "/dev/ttyS1"
LIBRARY_PATH = "LD_LIBRARY_PATH"
PRELOAD_NOTE = "qemu-preload: the CPU thread keeps the lock"
UUID = "6c7cd5c4-3ab5-4a9b-8d1e-9ea7b2a3f501"  # firmware tables hold it
RTC_BASE = "2024-01-01T00:00:00"

# The last 128 MiB are kept from the kernel: the guest leaves its results there for the host.
# A write of 1 MiB that is polled without a wait leaves 29 MB of events at drawn times, more at max.
WINDOW_MIB = 128
KERNEL_MIB = RAM_MIB - WINDOW_MIB
WINDOW_BYTES = WINDOW_MIB << 20

SANDBOX = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=allow"
"""What no guest needs of this machine's kernel: QEMU is killed where it asks for it. Its threads
are moved from CPU to CPU, which is resource control."""
CELL_FW_CFG = "opt/org.flashrom.rig/cell"
SUBJECT_FW_CFG = "opt/org.flashrom.rig/subject"
BRIDGE_FW_CFG = "opt/org.flashrom.rig/bridge"

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


# What the kernel does in each system call or switch for somebody who is not here: statistics of
# pressure, checks of its own copies, zeros in fresh memory, groups of sessions, accounts of which
# group has what memory (there is one, and it has all), a stack at another place in each call.
UNUSED_CARE = (
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
    """What a machine has whose time is real: paced CPUs, and ways to this host."""

    plugin: Path
    """The CPU plugin (emulators/cpu/)."""
    plugin_words: str
    """Its arguments, joined by commas."""
    tty: Path | None = None
    """The terminal of this host's that is the guest's second serial line."""
    net: str = ""
    """Where the namespaces of the network are that QEMU, and so the guest, reaches; empty: it is
    this host's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardware:
    """A machine to start. `fw_cfg` maps names to files; `incoming` is a snapshot to resume.

    `memory` is the file that RAM lives in: a machine that boots writes to it, one that resumes
    sees it and keeps its own changes to itself. Without it, `incoming` must hold all of RAM.
    """

    shape: GuestShape
    preload: Path | None
    """What is preloaded into QEMU (emulators/qemu_preload/). None where somebody talks to the
    guest: a CPU that runs would leave the console nothing."""
    kernel: Path
    initrd: Path
    console: Path
    fw_cfg: dict[str, Path] = field(default_factory=dict)
    incoming: Path | None = None
    memory: Path | None = None
    real: RealTime | None = None
    """Where it is given, the machine lives in real time, and `preload` has no part in it."""
    delays: DelayWatch | None = None
    """How it sees the subject's delays, where it does. The guest does not notice."""
    marks: Path | None = None
    """Where QEMU is to note when the guest passed the end of each stage of its cell."""
    is_reset: bool = False
    """Whether it is to be reset to snapshots, and so gets a way to its memory."""
    talk: Path | None = None
    """A socket to talk over the console by. Then idle time passes as on a wall, else it is
    skipped: nobody types that fast."""


def window_address(shape: GuestShape) -> int:
    """The physical address of the memory that the results are left in."""
    return shape.platform.ram_base + (KERNEL_MIB << 20)


def kernel_command_line(shape: GuestShape) -> str:
    """What the guest kernel is told; part of a snapshot's identity."""
    platform, window = shape.platform, window_address(shape)
    # AMD-like models with several cores would fall back to a slow clock from an unreliable one.
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
        "mitigations=off",  # detours around a speculation that TCG does not do
        "lsm=",
        *UNUSED_CARE,
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
    """Machines of which this is equal can be reset to each other's snapshots."""
    return shape.arch, shape.kernel, shape.cores, has_hpet(shape)


def timing_arguments(shape: GuestShape, *, idle_is_skipped: bool = True) -> list[str]:
    """What makes time virtual, and runs identical (the process must also keep to one CPU)."""
    sleep = "off" if idle_is_skipped else "on"
    return [
        *("-accel", "tcg,thread=single"),
        *("-icount", f"shift={shape.icount_shift},sleep={sleep}"),
        *("-rtc", f"base={RTC_BASE},clock=vm"),
    ]


def clock_arguments(hardware: Hardware) -> list[str]:
    """Whose time it is: that of instructions, or of this host.

    In real time there is a thread for each CPU, the plugin that gives each its speed, a network
    card, and perhaps a second serial line. This card hands on a packet within the guest's own write
    to its register, and QEMU's user-mode network sends it at once: so what the host's kernel stamps
    as received was sent in that moment. The guest has no route but to this network, in which there
    is nothing but the loopback interface of the network that QEMU is started in.
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
    """What both backends pass to QEMU word for word: the pause, the files, the snapshot."""
    arguments = ["-device", hardware.shape.platform.pause_device, "-action", "panic=pause"]
    if hardware.delays is not None:
        told = hardware.delays.words(hardware.shape.arch).items()
        values = (f"{key}={_doubled(value)}" for key, value in told)
        arguments += ["-plugin", ",".join([_escaped(hardware.delays.plugin), *values])]
    for name, path in sorted(hardware.fw_cfg.items()):
        arguments += ["-fw_cfg", f"name={name},file={_escaped(path)}"]
    # Announcing a moved network card would start a host-clock timer.
    arguments += ["-global", "migration.announce-rounds=0"]
    if hardware.incoming is not None and hardware.memory is not None:
        # What a state without RAM is read with can only be told over the monitor.
        arguments += ["-incoming", "defer"]
    elif hardware.incoming is not None:
        arguments += ["-global", "migration.mapped-ram=on"]
        arguments += ["-incoming", f"file:{_escaped(hardware.incoming)}"]
    return arguments


def memory_arguments(hardware: Hardware) -> list[str]:
    """RAM in its file: a block of the name that it has without one, which snapshots know it by."""
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
    """The whole command line of plain QEMU, without the program's name.

    QMP goes over a socket that QEMU is started with; None: words on the terminal, for a person.
    Another such socket is a way to the guest's memory (QEMU docs/devel/testing/qtest); its CPUs
    know nothing of it. Where marks are wanted, QEMU notes the agent's (images/agent/hypercall.h)
    with the host's time; no guest sees that.
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
        # As libvirt; emulators/qemu_preload/ reads names.
        *("-name", "flashrom-rig,debug-threads=on"),
        *("-uuid", UUID),
        *("-boot", "strict=on"),  # as libvirt starts every domain
        *("-display", "none"),
        *("-machine", f"{platform.machine},{options}"),
        *("-cpu", ",".join(filter(None, [platform.cpu_model, platform.cpu_options]))),
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
        # A CPU that runs leaves the monitor nothing until it is idle: one that boots waits for it.
        *([] if hardware.incoming else ["-S"]),
        *clock_arguments(hardware),
        *marks,
        *hand_over_arguments(hardware),
    ]


def preloading(preload: Path | None, library_path: str) -> dict[str, str]:
    """What QEMU's environment has to hold beside its own; `library_path` is the one that it has.

    A path in LD_PRELOAD would end at a space, so only a name stands there.
    """
    if preload is None:
        return {}
    folders = filter(None, [str(preload.parent), library_path])
    return {"LD_PRELOAD": preload.name, LIBRARY_PATH: ":".join(folders)}


def pinned(cpu: int, command: Sequence[str]) -> list[str]:
    """`command`, kept to one host CPU and ended with its parent.

    QEMU's threads take turns anyhow; on one CPU that costs no wake-up of another.
    """
    return [*DIES_WITH_ITS_PARENT, *kept_to(cpu), *command]


def kept_to(cpu: int) -> list[str]:
    """What stands before a program that is kept to one host CPU."""
    return ["taskset", "--cpu-list", str(cpu)]


def _escaped(path: Path) -> str:
    """QEMU's option syntax doubles commas."""
    return _doubled(str(path))


def _doubled(text: str) -> str:
    return text.replace(",", ",,")
