# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds docstrings and comments that do not begin as a sentence does.

    python3 tests/rig/plain_words.py [FOLDER ...]      lists them, and counts them at the end

A function's docstring begins with its verb in the third person ("Returns ..."). No docstring and no
comment begins with a fragment that answers a question nobody has asked ("Whether ...").
"""

import ast
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

CHECKOUT = Path(__file__).resolve().parents[2]
FOLDERS = ("rig", "emulators", "images", "flashrom", "tests")
LEFT_OUT = {".rig", "__pycache__"}
VERB = re.compile(r"[A-Z][a-z]*(?:-[a-z]+)?s")
NO_VERBS = (
    "address addresses as bytes canaries cells classes completions digests entries events files"
    " folders functions gauges hazards ids is its jobs kernels lanes less lines machines nouns"
    " options others ours packages pages parts process processes requests rows seconds siblings"
    " slots sources subjects tables this times unless us values verdicts words workers"
)
"""Words that look like a verb in the third person; most are plurals."""
FRAGMENT = re.compile(
    r"(what|whether|of|but for|those that|who|whom|whose|which|by how"
    r"|how (many|much|far|long|often))\b.*",
    re.IGNORECASE | re.DOTALL,
)
C_COMMENT = re.compile(
    r"""/\*[\s*]*(?P<text>.*?)\s*\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'""", re.S
)


class Finding(NamedTuple):
    """A docstring or comment to rewrite."""

    file: Path
    line: int
    fault: str
    text: str


def findings_in(file: Path) -> Iterator[Finding]:
    """Yields the findings of a source file in Python or C."""
    content = file.read_text(encoding="utf-8")
    if file.suffix == ".py":
        yield from _docstrings(file, content)
    for line, text in _comments(file, content):
        if FRAGMENT.fullmatch(text) and not text.rstrip().endswith("?"):
            yield Finding(file, line, "fragment", text)


def docstrings_of(content: str) -> Iterator[tuple[ast.AST, ast.Constant]]:
    """Yields each docstring with the definition or the assignment that it describes."""
    for node in ast.walk(ast.parse(content)):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            for described, statement in zip([node, *body], body, strict=False):
                match statement:
                    case ast.Expr(value=ast.Constant(value=str()) as text):
                        yield described, text


def _docstrings(file: Path, content: str) -> Iterator[Finding]:
    for described, constant in docstrings_of(content):
        text = str(constant.value)
        if _wants_verb(described) and not _begins_with_verb(text):
            yield Finding(file, constant.lineno, "no verb", text)
        elif FRAGMENT.fullmatch(text):
            yield Finding(file, constant.lineno, "fragment", text)


def _wants_verb(described: ast.AST) -> bool:
    """Returns True for a function, except a test: its name says what it does."""
    is_function = isinstance(described, ast.FunctionDef | ast.AsyncFunctionDef)
    return is_function and not getattr(described, "name", "").startswith("test_")


def _begins_with_verb(text: str) -> bool:
    word = re.split(r"[\s,:;]", text, maxsplit=1)[0]
    return VERB.fullmatch(word) is not None and word.lower() not in NO_VERBS.split()


def _comments(file: Path, content: str) -> Iterator[tuple[int, str]]:
    """Yields each comment with its line; of consecutive lines in Python, only the first."""
    if file.suffix != ".py":
        for found in C_COMMENT.finditer(content):
            if found["text"]:
                yield content.count("\n", 0, found.start()) + 1, found["text"]
        return
    with file.open("rb") as lines:
        last = (0, -1)
        for token in tokenize.tokenize(lines.readline):
            if token.type == tokenize.COMMENT:
                row, column = token.start
                if last != (row - 1, column):
                    yield row, token.string.lstrip("#").strip()
                last = token.start


def sources_in(folders: list[str]) -> list[Path]:
    """Returns the sources in Python and C below those folders of the checkout."""
    paths = [path for folder in folders for path in (CHECKOUT / folder).rglob("*")]
    return sorted(
        path
        for path in paths
        if path.suffix in (".py", ".c", ".h") and LEFT_OUT.isdisjoint(path.parts)
    )


def main(folders: list[str]) -> int:
    """Prints the findings in the folders, and their number; returns 1 if there are any."""
    sources = sources_in(folders or list(FOLDERS))
    found = [finding for file in sources for finding in findings_in(file)]
    for finding in found:
        place = f"{finding.file.relative_to(CHECKOUT)}:{finding.line}"
        print(f"{place}: {finding.fault}: {finding.text.splitlines()[0]}")
    faults = [finding.fault for finding in found]
    print(
        f"{len(sources)} files: {faults.count('no verb')} docstrings of functions without a verb,"
        f" {faults.count('fragment')} fragments"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
