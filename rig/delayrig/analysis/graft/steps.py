# SPDX-License-Identifier: GPL-2.0-or-later
"""The proposal's four steps, as changes of a tree's files, each with the message of its commit."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from delayrig.analysis.graft import edits
from delayrig.analysis.graft.tree import MESON, Texts, Tree, naming

THRESHOLD_US, OLD_THRESHOLD_US = 100, 100_000
SWITCHES = ("CONFIG_DELAY_HYBRID", "CONFIG_DELAY_TIMER_SLACK")
SOURCES = {
    "udelay.c": "platform/udelay.c",
    "udelay.h": "include/platform/udelay.h",
    "realtime.c": "platform/realtime.c",
    "realtime.h": "include/realtime.h",
}
"""Ours, below flashrom/."""
OS_CLOCK = """\
udelay: Wait by the OS clock, and by nothing else

A wait is over when the clock shows its end. Loops are not calibrated
and no timer resolution is asked for: a count of loops says nothing
about time once a CPU changes its clock or the thread moves to a faster
core.

The end of a sleep is an absolute moment, or what is left is taken from
the clock again, so a signal cannot cut a wait short. Time is counted in
64 bits of nanoseconds, and no length overflows.

Waits from 100 ms on sleep. Sleeping to just before the end and the
timer slack are switched off in this step.
"""
OLD_SYSTEMS = """
This file had code for other systems (libpayload, Windows) as well,
which goes with it. They need files of their own.
"""
THRESHOLD = f"""\
udelay: Sleep from 100 us on

Waits below {edits.MACRO} poll the clock, which takes a
whole CPU; longer ones sleep. The default was 100 ms, and nearly all
waits polled. Sleeps of 100 us end within 10 % of their length on most
machines.

The option delay_minimum_sleep_us sets another value.
"""
REALTIME = """\
cli: Ask for realtime priority

Sleeps of a thread under SCHED_FIFO end closer to their time. flashrom
asks for the lowest such priority right before it opens the programmer,
and goes on without it where that is not allowed: nothing depends on it.

Only the command line asks. The priority of a program that uses
libflashrom is that program's own business.
"""
HYBRID = """\
udelay: Sleep to just before the end, and poll the rest

A sleep ends late by up to 60 us on an idle machine, and Linux adds its
timer slack of 50 us. So a wait sleeps to shortly before its end and
polls what is left, and the slack is 1 ns meanwhile. How long "shortly"
is follows from how late the thread's wake-ups come, between 2 and
125 us.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    message: str
    changed: Texts
    """The files as they are after it."""

    @property
    def title(self) -> str:
        return self.message.partition("\n")[0]


def read_ours(checkout: Path) -> Texts:
    return {name: (checkout / "flashrom" / path).read_text() for name, path in SOURCES.items()}


def plan_steps(tree: Tree, texts: Texts, ours: Texts) -> list[Step]:
    """What is to be done to a tree, one commit after another. Nothing is written."""
    others = any(word in texts[tree.delay] for word in ("__LIBPAYLOAD__", "IS_WINDOWS"))
    changes: list[tuple[str, Callable[[Tree, Texts, Texts], Texts]]] = [
        (OS_CLOCK + (OLD_SYSTEMS if others else ""), _os_clock),
        (THRESHOLD, _threshold),
        (REALTIME, _realtime),
        (HYBRID, lambda tree, texts, ours: {**texts, tree.delay: ours["udelay.c"]}),
    ]
    steps = []
    for message, change in changes:
        after = change(tree, texts, ours)
        changed = {name: text for name, text in after.items() if texts.get(name) != text}
        steps.append(Step(message=message, changed=changed))
        texts = after
    return steps


def _os_clock(tree: Tree, texts: Texts, ours: Texts) -> Texts:
    source = edits.set_macro(ours["udelay.c"], edits.MACRO, OLD_THRESHOLD_US)
    for switch in SWITCHES:
        source = edits.set_macro(source, switch, 0)
    others = {name: edits.drop_old_functions(name, text) for name, text in texts.items()}
    return {**others, tree.delay: source, tree.header: ours["udelay.h"]}


def _threshold(tree: Tree, texts: Texts, _: Texts) -> Texts:
    source = edits.set_macro(texts[tree.delay], edits.MACRO, THRESHOLD_US)
    return {**texts, tree.delay: source, **_meson_option(tree, texts), **_make_option(tree, texts)}


def _meson_option(tree: Tree, texts: Texts) -> Texts:
    if not tree.options:
        return {}
    changed = {tree.options: edits.set_meson_option(texts.get(tree.options, ""), THRESHOLD_US)}
    passed = any(edits.MACRO in text for name, text in texts.items() if name.endswith(MESON))
    return changed if passed else {**changed, MESON: edits.pass_meson_option(texts[MESON])}


def _make_option(tree: Tree, texts: Texts) -> Texts:
    return {
        name: edits.set_make_option(texts[name], THRESHOLD_US, naming(name, tree.delay))
        for name in tree.builds
        if not name.endswith(MESON)
    }


def _realtime(tree: Tree, texts: Texts, ours: Texts) -> Texts:
    added = {tree.realtime: ours["realtime.c"], tree.realtime_header: ours["realtime.h"]}
    builds = {name: _name_realtime(tree, name, texts[name]) for name in tree.builds}
    return {**texts, **added, **builds, tree.cli: edits.ask_for_priority(texts[tree.cli])}


def _name_realtime(tree: Tree, build: str, text: str) -> str:
    old = naming(build, tree.delay)
    found = old.search(text)
    assert found is not None, "looked for before"
    new = PurePosixPath(found[0]).with_name("realtime" + PurePosixPath(found[0]).suffix)
    return edits.name_beside(text, old, str(new), quoted=build.endswith(MESON))
