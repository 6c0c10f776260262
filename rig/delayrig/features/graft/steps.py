# SPDX-License-Identifier: GPL-2.0-or-later
"""The proposal's four steps, as changes of a tree's files, each with its commit message."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from delayrig.base.errors import RigFaultError
from delayrig.features.graft.build_files import MesonSource, with_default, with_object
from delayrig.features.graft.tree import (
    DELAY,
    DELAY_DEFINED,
    DROPPED,
    MAIN,
    MESON,
    PROGRAMMER_INIT,
    REPLACED,
    Texts,
    Tree,
    named_in,
)

OPTION = "delay_minimum_sleep_us"
MACRO = "CONFIG_DELAY_MINIMUM_SLEEP_US"
ABOUT = "Waits of this many microseconds and more sleep, shorter ones poll the clock"

PRIORITY = f"""\
/* Polling at realtime priority keeps all others off the CPU, so builds with long polls skip it. */
#define REALTIME_POLL_US_MAX 10000

static void raise_priority(void)
{{
	struct realtime found;
	int error;

	if ({MACRO} > REALTIME_POLL_US_MAX)
		return;
	error = realtime_acquire(&found);
	if (error != 0 && error != -ENOSYS)
		msg_ginfo("Staying at normal priority (%s).\\n", strerror(-error));
}}

"""
THRESHOLD_US, OLD_THRESHOLD_US = 100, 100_000
SWITCHES = ("CONFIG_DELAY_HYBRID", "CONFIG_DELAY_TIMER_SLACK")
SOURCES = {
    "udelay.c": "platform/udelay.c",
    "udelay.h": "include/platform/udelay.h",
    "realtime.c": "platform/realtime.c",
    "realtime.h": "include/realtime.h",
}
"""The paths of our files below flashrom/, by name."""
OS_CLOCK = """\
udelay: Wait by the OS clock, and by nothing else

A wait is over when the clock shows its end. Loops are not calibrated
and no timer resolution is asked for: a count of loops says nothing
about time once a CPU changes its clock or the thread moves to a faster
core.

Sleeps end at an absolute time; where the OS cannot do that, the rest is
computed from the clock after each sleep. So a signal cannot cut a wait
short. Times are 64-bit nanoseconds, and no length overflows.

Waits of 100 ms and more sleep. Sleeping to just before the end and the
change of the timer slack are switched off in this step.
"""
OLD_SYSTEMS = """
The code of this file for other systems (libpayload, Windows) is removed
as well. They need separate files.
"""
THRESHOLD = f"""\
udelay: Sleep from 100 us on

Waits below {MACRO} poll the clock, which takes a
whole CPU; longer ones sleep. The default was 100 ms, and nearly all
waits polled. Sleeps of 100 us end within 10 % of their length on most
machines.

The option delay_minimum_sleep_us sets another value.
"""
REALTIME = """\
cli: Ask for realtime priority

Sleeps of a thread under SCHED_FIFO end closer to their deadline.
flashrom asks for the lowest such priority right before it opens the
programmer, and goes on without it where that is not allowed: nothing
depends on it.

Only the command line asks for it. A program that uses libflashrom sets
its priority itself.
"""
HYBRID = """\
udelay: Sleep to just before the end, and poll the rest

A sleep ends late by up to 60 us on an idle machine, and Linux adds its
timer slack of 50 us. So a wait sleeps to shortly before its end and
polls the rest, and the slack is 1 ns during the sleep. The time to poll
is learned from how late the thread wakes up; it is 2 to 125 us.
"""


def set_macro(text: str, macro: str, value: int) -> str:
    changed, count = re.subn(rf"^(#define {macro}) \d+$", rf"\1 {value}", text, flags=re.M)
    if count == 0:
        raise RigFaultError(f"our delay layer has no #define {macro}")
    return changed


def drop_old_functions(name: str, text: str) -> str:
    """Removes the declarations of the old functions, and removes or replaces their calls.

    A file that defines `DELAY` keeps its old functions, but as static ones, because some builds
    refuse a function without a prototype.
    """
    if DELAY_DEFINED.search(text):
        defined = rf"^(void (?:{'|'.join((*DROPPED, *REPLACED))})\s*\([^;{{}}]*\)\s*\{{)"
        return re.sub(defined, r"static \1", text, flags=re.M)
    for old in DROPPED:
        comment = r"(?:^[ \t]*/\*[^\n]*alibrat[^\n]*\*/\n)?"
        text = re.sub(rf"{comment}^[ \t]*{old}\s*\(\s*\)\s*;\n", "", text, flags=re.M)
    for old in (*DROPPED, *REPLACED):
        text = re.sub(rf"^(?:extern )?void {old}\s*\([^;{{}}]*\);\n", "", text, flags=re.M)
    if name.endswith(".c"):
        text = re.sub(rf"\b({'|'.join(REPLACED)})\s*\(", f"{DELAY}(", text)
    return text


def ask_for_priority(text: str) -> str:
    """Makes the command line request priority right before it opens the programmer."""
    main = MAIN.search(text)
    assert main is not None, "looked for before"
    call = PROGRAMMER_INIT.search(text, main.start())
    assert call is not None, "looked for before"
    indent = call[0][: len(call[0]) - len(call[0].lstrip())]
    changed = (
        f"{text[: main.start()]}{PRIORITY}{text[main.start() : call.start()]}"
        f"{indent}raise_priority();\n\n{text[call.start() :]}"
    )
    missing = (name for name in ("errno.h", "string.h") if f"#include <{name}>" not in changed)
    system = "".join(f"#include <{name}>\n" for name in missing)
    before = f'{system}#include "realtime.h"\n#include "'
    return re.sub(r'^#include "', before, changed, count=1, flags=re.M)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    message: str
    changed: Texts

    @property
    def title(self) -> str:
        return self.message.partition("\n")[0]


def read_ours(checkout: Path) -> Texts:
    return {name: (checkout / "flashrom" / path).read_text() for name, path in SOURCES.items()}


def plan_steps(tree: Tree, texts: Texts, ours: Texts) -> list[Step]:
    """Returns the changes of a tree, one commit after another. Nothing is written."""
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
    source = set_macro(ours["udelay.c"], MACRO, OLD_THRESHOLD_US)
    for switch in SWITCHES:
        source = set_macro(source, switch, 0)
    others = {name: drop_old_functions(name, text) for name, text in texts.items()}
    return {**others, tree.delay: source, tree.header: ours["udelay.h"]}


def _threshold(tree: Tree, texts: Texts, _: Texts) -> Texts:
    source = set_macro(texts[tree.delay], MACRO, THRESHOLD_US)
    defaults = {
        name: with_default(texts[name], MACRO, THRESHOLD_US, ABOUT, named_in(name, tree.delay))
        for name in tree.builds
        if not name.endswith(MESON)
    }
    return {**texts, tree.delay: source, **_meson_option(tree, texts), **defaults}


def _meson_option(tree: Tree, texts: Texts) -> Texts:
    """Sets the option's default; adds a missing option, which the compiler then gets."""
    if not tree.options:
        return {}
    old = texts.get(tree.options, "")
    changed = {
        tree.options: MesonSource(tree.options, old).with_option_default(OPTION, THRESHOLD_US)
        or f"{old}option('{OPTION}', type : 'integer', min : 0, value : {THRESHOLD_US},\n"
        f"       description : '{ABOUT}')\n"
    }
    is_passed = any(
        MACRO in text and MesonSource(name, text).mentions(MACRO)
        for name, text in texts.items()
        if name.endswith(MESON)
    )
    if not is_passed:
        words = f"'-D{MACRO}=@0@'.format(get_option('{OPTION}')), language : 'c'"
        top = MesonSource(MESON, texts[MESON])
        changed[MESON] = top.with_line_after_project(f"add_project_arguments({words})\n")
    return changed


def _realtime(tree: Tree, texts: Texts, ours: Texts) -> Texts:
    changed = {**texts, tree.realtime: ours["realtime.c"], tree.realtime_header: ours["realtime.h"]}
    for name in tree.builds:
        old, new = named_in(name, tree.delay), named_in(name, tree.realtime)
        if name.endswith(MESON):
            changed[name] = MesonSource(name, texts[name]).with_source(old, new)
        else:
            changed[name] = with_object(texts[name], old, new)
    return {**changed, tree.cli: ask_for_priority(texts[tree.cli])}
