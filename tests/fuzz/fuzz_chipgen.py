# SPDX-License-Identifier: GPL-2.0-or-later
"""Fuzzes the generator of the chip table.

For any chip file it must make a table in C, or an error with the file, the key and the remedy.

Inputs are the files of emulators/chips/, changed a line or a few bytes at a time. With atheris
(from the package index) coverage guides the changes; without it they come from the seed only. It
takes the options of libFuzzer that run_fuzz.py gives.
"""

from __future__ import annotations

import importlib
import importlib.util
import random
import re
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
CHIPS = CHECKOUT / "emulators" / "chips"
CHANGES_MAX = 4
EXECUTIONS_PER_LOOK = 16
INPUT_S_MAX = 100  # an input that takes longer is a hang

# Values of typical mistakes and of attacks.
VALUES = [
    *("0", "1", "-1", "255", "256", "4096", "67108864", "18446744073709551616", "9" * 5000),
    *("0.0", "-0.5", "1e-300", "1e300", "1.5e16", "inf", "-inf", "nan"),
    *("true", "false", "1979-05-27", '""', '"main"', '"a\\nb"', '"a\\"b\\\\"', '"\\u0000"', '"ü"'),
    *("[]", "[0]", "[true, true, true]", "[[]]", "[[1, 4096]]", "[[true, 4096]]", "{}"),
    *("{ read_opcode = 5, mask = 1 }", '["a"]', '["a", 1]', "[" * 2000 + "]" * 2000),
]
ASSIGNMENT = re.compile(rb"([^=]*[\w.-]\s*=\s*)(.*?)(\s*\},?)?")
PAIR_END = b", "
"""The separator of a row's pairs, which are changed like lines."""
NAME = re.compile(rb'^name = "([\w-]+)"', re.MULTILINE)
# The tokens that a generated table may contain; strings must not contain raw control characters.
C_TOKENS = re.compile(
    r'(?:"(?:[^"\\\x00-\x1f\x7f]|\\.)*"|/\*.*?\*/|\#include "\w+\.h"|UINT64_C\(\d{1,20}\)'
    r"|0x[0-9A-F]+|\d{1,20}u?|[A-Za-z_]\w*|[{}\[\]()=,;.*&|\s-])*",
    re.ASCII,
)
TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
NUMBER = re.compile(r"UINT64_C\((\d+)\)")


def is_c(table: str) -> bool:
    """Returns True if the table consists of tokens of C. A compiler would take too long."""
    bare = TEXT.sub("", table)
    return (
        C_TOKENS.fullmatch(table) is not None
        and bare.count("{") == bare.count("}")
        and not re.search(r"\b(?:True|False|None|inf|nan)\b", bare)
        and all(int(ns) < 1 << 64 for ns in NUMBER.findall(bare))
    )


def is_helpful(error: str, file: Path) -> bool:
    """Returns True if the error names the file, the key, the fault and the remedy."""
    return re.match(rf"{re.escape(file.name)}: \S.*: .+; .+", error, re.DOTALL) is not None


def load() -> Callable[[bytes], None]:
    """Returns the check of an input. It imports chipgen, so that atheris can instrument it."""
    sys.path.insert(0, str(CHECKOUT / "emulators" / "gen"))
    from chipgen.ctable import c_names, c_table
    from chipgen.part import parse_part
    from chipgen.table import ChipFileError

    def outcome(file: Path, content: bytes) -> str | ChipFileError:
        try:
            parts = [parse_part(file, content)]
            return c_table(parts) + c_names(parts)
        except ChipFileError as error:
            return error

    def check(content: bytes) -> None:
        name = NAME.search(content)
        file = Path(f"{name[1].decode() if name else 'nameless'}.toml")
        found = outcome(file, content)
        if isinstance(found, str):
            assert is_c(found), f"not C: {found}"
        else:
            assert is_helpful(str(found), file), f"names no file, key or remedy: {found}"

    return check


def change_line(lines: list[bytes], others: list[bytes], rng: random.Random) -> None:
    at = rng.randrange(len(lines))
    if PAIR_END in lines[at] and rng.randrange(4):
        pairs = lines[at].split(PAIR_END)
        change_line(pairs, rng.choice(others).split(PAIR_END), rng)
        lines[at] = PAIR_END.join(pairs)
        return
    how = rng.randrange(6)
    assignment = ASSIGNMENT.fullmatch(lines[at])
    if how == 0:
        del lines[at]
    elif how == 1:
        lines.insert(at, rng.choice(lines))
    elif how == 2:
        lines[at] = rng.choice(others)
    elif how == 3:
        lines.insert(at, rng.choice(others))
    elif assignment is not None:
        value = rng.choice(VALUES).encode()
        lines[at] = assignment[1] + value + (assignment[3] or b"")
    else:
        lines[at] = rng.choice(lines)


def change_byte(content: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(content))
    return content[:at] + bytes([rng.randrange(256)]) + content[at + 1 :]


def change(content: bytes, others: list[bytes], rng: random.Random) -> bytes:
    for _ in range(rng.randint(1, CHANGES_MAX)):
        lines = content.split(b"\n")
        if rng.randrange(8) == 0 and content:
            content = change_byte(content, rng)
        else:
            change_line(lines, others, rng)
            content = b"\n".join(lines)
    return content


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    seed: int
    runs_max: int
    seconds: int
    artifact_prefix: str
    paths: list[Path]


def parse_options(argv: list[str]) -> Options:
    given = dict(text[1:].split("=", 1) for text in argv if text.startswith("-"))
    return Options(
        seed=int(given.get("seed", "1")),
        runs_max=int(given.get("runs", "-1")),
        seconds=int(given.get("max_total_time", "10")),
        artifact_prefix=given.get("artifact_prefix", "./"),
        paths=[Path(text) for text in argv if not text.startswith("-")],
    )


def files_of(path: Path) -> list[Path]:
    return sorted(path.iterdir()) if path.is_dir() else [path]


def read_corpus(paths: list[Path]) -> list[bytes]:
    files = [file for path in paths for file in files_of(path)]
    return [file.read_bytes() for file in (*sorted(CHIPS.glob("*.toml")), *files)]


def fail_for_time(*_: object) -> None:
    raise TimeoutError(f"no result after {INPUT_S_MAX} s")


def fuzz_alone(options: Options) -> int:
    check = load()
    signal.signal(signal.SIGALRM, fail_for_time)
    corpus = read_corpus(options.paths)
    others = sorted({line for content in corpus for line in content.split(b"\n")})
    rng = random.Random(options.seed)
    deadline = time.monotonic() + options.seconds
    executions = 0
    while executions != options.runs_max:
        if executions % EXECUTIONS_PER_LOOK == 0 and time.monotonic() >= deadline:
            break
        is_new = executions >= len(corpus)
        content = change(rng.choice(corpus), others, rng) if is_new else corpus[executions]
        signal.alarm(INPUT_S_MAX)
        try:
            check(content)
        except BaseException:
            saved = Path(f"{options.artifact_prefix}crash-seed-{options.seed}-run-{executions}")
            saved.write_bytes(content)
            print(f"fuzz: Test unit written to {saved}", file=sys.stderr)
            raise
        executions += 1
    print(f"Done {executions} runs", file=sys.stderr)
    return 0


def with_chips(argv: list[str]) -> list[str]:
    """Adds the chip files to the folders of inputs; new inputs go to the first folder."""
    has_folder = any(Path(word).is_dir() for word in argv[1:])
    return [*argv, str(CHIPS)] if has_folder else argv


def fuzz_guided(argv: list[str]) -> int:
    atheris = importlib.import_module("atheris")
    with atheris.instrument_imports(include=["chipgen"]):
        check = load()
    corpus = read_corpus([])
    others = sorted({line for content in corpus for line in content.split(b"\n")})

    def mutate(content: bytes, max_size: int, seed: int) -> bytes:
        return change(content, others, random.Random(seed))[:max_size]

    atheris.Setup(with_chips(argv), check, custom_mutator=mutate)
    atheris.Fuzz()
    return 0


def main(argv: list[str]) -> int:
    if importlib.util.find_spec("atheris") is not None:
        return fuzz_guided(argv)
    return fuzz_alone(parse_options(argv[1:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv))
