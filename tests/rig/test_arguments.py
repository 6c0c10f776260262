# SPDX-License-Identifier: GPL-2.0-or-later
"""The description of a guest for QEMU and for libvirt: both agree where it matters."""

import subprocess
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from delayrig.machine import arguments
from delayrig.machine.arguments import (
    CELL_FW_CFG,
    SANDBOX,
    SUBJECT_FW_CFG,
    Hardware,
    hand_over_arguments,
    kernel_command_line,
    pinned,
    qemu_arguments,
    timing_arguments,
    window_address,
)
from delayrig.machine.delay_watch import DelayWatch
from delayrig.machine.domain import QEMU_NAMESPACE, domain_xml
from delayrig.model.platform import PLATFORMS, Arch
from delayrig.model.shape import GuestShape

from tests.rig.builders import CHECKOUT

SHAPE = GuestShape(icount_shift=4, cores=2)
BOOTING = Hardware(
    shape=SHAPE,
    preload=Path("/t 1/preload.so"),
    kernel=Path("/i,1/vmlinuz"),
    initrd=Path("/i,1/initrd"),
    console=Path("/out,1/console.log"),
)
RESTORED = replace(
    BOOTING,
    fw_cfg={SUBJECT_FW_CFG: Path("/s,1/subject.cpio"), CELL_FW_CFG: Path("/c/cell.cpio")},
    incoming=Path("/snap,1/a.snapshot"),
)
MACHINES = pytest.mark.parametrize("hardware", [BOOTING, RESTORED], ids=["booting", "restored"])


def domain_of(hardware: Hardware, name: str = "guest") -> ET.Element:
    return ET.fromstring(domain_xml(hardware, name=name, emulator="/usr/bin/qemu", cpu=3))


def words_of_domain(hardware: Hardware) -> list[str]:
    found = domain_of(hardware).findall(f"{{{QEMU_NAMESPACE}}}commandline/{{{QEMU_NAMESPACE}}}arg")
    return [argument.attrib["value"] for argument in found]


def options(words: list[str]) -> dict[str, list[str]]:
    """Returns the values of each option, in order."""
    found: dict[str, list[str]] = {}
    for option, value in pairwise(words):
        if option.startswith("-"):
            found.setdefault(option, []).append(value)
    return found


def text_of(domain: ET.Element, path: str) -> str:
    element = domain.find(path)
    assert element is not None
    return element.text or ""


@MACHINES
def test_timing_and_hand_over_are_word_for_word_the_same_for_both(hardware: Hardware) -> None:
    shared = [*timing_arguments(hardware.shape), *hand_over_arguments(hardware)]
    assert words_of_domain(hardware) == shared
    assert qemu_arguments(hardware, monitor_fd=5)[-len(shared) :] == shared


@MACHINES
def test_what_makes_time_virtual_is_there_once(hardware: Hardware) -> None:
    for words in (words_of_domain(hardware), qemu_arguments(hardware, monitor_fd=5)):
        given = options(words)
        assert given["-icount"] == ["shift=4,sleep=off"]
        assert given["-accel"] == ["tcg,thread=single"]
        assert given["-rtc"] == [f"base={arguments.RTC_BASE},clock=vm"]


@pytest.mark.parametrize("shift", range(11))
def test_speed_of_the_shape_is_the_shift_given(shift: int) -> None:
    shape = replace(SHAPE, icount_shift=shift)
    assert f"shift={shift},sleep=off" in timing_arguments(shape)


@MACHINES
def test_both_describe_the_same_machine(hardware: Hardware) -> None:
    given = options(qemu_arguments(hardware, monitor_fd=5))
    domain = domain_of(hardware)
    (command_line,) = given["-append"]
    assert command_line == text_of(domain, "os/cmdline") == kernel_command_line(hardware.shape)
    assert given["-kernel"] == [text_of(domain, "os/kernel")]
    assert given["-initrd"] == [text_of(domain, "os/initrd")]
    assert given["-bios"] == [text_of(domain, "os/loader")]
    assert given["-cpu"] == [text_of(domain, "cpu/model")]
    assert given["-m"] == [text_of(domain, "memory")]
    assert given["-smp"] == ["2,sockets=2,cores=1,threads=1"]
    assert text_of(domain, "vcpu") == "2"
    machine = domain.find("os/type")
    assert machine is not None
    assert given["-machine"][0].split(",")[0] == machine.attrib["machine"]


def test_commas_in_paths_are_doubled_where_qemu_parses_them() -> None:
    given = options(qemu_arguments(RESTORED, monitor_fd=5))
    assert given["-fw_cfg"] == [
        f"name={CELL_FW_CFG},file=/c/cell.cpio",
        f"name={SUBJECT_FW_CFG},file=/s,,1/subject.cpio",
    ]
    assert given["-incoming"] == ["file:/snap,,1/a.snapshot"]
    assert "file,id=console,path=/out,,1/console.log" in given["-chardev"]
    # These words are passed as they are.
    assert given["-kernel"] == ["/i,1/vmlinuz"]
    assert given["-initrd"] == ["/i,1/initrd"]


def test_libvirt_doubles_the_commas_of_its_own_elements_itself() -> None:
    source = domain_of(RESTORED).find("devices/serial/source")
    assert source is not None
    assert source.attrib["path"] == "/out,1/console.log"


def test_markup_in_a_path_stays_a_path() -> None:
    hardware = replace(RESTORED, incoming=Path('/a"<&>/b'))
    assert words_of_domain(hardware)[-1] == 'file:/a"<&>/b'


def test_booting_guest_is_given_no_snapshot() -> None:
    given = options(qemu_arguments(BOOTING, monitor_fd=5))
    assert "-incoming" not in given
    assert "-fw_cfg" not in given


def test_booting_guest_waits_until_the_monitor_is_there() -> None:
    assert "-S" in qemu_arguments(BOOTING, monitor_fd=5)
    assert "-S" not in qemu_arguments(RESTORED, monitor_fd=5)


def test_booting_guest_shares_its_memory_with_the_file() -> None:
    given = options(qemu_arguments(replace(BOOTING, memory=Path("/m,1/ram")), monitor_fd=5))
    (backend,) = given["-object"]
    assert "share=on" in backend
    assert backend.endswith("mem-path=/m,,1/ram")
    assert f"size={given['-m'][0]}M" in backend
    assert given["-machine"][-1] == "memory-backend=pc.ram"


def test_restored_guest_keeps_its_changes_of_memory_to_itself() -> None:
    hardware = replace(RESTORED, memory=Path("/m/ram"))
    given = options(qemu_arguments(hardware, monitor_fd=5))
    assert "share=off" in given["-object"][0]
    assert given["-incoming"] == ["defer"]


@MACHINES
def test_guest_that_panics_pauses(hardware: Hardware) -> None:
    given = options(hand_over_arguments(hardware))
    assert "pvpanic" in given["-device"]
    assert given["-action"] == ["panic=pause"]


def test_booting_guests_have_one_uuid_and_restored_domains_their_own() -> None:
    booting = {text_of(domain_of(BOOTING, name), "uuid") for name in ("a", "b")}
    assert booting == {arguments.UUID}
    restored = {text_of(domain_of(RESTORED, name), "uuid") for name in ("a", "b")}
    assert len(restored) == 2
    assert options(qemu_arguments(RESTORED, monitor_fd=5))["-uuid"] == [arguments.UUID]


def test_monitor_is_the_descriptor_given() -> None:
    given = options(qemu_arguments(BOOTING, monitor_fd=17))
    assert "socket,id=monitor,fd=17" in given["-chardev"]
    assert given["-mon"] == ["chardev=monitor,mode=control"]


def test_kernel_keeps_its_hands_off_the_window() -> None:
    words = kernel_command_line(SHAPE).split()
    assert "memmap=128M$384M" in words
    assert "rig.window_address=0x18000000" in words
    assert "rig.window_bytes=0x8000000" in words
    end = window_address(SHAPE) + arguments.WINDOW_BYTES
    assert end == arguments.RAM_MIB << 20


def test_kernel_keeps_time_by_the_raw_counter() -> None:
    assert "tsc=reliable" in kernel_command_line(SHAPE).split()


def test_words_of_hazards_stand_at_the_end_of_the_kernel_command_line() -> None:
    low = kernel_command_line(replace(SHAPE, kernel_words=("highres=off",)))
    assert low == f"{kernel_command_line(SHAPE)} highres=off"
    assert kernel_command_line(replace(SHAPE, cores=4, icount_shift=0)) == kernel_command_line(
        SHAPE
    )


def test_library_that_is_preloaded_is_named_so_that_spaces_in_its_path_do_not_matter() -> None:
    assert arguments.preloading(Path("/t 1/preload.so"), "") == {
        "LD_PRELOAD": "preload.so",
        "LD_LIBRARY_PATH": "/t 1",
    }


def test_library_path_that_qemu_needs_is_kept() -> None:
    given = arguments.preloading(Path("/t/preload.so"), "/qemu/lib:/more")
    assert given["LD_LIBRARY_PATH"] == "/t:/qemu/lib:/more"


def test_libvirt_preloads_the_same_as_plain_qemu() -> None:
    xml = domain_xml(RESTORED, name="guest", emulator="/usr/bin/qemu", cpu=3, library_path="/lib1")
    path = f"{{{QEMU_NAMESPACE}}}commandline/{{{QEMU_NAMESPACE}}}env"
    given = {
        entry.attrib["name"]: entry.attrib["value"] for entry in ET.fromstring(xml).findall(path)
    }
    assert given == arguments.preloading(RESTORED.preload, "/lib1")


def test_threads_have_the_names_that_turns_are_given_by() -> None:
    (name,) = options(qemu_arguments(BOOTING, monitor_fd=5))["-name"]
    assert name.endswith(",debug-threads=on")


def test_note_that_is_looked_for_is_the_one_that_is_made() -> None:
    source = CHECKOUT / "emulators" / "qemu_preload" / "big_lock.c"
    assert f'#define NOTE "{arguments.PRELOAD_NOTE}' in source.read_text(encoding="utf-8")


def test_pinned_process_keeps_to_one_cpu_and_ends_with_its_parent() -> None:
    assert pinned(3, ["qemu", "-m", "1"]) == [
        *("setpriv", "--pdeathsig", "KILL"),
        *("taskset", "--cpu-list", "3"),
        *("qemu", "-m", "1"),
    ]


def test_domain_keeps_to_the_cpu_given() -> None:
    vcpu = domain_of(BOOTING).find("vcpu")
    assert vcpu is not None
    assert vcpu.attrib["cpuset"] == "3"


@pytest.mark.parametrize(
    ("clocksource", "word", "hpet"),
    [
        ("tsc", "tsc=reliable", False),
        ("hpet", "clocksource=hpet", True),
        ("acpi_pm", "clocksource=acpi_pm", False),
    ],
)
def test_machine_has_an_hpet_where_the_guest_keeps_time_by_it(
    clocksource: str, word: str, hpet: bool
) -> None:
    hardware = replace(BOOTING, shape=replace(SHAPE, clocksource=clocksource))
    words = kernel_command_line(hardware.shape).split()
    assert word in words
    assert len([w for w in words if "tsc" in w or "clocksource" in w]) == 1
    machine = options(qemu_arguments(hardware, monitor_fd=5))["-machine"][0].split(",")
    assert ("hpet=on" in machine, "hpet=off" in machine) == (hpet, not hpet)
    timer = domain_of(hardware).find("clock/timer[@name='hpet']")
    assert timer is not None
    assert timer.attrib["present"] == ("yes" if hpet else "no")


ARM64 = replace(SHAPE, arch=Arch.ARM64, clocksource=PLATFORMS[Arch.ARM64].clocksource)


def test_i386_guest_is_the_same_machine() -> None:
    given = [
        qemu_arguments(replace(BOOTING, shape=replace(SHAPE, arch=arch)), monitor_fd=5)
        for arch in (Arch.X86_64, Arch.I386)
    ]
    assert given[0] == given[1]
    assert PLATFORMS[Arch.I386].program == PLATFORMS[Arch.X86_64].program


def test_arm64_guest_is_a_board_without_firmware_whose_counter_is_the_virtual_clock() -> None:
    given = options(qemu_arguments(replace(BOOTING, shape=ARM64), monitor_fd=5))
    assert "-bios" not in given
    assert given["-machine"] == ["virt,dtb-randomness=off"]
    assert given["-cpu"] == ["cortex-a53,cntfrq=1000000000"]
    assert given["-device"] == ["pvpanic-pci,addr=1"]
    memory = replace(BOOTING, shape=ARM64, memory=Path("/m/ram"))
    given = options(qemu_arguments(memory, monitor_fd=5))
    assert given["-machine"][-1] == "memory-backend=mach-virt.ram"


def test_riscv64_guest_has_firmware_of_qemus_choice_and_no_random_seed() -> None:
    shape = replace(SHAPE, arch=Arch.RISCV64, clocksource=PLATFORMS[Arch.RISCV64].clocksource)
    given = options(qemu_arguments(replace(BOOTING, shape=shape), monitor_fd=5))
    assert "-bios" not in given
    assert given["-seed"] == ["1"]
    assert given["-cpu"] == ["rv64,zkr=off"]
    assert window_address(shape) == (2 << 30) + (384 << 20)
    assert "mem=384M" in kernel_command_line(shape).split()


def test_arm64_kernel_ends_where_the_window_begins() -> None:
    words = kernel_command_line(ARM64).split()
    assert "mem=384M" in words
    assert "rig.window_address=0x58000000" in words
    assert window_address(ARM64) == (1 << 30) + (384 << 20)
    assert "console=ttyAMA0" in words
    assert not [word for word in words if word.startswith(("tsc=", "memmap=", "pci="))]


@pytest.mark.parametrize(("is_virtual", "clock"), [(True, "virtual"), (False, "monotonic")])
def test_delay_plugin_is_told_machine_clock_and_files(*, is_virtual: bool, clock: str) -> None:
    watch = DelayWatch(
        plugin=Path("/a,b.so"), request=Path("/w"), out=Path("/o,p"), is_virtual=is_virtual
    )
    words = hand_over_arguments(replace(BOOTING, delays=watch))
    told = words[words.index("-plugin") + 1]
    assert told == f"/a,,b.so,machine=x86_64,clock={clock},request=/w,out=/o,,p"
    assert "-plugin" not in hand_over_arguments(BOOTING)


def test_qemu_runs_within_its_sandbox() -> None:
    words = ["qemu-system-x86_64", "-nodefaults", "-display", "none", "-machine", "none", "-S"]
    process = subprocess.Popen(
        [
            *words,
            "-sandbox",
            SANDBOX,
            "-chardev",
            "stdio,id=monitor",
            "-mon",
            "monitor,mode=control",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        assert b"QMP" in process.stdout.readline()  # QEMU accepted all its options
        status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
        assert "Seccomp:\t2" in status
        assert "NoNewPrivs:\t1" in status
    finally:
        process.kill()
        process.communicate()
