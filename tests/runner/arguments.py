# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line of `tests/run`."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

QUICK_HELP = """\
Usage: tests/run [OPTIONS] [LAYER]...

Runs the tests; sets up what is missing first. Without LAYER: all layers of the quick tier.

Layers, in the order in which they run:
"""
OPTIONS_HELP = """
Options:
  --all            the release check: all layers, and what takes long in each
  -k WORDS         only tests whose names match; for Python layers an expression of pytest's
  --last-failed    only what failed when its layer was run last
  --resume         go on with the run that was interrupted last, on the same tree: with its
                   layers and options, without the tests that passed
  --list           only list the tests that would run
  --file PATH      only lint, types and tests of one Python file; may be given several times
  -h, --help       this text

Exit codes: 0 all passed, 1 something failed, 2 bad usage, 99 the set-up failed.
"""
FLAGS = ("--all", "--last-failed", "--resume", "--list", "--help", "-h")
VALUES = ("-k", "--file")


class UsageError(Exception):
    """The error that an option, a layer or a value is unknown or missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """A parsed command line."""

    layers: tuple[str, ...] = ()
    """The layers; empty for those of the tier."""
    words: str = ""
    files: tuple[str, ...] = ()
    all_tiers: bool = False
    last_failed: bool = False
    resume: bool = False
    list_only: bool = False
    help: bool = False


def read_options(arguments: Sequence[str], layers: Sequence[str]) -> Options:
    """Reads options and layers in any order."""
    flags: set[str] = set()
    values: dict[str, list[str]] = {name: [] for name in VALUES}
    named: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        name, has_value, value = argument.partition("=")
        if name in VALUES:
            values[name].append(_value(name, iter([value]) if has_value else rest))
            if len(values["-k"]) > 1:
                raise UsageError("-k was given twice; give one expression")
        elif argument in FLAGS:
            flags.add(argument)
        else:
            named.append(_layer(argument, layers))
    if "--resume" in flags and len(arguments) > 1:
        raise UsageError("--resume stands alone: it has the options of the run that it resumes")
    return _options(flags, values, named)


def _options(flags: set[str], values: dict[str, list[str]], named: list[str]) -> Options:
    return Options(
        layers=tuple(dict.fromkeys(named)),
        words="".join(values["-k"]),
        files=tuple(values["--file"]),
        all_tiers="--all" in flags,
        last_failed="--last-failed" in flags,
        resume="--resume" in flags,
        list_only="--list" in flags,
        help=bool(flags & {"--help", "-h"}),
    )


def _layer(argument: str, layers: Sequence[str]) -> str:
    if argument.startswith("-"):
        raise UsageError(_unknown("option", argument, [*FLAGS, *VALUES]))
    if argument not in layers:
        raise UsageError(_unknown("layer", argument, layers))
    return argument


def _value(name: str, rest: Iterator[str]) -> str:
    value = next(rest, None)
    if not value:
        raise UsageError(f"{name} wants a value")
    return value


def _unknown(kind: str, given: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(given, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {' '.join(known)}"
    return f"unknown {kind} {given!r}; {hint}"


def help_text(layers: Mapping[str, str]) -> str:
    """Returns the text of `--help`; `layers` has the subject of each layer, by name."""
    lines = "".join(f"  {name:<10} {about}\n" for name, about in layers.items())
    return QUICK_HELP + lines + OPTIONS_HELP
