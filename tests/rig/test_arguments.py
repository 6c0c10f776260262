# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line of QEMU and the domain of libvirt describe the same guest."""

import subprocess
from dataclasses import replace
from difflib import ndiff
from itertools import pairwise
from pathlib import Path
from typing import Any
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
from delayrig.machine.domain import QEMU_NAMESPACE, domain_xml
from delayrig.machine.plugins import DelayWatch
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
WORDS_OF_BOOTING = """
    -nodefaults -no-user-config
    -sandbox on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=allow
    -name flashrom-rig,debug-threads=on -uuid 6c7cd5c4-3ab5-4a9b-8d1e-9ea7b2a3f501
    -boot strict=on -display none -machine pc,usb=off,hpet=off,vmport=off -cpu qemu64
    -smp 2,sockets=2,cores=1,threads=1 -m 512 -bios qboot.rom
    -kernel /i,1/vmlinuz -initrd /i,1/initrd -append
    console=ttyS0 loglevel=4 panic=-1 cryptomgr.notests mitigations=off lsm= psi=0
    hardened_usercopy=off init_on_alloc=0 noautogroup nokaslr cgroup_disable=memory
    randomize_kstack_offset=off
    initcall_blacklist=load_system_certificate_list,init_blk_tracer,blake2s_mod_init,\
crypto_kdf108_init,init_encrypted,digsig_init,dquot_init
    tsc=reliable noreplace-smp 8250.nr_uarts=1 pci=lastbus=0 memmap=128M$384M
    rig.window_address=0x18000000 rig.window_bytes=0x8000000
    -chardev file,id=console,path=/out,,1/console.log -serial chardev:console
    -chardev socket,id=monitor,fd=5 -mon chardev=monitor,mode=control -S
    -accel tcg,thread=single -icount shift=4,sleep=off -rtc base=2024-01-01T00:00:00,clock=vm
    -device pvpanic -action panic=pause -global migration.announce-rounds=0
"""
FW_CFG = f"""-fw_cfg name={CELL_FW_CFG},file=/c/cell.cpio
    -fw_cfg name={SUBJECT_FW_CFG},file=/s,,1/subject.cpio"""
BACKEND = (
    "-object memory-backend-file,id=pc.ram,size=512M,share={},"
    "x-use-canonical-path-for-ramblock-id=off,mem-path=/m,,1/ram -machine memory-backend=pc.ram"
)
IN_FILE: dict[str, Any] = {"memory": Path("/m,1/ram")}


def shaped(**changes: Any) -> Hardware:
    return replace(BOOTING, shape=replace(SHAPE, **changes))


def board(arch: Arch) -> GuestShape:
    return replace(SHAPE, arch=arch, clocksource=PLATFORMS[arch].clocksource)


def watched(*, is_virtual: bool) -> Hardware:
    watch = DelayWatch(
        plugin=Path("/a,b.so"), request=Path("/w"), out=Path("/o,p"), is_virtual=is_virtual
    )
    return replace(BOOTING, delays=watch)


OTHERS: dict[str, tuple[Hardware, str, str]] = {
    "restored": (
        RESTORED,
        "-S",
        f"{FW_CFG} -global migration.mapped-ram=on -incoming file:/snap,,1/a.snapshot",
    ),
    "memory in a file": (replace(BOOTING, **IN_FILE), "", BACKEND.format("on")),
    "restored, with private memory": (
        replace(RESTORED, **IN_FILE),
        "-S",
        f"{BACKEND.format('off')} {FW_CFG} -incoming defer",
    ),
    "another speed": (shaped(icount_shift=0), "shift=4,sleep=off", "shift=0,sleep=off"),
    "more cores": (
        shaped(cores=4),
        "2,sockets=2,cores=1,threads=1",
        "4,sockets=4,cores=1,threads=1",
    ),
    "kernel options of hazards": (shaped(kernel_words=("highres=off",)), "", "highres=off"),
    "hpet": (
        shaped(clocksource="hpet"),
        "pc,usb=off,hpet=off,vmport=off tsc=reliable",
        "pc,usb=off,hpet=on,vmport=off clocksource=hpet",
    ),
    "acpi_pm": (shaped(clocksource="acpi_pm"), "tsc=reliable", "clocksource=acpi_pm"),
    "i386": (shaped(arch=Arch.I386), "", ""),
    "arm64 with memory in a file": (
        replace(BOOTING, shape=board(Arch.ARM64), **IN_FILE),
        "pc,usb=off,hpet=off,vmport=off qemu64 -bios qboot.rom console=ttyS0 tsc=reliable"
        " noreplace-smp 8250.nr_uarts=1 pci=lastbus=0 memmap=128M$384M"
        " rig.window_address=0x18000000 pvpanic",
        "virt,dtb-randomness=off cortex-a53,cntfrq=1000000000"
        f" {BACKEND.format('on').replace('pc.ram', 'mach-virt.ram')}"
        " console=ttyAMA0 mem=384M rig.window_address=0x58000000 pvpanic-pci,addr=1",
    ),
    "riscv64": (
        replace(BOOTING, shape=board(Arch.RISCV64)),
        "pc,usb=off,hpet=off,vmport=off qemu64 -bios qboot.rom tsc=reliable"
        " noreplace-smp 8250.nr_uarts=1 pci=lastbus=0 memmap=128M$384M"
        " rig.window_address=0x18000000 pvpanic",
        "virt,usb=off -seed 1 rv64,zkr=off mem=384M rig.window_address=0x98000000"
        " pvpanic-pci,addr=1",
    ),
    "watched delays": (
        watched(is_virtual=True),
        "",
        "-plugin /a,,b.so,machine=x86_64,clock=virtual,request=/w,out=/o,,p",
    ),
    "delays in real time": (
        watched(is_virtual=False),
        "",
        "-plugin /a,,b.so,machine=x86_64,clock=monotonic,request=/w,out=/o,,p",
    ),
}


def words_of(hardware: Hardware, *, monitor_fd: int = 5) -> list[str]:
    return " ".join(qemu_arguments(hardware, monitor_fd=monitor_fd)).split()


def domain_of(hardware: Hardware, name: str = "guest", library_path: str = "") -> ET.Element:
    return ET.fromstring(
        domain_xml(hardware, name=name, emulator="/usr/bin/qemu", cpu=3, library_path=library_path)
    )


def of_command_line(domain: ET.Element, tag: str) -> list[ET.Element]:
    return domain.findall(f"{{{QEMU_NAMESPACE}}}commandline/{{{QEMU_NAMESPACE}}}{tag}")


def words_of_domain(hardware: Hardware) -> list[str]:
    return [argument.attrib["value"] for argument in of_command_line(domain_of(hardware), "arg")]


def element(domain: ET.Element, path: str) -> ET.Element:
    found = domain.find(path)
    assert found is not None
    return found


def text_of(domain: ET.Element, path: str) -> str:
    return element(domain, path).text or ""


def test_command_line_of_a_booting_guest() -> None:
    assert words_of(BOOTING) == WORDS_OF_BOOTING.split()


@pytest.mark.parametrize("case", OTHERS)
def test_command_line_of_another_guest_differs_only_in_the_words_of_its_case(case: str) -> None:
    hardware, removed, added = OTHERS[case]
    lines = list(ndiff(words_of(BOOTING), words_of(hardware)))
    assert [line[2:] for line in lines if line.startswith("- ")] == removed.split()
    assert [line[2:] for line in lines if line.startswith("+ ")] == added.split()


def test_monitor_has_the_given_descriptor() -> None:
    assert "socket,id=monitor,fd=17" in words_of(BOOTING, monitor_fd=17)


@MACHINES
def test_timing_and_hand_over_are_equal_for_qemu_and_libvirt(hardware: Hardware) -> None:
    shared = [*timing_arguments(hardware.shape), *hand_over_arguments(hardware)]
    assert words_of_domain(hardware) == shared
    assert qemu_arguments(hardware, monitor_fd=5)[-len(shared) :] == shared


@MACHINES
@pytest.mark.parametrize("clocksource", ["tsc", "hpet"])
def test_qemu_and_libvirt_describe_the_same_machine(hardware: Hardware, clocksource: str) -> None:
    hardware = replace(hardware, shape=replace(SHAPE, clocksource=clocksource))
    words = qemu_arguments(hardware, monitor_fd=5)
    given, domain = dict(pairwise(words)), domain_of(hardware)
    command_line = kernel_command_line(hardware.shape)
    assert given["-append"] == text_of(domain, "os/cmdline") == command_line
    assert given["-kernel"] == text_of(domain, "os/kernel")
    assert given["-initrd"] == text_of(domain, "os/initrd")
    assert given["-bios"] == text_of(domain, "os/loader")
    assert given["-cpu"] == text_of(domain, "cpu/model")
    assert given["-m"] == text_of(domain, "memory")
    assert given["-smp"].startswith(f"{text_of(domain, 'vcpu')},")
    assert given["-machine"].startswith(f"{element(domain, 'os/type').attrib['machine']},")
    hpet = element(domain, "clock/timer[@name='hpet']").attrib["present"]
    assert hpet == ("yes" if "hpet=on" in given["-machine"] else "no")
    assert element(domain, "vcpu").attrib["cpuset"] == "3"
    # libvirt itself doubles the commas in its elements.
    assert element(domain, "devices/serial/source").attrib["path"] == "/out,1/console.log"


def test_markup_in_a_path_is_escaped() -> None:
    hardware = replace(RESTORED, incoming=Path('/a"<&>/b'))
    assert words_of_domain(hardware)[-1] == 'file:/a"<&>/b'


def test_booting_domains_share_a_uuid_and_restored_ones_do_not() -> None:
    booting, restored = (
        {text_of(domain_of(hardware, name), "uuid") for name in ("a", "b")}
        for hardware in (BOOTING, RESTORED)
    )
    assert booting == {arguments.UUID}
    assert len(restored) == 2


@pytest.mark.parametrize("arch", [Arch.X86_64, Arch.ARM64, Arch.RISCV64])
def test_window_is_the_end_of_the_memory(arch: Arch) -> None:
    end = window_address(board(arch)) + arguments.WINDOW_BYTES
    assert end == PLATFORMS[arch].ram_base + (arguments.RAM_MIB << 20)


def test_i386_guest_runs_in_the_same_program() -> None:
    assert PLATFORMS[Arch.I386].program == PLATFORMS[Arch.X86_64].program


@pytest.mark.parametrize(
    ("library_path", "path"), [("", "/t 1"), ("/qemu/lib:/more", "/t 1:/qemu/lib:/more")]
)
def test_path_of_the_preloaded_library_may_contain_spaces(library_path: str, path: str) -> None:
    given = {"LD_PRELOAD": "preload.so", "LD_LIBRARY_PATH": path}
    assert arguments.preloading(RESTORED.preload, library_path) == given
    entries = of_command_line(domain_of(RESTORED, library_path=library_path), "env")
    assert {entry.attrib["name"]: entry.attrib["value"] for entry in entries} == given


def test_note_of_the_preloaded_library_is_the_one_that_the_rig_reads() -> None:
    source = CHECKOUT / "emulators" / "qemu_preload" / "big_lock.c"
    assert f'#define NOTE "{arguments.PRELOAD_NOTE}' in source.read_text(encoding="utf-8")


def test_pinned_process_runs_on_one_cpu_and_ends_with_its_parent() -> None:
    words = "setpriv --pdeathsig KILL taskset --cpu-list 3 qemu -m 1"
    assert pinned(3, ["qemu", "-m", "1"]) == words.split()


def test_qemu_runs_within_its_sandbox() -> None:
    words = "qemu-system-x86_64 -nodefaults -display none -machine none -S"
    words += f" -sandbox {SANDBOX} -chardev stdio,id=monitor -mon monitor,mode=control"
    process = subprocess.Popen(words.split(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert b"QMP" in process.stdout.readline()  # QEMU accepted all options
        status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
        assert "Seccomp:\t2" in status
        assert "NoNewPrivs:\t1" in status
    finally:
        process.kill()
        process.communicate()
