# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the cores of a device tree: their names, capacities and highest clocks.

The text is a source file, or the output of `dtc -I fs`, which has phandles in place of labels.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from delayrig.features.like.facts import Fact, Line

HZ_PER_MHZ = 1_000_000
_NODE = re.compile(
    r"^\s*(?:(?P<label>\w+):\s*)?(?P<name>&?[\w,./-]+)(?:@(?P<unit>[0-9a-f]+))?\s*\{"
)
_PROPERTY = re.compile(r"([\w,#-]+)\s*=\s*([^;]+);")
_CORTEX = re.compile(r'"arm,cortex-([a-z][0-9]+)"')


@dataclass(slots=True, kw_only=True)
class _Node:
    label: str
    name: str
    unit: str | None
    parent: "_Node | None"
    texts: dict[str, str] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)


def read_device_tree(lines: list[Line]) -> Iterator[Fact]:
    """Yields the facts of each `cpu@` node, which the kernel numbers in this order."""
    nodes = _nodes(lines)
    highest = _highest_hz(nodes)
    cores = [node for node in nodes if node.name == "cpu" and node.unit is not None]
    labels = {node.label: core for core, node in enumerate(cores) if node.label}
    for core, node in enumerate(cores):
        yield from _of_core(core, node, highest)
    for node in nodes:
        if node.name.removeprefix("&") in labels and node.name.startswith("&"):
            yield from _of_core(labels[node.name.removeprefix("&")], node, highest)
        if node.name == "/" and "compatible" in node.texts:
            for name in re.findall(r'"([^"]+)"', node.texts["compatible"]):
                yield Fact(key="compatible", value=name, where=node.places["compatible"])
    with_capacity = [node for node in cores if "capacity-dmips-mhz" in node.texts]
    if with_capacity:
        where = with_capacity[0].places["capacity-dmips-mhz"]
        yield Fact(key="cpus", value=str(len(cores)), where=where)


def _of_core(core: int, node: _Node, highest: dict[str, int]) -> Iterator[Fact]:
    if match := _CORTEX.search(node.texts.get("compatible", "")):
        where = node.places["compatible"]
        yield Fact(key=f"core.{core}.name", value=f"Cortex-{match[1].upper()}", where=where)
    if capacity := _cells(node.texts.get("capacity-dmips-mhz", "")):
        where = node.places["capacity-dmips-mhz"]
        yield Fact(key=f"core.{core}.capacity", value=str(capacity[-1]), where=where)
    table = re.search(r"<&?(\w+)>", node.texts.get("operating-points-v2", ""))
    if table and table[1] in highest:
        where = node.places["operating-points-v2"]
        mhz = highest[table[1]] // HZ_PER_MHZ
        yield Fact(key=f"core.{core}.mhz", value=str(mhz), where=where)


def _highest_hz(nodes: list[_Node]) -> dict[str, int]:
    """Returns the highest clock of each table of operating points, by its label and phandle."""
    highest: dict[str, int] = {}
    for node in nodes:
        cells = _cells(node.texts.get("opp-hz", ""))
        if not cells or node.parent is None:
            continue
        hz = cells[0] << 32 | cells[1] if len(cells) > 1 else cells[0]
        handle = re.search(r"<(\w+)>", node.parent.texts.get("phandle", ""))
        for name in (node.parent.label, handle[1] if handle else ""):
            highest[name] = max(highest.get(name, 0), hz)
    highest.pop("", None)
    return highest


def _cells(text: str) -> list[int]:
    """Returns the numbers between the first < and >."""
    match = re.search(r"<([^>]*)>", text)
    words = match[1].split() if match else []
    return [int(word, 0) for word in words if re.fullmatch(r"0x[0-9a-fA-F]+|[0-9]+", word)]


def _nodes(lines: list[Line]) -> list[_Node]:
    nodes: list[_Node] = []
    now: _Node | None = None
    for line in lines:
        opened = _NODE.match(line.text)
        if opened:
            now = _Node(
                label=opened["label"] or "", name=opened["name"], unit=opened["unit"], parent=now
            )
            nodes.append(now)
        if now is None:
            continue
        for match in _PROPERTY.finditer(line.text):
            now.texts[match[1]], now.places[match[1]] = match[2], line.where
        for _ in range(line.text.count("}")):
            now = now.parent if now else None
    return nodes
