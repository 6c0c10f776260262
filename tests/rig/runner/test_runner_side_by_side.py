# SPDX-License-Identifier: GPL-2.0-or-later
"""Layers that run side by side, and their output."""

import threading
from pathlib import Path

import pytest

from tests.runner import side_by_side
from tests.runner.layers import Layer
from tests.runner.outcome import CaseResult, LayerResult, Outcome
from tests.runner.places import Places
from tests.runner.selection import Selection
from tests.runner.side_by_side import run_layers

LIMIT_S = 60.0


class Layers:
    """`guest` runs beside the layer before it, and ends only after the others have begun."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self.others_began = threading.Event()
        self.interrupted = ""

    def layer(self, name: str) -> Layer:
        return Layer(about="", run=self.run, list=self.list, runs_beside=name == "guest")

    def run(self, layer: str, places: Places, _selection: Selection) -> LayerResult:
        if layer == "rig":
            self.others_began.set()
        if layer == self.interrupted:
            raise KeyboardInterrupt
        is_sound = layer != "guest" or self.others_began.wait(LIMIT_S)
        print(f"lines of {layer}", file=places.output)
        self.order.append(layer)
        tests = (CaseResult(name=f"{layer}.a", outcome=Outcome.PASSED, took_s=0.0),)
        return LayerResult(layer=layer, tests=tests, is_sound=is_sound)

    def list(self, layer: str, _places: Places, _selection: Selection) -> list[str]:
        raise NotImplementedError(layer)


@pytest.fixture
def layers(monkeypatch: pytest.MonkeyPatch) -> Layers:
    made = Layers()
    names = ("unit", "rig", "guest", "live")
    monkeypatch.setattr(side_by_side, "LAYERS", {name: made.layer(name) for name in names})
    return made


def run(tmp_path: Path, *names: str) -> list[LayerResult]:
    places = Places(checkout=tmp_path, state=tmp_path)
    return list(run_layers(places, {name: Selection() for name in names}))


def test_layer_that_runs_beside_others_holds_none_of_them_up(
    layers: Layers, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = run(tmp_path, "unit", "rig", "guest", "live")
    assert all(result.good for result in results)
    assert [result.layer for result in results] == ["unit", "rig", "guest", "live"]
    assert layers.order[-1] == "live"
    said = [line for line in capsys.readouterr().out.splitlines() if line.startswith("lines")]
    assert said == ["lines of unit", "lines of rig", "lines of guest", "lines of live"]


def test_layer_alone_runs_in_its_turn(layers: Layers, tmp_path: Path) -> None:
    layers.others_began.set()
    assert [result.layer for result in run(tmp_path, "guest", "live")] == ["guest", "live"]
    assert layers.order == ["guest", "live"]


def test_interrupted_layer_ends_what_runs_beside_it(layers: Layers, tmp_path: Path) -> None:
    layers.interrupted = "rig"
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, "rig", "guest")
