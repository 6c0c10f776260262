# SPDX-License-Identifier: GPL-2.0-or-later
"""`tests/run`: reads the command line, sets up, runs the layers, reports."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.runner import resume
from tests.runner.arguments import Options, UsageError, help_text, read_options
from tests.runner.children import end_descendants
from tests.runner.layers import LAYERS
from tests.runner.memory import failed_last
from tests.runner.one_file import check_files, python_file
from tests.runner.places import Places, find_places
from tests.runner.report import closing_lines
from tests.runner.selection import Selection
from tests.runner.side_by_side import run_layers

STARTING_PROGRAMS = {"rig", "protocol", "guest", "live"}
"""Layers that start programs of the build."""
FROM_VARIABLE = "FLASHROM_RIG_TESTS_FROM"
"""The variable with the user's current folder; `tests/run` changes to the checkout."""
PASSED, FAILED, BAD_USAGE, NOT_SET_UP, INTERRUPTED = 0, 1, 2, 99, 130


def main(arguments: Sequence[str]) -> int:
    """Runs what the command line requests; returns the exit code."""
    # End silently if the reader of the output ends, as `head` does.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    places = find_places()
    here = Path(os.environ.get(FROM_VARIABLE, ""))
    try:
        options = read_options(arguments, list(LAYERS))
        files = [python_file(places.checkout, here, file) for file in options.files]
    except UsageError as error:
        return refuse(error)
    if options.help:
        sys.stdout.write(help_text({name: layer.about for name, layer in LAYERS.items()}))
        return PASSED
    places.children.adopt_orphans()
    try:
        return set_up_and_run(places, options, files)
    except KeyboardInterrupt:
        places.children.end()
        end_descendants()
        sys.stderr.write("\ntests/run: interrupted; everything that it started has ended\n")
        return INTERRUPTED


def refuse(error: UsageError) -> int:
    """Prints why the command line was refused; returns the exit code."""
    sys.stderr.write(f"tests/run: {error}\nremedy: see `tests/run --help`\n")
    return BAD_USAGE


def set_up_and_run(places: Places, options: Options, files: Sequence[Path]) -> int:
    """Sets up, then checks the files, lists the tests or runs them; returns the exit code."""
    if not set_up(places):
        return NOT_SET_UP
    if files:
        return check_files(places, files)
    if options.resume:
        return resume_check(places)
    work = selections(options, failed_last(places.notes))
    if options.list_only:
        return list_all(places, work)
    if resume.is_release_check(work):
        resume.begin(places, work)
    return run_all(places, work, options)


def resume_check(places: Places) -> int:
    """Resumes the release check that was interrupted; returns the exit code."""
    try:
        layers = resume.interrupted_layers(places)
    except UsageError as error:
        return refuse(error)
    options = Options(layers=tuple(layers), all_tiers=True)
    work = resume.without_passed(places, selections(options, {}))
    return run_all(places, work, options)


def set_up(places: Places) -> bool:
    """Sets up what is missing, and prints what it does."""
    launcher = places.checkout / "rig" / "rig"
    done = subprocess.run([launcher, "setup", "--if-needed", "--tests"], check=False)
    return done.returncode == 0


def selections(options: Options, failed: dict[str, list[str]]) -> dict[str, Selection]:
    """Returns the selection of each layer that has something to do."""
    common = Selection(all_tiers=options.all_tiers, words=options.words)
    named = [name for name in LAYERS if name in options.layers or not options.layers]
    if options.last_failed:
        return {
            name: replace(common, all_tiers=True, names=tuple(failed[name]))
            for name in named
            if failed.get(name)
        }
    wanted = {*options.layers}
    if not wanted:
        wanted = {name for name in LAYERS if LAYERS[name].is_quick or options.all_tiers}
    return {name: common for name in named if name in wanted}


def list_all(places: Places, work: dict[str, Selection]) -> int:
    """Prints each layer with the names of its tests; returns the exit code."""
    for name, selection in work.items():
        tests = LAYERS[name].list(name, places, selection)
        print(f"== {name}: {len(tests)} ==", *tests, sep="\n")
    return PASSED


def run_all(places: Places, work: dict[str, Selection], options: Options) -> int:
    """Runs all layers, also if one fails; returns the exit code."""
    if STARTING_PROGRAMS & work.keys() and not build_programs(places):
        return NOT_SET_UP
    began_s = time.monotonic()
    results = list(run_layers(places, work))
    if options.words and not any(result.tests for result in results):
        sys.stderr.write(f"tests/run: no test of {' '.join(work)} matches {options.words!r}\n")
        return BAD_USAGE
    if not results:
        print("nothing failed when it was run last")
        return PASSED
    if resume.is_release_check(work):
        resume.end(places)
    took_s = time.monotonic() - began_s + sum(result.before_s for result in results)
    print(*closing_lines(results, took_s, all_tiers=options.all_tiers), sep="\n")
    return PASSED if all(result.good for result in results) else FAILED


def build_programs(places: Places) -> bool:
    """Builds all programs that tests start, since set-up builds only those of cells."""
    done = subprocess.run(
        [places.meson, "compile", "-C", places.build],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.stderr.write(f"{done.stdout}\ntests/run: the programs were not built\n")
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
