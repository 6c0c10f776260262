# SPDX-License-Identifier: GPL-2.0-or-later
"""The layers, in the order in which they run: each relies on those before it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tests.runner.native_layer import list_native, run_plain, run_sanitized
from tests.runner.outcome import LayerResult
from tests.runner.places import Places
from tests.runner.program_layer import list_program, run_program
from tests.runner.python_layer import list_python, run_python
from tests.runner.selection import Selection

THREE_FILES_AT_A_TIME = ("-n", "3", "--dist", "loadfile")
"""The tests of a file run in one process, and share what is expensive to make.

Three files run at a time on two CPUs, because tests often wait.
"""
FOUR_FILES_AT_A_TIME = ("-n", "4", "--dist", "loadfile")
"""The same for tests that mostly wait."""
VIRTUAL, REAL = ("-m", "not alone"), ("-m", "alone")
"""The marks of tests in virtual time, which load does not affect, and of those in real time."""
WAITS = ("-m", "tests.waits.remove_waits")
FUZZ = ("-m", "tests.fuzz.run_fuzz")
FUZZ_SHARE = "0.1"
"""The share of the executions in the quick tier, which also runs the whole corpus."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A layer of tests, with the functions that list and run them."""

    about: str
    run: Callable[[str, Places, Selection], LayerResult]
    list: Callable[[str, Places, Selection], list[str]]
    is_quick: bool = True
    """False if the layer runs only with `--all` or by name."""
    runs_beside: bool = False
    """True if the layer may run beside those before it, since load does not affect it."""


def python_layer(about: str, *options: str, folder: str = "", runs_beside: bool = False) -> Layer:
    """Returns a layer of pytest with these options; `folder` is its name by default."""
    return Layer(
        about=about,
        run=partial(run_python, folder=folder, options=options),
        list=partial(list_python, folder=folder, options=options),
        runs_beside=runs_beside,
    )


def program_layer(about: str, words: tuple[str, ...], in_quick: tuple[str, ...] = ()) -> Layer:
    """Returns a layer with its own program; `in_quick` is added in the quick tier."""
    return Layer(
        about=about,
        run=partial(run_program, words=words, in_quick=in_quick),
        list=partial(list_program, words=words),
    )


def _list_sanitized(_layer: str, places: Places, selection: Selection) -> list[str]:
    made = (places.sanitized_build / "build.ninja").exists()
    return list_native(places, places.sanitized_build if made else places.build, selection)


def _list_plain(_layer: str, places: Places, selection: Selection) -> list[str]:
    return list_native(places, places.build, selection)


LAYERS = {
    "unit": Layer(
        about="one C module with fakes around it, under ASan and UBSan",
        run=run_sanitized,
        list=_list_sanitized,
    ),
    "plain": Layer(
        about="the same without sanitizers (only with --all)",
        run=run_plain,
        list=_list_plain,
        is_quick=False,
    ),
    "waits": program_layer("the unit tests of flashrom with one wait removed", WAITS),
    "fuzz": program_layer("parsers and models, any input", FUZZ, ("--share", FUZZ_SHARE)),
    "rig": python_layer("the Python package, no guest started", *THREE_FILES_AT_A_TIME),
    "browser": python_layer("pages in a browser", *FOUR_FILES_AT_A_TIME),
    "protocol": python_layer("our flashrom against the emulator", *FOUR_FILES_AT_A_TIME),
    "guest": python_layer(
        "whole runs in guests of virtual time", *VIRTUAL, *THREE_FILES_AT_A_TIME, runs_beside=True
    ),
    "live": python_layer("guests and gates in real time, one at a time", *REAL, folder="guest"),
}
