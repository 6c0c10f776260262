# SPDX-License-Identifier: GPL-2.0-or-later
"""The lines that are printed at the end of each layer and at the end of a run of the tests."""

from collections.abc import Iterable, Iterator

from tests.runner.outcome import CaseResult, LayerResult, Outcome

SLOWEST = 10


def layer_line(result: LayerResult) -> str:
    """Returns the line with the time and the outcome of a layer."""
    how = "all well" if result.good else "FAILED"
    took = f"{human(result.took_s)}, {human(result.cpu_s)} of CPU"
    took += f", and {human(result.before_s)} in the interrupted run" if result.before_s else ""
    return f"-- {result.layer}: {len(result.tests)} tests took {took}: {how}"


def closing_lines(
    results: Iterable[LayerResult], took_s: float, *, all_tiers: bool = False
) -> Iterator[str]:
    """Yields the slowest tests, the line of each layer, the failures, and the totals."""
    results = list(results)
    yield from slowest_lines(results)
    yield "== layers =="
    yield from map(layer_line, results)
    yield from _failed_lines([result for result in results if not result.good], all_tiers)
    yield _sum_line(results, took_s)


def slowest_lines(results: Iterable[LayerResult]) -> Iterator[str]:
    """Yields the tests that took longest, over all layers."""
    tests = [(test, result.layer) for result in results for test in result.tests]
    slowest = sorted(tests, key=lambda pair: pair[0].took_s, reverse=True)[:SLOWEST]
    if slowest:
        yield f"== the {len(slowest)} slowest tests =="
    for test, layer in slowest:
        yield f"{test.took_s:7.1f} s  {_where(test, layer)}"


def _where(test: CaseResult, layer: str) -> str:
    return test.name if test.name.startswith("tests/") else f"{layer} {test.name}"


def _failed_lines(bad: list[LayerResult], all_tiers: bool) -> Iterator[str]:
    if bad:
        yield "== failed =="
    for result in bad:
        named = [
            _where(test, result.layer) for test in result.tests if test.outcome is Outcome.FAILED
        ]
        yield from named or [f"{result.layer}: see above"]
    if any(result.failed for result in bad):
        yield "again: tests/run --last-failed"
    broken = [result.layer for result in bad if not result.is_sound]
    if broken:
        yield " ".join(["again: tests/run", *(["--all"] if all_tiers else []), *broken])


def _sum_line(results: list[LayerResult], took_s: float) -> str:
    counts = [sum(result.count(each) for result in results) for each in Outcome]
    text = ", ".join(f"{count} {each}" for count, each in zip(counts, Outcome, strict=True))
    return f"== {text} in {len(results)} layers and {human(took_s)} =="


def human(seconds: float) -> str:
    """Returns the time in seconds, or in minutes and seconds."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"
