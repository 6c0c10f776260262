# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds flashrom from the sources that a `git:` subject stands for, with its library beside it.

The build is foreign code like the sources, so it runs in bubblewrap, without a network, on a copy.
It is optimised like a distribution's build, with debug information. No call is inlined or merged,
so that delays and their callers have the same names in two builds. The cache key of a build covers
the sources, the flags, the script, the compiler, and the libraries that drivers are built for.
"""

import fcntl
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from delayrig.base import digest
from delayrig.base.bubblewrap import (
    CLOSED,
    NOBODY,
    REMEDY,
    is_unconfined_by_default,
    missing_confinement,
    sandbox_words,
    system_words,
    words_for_folders,
)
from delayrig.base.errors import BuildError
from delayrig.base.interruption import run_child
from delayrig.base.paths import Paths, Preparing
from delayrig.base.private_net import new_net_words
from delayrig.base.shell import OWN_PROGRAMS
from delayrig.setup.scratch import scratch_beside
from delayrig.subjects.git_tree import DIGITS, FOLDER, Source, known_source, sources_of
from delayrig.subjects.own_programs import TAIL_LINES
from delayrig.subjects.seal import again, fault_of, sealed_folder

PROGRAM, LIBRARY = "flashrom", "libflashrom.so.1"
PLACES = ("flashrom", "build", "left")
"""The folders of sources, build and results, at the top of the sandbox."""
FLAGS = (
    *("-O2", "-g", "-fno-inline", "-fno-optimize-sibling-calls", "-fno-partial-inlining"),
    *("-fno-ipa-cp", "-fno-ipa-sra", "-fno-ipa-icf", f"-ffile-prefix-map=../{PLACES[0]}/="),
)
MESON = (
    *("--wrap-mode=nodownload", "--default-library=both"),
    *("-Doptimization=2", "-Ddebug=true", "-Dwerror=false"),
)
LEFT_OUT = ("tests", "man-pages", "documentation", "ich_descriptors_tool", "bash_completion")
"""The options of flashrom's meson build for parts that the rig does not use."""
OPTION = re.compile(r"^\s*option\(\s*'([\w-]+)'", re.MULTILINE)
OPTION_FILES = ("meson_options.txt", "meson.options")
TIME_LIMIT_S = 1800
TEMPORARY_BYTES_MAX = 256 << 20
SCRIPT = f"""\
set -eu
cd "$BUILD"
if [ -n "$MESON" ]; then
	# What only some drivers need may be missing: then the two programmers that cells use.
	eval "$MESON setup . $SOURCES $ALL" || {{
		rm -rf meson-private meson-info meson-logs
		eval "$MESON setup . $SOURCES $ALL $FEW"
	}}
	ninja
else
	CFLAGS="$CFLAGS -fPIC" make -C "$SOURCES" -j "$(nproc)" WARNERROR=no
	cp "$SOURCES/{PROGRAM}" .
	if [ -f "$SOURCES/libflashrom.a" ]; then
		cc -shared -o {LIBRARY} -Wl,-soname,{LIBRARY} \\
			-Wl,--whole-archive "$SOURCES/libflashrom.a" -Wl,--no-whole-archive \\
			$(objdump -p {PROGRAM} | sed -n 's/^ *NEEDED */-l:/p')
	fi
fi
cp -L {PROGRAM} "$LEFT/"
if [ -e {LIBRARY} ]; then
	cp -L {LIBRARY} "$LEFT/"
fi
"""
LIFELINE = """\
import os, select, signal, subprocess, sys

build = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
ready, _, _ = select.select([0, os.pidfd_open(build.pid)], [], [])
if 0 in ready:
    os.killpg(0, signal.SIGKILL)
    os._exit(1)
sys.exit(build.wait())
"""
"""Runs a build until it ends or the other end of standard input closes.

It is process 1 of the sandbox, whose processes end with it. Unconfined, it kills its process group.
"""
PACKAGES = {
    "libpci": "libpci-dev",
    "libusb-1.0": "libusb-1.0-0-dev",
    "libftdi1": "libftdi1-dev",
    "libjaylink": "libjaylink-dev",
}
"""The packages of the libraries that drivers need, by their names in pkg-config."""
MISSED = re.compile(r"ERROR: |cannot find |did not find |not found|No such file", re.IGNORECASE)
"""The words of shells, make, meson, compilers and linkers for something that is missing."""
TOOLS = {"cc": "gcc", "make": "make", "ninja": "ninja-build", "pkg-config": "pkg-config"}


def provide_tree(name: str, paths: Paths, preparing: Preparing) -> Path:
    """Returns the folder that holds the program, and its library if the tree makes one.

    Raises `BuildError`, which names the log.
    """
    source = known_source(name, paths)
    folder = paths.images / FOLDER / f"built-{_key(source)}"
    with _one_at_a_time(paths):
        if fault := fault_of(folder):
            preparing(f"flashrom of {source.label}{again(folder, fault)}")
            _build(source, folder, paths)
    return folder


def _key(source: Source) -> str:
    """Returns a digest of all inputs of a build."""
    # pkg-config is called for each library: if one of several is missing, it prints no version.
    libraries = [_output_of("pkg-config", "--modversion", name) for name in PACKAGES]
    versions = [_output_of("cc", "--version"), *libraries]
    return digest.of_value(["tree", source.tree, FLAGS, MESON, SCRIPT, versions])[:24]


def _output_of(*words: str) -> str:
    found = shutil.which(words[0])
    done = subprocess.run(words, capture_output=True, text=True, check=False) if found else None
    return done.stdout if done else ""


@contextmanager
def _one_at_a_time(paths: Paths) -> Iterator[None]:
    """Allows one build at a time: it takes all CPUs, and the next caller may want the same one."""
    with (paths.images / FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build(source: Source, folder: Path, paths: Paths) -> None:
    """Builds a copy, which is removed at the end in any case."""
    log = paths.state / "log" / f"build-{source.tree[:DIGITS]}.log"
    log.parent.mkdir(exist_ok=True)
    with scratch_beside(folder) as scratch, log.open("w", encoding="utf-8") as output:
        places = [scratch / name for name in PLACES]
        shutil.copytree(sources_of(source, paths), places[0], symlinks=True)
        for place in places[1:]:
            place.mkdir()
        words, inside = confined(places)
        variables = _variables(places[0], inside)
        if code := run_build([*words, "sh", "-c", SCRIPT], output, variables):
            _refuse(source, log, f"ended with {code}")
        _keep(source, places[-1], folder, log)


def run_build(words: Sequence[str], output: TextIO, variables: dict[str, str]) -> int:
    """Runs a build and returns its exit code. The build is killed if this process dies."""
    limited = ["timeout", "-k", "5", str(TIME_LIMIT_S), *words]
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as held, os.fdopen(writing, "wb"):
        return run_child(
            limited, stdin=held, stdout=output, stderr=subprocess.STDOUT, env=variables
        ).returncode


def _keep(source: Source, left: Path, folder: Path, log: Path) -> None:
    """Stores only regular files, because a link could name any file of this machine."""
    made = [left / name for name in (PROGRAM, LIBRARY)]
    found = [path for path in made if path.is_file() and not path.is_symlink()]
    if made[0] not in found:
        _refuse(source, log, f"left no {PROGRAM}")
    with sealed_folder(folder) as kept:
        for path in found:
            shutil.copyfile(path, kept / path.name)
            (kept / path.name).chmod(0o755)


def _refuse(source: Source, log: Path, what: str) -> None:
    text = log.read_text(encoding="utf-8", errors="replace")
    missing = missing_packages(text)
    advice = f"; not installed here: apt-get install {' '.join(missing)}" if missing else ""
    raise BuildError(
        f"the build of {source.label} {what}; its last lines:\n"
        + "\n".join(f"  {line}" for line in text.splitlines()[-TAIL_LINES:]),
        hint=f"all of it is in {log}{advice}",
    )


def missing_packages(log: str) -> list[str]:
    """Returns the packages whose tool or library a build missed and this machine does not have."""
    lines = [line for line in log.splitlines() if MISSED.search(line)]

    def is_named(name: str) -> bool:
        stem = re.escape(re.sub(r"^lib|[-\d.]+$", "", name))  # libusb-1.0, -lusb-1.0, libusb.h
        return any(re.search(rf"(\b|lib|-l){stem}\d?\b", line, re.IGNORECASE) for line in lines)

    tools = [tool for tool in TOOLS if is_named(tool) and shutil.which(tool) is None]
    libraries = [
        library
        for library in PACKAGES
        if is_named(library) and not _output_of("pkg-config", "--modversion", library)
    ]
    return [TOOLS[tool] for tool in tools] + [PACKAGES[library] for library in libraries]


def _variables(sources: Path, places: Sequence[Path]) -> dict[str, str]:
    """Returns the environment of a build, which sees its folders as `places`."""
    meson, options = "", _meson_options(sources)
    off = [f"-D{name}=disabled" for name in LEFT_OUT if name in options]
    if (sources / "meson.build").is_file():
        meson = shlex.quote(str(OWN_PROGRAMS / "meson"))
    return {
        "PATH": os.pathsep.join([str(OWN_PROGRAMS), "/usr/bin", "/bin", "/usr/sbin"]),
        "LC_ALL": "C",
        # meson asks CMake for libraries, and CMake needs a home folder.
        "HOME": str(places[1]),
        "CFLAGS": " ".join([*FLAGS, f"-ffile-prefix-map={places[0]}/="]),
        "MESON": meson,
        "ALL": shlex.join([*MESON, *off]),
        "FEW": "-Dprogrammer=serprog,dummy" if "programmer" in options else "",
        **dict(zip(("SOURCES", "BUILD", "LEFT"), map(str, places), strict=True)),
    }


def _meson_options(sources: Path) -> set[str]:
    files = (sources / name for name in OPTION_FILES)
    texts = [file.read_text("utf-8", "replace") for file in files if file.is_file()]
    return {name for text in texts for name in OPTION.findall(text)}


def confined(places: Sequence[Path]) -> tuple[list[str], list[Path]]:
    """Returns the command that runs a build confined, and its folders as the build sees them."""
    held = [sys.executable, "-I", "-c", LIFELINE]
    if is_unconfined_by_default():
        return held, list(places)
    if why := missing_confinement():
        raise BuildError(f"a build of foreign sources cannot be confined: {why}", hint=REMEDY)
    inside = [Path("/", place.name) for place in places]
    words = [*new_net_words(), *sandbox_words(kept=("CAP_SETUID", "CAP_SETGID"))]
    words += system_words(TEMPORARY_BYTES_MAX)
    for folder in {Path(sys.prefix), Path(sys.base_prefix)} - {Path("/usr")}:
        words += [*words_for_folders([folder]), "--ro-bind", str(folder), str(folder)]
    for place, name in zip(places, inside, strict=True):
        words += ["--bind", str(place), str(name)]
    return [*words, *CLOSED, "--", *_as_nobody(places), *held], inside


def _as_nobody(places: Sequence[Path]) -> list[str]:
    """Returns the words that run a build as an unprivileged user if we are root.

    That user becomes the owner of the folders.
    """
    if os.geteuid() != 0:
        return []
    for place in places:
        for path in (place, *place.rglob("*")):
            os.lchown(path, NOBODY, NOBODY)
    ids = (f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    return ["setpriv", *ids, "--no-new-privs"]
