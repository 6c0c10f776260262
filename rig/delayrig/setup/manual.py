# SPDX-License-Identifier: GPL-2.0-or-later
"""Manual pages made from the output of `--help`: `python3 -m delayrig.setup.manual FOLDER`.

Packages make them at build time, with nothing but Python (ci/install-tree). The texts are those of
`docs/reference/command-line.txt`, which the rig writes itself (`rig/rig reference`).
"""

import re
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from delayrig import __version__
from delayrig.setup.layout import Layout, find_layout
from delayrig.setup.reference import PROGRAM, help_texts

PACKAGED = "flashrom-delay-rig"
"""The name of `rig/rig` in packages."""
ENTRY = re.compile(r"  (\S.*?)(?:  +(\S.*))?")
"""An option or a command, and the first line of its description."""
LITERAL = "    "
STATE = f"""\
.SH FILES
.TP
.I ~/.cache/{PACKAGED}
All that the rig makes, below $XDG_CACHE_HOME where that is set: Python packages, native programs,
guests. It is filled by the first command that needs it, over the network.
.B {PACKAGED} clean
removes it.
.SH ENVIRONMENT
.TP
.B FLASHROM_RIG_STATE
Another folder for that.
.TP
.B NO_COLOR
Plain text.
.SH NOTES
Messages call the program
.BR rig/rig ,
which is its name in a checkout.
"""
DASHES = str.maketrans({"-": r"\-", "\\": r"\e"})


def man_pages(layout: Layout) -> dict[str, str]:
    """Returns every page by its file name: one for the program, and one for each subcommand."""
    texts = help_texts(layout)
    shown = [PROGRAM, *_commands_of(texts[PROGRAM])]
    kept = {
        name: texts[name]
        for name in sorted(texts)
        if name in shown or name.partition(" ")[0] in shown
    }
    return {f"{page_name(name)}.1": page(name, kept) for name in kept}


def page_name(name: str) -> str:
    return "-".join([PACKAGED, *name.split()])


def _commands_of(text: str) -> list[str]:
    _, _, listed = text.partition("\nCommands:\n")
    lines = listed.partition("\n\n")[0].splitlines()
    return [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]


def page(name: str, texts: dict[str, str]) -> str:
    """Returns one page in the language of roff (man(7))."""
    usage, _, body = texts[name].replace("rig/rig", PACKAGED).partition("\n\n")
    called = page_name(name)
    about = sentence(texts[name]).rstrip(".")
    head = [
        f'.TH "{roff(called.upper())}" "1" "" "{PACKAGED} {__version__}" "User Commands"',
        ".SH NAME",
        f"{roff(called)} \\- {roff(about[:1].lower() + about[1:])}",
        ".SH SYNOPSIS",
        f".B {roff(' '.join(usage.removeprefix('Usage: ').split()))}",
        ".SH DESCRIPTION",
    ]
    tail = STATE if name == PROGRAM else ""
    # The related pages are the program and the subcommands above and below this one.
    above = (other for other in texts if f"{name} ".startswith(f"{other} "))
    below = (other for other in texts if f"{other} ".startswith(f"{name} "))
    related = texts if name == PROGRAM else {PROGRAM, *above, *below}
    others = [page_name(other) for other in texts if other in related and other != name]
    see = "\n".join(f".BR {roff(other)} (1)" for other in others)
    return "\n".join([*head, *_body(body, name, texts), f"{tail}.SH SEE ALSO", see, ""])


def sentence(text: str) -> str:
    paragraph = text.split("\n\n")[1]
    return re.split(r"(?<=[.?]) ", joined(paragraph.splitlines()))[0]


def joined(lines: list[str]) -> str:
    """Returns a wrapped paragraph as one line, and joins words that were broken at a hyphen."""
    return re.sub(r"(?<=\w)- (?=\w)", "-", " ".join(line.strip() for line in lines))


def roff(text: str) -> str:
    """Returns the text escaped for roff. A dot or a quote at its start would begin a request."""
    escaped = text.translate(DASHES)
    return f"\\&{escaped}" if escaped[:1] in (".", "'") else escaped


def _body(body: str, name: str, texts: dict[str, str]) -> Iterator[str]:
    in_list = False
    for is_text, group in groupby(body.splitlines(), key=bool):
        lines = list(group)
        if not is_text:
            in_list = False
            continue
        if heading := re.fullmatch(r"(\w+):", lines[0]):
            yield f".SH {heading[1].upper()}"
            in_list, lines = True, lines[1:]
        yield from _list(lines, name, texts) if in_list else _text(lines)


def _text(lines: list[str]) -> Iterator[str]:
    if all(line.startswith(LITERAL) for line in lines):
        yield from (".PP", ".RS 4", ".nf", *(roff(line[len(LITERAL) :]) for line in lines))
        yield from (".fi", ".RE")
    else:
        yield from (".PP", roff(joined(lines)))


def _list(lines: list[str], name: str, texts: dict[str, str]) -> Iterator[str]:
    entries: list[tuple[str, list[str]]] = []
    for line in lines:
        entry = ENTRY.fullmatch(line)
        if entry is None:
            entries[-1][1].append(line)
        else:
            entries.append((entry[1], [entry[2]] if entry[2] else []))
    for word, words in entries:
        child = texts.get(f"{name} {word}".strip())
        # The list of commands shortens their descriptions, so take a command's own.
        about = sentence(child) if child else joined(words)
        yield from (".TP", f".B {roff(word)}", roff(about))


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in man_pages(find_layout({})).items():
        (folder / name).write_text(text, encoding="utf-8")
