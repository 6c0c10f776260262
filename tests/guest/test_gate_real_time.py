# SPDX-License-Identifier: GPL-2.0-or-later
"""Gates in real time: pairs of rounds decide, unless this machine is too noisy."""

import re
from pathlib import Path

import pytest
from delayrig.base.errors import ExitCode
from delayrig.base.paths import Paths
from delayrig.decision.decision import Outcome
from delayrig.decision.performance import PAIRS_MIN
from delayrig.decision.request import BASELINE, CANDIDATE, rounds_of
from delayrig.model.result import Results, read_results

from .conftest import launch
from .plans import group, plan, watched, write_plan
from .test_gate import gate

pytestmark = pytest.mark.alone("rounds of real time")
IN_DOUBT = ExitCode.INCONCLUSIVE
WATCHED_AT = 'job = "write", chip = "W25Q128JV", corner = "max"'
HOST_PLAN = plan(
    group("job", 'mips = [1000], cores = [1], job = ["write"], chip = ["GD25Q16C"]'),
    watched(f"mips = 1000, cores = 1, {WATCHED_AT}"),
    lane="host",
)
MOVED = 'machine = ["10:40"], hazards = ["low-res-timers+move:accept"]'
LIVE_PLAN = plan(
    group("moved", f'{MOVED}, job = ["write"], chip = ["W25Q128JV"]'),
    watched(f"mips = 40, cores = 2, {WATCHED_AT}"),
    lane="live",
)
FAST, SLOW = "bundled", "debian:trixie"
"""On any machine, SLOW waits one second longer for its programmer."""


@pytest.fixture
def host_plan(tmp_path: Path) -> str:
    return write_plan(tmp_path, HOST_PLAN)


def results_of_rounds(out: Path, name: str) -> list[Results]:
    return [read_results(folder) for folder in rounds_of(out, name)]


@pytest.mark.parametrize(
    ("baseline", "candidate", "wanted"),
    [
        pytest.param(
            *(SLOW, FAST, ExitCode.PASS),
            marks=pytest.mark.long("rounds in real time; quick: a slower candidate"),
        ),
        (FAST, SLOW, ExitCode.SLOWER),
    ],
)
def test_confidence_interval_of_pairs_decides_if_the_candidate_is_slower(
    paths: Paths, tmp_path: Path, host_plan: str, baseline: str, candidate: str, wanted: ExitCode
) -> None:
    out = tmp_path / "out"
    words = ["--plan", host_plan, "--rounds", str(PAIRS_MIN + 1), "--max-cpu", "100000"]
    code, decision, output = gate(paths, out, baseline, candidate, *words)
    assert code in (wanted, IN_DOUBT), output  # a busy machine may leave too few rounds
    (cell,) = [cell for cell in decision.cells if cell.role == "measure"]
    if code == wanted:
        (time,) = [item for item in cell.excess if item.figure == "time"]
        assert time.low_pct <= time.pct <= time.high_pct
        assert (time.low_pct > 2) is (wanted is ExitCode.SLOWER)
        assert "over all rounds" in output
    theirs, ours = (results_of_rounds(out, side) for side in (BASELINE, CANDIDATE))
    assert len(theirs) == len(ours) == PAIRS_MIN + 1
    assert len(ours[0].cells) == 3
    assert {len(run.cells) for run in theirs} == {1}
    done = launch(paths, "report", str(out))
    assert done.returncode == 0, done.stderr
    assert f"{PAIRS_MIN + 1} rounds" in (out / "report.html").read_text(encoding="utf-8")


def test_gate_of_two_rounds_is_inconclusive(paths: Paths, tmp_path: Path, host_plan: str) -> None:
    words = ["--plan", host_plan, "--rounds", "2"]
    code, decision, output = gate(paths, tmp_path / "out", FAST, FAST, *words)
    assert code == IN_DOUBT, output
    assert decision.outcome is Outcome.DOUBT
    assert "show nothing" in output or "could not keep up" in output


@pytest.mark.long("a round of live cells; quick: tests/guest/test_live.py convicts the same move")
def test_candidate_that_waits_too_short_when_moved_is_unsafe(paths: Paths, tmp_path: Path) -> None:
    words = ["--plan", write_plan(tmp_path, LIVE_PLAN), "--rounds", "1"]
    code, decision, output = gate(paths, tmp_path / "out", "bundled", "debian:bookworm", *words)
    assert code in (ExitCode.UNSAFE, IN_DOUBT), output
    if code == ExitCode.UNSAFE:
        assert decision.deciding[0].id in output.splitlines()[0]
        # The bus witness or the delay witness, whichever saw the shorter wait.
        assert re.search("1 s (synchronisation wait|asked)", output.splitlines()[0])
