# SPDX-License-Identifier: GPL-2.0-or-later
"""The native programs: emulators, the guest's agent and the bundled flashrom, built with meson."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from delayrig.setup.command import Done, run_logged
from delayrig.setup.console import Context
from delayrig.setup.lock import hold_unused

# The files that meson leaves in a folder that is ready for a build.
CONFIGURED = ("build.ninja", "meson-private/coredata.dat", "meson-private/build.dat")
ORIGIN = "checkout"
SOURCES = ("emulators", "flashrom", "images")
# meson's names of the programs that cells use. Others, such as tests and past mistakes, are built
# on request.
GUEST_PROGRAMS = (
    "agent",
    "device-agent",
    "serprog-emu:executable",
    "serprog-floor:executable",
    "yardstick:executable",
    "yardstick-sleeps-short:executable",
    "yardstick-sleeps-half:executable",
    "yardstick-asks-short:executable",
    "flashrom:executable",
    "flashrom-canary:executable",
    "flashrom-fixed:executable",
    "flashrom-fixed-canary:executable",
    "rig-latency",
)
HOST_PROGRAMS = (
    "live-agent",
    "qemu-preload",
    "cpu-plugin",
    "delay-plugin",
    "chip-plugin",
    "library-client:executable",
    "flashrom:shared_library",
    "flashrom-canary:shared_library",
    "flashrom-fixed:shared_library",
    "flashrom-fixed-canary:shared_library",
    "sleep-facts",
    "rig-confine",
)
# An option of the rig's own builds: delay layers with past mistakes, which tests must detect.
OPTIONS = ("-Dpast_mistakes=true",)


def ensure_native(context: Context) -> bool:
    """Configures the build if needed, and builds what is older than its sources."""
    layout = context.layout
    with context.console.timed("native programs", "built"):
        if is_configured(context):
            _compile(context)
        else:
            with hold_unused(layout, _owner(layout.build)):
                if layout.build.exists():
                    shutil.rmtree(layout.build)
                done = _meson(context, "setup", *OPTIONS, str(layout.build), str(layout.checkout))
                done.require(
                    "configuring the native programs", "see the lines above, then start again"
                )
                (layout.build / ORIGIN).write_text(_origin(context), encoding="utf-8")
                _compile(context)
    return True


def is_configured(context: Context) -> bool:
    """Returns True if meson has configured this build for this checkout and these options."""
    build = context.layout.build
    is_whole = all((build / name).is_file() for name in (*CONFIGURED, ORIGIN))
    return is_whole and (build / ORIGIN).read_text(encoding="utf-8") == _origin(context)


def _owner(build: Path) -> str:
    try:
        return (build / ORIGIN).read_text(encoding="utf-8").partition("\n")[0]
    except OSError:
        return "this checkout"


def _origin(context: Context) -> str:
    checkout = context.layout.checkout
    return origin_of(checkout, [*OPTIONS, *GUEST_PROGRAMS, *HOST_PROGRAMS])


def origin_of(checkout: Path, words: Sequence[str]) -> str:
    """Returns the properties of a build folder; if they change, it must be made anew.

    meson searches for a target in the list of the last configuration, so a new or moved target
    needs a new folder.
    """
    files = [path for top in SOURCES for path in (checkout / top).rglob("meson.build")]
    places = sorted(str(path.relative_to(checkout)) for path in files)
    return "\n".join([str(checkout), *words, *places])


def _compile(context: Context) -> None:
    programs = (*GUEST_PROGRAMS, *HOST_PROGRAMS)
    done = _meson(context, "compile", "-C", str(context.layout.build), *programs)
    done.require("building the native programs", "see the lines above, then start again")


def _meson(context: Context, *arguments: str) -> Done:
    # The build's own scripts must run with the environment's Python, not with the first of the
    # PATH.
    programs = context.layout.venv / "bin"
    path = f"{programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    argv = [str(programs / "meson"), *arguments]
    return run_logged(context, "meson", argv, {"PATH": path, "PYTHONPATH": ""})
