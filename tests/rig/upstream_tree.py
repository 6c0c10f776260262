# SPDX-License-Identifier: GPL-2.0-or-later
"""Reconstructions of flashrom's trees: a few files with its public names.

They were written for these tests, which build all but `v1_2()`. `today()` is a tree for meson with
a delay file for each system, `one_file()` one for make whose delays are a calibrated loop.
`RELEASES` have the structure of five releases of flashrom: where the delay file is, who calls it,
and how the build names it.
"""

from collections.abc import Callable
from pathlib import Path

Files = dict[str, str]

DELAY, OLD_DELAY = "default_delay", "internal_delay"

FLASH_H = """\
#ifndef FLASH_H
#define FLASH_H
#include <stdio.h>
#define msg_ginfo(...) printf(__VA_ARGS__)
#endif
"""
PROGRAMMER_H = """\
#ifndef PROGRAMMER_H
#define PROGRAMMER_H
int programmer_init(const char *name, const char *parameters);
#endif
"""
FLASHROM_C = """\
#include <string.h>
#include "flash.h"
#include "platform/udelay.h"
#include "programmer.h"

int programmer_init(const char *name, const char *parameters)
{
	(void)parameters;
	default_delay(150);
	return strcmp(name, "dummy");
}
"""
CLI_CLASSIC_C = """\
#include <stdio.h>
#include "flash.h"
#include "programmer.h"

int main(int argc, char *argv[])
{
	const char *name = argc > 2 ? argv[2] : "dummy";

	msg_ginfo("flashrom, a reconstruction\\n");
	if (programmer_init(name, NULL)) {
		msg_ginfo("Error: Programmer initialization failed.\\n");
		return 1;
	}
	return 0;
}
"""
UDELAY_C = """\
#include <time.h>
#include "platform/udelay.h"

static const unsigned int longest_poll_us = CONFIG_DELAY_MINIMUM_SLEEP_US;

void default_delay(unsigned int usecs)
{
	struct timespec now, asked = {usecs / 1000000, usecs % 1000000 * 1000L};
	long started_s;

	if (usecs >= longest_poll_us) {
		nanosleep(&asked, NULL);
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	started_s = now.tv_sec;
	asked.tv_nsec += now.tv_nsec;
	while ((now.tv_sec - started_s) * 1000000000L + now.tv_nsec < asked.tv_nsec)
		clock_gettime(CLOCK_MONOTONIC, &now);
}
"""
UDELAY_H = """\
#ifndef UDELAY_H
#define UDELAY_H
void default_delay(unsigned int usecs);
#endif
"""
UDELAY_WINDOWS_C = """\
#include <windows.h>
#include "platform/udelay.h"

void default_delay(unsigned int usecs)
{
	Sleep(usecs / 1000 + 1);
}
"""
MESON_BUILD = """\
project('flashromutils', 'c',
  version : '1.7.0',
  default_options : [
    'warning_level=2',
    'c_std=c99',
    'werror=true',
  ],
)

add_project_arguments('-D_DEFAULT_SOURCE', language : 'c')
add_project_arguments('-D_POSIX_C_SOURCE=200809L', language : 'c')
cargs = ['-Wshadow', '-Wmissing-prototypes']
srcs = files(
  'flashrom.c',
)
subdir('platform')
include_dir = include_directories('include')
core = static_library('core', srcs, c_args : cargs, include_directories : include_dir)
executable('flashrom', 'cli_classic.c',
  c_args : cargs, include_directories : include_dir, link_with : core)
subdir('tests')
"""
PLATFORM_MESON = """\
# The delays of each system
if host_machine.system() == 'windows'
  srcs += files('udelay_windows.c')
else
  srcs += files('udelay.c')
endif
cargs += ['-DCONFIG_DELAY_MINIMUM_SLEEP_US=@0@'.format(
  get_option('delay_minimum_sleep_us')
)]
"""
MESON_OPTIONS = """\
option('tests', type : 'feature', value : 'auto', description : 'Unit tests')
option('delay_minimum_sleep_us', type : 'integer', min : 0, value : 100000,
       description : 'From which length on to sleep')
"""
TEST_C = """\
#include <time.h>
#include "platform/udelay.h"

int main(void)
{
	struct timespec before, after;
	long ns;

	clock_gettime(CLOCK_MONOTONIC, &before);
	default_delay(2000);
	clock_gettime(CLOCK_MONOTONIC, &after);
	ns = after.tv_nsec - before.tv_nsec;
	return (after.tv_sec - before.tv_sec) * 1000000 + ns / 1000 < 2000;
}
"""
OLD_TEST_C = TEST_C.replace("platform/udelay.h", "programmer.h").replace(
    "\tclock_gettime", "\tmyusec_calibrate_delay();\n\tclock_gettime", 1
)
TESTS_MESON = """\
test('delay', executable('unit', 'udelay.c',
  include_directories : include_dir, link_with : core))
"""
OLD_UDELAY_C = """\
#ifndef __LIBPAYLOAD__
#include <time.h>
#include <unistd.h>
#include "programmer.h"

static unsigned long rounds = 1;

__attribute__ ((noinline)) void myusec_delay(unsigned int usecs)
{
	volatile unsigned long left = usecs * rounds;

	while (left > 0)
		left--;
}

void myusec_calibrate_delay(void)
{
	clock_t start, took = 0;

	for (rounds = 1; took < CLOCKS_PER_SEC / 50; rounds *= 2) {
		start = clock();
		myusec_delay(1000);
		took = clock() - start;
	}
	rounds = rounds * 1000 / took + 1;
}

void internal_sleep(unsigned int usecs)
{
	usleep(usecs);
}

void default_delay(unsigned int usecs)
{
	if (usecs > 1000000)
		internal_sleep(usecs);
	else
		myusec_delay(usecs);
}
#else
#include <libpayload.h>

void default_delay(unsigned int usecs)
{
	udelay(usecs);
}
#endif
"""
OLD_PROGRAMMER_H = PROGRAMMER_H.replace(
    "#endif",
    """
/* udelay.c */
void myusec_delay(unsigned int usecs);
void myusec_calibrate_delay(void);
void internal_sleep(unsigned int usecs);
void default_delay(unsigned int usecs);
#endif""",
)
OLD_FLASHROM_C = FLASHROM_C.replace('#include "platform/udelay.h"\n', "").replace(
    "\tdefault_delay",
    "\t/* Calibration has to come first. */\n\tmyusec_calibrate_delay();\n\tinternal_sleep",
)
MAKEFILE = """\
CC ?= cc
CFLAGS ?= -Os -Wall -Wextra -Wshadow -Wmissing-prototypes -Wwrite-strings
override CFLAGS += -Werror -Iinclude

CLI_OBJS = cli_classic.o
LIB_OBJS = flashrom.o \\
	udelay.o

flashrom: $(CLI_OBJS) $(LIB_OBJS)
	$(CC) -o $@ $^

check: $(LIB_OBJS) tests/udelay.o
	$(CC) -o unit $^
	./unit

%.o: %.c
	$(CC) $(CFLAGS) -o $@ -c $<
"""


def today() -> Files:
    """Returns a tree for meson, with a folder for the delay files of all systems."""
    return {
        "include/flash.h": FLASH_H,
        "include/programmer.h": PROGRAMMER_H,
        "include/platform/udelay.h": UDELAY_H,
        "flashrom.c": FLASHROM_C,
        "cli_classic.c": CLI_CLASSIC_C,
        "platform/udelay.c": UDELAY_C,
        "platform/udelay_windows.c": UDELAY_WINDOWS_C,
        "platform/meson.build": PLATFORM_MESON,
        "meson.build": MESON_BUILD,
        "meson_options.txt": MESON_OPTIONS,
        "tests/udelay.c": TEST_C,
        "tests/meson.build": TESTS_MESON,
    }


def one_file() -> Files:
    """Returns a tree for make, with one delay file, a calibrated loop and no option."""
    return {
        "include/flash.h": FLASH_H,
        "include/programmer.h": OLD_PROGRAMMER_H,
        "flashrom.c": OLD_FLASHROM_C,
        "cli_classic.c": CLI_CLASSIC_C,
        "udelay.c": OLD_UDELAY_C,
        "Makefile": MAKEFILE,
        "tests/udelay.c": OLD_TEST_C,
    }


HEADERS = {"flash.h": FLASH_H, "programmer.h": PROGRAMMER_H}
NO_OPTION = "option('tests', type : 'feature', value : 'auto', description : 'Unit tests')\n"
DRIVER_C = """\
#include "flash.h"
#include "programmer.h"
#include "platform/udelay.h"

int jlink_spi_init(void);
int jlink_spi_init(void)
{
	internal_sleep(150);
	return 0;
}
"""
UDELAY_DOS_C = """\
#include <unistd.h>
#include "programmer.h"
#include "platform/udelay.h"

static void myusec_calibrate_delay(void)
{
}

void internal_sleep(unsigned int usecs)
{
	usleep(usecs);
}

void default_delay(unsigned int usecs)
{
	myusec_calibrate_delay();
	internal_sleep(usecs);
}
"""
SLEEPER_H = UDELAY_H.replace("#endif", "void internal_sleep(unsigned int usecs);\n#endif")
SLEEPER_C = UDELAY_C.replace(
    "void default_delay",
    """\
void internal_sleep(unsigned int usecs)
{
	const struct timespec asked = {usecs / 1000000, usecs % 1000000 * 1000L};

	nanosleep(&asked, NULL);
}

void default_delay""",
)
VARYING_MESON = """\
# The delays of each system
delay_src = files('udelay.c')
if host_machine.system() == 'dos'
  delay_src = files('udelay_dos.c')
endif
srcs += delay_src
cargs += ['-DCONFIG_DELAY_MINIMUM_SLEEP_US=@0@'.format(
  get_option('delay_minimum_sleep_us')
)]
"""
ENDIAN_MESON = """\
srcs += files(
  'endian_' + host_machine.endian() + '.c',
)
"""
SCALAR_MESON = """\
# The delays of each system
if host_machine.system() == 'dos'
  udelay_c = 'udelay_dos.c'
elif host_machine.system() == 'windows'
  udelay_c = 'udelay_windows.c'
else
  udelay_c = 'udelay.c'
endif
dep_platform_udelay = declare_dependency(
  sources : files(udelay_c),
)
cargs += ['-DCONFIG_DELAY_MINIMUM_SLEEP_US=@0@'.format(
  get_option('delay_minimum_sleep_us')
)]
"""
CONDITIONAL_MAKEFILE = (
    MAKEFILE.replace(
        "LIB_OBJS = flashrom.o \\\n\tudelay.o\n",
        """\
LIB_OBJS = flashrom.o jlink_spi.o

ifeq ($(TARGET_OS), DOS)
  LIB_OBJS += udelay_dos.o
else
  LIB_OBJS += udelay.o
endif
CONFIG_DELAY_MINIMUM_SLEEP_US ?= 100000
FEATURE_FLAGS += -D'CONFIG_DELAY_MINIMUM_SLEEP_US=$(CONFIG_DELAY_MINIMUM_SLEEP_US)'
""",
    )
    .replace("-Werror -Iinclude", "-Iinclude")
    .replace("$(CFLAGS) -o", "$(CFLAGS) -Werror -D_DEFAULT_SOURCE $(FEATURE_FLAGS) -o")
)


def v1_2() -> Files:
    """Returns a tree whose only delay file has `internal_delay`; the build adds it to a list."""
    old = {name: text.replace(DELAY, OLD_DELAY) for name, text in one_file().items()}
    build = MESON_BUILD.replace("subdir('platform')\n", "srcs += 'udelay.c'\n")
    return old | {
        "meson.build": build,
        "meson_options.txt": NO_OPTION,
        "tests/meson.build": TESTS_MESON,
    }


def v1_4() -> Files:
    """Returns a tree that meson or make builds, with a second delay file for DOS."""
    files = {f"include/{name}": text for name, text in HEADERS.items()}
    return files | {
        "include/platform/udelay.h": SLEEPER_H,
        "flashrom.c": FLASHROM_C,
        "jlink_spi.c": DRIVER_C,
        "cli_classic.c": CLI_CLASSIC_C,
        "udelay.c": SLEEPER_C,
        "udelay_dos.c": UDELAY_DOS_C,
        "meson.build": MESON_BUILD.replace("subdir('platform')\n", VARYING_MESON).replace(
            "  'flashrom.c',\n", "  'flashrom.c',\n  'jlink_spi.c',\n"
        ),
        "Makefile": CONDITIONAL_MAKEFILE,
        "meson_options.txt": MESON_OPTIONS,
        "tests/udelay.c": TEST_C,
        "tests/meson.build": TESTS_MESON,
    }


def v1_6() -> Files:
    """Returns v1.4 with a folder for both delay files, 100 us as the default, and meson alone."""
    files = v1_4()
    del files["Makefile"]
    for name in ("udelay.c", "udelay_dos.c"):
        files[f"platform/{name}"] = files.pop(name)
    return files | {
        "meson.build": files["meson.build"].replace(VARYING_MESON, "subdir('platform')\n"),
        "platform/meson.build": VARYING_MESON,
        "meson_options.txt": MESON_OPTIONS.replace("100000", "100"),
    }


def v1_7() -> Files:
    """Returns v1.6 with a folder for the driver, and a source whose name the build composes."""
    files = v1_6()
    files["programmers/jlink_spi.c"] = files.pop("jlink_spi.c")
    build = files["meson.build"].replace("'jlink_spi.c'", "'programmers/jlink_spi.c'")
    return files | {
        "meson.build": build,
        "platform/meson.build": ENDIAN_MESON + VARYING_MESON,
        "platform/endian_little.c": "typedef int little_endian;\n",
        "platform/endian_big.c": "typedef int big_endian;\n",
    }


def v1_8() -> Files:
    """Returns v1.7, but a variable holds the delay file's name, and a dependency uses it."""
    files = v1_7()
    linked = "include_directories : include_dir)\nexecutable"
    build = files["meson.build"].replace(
        linked, "include_directories : include_dir, dependencies : dep_platform_udelay)\nexecutable"
    )
    assert build != files["meson.build"]
    return files | {
        "meson.build": build,
        "platform/meson.build": SCALAR_MESON,
        "platform/udelay.c": UDELAY_C,
        "platform/udelay_windows.c": UDELAY_WINDOWS_C,
        "include/platform/udelay.h": UDELAY_H,
        "programmers/jlink_spi.c": DRIVER_C.replace("internal_sleep", DELAY),
    }


RELEASES: dict[str, Callable[[], Files]] = {
    "1.2": v1_2,
    "1.4": v1_4,
    "1.6": v1_6,
    "1.7": v1_7,
    "1.8": v1_8,
}


def laid_out(files: Files, root: Path) -> Path:
    """Writes the files below `root`; returns it."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root
