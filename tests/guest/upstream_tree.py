# SPDX-License-Identifier: GPL-2.0-or-later
"""A source tree like flashrom's, made of our own sources, which a gate can build.

Its waits are those of flashrom in 2024: it polls for less than 100 ms; a longer wait is one sleep,
which a signal cuts short.
"""

import shutil
from pathlib import Path

from tests.rig.upstream_tree import (
    MESON_OPTIONS,
    PLATFORM_MESON,
    UDELAY_C,
    UDELAY_H,
    UDELAY_WINDOWS_C,
    Files,
    laid_out,
)

OURS = "ours"
LIBRARY = "lib"
FOLDERS = ("chips", "cli", "core", "drivers", "include", LIBRARY, "platform", "programmers")
LEFT_OUT = ("udelay.*", "dummy*.c")
FLASHROM_C = """\
#include "ours.h"
#include "programmer.h"

/* Replaces our dummy programmer, which needs the emulators. */
const struct programmer_driver dummy_driver = {.name = "dummy"};

int programmer_init(int argc)
{
	return argc < 1;
}
"""
CLI_CLASSIC_C = """\
#include <stdio.h>
#include "ours.h"

#define msg_ginfo(...) printf(__VA_ARGS__)

int main(int argc, char *argv[])
{
	if (programmer_init(argc))
		return 1;
	return flashrom_main(argc, argv);
}
"""
OURS_H = """\
#ifndef OURS_H
#define OURS_H
int programmer_init(int argc);
int flashrom_main(int argc, char *argv[]);
#endif
"""
# Our realtime_*() get other names, because the graft adds and calls functions of the same names.
MESON_BUILD = """\
project('flashromutils', 'c', version : '1.7.0')
add_project_arguments('-D_DEFAULT_SOURCE', language : 'c')
cargs = []
srcs = files(
  'flashrom.c',
)
subdir('platform')
include_dir = include_directories('include', 'ours/include')
ours_args = ['-D_GNU_SOURCE', '-DCONFIG_REALTIME=0', '-DFLASHROM_VERSION="1.7.0"',
  '-Dmain=flashrom_main', '-Drealtime_acquire=no_acquire', '-Drealtime_restore=no_restore']
ours = static_library('ours', {sources},
  c_args : cargs + ours_args, include_directories : include_dir, pic : true)
core = static_library('core', srcs,
  c_args : cargs, include_directories : include_dir, pic : true)
executable('flashrom', 'cli_classic.c',
  c_args : cargs, include_directories : include_dir, link_with : [core, ours, core])
shared_library('flashrom', {library},
  c_args : cargs + ours_args, include_directories : include_dir, link_with : [core, ours, core],
  version : '1.0.0')
"""


def gateable_tree(flashrom: Path, root: Path) -> Path:
    """Makes a tree like flashrom's from our folder `flashrom`; returns its top."""
    for folder in FOLDERS:
        ignore = shutil.ignore_patterns(*LEFT_OUT)
        shutil.copytree(flashrom / folder, root / OURS / folder, ignore=ignore)
    sources = sorted(str(path.relative_to(root)) for path in (root / OURS).rglob("*.c"))
    of_library = [name for name in sources if name.startswith(f"{OURS}/{LIBRARY}/")]
    program = [name for name in sources if name not in of_library]
    build = MESON_BUILD.replace("{sources}", str(program)).replace("{library}", str(of_library))
    files: Files = {
        "flashrom.c": FLASHROM_C,
        "cli_classic.c": CLI_CLASSIC_C,
        "include/ours.h": OURS_H,
        "include/platform/udelay.h": UDELAY_H,
        "platform/udelay.c": UDELAY_C,
        "platform/udelay_windows.c": UDELAY_WINDOWS_C,
        "platform/meson.build": PLATFORM_MESON,
        "meson.build": build,
        "meson_options.txt": MESON_OPTIONS,
    }
    return laid_out(files, root)
