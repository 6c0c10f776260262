# SPDX-License-Identifier: GPL-2.0-or-later
"""Small C programs for the tests of the finder, with delay functions and functions like them."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from delayrig.base.paths import find_paths
from delayrig.model.platform import PLATFORMS, Arch
from delayrig.subjects.finder.debug_info import build_id
from delayrig.subjects.finder.isa import ISAS
from delayrig.subjects.subject import PARTS, PROGRAM, Subject
from delayrig.subjects.symbols import read_symbols
from elftools.elf.elffile import ELFFile

from tests.rig.builders import make_subject

HEAD = """\
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#ifndef OWN
#define OWN __attribute__((noinline, noclone))
#endif

OWN void sleep_us(unsigned int us)
{
	struct timespec rest = { us / 1000000, (long)(us % 1000000) * 1000 };

	while (nanosleep(&rest, &rest) != 0 && errno == EINTR)
		;
}
OWN int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
OWN void poll_us(unsigned int us)
{
	const int64_t until_ns = now_ns() + (int64_t)us * 1000;

	while (now_ns() < until_ns)
		;
}
"""
DEEP = """\
OWN void pause_0(unsigned int us) { sleep_us(us); sleep_us(us); }
OWN int64_t clock_0(void) { return now_ns() + now_ns(); }
#define AROUND(n, inner) \\
	OWN void pause_##n(unsigned int us) { pause_##inner(us); pause_##inner(us); } \\
	OWN int64_t clock_##n(void) { return clock_##inner() + clock_##inner(); }
AROUND(1, 0) AROUND(2, 1) AROUND(3, 2) AROUND(4, 3) AROUND(5, 4) AROUND(6, 5) AROUND(7, 6)
int main(int argc, char **argv)
{
	(void)argv;
	pause_7(10000);
	return clock_7() > argc;
}
"""
"""Functions around a sleep and a clock, deeper than the finder looks."""
MIXED = """\
volatile unsigned int given = 3;
int main(void)
{
	sleep_us(1000000);
	poll_us(100);
	poll_us(10);
	sleep_us(given ^ 1);
	return 0;
}
"""
"""A call whose argument is an exclusive or of a variable."""
USES_BOTH = (
    "int main(void) { sleep_us(1000000); poll_us(10); sleep_us(10000); poll_us(100); return 0; }"
)
FLASHROM = """\
#include <assert.h>
#include <stdlib.h>
int verbose;
static const unsigned int waits_us[] = { 7, 20, 90 };
struct chip { void (*reset)(void *flash); int id; } *volatile chip;
OWN void log_text(const char *text, int number)
{
	if (verbose)
		printf(text, number);
}
OWN void programmer_delay(void *flash, unsigned int us)
{
	if (us == 0)
		return;
	if (flash == NULL)
		log_text("no chip", 0);
	sleep_us(us);
}
OWN int probe(void *flash)
{
	int id;

	programmer_delay(flash, 10);
	log_text("probing", 1);
	programmer_delay(flash, 10);
	id = chip->id;
	log_text("first id %d", id);
	programmer_delay(flash, 500);
	assert(verbose < 9);
	return id == 7;
}
OWN int poll_status(void *flash, int step)
{
	const unsigned int us = waits_us[step];

	programmer_delay(flash, us);
	return chip->id;
}
OWN void reset_chip(void *flash)
{
	log_text("reset", 2);
	programmer_delay(flash, 145000);
}
OWN void init_usb(void)
{
	log_text("init", 3);
	usleep(50000);
	log_text("done", 4);
}
int main(int count, char **words)
{
	static struct chip one = { reset_chip, 7 };

	chip = &one;
	if (!probe(&one) || poll_status(&one, count % 3) != 7)
		return 1;
	chip->reset(&one);
	init_usb();
	return 0;
}
"""
CARRIER = FLASHROM.replace(
    "OWN void init_usb(void)",
    """OWN int command(void *flash, int op, int a, int b, int c, int d, unsigned int us)
{
	log_text("command", op);
	log_text("operands", a + b * c + d);
	assert(flash != NULL);
	do {
		programmer_delay(flash, us);
	} while (chip->id == op);
	return chip->id;
}
OWN int erase(void *flash)
{
	return command(flash, 0x62, 1, 2, 3, 4, 100000) + 1;
}
OWN void init_usb(void)""",
).replace("init_usb();", "init_usb();\n\tif (count > 5)\n\t\treturn erase(&one);")
"""A program in which the last argument of `command()` is the time of a delay in a loop."""
OTHER_UNITS = """\
OWN void sleep_ms(unsigned int ms)
{
	struct timespec rest = { ms / 1000, (long)(ms % 1000) * 1000000 };

	while (nanosleep(&rest, &rest) != 0)
		;
}
OWN void sleep_ns(uint64_t ns)
{
	struct timespec rest = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	while (nanosleep(&rest, &rest) != 0)
		;
}
OWN void wide_us(uint64_t us)
{
	struct timespec rest = { (time_t)(us / 1000000), (long)(us % 1000000) * 1000 };

	while (nanosleep(&rest, &rest) != 0)
		;
}
OWN void wide_poll(uint64_t length)
{
	const int64_t until_ns = now_ns() + (int64_t)length * 7;

	while (now_ns() < until_ns)
		;
}
int main(void) { sleep_ms(20); sleep_ns(20000); wide_us(20); wide_poll(3); return 0; }
"""
UNTIL_DEADLINE = """\
OWN void sleep_until(uint64_t deadline_ns)
{
	const struct timespec until = {
		(time_t)(deadline_ns / 1000000000), (long)(deadline_ns % 1000000000)
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0)
		;
}
int main(void) { sleep_until((uint64_t)now_ns() + 1000); return 0; }
"""
UNTIL_DEADLINE_IN_A_LOOP = """\
OWN void wait_since(int64_t since_ns, unsigned int us)
{
	const int64_t until_ns = since_ns + (int64_t)us * 1000;
	const struct timespec until = { until_ns / 1000000000, until_ns % 1000000000 };
	struct timespec now;

	do {
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((int64_t)now.tv_sec * 1000000000 + now.tv_nsec < until_ns);
}
int main(void) { wait_since(now_ns(), 10); return 0; }
"""
ENDS_ELSEWHERE = """\
OWN void ends_elsewhere(unsigned int us)
{
	if (us == 0)
		return;
	usleep(us);
}
void (*volatile used)(unsigned int us) = ends_elsewhere;
int main(void) { used(10); return 0; }
"""
FILLED_UP = """\
OWN void filled_us(unsigned int us)
{
	__asm__ volatile("nopl 0(%0)" : : "r"((unsigned long)us * 3));
	sleep_us(us);
	poll_us(us);
}
int main(void) { filled_us(10); return 0; }
"""
POINTED_AT = """\
struct clock { void (*delay_us)(void *context, unsigned int us); void *context; };
OWN void system_delay_us(void *context, unsigned int us)
{
	(void)context;
	if (us < 100)
		poll_us(us);
	else
		sleep_us(us);
}
const struct clock system_clock = { system_delay_us, NULL };
static const struct clock *volatile used = &system_clock;
int main(void) { used->delay_us(used->context, 10); return 0; }
"""
ONE_FOR_BOTH = """\
OWN void delay(unsigned int us)
{
	if (us < 100)
		poll_us(us);
	else
		sleep_us(us);
}
int main(void) { delay(10); delay(1000000); return 0; }
"""
DECOYS = """\
OWN int retry(int times)
{
	const struct timespec pause = { 0, 1000000 };
	int n;

	for (n = 0; n < times; n++)
		nanosleep(&pause, NULL);
	return n;
}
OWN int reset_line(int fd)
{
	const struct timespec settle = { 0, 50000000 };
	const char byte = 0;

	nanosleep(&settle, NULL);
	return (int)write(fd, &byte, 1);
}
OWN int ready(int fd, int timeout_ms)
{
	struct pollfd waited = { fd, POLLIN, 0 };

	return poll(&waited, 1, timeout_ms);
}
OWN int64_t measure(unsigned int us)
{
	const int64_t start_ns = now_ns();

	sleep_us(us);
	return now_ns() - start_ns;
}
static volatile int others[3];
OWN void note(const char *what) { printf("%d %s", (int)now_ns(), what); }
OWN int stop_other(int other, int how)
{
	note("stop");
	return other - how;
}
OWN void stop_others(int how)
{
	for (int n = 0; n < 3; n++)
		if (stop_other(others[n], how) < 0)
			note("failed");
}
OWN int is_over(unsigned int us) { return now_ns() > (int64_t)us * 1000; }
OWN int64_t since(unsigned int us) { return now_ns() - us; }
OWN unsigned int bits(unsigned int of)
{
	unsigned int n = 0;

	for (; of != 0; of &= of - 1)
		n++;
	return n;
}
int main(int argc, char **argv)
{
	(void)argv;
	printf("%d %d %d", retry(argc), reset_line(argc), ready(argc, 10));
	printf("%d %d", is_over(argc), (int)since(argc));
	stop_others(argc);
	printf("%d %u", measure(1000) > 9 && measure(10000) > 9, bits(argc));
	sleep_us(10000);
	poll_us(10);
	poll_us(20);
	return 0;
}
"""
INLINED = """\
static volatile int line;
int main(void)
{
	const struct timespec settle = { 1, 0 };

	line = 1;
	nanosleep(&settle, NULL);
	usleep(50000);
	poll(NULL, 0, 25);
	select(0, NULL, NULL, NULL, &(struct timeval){ 0, 10 });
	return 0;
}
"""
LIBRARY_CALLS = """\
OWN void with_usleep(unsigned int us) { usleep(us); }
OWN void with_poll(int ms) { poll(NULL, 0, ms); }
OWN void with_select(unsigned int us)
{
	struct timeval rest = { us / 1000000, us % 1000000 };

	select(0, NULL, NULL, NULL, &rest);
}
OWN void until_then(unsigned int us)
{
	struct timespec then;

	clock_gettime(CLOCK_MONOTONIC, &then);
	then.tv_sec += us / 1000000;
	then.tv_nsec += us % 1000000 * 1000;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, NULL);
}
int main(void)
{
	with_usleep(10); with_poll(10); with_select(10); until_then(10);
	with_usleep(99); with_poll(99); with_select(99); until_then(99);
	return 0;
}
"""
CALIBRATED = """\
static uint64_t rounds_per_us = 1;
OWN void spin(uint64_t rounds) { for (volatile uint64_t n = 0; n < rounds; n++) ; }
OWN void loop_delay(unsigned int us) { spin(us * rounds_per_us); }
OWN uint64_t loop_took_us(uint64_t rounds)
{
	const int64_t start_ns = now_ns();

	spin(rounds);
	return (uint64_t)(now_ns() - start_ns) / 1000;
}
int main(void)
{
	rounds_per_us = 1000000 / (loop_took_us(1000000) + 1);
	loop_delay(10); loop_delay(1000000);
	return 0;
}
"""
CHOSEN_AT_LOAD = """\
static void (*choose(void))(unsigned int) { return getppid() == 1 ? poll_us : sleep_us; }
void chosen_delay(unsigned int us) __attribute__((ifunc("choose")));
int main(void) { chosen_delay(10); chosen_delay(1000000); return 0; }
"""
STATUS_WAIT = """\
static int (*volatile status)(void);
OWN void until_ready(unsigned int us)
{
	const int64_t until_ns = now_ns() + (int64_t)us * 1000;

	while (status() != 0 && now_ns() < until_ns)
		;
}
int main(void) { until_ready(10); until_ready(1000000); return 0; }
"""
GIVEN_A_POINTER = """\
OWN int sleep_for(const struct timespec *length) { return nanosleep(length, NULL); }
int main(void)
{
	const struct timespec one = { 0, 1000 }, other = { 0, 2000 };

	return sleep_for(&one) + sleep_for(&other) + 1;
}
"""
SINCE_BEFORE = """\
static int64_t last_ns;
OWN void pace(unsigned int us)
{
	while (now_ns() < last_ns + (int64_t)us * 1000)
		;
	last_ns = now_ns();
}
static struct timespec before;
OWN void pace_asleep(unsigned int us)
{
	struct timespec now, rest;
	int64_t left_ns;

	clock_gettime(CLOCK_MONOTONIC, &now);
	left_ns = (before.tv_sec - now.tv_sec) * 1000000000 + before.tv_nsec - now.tv_nsec;
	left_ns += (int64_t)us * 1000;
	if (left_ns > 0) {
		rest.tv_sec = left_ns / 1000000000;
		rest.tv_nsec = left_ns % 1000000000;
		nanosleep(&rest, NULL);
	}
	clock_gettime(CLOCK_MONOTONIC, &before);
}
OWN void pace_by_delay(unsigned int us)
{
	const int64_t left_ns = last_ns + (int64_t)us * 1000 - now_ns();

	if (left_ns > 0)
		sleep_us((unsigned int)(left_ns / 1000));
}
static int64_t next_ns;
OWN void pace_until(unsigned int us)
{
	struct timespec until;

	next_ns += (int64_t)us * 1000;
	until.tv_sec = next_ns / 1000000000;
	until.tv_nsec = next_ns % 1000000000;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}
struct pacer { int64_t since_ns; };
OWN void pace_of(unsigned int us, struct pacer *pacer)
{
	while (now_ns() - pacer->since_ns < (int64_t)us * 1000)
		;
	pacer->since_ns = now_ns();
}
OWN void poll_until(int64_t deadline_ns)
{
	while (now_ns() < deadline_ns)
		;
}
static struct pacer one;
int main(void)
{
	pace(1000); pace(20); pace_asleep(1000); pace_asleep(20); pace_by_delay(20);
	pace_of(1000, &one); pace_of(20, &one); pace_until(20); pace_until(1000);
	poll_until(now_ns() + 1000); poll_until(now_ns() + 3);
	return 0;
}
"""
CAPPED_NAPS = """\
OWN void nap(unsigned int us)
{
	sleep_us(us > 1000 ? 1000 : us);
}
OWN void nap_itself(unsigned int us)
{
	struct timespec rest;

	if (us > 2000)
		us = 2000;
	rest.tv_sec = us / 1000000;
	rest.tv_nsec = (long)(us % 1000000) * 1000;
	while (nanosleep(&rest, &rest) != 0 && errno == EINTR)
		;
}
OWN void nap_of_library(unsigned int us)
{
	usleep(us < 500 ? us : 500);
}
OWN void nap_awake(unsigned int us)
{
	const int64_t until_ns = now_ns() + (us < 5000 ? us : 5000) * 1000LL;

	while (now_ns() < until_ns)
		;
}
int main(void)
{
	nap(10); nap(99999); nap_itself(10); nap_itself(99999); nap_of_library(10);
	nap_of_library(99999); nap_awake(10); nap_awake(99999);
	return 0;
}
"""
LEFT_TO_ADAPTER = """\
struct adapter { unsigned int stored_us; };
struct context { struct adapter *adapter; };
static unsigned int last_us;
OWN void adapter_delay(const struct context *context, unsigned int us)
{
	struct adapter *adapter = context->adapter;

	if (us + adapter->stored_us > 20) {
		const unsigned int left_us = 20 - adapter->stored_us;

		usleep(us - left_us);
		us = left_us;
	}
	adapter->stored_us += us;
}
OWN void noting_delay(unsigned int us)
{
	last_us = us;
	usleep(us);
}
struct adapter the_adapter;
struct context the_context = { &the_adapter };
int main(void)
{
	adapter_delay(&the_context, 10);
	noting_delay(10);
	return (int)last_us;
}
"""
IN_PARTS = """\
static _Thread_local int64_t margin_ns;
static int64_t late_ns;
OWN void in_parts(unsigned int us)
{
	while (us > 0) {
		const unsigned int part = us > 500000 ? 500000 : us;

		usleep(part);
		us -= part;
	}
}
OWN void with_margin(unsigned int us)
{
	const int64_t start_ns = now_ns(), length_ns = (int64_t)us * 1000;

	if (us >= 100) {
		const int64_t nap_ns = length_ns - margin_ns;
		const struct timespec nap = { nap_ns / 1000000000, nap_ns % 1000000000 };

		nanosleep(&nap, NULL);
		late_ns = now_ns() - start_ns - nap_ns;
	}
	while (now_ns() - start_ns < length_ns)
		;
}
OWN void goes_on(unsigned int us)
{
	struct timespec now, start;
	int64_t left_ns = (int64_t)us * 1000;

	clock_gettime(CLOCK_MONOTONIC, &start);
	while (left_ns > 0) {
		const struct timespec rest = { left_ns / 1000000000, left_ns % 1000000000 };

		nanosleep(&rest, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
		left_ns = (int64_t)us * 1000 - (now.tv_sec - start.tv_sec) * 1000000000LL;
		left_ns -= now.tv_nsec - start.tv_nsec;
	}
}
OWN int64_t since_ns(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - start->tv_sec) * 1000000000LL + now.tv_nsec - start->tv_nsec;
}
OWN void by_a_helper(unsigned int us)
{
	struct timespec start;

	clock_gettime(CLOCK_MONOTONIC, &start);
	while (since_ns(&start) < (int64_t)us * 1000)
		;
}
OWN void at_least(unsigned int us)
{
	sleep_us(us < 1 ? 1 : us);
}
int main(void)
{
	in_parts(10); in_parts(7000000); with_margin(10); with_margin(99999); goes_on(10);
	goes_on(99999); by_a_helper(10); by_a_helper(99); at_least(1); sleep_us(9); at_least(99);
	return 0;
}
"""


def build(
    folder: Path, source: str, *options: str, arch: Arch = Arch.X86_64, head: str = HEAD
) -> Path:
    """Compiles the program with its symbols; returns its file."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "source.c").write_text(head + source, encoding="ascii")
    program = folder / "program"
    command, environment = compiler(arch)
    options = ("-w", "-D_FORTIFY_SOURCE=0", *options)
    subprocess.run(
        [*command, "-o", program, "source.c", *options], check=True, cwd=folder, env=environment
    )
    return program


def compiler(arch: Arch) -> tuple[list[str], dict[str, str]]:
    """Returns the compiler for that architecture, with its environment."""
    if arch is Arch.X86_64:
        return ["gcc"], dict(os.environ)
    (root,) = (find_paths().images / "toolchains").glob(f"{arch}-*")
    command = [str(root / "usr/bin" / f"{PLATFORMS[arch].gnu}-gcc"), f"--sysroot={root}"]
    return command, {**os.environ, "LD_LIBRARY_PATH": str(root / "tools")}


READ = [arch for arch in Arch if {*PLATFORMS[arch].elf_machines} & {*ISAS}]
"""The architectures whose code the finder reads."""


def packed(program: Path, folder: Path) -> Subject:
    """Returns a subject that consists of that program, packaged in the folder."""
    part = folder / PARTS / PROGRAM.lstrip("/")
    part.parent.mkdir(parents=True)
    shutil.copy(program, part)
    return make_subject(archive=str(folder / "subject.cpio"))


def compiles(arch: Arch) -> bool:
    """Returns True if this machine has a compiler for that architecture."""
    if arch is Arch.X86_64:
        return shutil.which("gcc") is not None
    return any((find_paths().images / "toolchains").glob(f"{arch}-*"))


def stripped(program: Path, arch: Arch = Arch.X86_64, folder: Path | None = None) -> Path:
    """Copies the program without its symbols, beside it or into another folder."""
    bare = (folder or program.parent) / f"{program.name}.stripped"
    command, environment = compiler(arch)
    tool = command[0].removesuffix("gcc") + "strip"
    subprocess.run([tool, "-o", bare, program], check=True, env=environment)
    return bare


def place_of_debug_file(program: Path, folder: Path) -> Path:
    """Returns the program's place in a new folder of debug files, by its build id."""
    with program.open("rb") as file:
        build = build_id(ELFFile(file))
    place = folder / ".build-id" / build[:2] / f"{build[2:]}.debug"
    place.parent.mkdir(parents=True)
    return place


def names_of(program: Path, addresses: list[int]) -> list[str]:
    """Returns the names of the functions at those addresses, by the program's symbols."""
    symbols = read_symbols(program)
    return sorted(symbols.name(address) for address in addresses)


def address_of(program: Path, name: str) -> int:
    """Returns the address of the function of that name."""
    address = read_symbols(program).function(name)
    assert address is not None
    return address


ARCHES = [
    pytest.param(arch, marks=pytest.mark.skipif(not compiles(arch), reason="no compiler"))
    for arch in READ
]
"""The values of a parameter `arch`."""
