# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the layers one after the other. In the quick tier, one runs beside the earlier ones."""

import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path

from tests.runner.layers import LAYERS
from tests.runner.memory import remember
from tests.runner.outcome import LayerResult
from tests.runner.places import Places
from tests.runner.report import layer_line
from tests.runner.resume import begin_layer
from tests.runner.selection import Selection

POLL_S = 0.5


def run_layers(places: Places, work: dict[str, Selection]) -> Iterator[LayerResult]:
    """Yields the result of each layer as it ends, and remembers what failed."""
    for result in _in_their_order(places, work):
        remember(places.notes, result, work[result.layer])
        yield result


def _in_their_order(places: Places, work: dict[str, Selection]) -> Iterator[LayerResult]:
    names = list(work)
    at = next((at for at, name in enumerate(names) if may_run_beside(name, work[name])), 0)
    if at > 0:
        yield from _beside(places, work, names[:at], names[at])
    for name in names[at + 1 :] if at > 0 else names:
        yield run_layer(name, places, work[name])


def may_run_beside(name: str, selection: Selection) -> bool:
    """Returns True if the layer may run beside others.

    With all tiers it may not: under that load, tests would exceed their time limits.
    """
    return LAYERS[name].runs_beside and not selection.all_tiers


def _beside(
    places: Places, work: dict[str, Selection], others: list[str], name: str
) -> Iterator[LayerResult]:
    """Runs a layer beside the others; writes its output to a file, and prints it after theirs."""
    log = places.notes / f"{name}.log"
    places.notes.mkdir(parents=True, exist_ok=True)
    with log.open("w", encoding="utf-8") as output, ThreadPoolExecutor(1) as pool:
        print(f"== {name} == begins beside the others; its lines follow theirs", flush=True)
        result = pool.submit(run_layer, name, replace(places, output=output), work[name])
        try:
            yield from (run_layer(other, places, work[other]) for other in others)
            follow(log, result)
        except BaseException:
            places.children.end()
            raise
    yield result.result()


def follow(log: Path, work: "Future[LayerResult]") -> None:
    """Prints the file as it grows, until the work is done."""
    with log.open(encoding="utf-8") as stream:
        is_done = False
        while not is_done:
            is_done = bool(wait([work], timeout=POLL_S).done)
            sys.stdout.write(stream.read())
            sys.stdout.flush()


def run_layer(name: str, places: Places, selection: Selection) -> LayerResult:
    """Runs one layer, and measures its time."""
    print(f"== {name} ==", flush=True, file=places.output)
    record = places.record(name, selection)
    before_s = begin_layer(record) if selection.can_be_resumed else 0.0
    began_s = time.monotonic()
    result = LAYERS[name].run(name, places, selection)
    result = replace(result, took_s=time.monotonic() - began_s, before_s=before_s)
    print(layer_line(result), flush=True, file=places.output)
    return result
