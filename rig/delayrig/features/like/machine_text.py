# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads what lscpu, /proc/cpuinfo, cpupower, dmesg and uname print about a machine, and its cores.

The cores' names, capacities and highest clocks may also be in a device tree: a source file, or the
output of `dtc -I fs`, which has phandles in place of labels.

A core's facts are `core.N.name`, `core.N.mhz` (its highest clock) and `core.N.held` (the clock that
a policy limits it to).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from delayrig.features.like.facts import ARM_CORES, Fact, Line
from delayrig.features.like.flashrom_log import arch_named

ARM = "0x41"
_PAIR = re.compile(r"^\s*([A-Za-z][\w()/. -]*?)\s*:\s+(.+)$")
_LIMITS = re.compile(r"hardware limits:\s+([0-9.]+) ([MG])Hz - ([0-9.]+) ([MG])Hz")
_POLICY = re.compile(r"current policy: .* within ([0-9.]+) ([MG])Hz and ([0-9.]+) ([MG])Hz")
_GOVERNOR = re.compile(r'governor "(\w+)"')
_FACT_LINES = {
    "machine": re.compile(r"^(?:OF: fdt: )?Machine model: (.+)$"),
    "hypervisor": re.compile(r"Hypervisor detected: (.+)$|^Hypervisor vendor:\s+(.+)$"),
    "cpus": re.compile(r"Brought up [0-9]+ nodes?, ([0-9]+) CPUs"),
    "mhz_then": re.compile(r"^(?:cpu|CPU) MHz\s*: +([0-9]+\.[0-9]+)$"),
    "cpufreq_driver": re.compile(r"^\s+driver: (\S+)$"),
    "throttled": re.compile(r"([Uu]nder-?voltage detected|cpu clock throttled)"),
}
"""The lines that state a fact, by the fact's key."""
_HAZARDS = {
    "preempt-rt": re.compile(r"^Linux (?:version )?.*PREEMPT[_ ]RT"),
    "low-res-timers": re.compile(r"ommand line:.*\bhighres=off\b"),
    "no-nohz": re.compile(r"ommand line:.*\bnohz=off\b"),
    "rt-throttle": re.compile(r"RT throttling activated"),
    "leap-second": re.compile(r"Clock: inserting leap second"),
    "leap-second:delete": re.compile(r"Clock: deleting leap second"),
    "memory-pressure": re.compile(r"Out of memory: Kill(?:ed)? process"),
}
"""The message of the kernel that shows a hazard, by the hazard's word."""
_STEPPED = re.compile(r"System clock was stepped by (-?)([0-9]+)\.")
_SWITCHED = re.compile(r"[Ss]witched to clocksource (\S+)|^current_clocksource: (\S+)")
HZ_PER_MHZ = 1_000_000
_NODE = re.compile(
    r"^\s*(?:(?P<label>\w+):\s*)?(?P<name>&?[\w,./-]+)(?:@(?P<unit>[0-9a-f]+))?\s*\{"
)
_PROPERTY = re.compile(r"([\w,#-]+)\s*=\s*([^;]+);")
CAPACITY, CLOCKS = "capacity-dmips-mhz", "operating-points-v2"
_CORTEX = re.compile(r'"arm,cortex-([a-z][0-9]+)"')


def read_machine_text(lines: list[Line]) -> Iterator[Fact]:
    yield from _lscpu(lines)
    yield from _cpuinfo(lines)
    yield from _cpupower(lines)
    for line in lines:
        yield from _kernel(line)
    switched = [(match, line) for line in lines if (match := _SWITCHED.search(line.text))]
    if switched:  # The kernel changes its clocksource while it boots.
        match, line = switched[-1]
        yield line.fact("clocksource", match[1] or match[2])


def _kernel(line: Line) -> Iterator[Fact]:
    for key, pattern in _FACT_LINES.items():
        match = pattern.search(line.text)
        if match:
            value = next(group for group in match.groups() if group)
            yield line.fact(key, value)
    for word, pattern in _HAZARDS.items():
        if pattern.search(line.text):
            yield line.fact("hazard", word)
    stepped = _STEPPED.search(line.text)
    if stepped and int(stepped[2]):
        word = f"wall-clock-step:{stepped[1] or '+'}{int(stepped[2])}"
        yield line.fact("hazard", word)


@dataclass(slots=True, kw_only=True)
class _Cluster:
    """The CPUs of one model in lscpu's list."""

    name: str
    line: Line
    keys: dict[str, str] = field(default_factory=dict)

    @property
    def cpus(self) -> int:
        """Returns the number of its CPUs; 0 if unknown."""
        cores = self.keys.get("Core(s) per socket") or self.keys.get("Core(s) per cluster")
        groups = self.keys.get("Socket(s)", "-")
        groups = self.keys.get("Cluster(s)", "1") if groups == "-" else groups
        threads = self.keys.get("Thread(s) per core", "1")
        words = (cores or "", groups, threads)
        if not all(word.isdigit() for word in words):
            return 0
        return int(words[0]) * int(words[1]) * int(words[2])

    @property
    def mhz(self) -> str:
        """Returns its highest clock; empty if unknown."""
        mhz = self.keys.get("CPU max MHz", "").replace(",", ".")
        return mhz if re.fullmatch(r"[0-9]+(\.[0-9]+)?", mhz) else ""

    @property
    def may_hide_others(self) -> bool:
        """Returns True if an old lscpu may show ARM clusters as sockets of one model."""
        return self.name.startswith("Cortex-") and self.keys.get("Socket(s)", "1") not in "1-"


def _lscpu(lines: list[Line]) -> Iterator[Fact]:
    total, common, clusters = 0, dict[str, str](), list[_Cluster]()
    for line in lines:
        pair = _PAIR.match(line.text)
        if pair is None:
            continue
        key, value = pair[1], pair[2].strip()
        if key == "Architecture":
            yield line.fact("arch", arch_named(value))
            total, common, clusters = 0, {}, []
        elif key == "CPU(s)" and value.isdigit():
            total = int(value)
            yield line.fact("cpus", value)
        elif key == "Model name" and total:
            clusters.append(_Cluster(name=value, line=line))
        elif total:
            (clusters[-1].keys if clusters else common).setdefault(key, value)
    yield from _cores_of(clusters, common, total)


def _cores_of(clusters: list[_Cluster], common: dict[str, str], total: int) -> Iterator[Fact]:
    if len(clusters) == 1:
        clusters[0].keys = common | clusters[0].keys
        counts = [total]
        if clusters[0].may_hide_others:
            yield clusters[0].line.fact("mixed", clusters[0].name)
    else:
        counts = [cluster.cpus for cluster in clusters]
    if sum(counts) != total:
        counts = [0] * len(counts)
    first = 0
    for cluster, count in zip(clusters, counts, strict=True):
        cores = range(first, first + count)
        yield from (cluster.line.fact(f"core.{core}.name", cluster.name) for core in cores)
        if cluster.mhz:
            for key in ("clock", *(f"core.{core}.mhz" for core in cores)):
                yield cluster.line.fact(key, cluster.mhz)
        first += count


def _cpuinfo(lines: list[Line]) -> Iterator[Fact]:
    core, implementer, count = -1, "", 0
    for line in lines:
        pair = _PAIR.match(line.text)
        key, value = (pair[1], pair[2].strip()) if pair else ("", "")
        if key == "processor" and value.isdigit():
            core = int(value)
            count = core + 1
        elif core < 0:
            continue
        elif key == "siblings" and value.isdigit():
            # A list with fewer CPUs than siblings was cut off.
            count = max(count, int(value))
            yield line.fact("siblings", value)
        elif key == "model name" and "rev " not in value:
            yield line.fact(f"core.{core}.name", value)
        elif key == "CPU implementer":
            implementer = value
        elif key == "CPU part" and implementer == ARM and value in ARM_CORES:
            yield line.fact(f"core.{core}.name", ARM_CORES[value][0])
        elif key in ("Hardware", "Model"):
            yield line.fact("machine", value)
    if core > 0:  # A single processor may be the beginning of a list that was cut off.
        yield Fact(key="cpus", value=str(count), where=lines[0].where.partition(":")[0])


def _cpupower(lines: list[Line]) -> Iterator[Fact]:
    cores, fastest = list[int](), 0.0
    for line in lines:
        if match := re.match(r"analyzing CPU ([0-9]+):", line.text):
            cores = [int(match[1])]
        elif match := re.search(r"run at the same hardware frequency: ([0-9 ]+)", line.text):
            cores = [int(word) for word in match[1].split()]
        elif match := _LIMITS.search(line.text):
            slowest, fastest = _range_mhz(match)
            for key in ("clock", *(f"core.{core}.mhz" for core in cores)):
                yield line.fact(key, f"{fastest:g}")
            if slowest < fastest:
                yield line.fact("scales", f"{slowest:g}-{fastest:g}")
        elif match := _POLICY.search(line.text):
            yield from _policy(line, _range_mhz(match), cores, fastest)
        elif match := _GOVERNOR.search(line.text):
            yield line.fact("governor", match[1])


def _policy(
    line: Line, limits: tuple[float, float], cores: list[int], fastest: float
) -> Iterator[Fact]:
    """Yields the clock that a policy limits the cores to, and a fact if the clock is fixed."""
    slowest, highest = limits
    if highest < fastest:
        for key in ("held", *(f"core.{core}.held" for core in cores)):
            yield line.fact(key, f"{highest:g}")
    if slowest == highest:
        yield line.fact("fixed", f"{highest:g}")


def _range_mhz(match: re.Match[str]) -> tuple[float, float]:
    """Returns the lowest and the highest clock in a line of cpupower."""
    slowest, fastest = (float(match[n]) * (1000 if match[n + 1] == "G" else 1) for n in (1, 3))
    return slowest, fastest


@dataclass(slots=True, kw_only=True)
class _Node:
    label: str
    name: str
    unit: str | None
    parent: "_Node | None"
    properties: dict[str, Line] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """Returns the value of a property; empty if it has none."""
        return self.properties[name].text if name in self.properties else ""


def read_device_tree(lines: list[Line]) -> Iterator[Fact]:
    """Yields the facts of each `cpu@` node, which the kernel numbers in this order."""
    nodes = _nodes(lines)
    highest = _highest_hz(nodes)
    cores = [node for node in nodes if node.name == "cpu" and node.unit is not None]
    labels = {f"&{node.label}": core for core, node in enumerate(cores) if node.label}
    for core, node in enumerate(cores):
        yield from _of_core(core, node, highest)
    for node in nodes:
        if node.name in labels:
            yield from _of_core(labels[node.name], node, highest)
        if node.name == "/":
            for name in re.findall(r'"([^"]+)"', node.text("compatible")):
                yield node.properties["compatible"].fact("compatible", name)
    rated = [core.properties[CAPACITY] for core in cores if CAPACITY in core.properties]
    yield from (line.fact("cpus", str(len(cores))) for line in rated[:1])


def _of_core(core: int, node: _Node, highest: dict[str, int]) -> Iterator[Fact]:
    if match := _CORTEX.search(node.text("compatible")):
        name = f"Cortex-{match[1].upper()}"
        yield node.properties["compatible"].fact(f"core.{core}.name", name)
    if capacity := _cells(node.text(CAPACITY)):
        yield node.properties[CAPACITY].fact(f"core.{core}.capacity", str(capacity[-1]))
    table = re.search(r"<&?(\w+)>", node.text(CLOCKS))
    if table and table[1] in highest:
        mhz = highest[table[1]] // HZ_PER_MHZ
        yield node.properties[CLOCKS].fact(f"core.{core}.mhz", str(mhz))


def _highest_hz(nodes: list[_Node]) -> dict[str, int]:
    """Returns the highest clock of each table of operating points, by its label and phandle."""
    highest: dict[str, int] = {}
    for node in nodes:
        cells = _cells(node.text("opp-hz"))
        if not cells or node.parent is None:
            continue
        hz = cells[0] << 32 | cells[1] if len(cells) > 1 else cells[0]
        handle = re.search(r"<(\w+)>", node.parent.text("phandle"))
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
            now.properties[match[1]] = Line(text=match[2], where=line.where)
        for _ in range(line.text.count("}")):
            now = now.parent if now else None
    return nodes
