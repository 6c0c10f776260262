# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes to one file of a tree: text in, text out."""

import re

from delayrig.analysis.graft.tree import DELAY, DROPPED, MAIN, PROGRAMMER_INIT, REPLACED
from delayrig.base.errors import RigFaultError

OPTION = "delay_minimum_sleep_us"
MACRO = "CONFIG_DELAY_MINIMUM_SLEEP_US"
MESON_DEFAULT = re.compile(rf"(option\(\s*'{OPTION}'.*?value\s*:\s*'?)(\d+)", re.S)
MAKE_DEFAULT = re.compile(rf"^({MACRO}\s*\??=\s*)(\d+)", re.M)
PROJECT = re.compile(r"^project\((?:[^\n]*\)\n|.*?^\)\n)", re.M | re.S)
IN_CONDITION = re.compile(r"^\s+(\w+)\s*\+=\s*files\(")
BEGINS = re.compile(r"if\b|foreach\b|\w+\s*\+?=")
ABOUT = "Waits of this many microseconds and more sleep, shorter ones poll the clock"

PRIORITY = f"""\
/* At realtime priority whoever polls keeps others off the CPU: not in a build that polls long. */
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


def set_macro(text: str, macro: str, value: int) -> str:
    changed, count = re.subn(rf"^(#define {macro}) \d+$", rf"\1 {value}", text, flags=re.M)
    if count == 0:
        raise RigFaultError(f"our delay layer has no #define {macro}")
    return changed


def drop_old_functions(name: str, text: str) -> str:
    """Nobody calls or declares what the old file had besides."""
    for old in DROPPED:
        comment = r"(?:^[ \t]*/\*[^\n]*alibrat[^\n]*\*/\n)?"
        text = re.sub(rf"{comment}^[ \t]*{old}\s*\(\s*\)\s*;\n", "", text, flags=re.M)
    for old in (*DROPPED, *REPLACED):
        text = re.sub(rf"^(?:extern )?void {old}\s*\([^;{{}}]*\);\n", "", text, flags=re.M)
    if name.endswith(".c"):
        text = re.sub(rf"\b({'|'.join(REPLACED)})\s*\(", f"{DELAY}(", text)
    return text


def name_beside(text: str, old: re.Pattern[str], name: str, *, quoted: bool) -> str:
    found = old.search(text)
    assert found is not None, "looked for before"
    lines = text.splitlines(keepends=True)
    at = text.count("\n", 0, found.start())
    line = lines[at]
    condition = IN_CONDITION.match(line)
    if quoted and condition:
        lines.insert(_statement(lines, at), f"{condition[1]} += files('{name}')\n")
    elif quoted and line.strip().rstrip(",") == f"'{found[0]}'":
        lines.insert(at, f"{line[: line.index(chr(39))]}'{name}',\n")
    else:
        between = "', '" if quoted else " "
        lines[at] = old.sub(f"{name}{between}{found[0]}", line, count=1)
    return "".join(lines)


def _statement(lines: list[str], at: int) -> int:
    """Where the outermost statement that a line is in begins, with its comment."""
    start = next(number for number in range(at, -1, -1) if BEGINS.match(lines[number]))
    while start > 0 and lines[start - 1].startswith("#"):
        start -= 1
    return start


def set_meson_option(text: str, threshold_us: int) -> str:
    """The option with that default, made where there is none."""
    if MESON_DEFAULT.search(text):
        return MESON_DEFAULT.sub(rf"\g<1>{threshold_us}", text, count=1)
    return (
        f"{text}option('{OPTION}', type : 'integer', min : 0, value : {threshold_us},\n"
        f"       description : '{ABOUT}')\n"
    )


def pass_meson_option(text: str) -> str:
    """From the option to the compiler, right after `project()`."""
    line = (
        f"add_project_arguments('-D{MACRO}=@0@'.format(get_option('{OPTION}')), language : 'c')\n"
    )
    return PROJECT.sub(lambda project: project[0] + line, text, count=1)


def set_make_option(text: str, threshold_us: int, sources: re.Pattern[str]) -> str:
    """The variable with that default, made before the sources are named where there is none."""
    if MAKE_DEFAULT.search(text):
        return MAKE_DEFAULT.sub(rf"\g<1>{threshold_us}", text, count=1)
    found = sources.search(text)
    assert found is not None, "looked for before"
    lines = text.splitlines(keepends=True)
    at = text.count("\n", 0, found.start())
    while at > 0 and lines[at - 1].endswith("\\\n"):
        at -= 1
    lines[at:at] = [
        f"# {ABOUT}.\n",
        f"{MACRO} ?= {threshold_us}\n",
        f"override CFLAGS += -D{MACRO}=$({MACRO})\n\n",
    ]
    return "".join(lines)


def ask_for_priority(text: str) -> str:
    """The command line asks right before it opens the programmer."""
    main = MAIN.search(text)
    assert main is not None, "looked for before"
    call = PROGRAMMER_INIT.search(text, main.start())
    assert call is not None, "looked for before"
    indent = call[0][: len(call[0]) - len(call[0].lstrip())]
    parts = (
        text[: main.start()],
        PRIORITY,
        text[main.start() : call.start()],
        f"{indent}raise_priority();\n\n",
        text[call.start() :],
    )
    return _include("".join(parts))


def _include(text: str) -> str:
    missing = (name for name in ("errno.h", "string.h") if f"#include <{name}>" not in text)
    system = "".join(f"#include <{name}>\n" for name in missing)
    before = f'{system}#include "realtime.h"\n#include "'
    return re.sub(r'^#include "', before, text, count=1, flags=re.M)
