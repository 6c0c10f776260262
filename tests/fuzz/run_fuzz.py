# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the fuzz targets with sanitizers, and runs all of them in a minute, or in a campaign.

With clang they use libFuzzer; otherwise gcc builds them with driver.c, which does not measure
coverage. Corpora are text files, with an input in hexadecimal on each line. A minute begins with
the corpora and ends after a number of executions, so its result changes only with the code or a
corpus. A campaign begins with the inputs of earlier campaigns. Exits with 0 if no fault was found,
with 1 if one was, and with 99 if the targets do not build.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.kept_corpus import pack, read_reach, unpack
from tests.runner.outcome import note
from tests.runner.places import find_places

CHECKOUT = Path(__file__).resolve().parents[2]
FUZZ = CHECKOUT / "tests" / "fuzz"
CHIPGEN = "chipgen"  # in Python; all others are in C
INPUT_BYTES_MAX = 4096
INPUT_S_MAX = 100  # an input that takes longer is a hang
MINUTE_S = 60
# The executions of each target in a "minute", in which two CPUs finish all targets.
MINUTE_EXECUTIONS = {
    "chip": 100_000,
    "chipgen": 15_000,
    "fronts": 100_000,
    "layout": 120_000,
    "params": 300_000,
    "serprog_client": 80_000,
    "serprog_device": 20_000,
    "sfdp": 800_000,
}
MINUTE_EXECUTIONS_OF_OTHERS = 50_000
# Targets that make all their executions also on a slow machine, within WHOLE_S_MAX.
ALWAYS_WHOLE = {"fronts"}
WHOLE_S_MAX = 1200
# Without these options two runs with one seed differ: libFuzzer puts pointers that the code
# compares into inputs, and reads the corpus again at times that vary.
REPEATABLE = ["-use_cmp=0", "-reload=0"]
CAMPAIGN_HELP = "10 million executions or 20 minutes of each target, instead of a minute for all"
NOTHING, FOUND, BROKEN = 0, 1, 99


class BuildError(Exception):
    """Raised if the targets cannot be built."""


def c_targets() -> list[str]:
    return sorted(path.stem.removeprefix("fuzz_") for path in FUZZ.glob("fuzz_*.c"))


def clang() -> str | None:
    """Returns the newest clang with libFuzzer; distributions install it under a versioned name."""
    names = ["clang", *(f"clang-{version}" for version in range(30, 13, -1))]
    return next(
        (path for name in names if (path := shutil.which(name)) and has_libfuzzer(path)), None
    )


def has_libfuzzer(compiler: str) -> bool:
    command = [compiler, "-fsanitize=fuzzer,address", "-x", "c", "-o", os.devnull, "-"]
    program = "int LLVMFuzzerTestOneInput(void) { return 0; }"
    return subprocess.run(command, input=program.encode(), capture_output=True).returncode == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """The limits of a target. It ends without an error at the first one that it reaches."""

    executions: int
    seconds: float
    grows: bool
    """True if it begins with the inputs of earlier campaigns, and adds to them."""


CAMPAIGN = Effort(executions=10_000_000, seconds=1200, grows=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workshop:
    """The folders in which targets are built and run, one for each compiler."""

    meson: str
    compiler: str | None
    """The path of clang; None for the compiler that meson finds."""

    @property
    def build(self) -> Path:
        name = "gcc" if self.compiler is None else Path(self.compiler).name
        return find_places().state / f"build-fuzz-{name}"

    @property
    def findings(self) -> Path:
        return self.build / "findings"

    def corpus(self, target: str) -> Path:
        """Returns the folder of a campaign's corpus, which grows as libFuzzer finds inputs."""
        return self.build / "corpora" / target

    def fresh_corpus(self, target: str) -> Path:
        folder = self.build / "minute" / target
        shutil.rmtree(folder, ignore_errors=True)
        return folder

    def command(self, target: str) -> list[str]:
        if target == CHIPGEN:
            return [sys.executable, "-B", str(FUZZ / "fuzz_chipgen.py")]
        return [str(self.build / "tests" / "fuzz" / f"fuzz_{target}")]

    def do(self, *command: str) -> None:
        environment = (
            dict(os.environ) if self.compiler is None else os.environ | {"CC": self.compiler}
        )
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise BuildError(done.stdout + done.stderr)

    def set_up(self) -> None:
        if not (self.build / "build.ninja").exists():
            self.do(
                *(self.meson, "setup", str(self.build), str(CHECKOUT), "-Dfuzzers=true"),
                *("-Db_sanitize=address,undefined", "-Db_lundef=false"),
            )
        self.do(self.meson, "compile", "-C", str(self.build), "fuzzers")
        self.findings.mkdir(exist_ok=True)

    def run(self, target: str, effort: Effort, seed: int) -> Result:
        corpus = self.corpus(target) if effort.grows else self.fresh_corpus(target)
        unpack(target, corpus)
        program = self.command(target)
        command = [
            *program,
            f"-seed={seed}",
            f"-runs={effort.executions}",
            f"-max_total_time={max(1, round(effort.seconds))}",
            f"-max_len={INPUT_BYTES_MAX}",
            f"-timeout={INPUT_S_MAX}",
            *([] if effort.grows else REPEATABLE),
            f"-artifact_prefix={self.findings}/{target}-",
            str(corpus),
        ]
        begin = time.monotonic()
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False
        )
        return Result(
            target=target,
            program=program,
            code=done.returncode,
            stderr=done.stderr,
            seconds=time.monotonic() - begin,
        )

    def pack(self, target: str) -> None:
        """Writes the inputs that campaigns found to the target's file, up to the size limit."""
        with tempfile.TemporaryDirectory(prefix="fuzz-pack-") as folder:
            unpack(target, self.corpus(target))
            control = Path(folder) / "control"
            merged = Path(folder) / "merged"
            merged.mkdir()
            self.do(
                *(*self.command(target), "-set_cover_merge=1", f"-max_len={INPUT_BYTES_MAX}"),
                *(f"-merge_control_file={control}", str(merged), str(self.corpus(target))),
            )
            pack(target, read_reach(control))


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    target: str
    program: list[str]
    code: int
    stderr: str
    seconds: float

    @property
    def good(self) -> bool:
        """Returns True if the target executed inputs and found no fault."""
        return self.code == 0 and self.executions > 0

    @property
    def executions(self) -> int:
        done = re.search(r"^Done (\d+) runs", self.stderr, re.MULTILINE)
        return int(done[1]) if done else 0

    def report(self) -> str:
        if self.code == 0:
            return f"fuzz: {self.target}: {self.executions} executions in {self.seconds:.0f} s"
        written = re.search(r"Test unit written to (\S+)", self.stderr)
        again = " ".join([*self.program, written[1] if written else "INPUT"])
        tail = self.stderr[-4000:]
        return f"{tail}\nfuzz: {self.target}: found a fault (code {self.code}); again: {again}"


def minute_of(target: str, count: int, width: int, share: float) -> Effort:
    """Returns the limits of a share of a minute; the time limit matters only on slow machines."""
    executions = MINUTE_EXECUTIONS.get(target, MINUTE_EXECUTIONS_OF_OTHERS)
    return Effort(
        executions=max(1, round(executions * share)),
        seconds=WHOLE_S_MAX if target in ALWAYS_WHOLE else MINUTE_S * width / count,
        grows=False,
    )


def run_all(workshop: Workshop, options: argparse.Namespace) -> int:
    """Runs the targets, as many at a time as there are CPUs; returns 1 if one found a fault."""
    targets = options.target
    width = min(len(targets), os.cpu_count() or 1)

    def run(target: str) -> Result:
        minute = minute_of(target, len(targets), width, options.share)
        return workshop.run(target, CAMPAIGN if options.campaign else minute, options.seed)

    results = []
    with ThreadPoolExecutor(width) as pool:
        for result in pool.map(run, targets):
            print(result.report(), flush=True)
            results.append(result)
            note(options.record, result.target, passed=result.good, took_s=result.seconds)
    failed = [result for result in results if not result.good]
    how = "libFuzzer" if workshop.compiler else "the driver without libFuzzer"
    print(f"fuzz: {len(results) - len(failed)} passed, {len(failed)} failed, 0 skipped ({how})")
    return FOUND if failed else NOTHING


def share_of_a_minute(text: str) -> float:
    share = float(text)
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not above 0 and at most 1")
    return share


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    known = [*c_targets(), CHIPGEN]
    parser.add_argument("target", nargs="*", help=f"of {', '.join(known)}; all of them without one")
    parser.add_argument("--meson", default="meson", help="the meson to build with")
    parser.add_argument("--campaign", action="store_true", help=CAMPAIGN_HELP)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--gcc", action="store_true", help="without clang, also where there is one")
    parser.add_argument(
        "--share",
        type=share_of_a_minute,
        default=1.0,
        help="the part of the minute to run: above 0, at most 1",
    )
    parser.add_argument("--record", type=Path, help="a file that gets a line of JSON a target")
    parser.add_argument("--list", action="store_true", help="only list the targets")
    parser.add_argument("--pack", action="store_true", help="only rewrite corpora/ (needs clang)")
    options = parser.parse_args()
    for target in options.target:
        if target not in known:
            parser.error(f"unknown target {target}: one of {', '.join(known)}")
    options.target = options.target or known
    return options


def main() -> int:
    options = parse()
    if options.list:
        print(*options.target, sep="\n")
        return NOTHING
    workshop = Workshop(meson=options.meson, compiler=None if options.gcc else clang())
    if options.pack and workshop.compiler is None:
        print("fuzz: --pack needs clang with libFuzzer", file=sys.stderr)
        return BROKEN
    try:
        workshop.set_up()
        if not options.pack:
            return run_all(workshop, options)
        for target in options.target:
            if target != CHIPGEN:
                workshop.pack(target)
    except BuildError as error:
        print(f"fuzz: the targets do not build:\n{error}", file=sys.stderr)
        return BROKEN
    return NOTHING


if __name__ == "__main__":
    sys.exit(main())
