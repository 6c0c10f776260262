# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints the size of the checkout: lines, files, pages, words, and lengths of functions."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from statistics import median

CHECKOUT = Path(__file__).resolve().parents[1]
PRODUCT = ("rig/", "emulators/", "images/", "flashrom/", "ci/")
C_BODY = re.compile(r"^\{$.*?^\}", re.MULTILINE | re.DOTALL)


def tracked() -> dict[str, str]:
    """Returns the text of each file that git tracks."""
    done = subprocess.run(
        ["git", "ls-files", "-z"], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    paths = (CHECKOUT / name for name in done.stdout.split("\0")[:-1])
    return {str(path.relative_to(CHECKOUT)): path.read_text() for path in paths if path.is_file()}


def functions(name: str, text: str) -> Iterator[tuple[int, str]]:
    """Yields the number of lines of each function's body, in Python or C, with its place."""
    if name.endswith(".py"):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.body[-1].end_lineno or 0) - node.body[0].lineno + 1
                yield lines, f"{name}:{node.lineno}"
    if name.endswith(".c"):
        for body in C_BODY.finditer(text):
            yield body[0].count("\n") - 1, f"{name}:{text.count(chr(10), 0, body.start()) + 1}"


def main() -> None:
    """Prints a line for each count."""
    files = tracked()
    pages = {name: text for name, text in files.items() if name.endswith(".md")}
    product = {name: text for name, text in files.items() if name.startswith(PRODUCT)}
    tests = {name: text for name, text in files.items() if name.startswith("tests/")}
    for name, texts in (("product", product), ("tests", tests), ("documents", pages)):
        print(f"{name:10} {sum(text.count(chr(10)) for text in texts.values()):7} lines")
    print(f"{'files':10} {len(files):7}")
    print(f"{'pages':10} {len(pages):7}, {sum(len(text.split()) for text in pages.values())} words")
    found = sorted(size for name, text in files.items() for size in functions(name, text))
    print(
        f"{'functions':10} {len(found):7}, median {median(lines for lines, _ in found):.0f} lines"
    )
    print(f"{'longest':10} {found[-1][0]:7} lines, {found[-1][1]}")


if __name__ == "__main__":
    main()
