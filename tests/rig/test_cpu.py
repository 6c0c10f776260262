# SPDX-License-Identifier: GPL-2.0-or-later
"""CPUs with more features than the default: guests, delay functions and verdicts."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from delayrig.hazards.artifacts import Artifacts
from delayrig.hazards.of_cell import shape_of
from delayrig.judge.no_instruction import missing_instruction
from delayrig.judge.trust import rig_fault
from delayrig.judge.waits import untried_counters
from delayrig.machine.arguments import cpu_argument, kernel_command_line, machine_of
from delayrig.model.cell import Cell
from delayrig.model.kinds.agent import KernelMessage
from delayrig.model.platform import Arch
from delayrig.subjects.finder.finding import find_in
from delayrig.subjects.symbols import read_symbols

from tests.rig import delay_programs as programs
from tests.rig.builders import delays_of, make_cell, make_subject

PLAIN_SHAPE = shape_of(make_cell())
ADAPTIVE_DELAY = """\
#include <cpuid.h>
OWN int is_steady(void)
{
	unsigned int a, b, c, d;

	__cpuid(0x80000007, a, b, c, d);
	return d >> 8 & 1;
}
OWN void by_counter(unsigned int us)
{
	const uint64_t begin = __builtin_ia32_rdtsc();

	while (__builtin_ia32_rdtsc() - begin < us * UINT64_C(1000))
		;
}
OWN void delay_us(unsigned int us)
{
	if (is_steady())
		by_counter(us);
	else
		sleep_us(us);
}
int main(void) { delay_us(10); delay_us(1000000); sleep_us(3); return 0; }
"""
USES_AVX2 = """\
int main(void)
{
	__asm__ volatile(".type crash, @function\\ncrash: vpaddd %ymm0, %ymm1, %ymm2");
	return 0;
}
"""
BASE = 0x7F00_0000_0000
needs_gcc = pytest.mark.skipif(not programs.compiles(Arch.X86_64), reason="needs gcc")


def cell_of(*hazards: str) -> Cell:
    return make_cell(hazards=hazards)


def artifacts_of(*events: KernelMessage, counters: tuple[str, ...] = ()) -> Artifacts:
    delays = delays_of()
    functions = [msgspec.structs.replace(delays.header.functions[0], counters=counters)]
    header = msgspec.structs.replace(delays.header, functions=functions)
    delays = msgspec.structs.replace(delays, header=header)
    return Artifacts(events=[*events], output=b"", image=b"", read_back=None, delays=delays)


def kernel_says(text: str, level: int = 6) -> KernelMessage:
    return KernelMessage(t_ns=5, level=level, text=text)


def test_guest_without_a_cpu_hazard_has_qemu64_and_the_vdso() -> None:
    assert cpu_argument(PLAIN_SHAPE) == "qemu64"
    assert "vdso=0" not in kernel_command_line(PLAIN_SHAPE)


@pytest.mark.parametrize(
    ("level", "has", "lacks"),
    [("x86-64-v2", "+sse4.2", "+avx2"), ("x86-64-v3", "+avx2", "+rdrand")],
)
def test_cpu_level_sets_features_and_separates_snapshots(level: str, has: str, lacks: str) -> None:
    shape = shape_of(cell_of(f"cpu:{level}"))
    assert has in cpu_argument(shape).split(",")
    assert lacks not in cpu_argument(shape).split(",")
    assert machine_of(shape) != machine_of(PLAIN_SHAPE)
    assert level in shape.name


def test_invariant_tsc_sets_the_cpuid_bit_and_keeps_the_vdso_off_the_counter() -> None:
    shape = shape_of(cell_of("cpu:invariant-tsc"))
    assert cpu_argument(shape) == "qemu64,+invtsc,x-force-features=on"
    assert "vdso=0" in kernel_command_line(shape)
    assert kernel_command_line(replace(shape, kernel_words=())) == kernel_command_line(PLAIN_SHAPE)


@needs_gcc
def test_cpuid_and_rdtsc_in_or_below_a_delay_are_listed(tmp_path: Path) -> None:
    program = programs.build(tmp_path, ADAPTIVE_DELAY, "-O2", arch=Arch.X86_64)
    addresses = [programs.address_of(program, name) for name in ("delay_us", "sleep_us")]
    adaptive, plain = find_in(program.read_bytes(), addresses).named
    assert {counter.partition(" ")[0] for counter in adaptive.counters} == {"cpuid", "rdtsc"}
    assert plain.counters == ()


def test_delay_that_reads_counters_names_the_hazard_that_tries_them() -> None:
    artifacts = artifacts_of(counters=("rdtsc at 0x12",))
    assert "rdtsc at 0x12" in untried_counters(cell_of(), artifacts)
    assert "cpu:invariant-tsc" in untried_counters(cell_of(), artifacts)
    assert untried_counters(cell_of("cpu:invariant-tsc"), artifacts) == ""
    assert untried_counters(cell_of(), artifacts_of()) == ""


@needs_gcc
def test_missing_instruction_is_named_with_the_level_that_has_it(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    program = programs.build(tmp_path / "parts", USES_AVX2, "-O2", arch=Arch.X86_64)
    subject = make_subject(archive=str(tmp_path / "subject.cpio"))
    offset = programs.address_of(program, "crash") - read_symbols(program).text[0]
    message = f"x[9] trap invalid opcode ip:{BASE + offset:x} sp:7ffe error:0"
    message += f" in {program.name}[{BASE:x}+1000]"
    found = missing_instruction([kernel_says(message)], subject)
    assert found.startswith("vpaddd at ")
    assert found.endswith("which the hazard cpu:x86-64-v3 has")
    other = message.replace(program.name, "libother.so")
    assert missing_instruction([kernel_says(other)], subject) == "an instruction in libother.so"
    assert missing_instruction([kernel_says("clock is off", 4)], subject) == ""


def test_informational_kernel_message_is_no_fault_of_the_rig() -> None:
    message = kernel_says("x[9] trap invalid opcode ip:1 sp:1 error:0 in x[0+1]")
    assert "complains" not in rig_fault(cell_of(), artifacts_of(message))
    assert "complains" in rig_fault(cell_of(), artifacts_of(kernel_says("off", 4)))
