# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes text safe for documents and terminals, whatever a subject prints or a file holds."""

import re
import shlex
from pathlib import Path

# Characters that XML 1.0 forbids, and all other control characters. No format needs them.
FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
CUT = "\n[cut]\n"
# Unicode's controls of the direction of text, which can show text in another order.
DIRECTIONS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
BIDIRECTIONAL = re.compile(f"[{DIRECTIONS}]")
TAIL_LINES, TAIL_LINE_MAX = 6, 200
AGAIN_COMMANDS = ("run", "try", "repro", "faults")
AGAIN_OPTIONS = {
    *("--plan", "--seed", "--subject", "--cell", "--lane", "--arch", "--machine", "--mips"),
    *("--cores", "--hazard", "--chip", "--corner", "--job", "--programmer", "--region"),
    *("--from", "--run", "--limit-s", "--delay-symbol", "--delay-offset"),
}
"""The options with which these commands only run a subject, in a guest or in a sandbox."""


def shown(text: str) -> str:
    """Returns the text with an escape for each control of its direction."""
    return BIDIRECTIONAL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def again(rerun: str) -> str:
    """Returns a line on how to run a cell again.

    A results file may contain any command. One that can do more than run a cell is only quoted.
    """
    if runs_a_cell(rerun):
        return f"again: {rerun}"
    return f"the results have a command that may do more than run the cell: {rerun!a}"


def runs_a_cell(rerun: str) -> bool:
    """Returns True if a shell takes the text as one command of the rig that only runs a cell."""
    try:
        words = shlex.split(rerun)
    except ValueError:
        return False
    options = {word for word in words if word.startswith("-")}
    is_one = rerun.isprintable() and shlex.join(words) == rerun
    is_known = words[:2] in [["rig/rig", command] for command in AGAIN_COMMANDS]
    return is_one and is_known and options <= AGAIN_OPTIONS


def plain(text: str) -> str:
    """Returns the text with forbidden characters replaced, and direction controls escaped."""
    return shown(FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text))


def counted(number: int, thing: str) -> str:
    """Returns the number and the thing: `1 cell`, `2 cells`."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def one_line(text: str) -> str:
    return " ".join(plain(text).split())


def kernel_line(path: str | Path) -> str:
    """Returns the content of a small file of the kernel; empty if there is none."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def cut_to(text: str, limit_bytes: int) -> bytes:
    """Returns the text as UTF-8. A text that is too long is cut after a whole line, and marked."""
    content = text.encode()
    if len(content) <= limit_bytes:
        return content
    kept = content[: limit_bytes - len(CUT)]
    return kept[: kept.rfind(b"\n") + 1] + CUT.lstrip("\n").encode()


def log_tail(log: bytes, lines: int = TAIL_LINES) -> str:
    """Returns the last lines of a log, joined; empty if there are none."""
    return " | ".join(last_lines(log, lines))


def last_lines(log: bytes, lines: int = TAIL_LINES) -> list[str]:
    """Returns the last lines of a log that are not blank. A long line is cut."""
    text = shown(log[-lines * 4 * TAIL_LINE_MAX :].decode("utf-8", errors="replace"))
    last = [line.strip() for line in text.splitlines() if line.strip()][-lines:]
    return [one if len(one) <= TAIL_LINE_MAX else f"{one[:TAIL_LINE_MAX]}..." for one in last]
