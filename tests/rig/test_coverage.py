# SPDX-License-Identifier: GPL-2.0-or-later
"""Coverage: the delay sites that cells reached, and the changed waits that no cell reached."""

import shutil
from io import StringIO
from pathlib import Path

import msgspec
import pytest
from delayrig.base import digest
from delayrig.base.paths import Paths, find_paths
from delayrig.decision.decision import FILE_NAME as GATE_FILE
from delayrig.decision.gate_judge import Terms, decide
from delayrig.decision.request import BASELINE, CANDIDATE
from delayrig.features.coverage.coverage import (
    Build,
    ChangedWait,
    ChangedWaits,
    Coverage,
    Side,
    changed_waits,
    coverage_of,
)
from delayrig.features.coverage.reached import Chain, SeenCell
from delayrig.features.coverage.runs import find_changed_waits, find_gate_coverage
from delayrig.features.coverage.terminal import (
    changed_wait_lines,
    changed_wait_words,
    print_coverage,
)
from delayrig.features.report.comparison import coverage_html
from delayrig.model.delays import CallSite, Delays, DelaysHeader, FunctionFacts, encode_delays
from delayrig.model.platform import Arch
from delayrig.model.result import SubjectFacts, read_results, write_results
from delayrig.subjects.finder.code_map import CodeFunction
from delayrig.subjects.finder.finding import find_in
from delayrig.subjects.saved_programs import FOLDER, programs_in, save_programs
from delayrig.subjects.subject import PARTS, PROGRAM, Subject
from msgspec.structs import replace
from rich.console import Console

from tests.rig import delay_programs as programs
from tests.rig.builders import delay, make_cell, make_result, make_subject, run_of
from tests.rig.running import answer_of

pytestmark = pytest.mark.skipif(not programs.compiles(Arch.X86_64), reason="needs gcc")
FLASHROM = programs.FLASHROM
PLAIN = Terms()
FASTER = ("programmer_delay(flash, 500)", "programmer_delay(flash, 50)")


def facts_of(program: Path) -> list[FunctionFacts]:
    findings = find_in(program.read_bytes())
    plain = FunctionFacts(
        name="a", file=PROGRAM, address=0, unit_ns=1000, found_by="finder", doubt="", setjmp=False
    )
    functions = [
        replace(plain, address=found.address, argument=found.argument) for found in findings.found
    ]
    direct = [replace(plain, address=wait.site, direct=True) for wait in findings.direct]
    return [*functions, *direct]


class Flashrom:
    """A program with its delay functions, from which tests make call chains and cells."""

    def __init__(self, program: Path) -> None:
        self.program = program
        self.facts = facts_of(program)

    def functions(self) -> dict[str, CodeFunction]:
        return {function.code.name: function.code for function in self.side().functions}

    def chain(self, *addresses: int, asked: int = 10) -> Chain:
        (function,) = (facts for facts in self.facts if not facts.direct and self.is_sleep(facts))
        return Chain(function, addresses, asked)

    def is_sleep(self, facts: FunctionFacts) -> bool:
        return facts.address == programs.address_of(self.program, "sleep_us")

    def through(self, name: str, number: int = 0) -> Chain:
        """Returns the call chain of a delay that is requested at a site of the function."""
        return self.chain(self.functions()[name].sites[number].address)

    def cell(self, *chains: Chain, name: str = "cell") -> SeenCell:
        return SeenCell(id=name, functions=tuple(self.facts), chains=chains)

    def side(self, *cells: SeenCell, named: bool = True) -> Side:
        build = Build(subject="s", parts={PROGRAM: self.program}, cells=cells or (self.cell(),))
        return Side([build], named=named)


@pytest.fixture(scope="module")
def flashrom(tmp_path_factory: pytest.TempPathFactory) -> Flashrom:
    return Flashrom(programs.build(tmp_path_factory.mktemp("one"), FLASHROM, "-O2"))


@pytest.fixture(scope="module")
def faster(tmp_path_factory: pytest.TempPathFactory) -> Flashrom:
    """Builds the program with a shorter wait in `probe`."""
    source = FLASHROM.replace(*FASTER)
    return Flashrom(programs.build(tmp_path_factory.mktemp("two"), source, "-O2"))


def reached(flashrom: Flashrom, *chains: Chain) -> list[str]:
    coverage = coverage_of("s", flashrom.side(flashrom.cell(*chains)))
    return [site.function for site in coverage.sites if site.cells]


def test_only_the_site_in_a_call_chain_is_reached(flashrom: Flashrom) -> None:
    assert reached(flashrom) == []
    assert reached(flashrom, flashrom.through("probe", 2)) == ["probe"]
    coverage = coverage_of("s", flashrom.side(flashrom.cell(flashrom.through("probe", 2))))
    assert [site.asks for site in coverage.reached] == [500]


def test_call_that_passes_on_the_time_of_its_caller_is_no_site(flashrom: Flashrom) -> None:
    sites = coverage_of("s", flashrom.side()).sites
    assert {site.function for site in sites} == {"probe", "poll_status", "reset_chip", "init_usb"}
    assert len(sites) == 6


def test_site_of_a_tail_call_is_found_from_the_caller_of_its_function(flashrom: Flashrom) -> None:
    called = programs.address_of(flashrom.program, "main")
    # `main` calls reset_chip() through a pointer; no other site requests that much.
    assert reached(flashrom, flashrom.chain(called + 1, asked=145_000)) == ["reset_chip"]


def test_same_tail_call_in_two_drivers_is_assigned_by_their_names(tmp_path: Path) -> None:
    source = FLASHROM.replace(
        "OWN void init_usb(void)",
        """OWN void usb_reset(void *flash)
{
	log_text("reset of another driver", 2);
	programmer_delay(flash, 145000);
}
OWN void init_usb(void)""",
    ).replace("chip = &one;", "chip = &one; if (count > 9) one.reset = usb_reset;")
    two = Flashrom(programs.build(tmp_path, source, "-O2"))
    chain = two.chain(programs.address_of(two.program, "main") + 1, asked=145_000)
    assert reached(two, chain) == []
    for driver in ("usb", "reset"):
        cell = replace(two.cell(chain), driver=driver)
        (site,) = coverage_of("s", two.side(cell)).reached
        assert site.function.startswith(driver)


def test_direct_wait_is_reached_when_it_is_called(flashrom: Flashrom) -> None:
    (usleep,) = (facts for facts in flashrom.facts if facts.direct)
    assert reached(flashrom, Chain(usleep, (), 50_000)) == ["init_usb"]


def test_cell_of_another_build_reaches_the_same_site(tmp_path: Path, flashrom: Flashrom) -> None:
    other = Flashrom(programs.build(tmp_path, FLASHROM, "-O1"))
    cell = other.cell(other.through("probe", 1), name="other")
    builds = [
        Build(subject="s", parts={PROGRAM: one.program}, cells=[seen], is_library=is_library)
        for one, seen, is_library in ((flashrom, flashrom.cell(), False), (other, cell, True))
    ]
    coverage = coverage_of("s", Side(builds))
    assert [(site.function, site.cells) for site in coverage.reached] == [("probe", ["other"])]
    assert (len(coverage.sites), coverage.cells) == (6, 2)


@pytest.mark.parametrize("named", [True, False])
def test_unreached_changed_wait_is_named(flashrom: Flashrom, faster: Flashrom, named: bool) -> None:
    sides = flashrom.side(named=named), faster.side(named=named)
    (wait,) = changed_waits(*sides).unreached
    assert (wait.side, wait.sites, wait.cells) == (CANDIDATE, 1, [])
    # Even if functions are compared without names, the symbols name this one.
    assert wait.function == "probe"


def test_changed_wait_lists_the_cells_that_reached_it(flashrom: Flashrom, faster: Flashrom) -> None:
    cells = [faster.cell(faster.through("probe", 2), name=name) for name in ("a", "b")]
    (wait,) = changed_waits(flashrom.side(), faster.side(*cells)).waits
    assert wait.cells == ["a", "b"]
    # Another wait of the function does not count.
    near = faster.cell(faster.through("probe", 1))
    (wait,) = changed_waits(flashrom.side(), faster.side(near)).waits
    assert wait.cells == []


def test_changed_time_of_a_carrier_is_reached_through_its_caller(tmp_path: Path) -> None:
    before, after = (
        Flashrom(programs.build(tmp_path / name, source, "-O2"))
        for name, source in (
            ("before", programs.CARRIER),
            ("after", programs.CARRIER.replace("3, 4, 100000", "3, 4, 0")),
        )
    )
    inside, outside = (after.functions()[name].sites[0].address for name in ("command", "erase"))
    chains = {"poll": after.chain(inside), "erase": after.chain(inside, outside)}
    for cells in ([], ["erase"]):
        seen = [after.cell(chains[name], name=name) for name in ["poll", *cells]]
        (wait,) = changed_waits(before.side(), after.side(*seen)).waits
        assert (wait.function, wait.sites, wait.cells) == ("erase", 1, cells)
    assert "erase" not in {site.function for site in coverage_of("s", after.side()).sites}


def test_removed_wait_lists_the_cells_of_the_baseline(tmp_path: Path, flashrom: Flashrom) -> None:
    source = FLASHROM.replace("programmer_delay(flash, us);\n\t", "")
    without = Flashrom(programs.build(tmp_path, source, "-O2"))
    cell = flashrom.cell(flashrom.through("poll_status"))
    (wait,) = changed_waits(flashrom.side(cell), without.side()).waits
    assert (wait.function, wait.side, wait.cells) == ("poll_status", BASELINE, ["cell"])


def test_changed_delay_function_is_reached_by_its_callers(
    tmp_path: Path, flashrom: Flashrom
) -> None:
    build = programs.build(
        tmp_path, FLASHROM, "-O2", head=programs.HEAD.replace("us % 1000000", "(us + 1) % 1000000")
    )
    other = Flashrom(build)
    cell = other.cell(other.through("probe"))
    (wait,) = changed_waits(flashrom.side(), other.side(cell)).waits
    assert (wait.function, wait.cells) == ("sleep_us", ["cell"])


def test_program_compared_with_itself_has_no_changed_waits(flashrom: Flashrom) -> None:
    same = changed_waits(flashrom.side(), flashrom.side())
    assert (same.changed, same.waits) == (0, [])


RENAMED = (
    FLASHROM.replace("programmer_delay", "host_delay")
    .replace("poll_status", "poll_wip")
    .replace("probe(", "probe_chip(")
)
COPY = """OWN void twin_delay(void *flash, unsigned int us)
{
	if (us == 0)
		return;
	if (flash == NULL)
		log_text("no chip", 0);
	sleep_us(us);
}
OWN int probe(void *flash)"""


def test_renamed_functions_are_no_changed_waits(tmp_path: Path, flashrom: Flashrom) -> None:
    renamed = Flashrom(programs.build(tmp_path, RENAMED, "-O2"))
    found = changed_waits(flashrom.side(), renamed.side())
    assert (found.waits, found.changed) == ([], 0)


def test_changed_wait_is_found_beside_renamed_functions(tmp_path: Path, flashrom: Flashrom) -> None:
    source = FLASHROM.replace(*FASTER).replace("programmer_delay", "host_delay")
    found = changed_waits(flashrom.side(), Flashrom(programs.build(tmp_path, source, "-O2")).side())
    assert [(wait.function, wait.sites) for wait in found.waits] == [("probe", 1)]


@pytest.mark.parametrize("has_both", [True, False], ids=["there before", "of another name"])
def test_call_of_another_function_with_equal_code_is_a_change(
    tmp_path: Path, has_both: bool
) -> None:
    twin = FLASHROM.replace("OWN int probe(void *flash)", COPY)
    before = twin.replace("init_usb();", "twin_delay(words, 77);\n\tinit_usb();")
    after = before.replace("programmer_delay(flash, 500)", "twin_delay(flash, 500)")
    if not has_both:
        before = FLASHROM
        after = after.replace("twin_delay(words, 77);", "")
    sides = [
        Flashrom(programs.build(tmp_path / name, source, "-O2")).side()
        for name, source in (("before", before), ("after", after))
    ]
    assert "probe" in {wait.function for wait in changed_waits(*sides).waits}


INLINED = """static inline __attribute__((always_inline)) void rest(void *flash)
{
	programmer_delay(flash, 30);
}
OWN int probe(void *flash)"""


@pytest.mark.parametrize(
    ("old", "new", "cells"),
    [
        ('\n\tlog_text("probing", 1);\n\t', ' log_text("probing", 1); ', [1, 1]),
        ("", "", [1, 0]),
    ],
    ids=["on one line", "on two"],
)
def test_calls_of_one_line_for_one_time_are_one_site(
    tmp_path: Path, old: str, new: str, cells: list[int]
) -> None:
    program = Flashrom(programs.build(tmp_path, FLASHROM.replace(old, new, 1), "-O2", "-g"))
    coverage = coverage_of("s", program.side(program.cell(program.through("probe", 0))))
    assert [len(site.cells) for site in coverage.sites if site.asks == 10] == cells


def test_calls_in_an_inlined_function_are_several_sites(tmp_path: Path) -> None:
    source = FLASHROM.replace("OWN int probe(void *flash)", INLINED)
    source = source.replace("programmer_delay(flash, 10);", "rest(flash);")
    program = Flashrom(programs.build(tmp_path, source, "-O2", "-g"))
    coverage = coverage_of("s", program.side(program.cell(program.through("probe", 0))))
    assert [len(site.cells) for site in coverage.sites if site.asks == 30] == [1, 0]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"cells": ["a"]}, "the changed wait in init was reached in 1 cell"),
        ({"cells": []}, "the changed wait in init was reached in none"),
        (
            {"file_line": "init (pci.c:12)"},
            "the changed wait in init (pci.c:12) was reached in none",
        ),
        ({"file_line": "init+0x12"}, "the changed wait in init was reached in none"),
        ({"side": BASELINE, "sites": 9}, "the 9 removed waits in init were reached in none"),
        (
            {"around": True, "sites": 2, "cells": ["a", "b"]},
            "the 2 waits in init, which changed, were reached in 2 cells",
        ),
    ],
)
def test_changed_wait_is_described_in_one_clause(changes: dict[str, object], text: str) -> None:
    plain = ChangedWait(function="init", side=CANDIDATE, sites=1, file_line="", cells=[])
    changed = ChangedWaits(functions=1, changed=1, named=True, waits=[replace(plain, **changes)])
    assert changed_wait_lines(changed) == [text]


def test_list_of_many_changed_waits_is_cut() -> None:
    waits = [
        ChangedWait(function=f"f{n}", side=CANDIDATE, sites=1, file_line="", cells=[])
        for n in range(200)
    ]
    changed = ChangedWaits(functions=300, changed=200, named=True, waits=waits)
    lines = changed_wait_lines(changed)
    assert len(lines) < 12
    assert lines[-1] == "and 192 more, of which 192 in none"


def test_changed_waits_are_named_once_for_several_programs() -> None:
    said = StringIO()
    coverages = [Coverage(subject=name, cells=1, sites=[]) for name in ("a", "b")]
    changed = ChangedWaits(functions=0, changed=0, named=False, waits=[], why_not="unknown")
    print_coverage(coverages, changed, Console(file=said))
    assert said.getvalue().count("changed waits are unknown: unknown") == 1


# Tests with files on disk.


def keep_side(gate: Path, side: str, flashrom: Flashrom, *chains: Chain) -> Subject:
    """Writes one side of a gate: a cell with its delays, and the program."""
    cell = make_cell(subject=f"path:{side}")
    sha256 = digest.of_file(flashrom.program)
    packed = gate.parent / f"packed-{side}"
    part = packed / PARTS / PROGRAM.lstrip("/")
    part.parent.mkdir(parents=True)
    part.write_bytes(flashrom.program.read_bytes())
    (packed / "subject.cpio").write_bytes(b"archive")
    calls = [
        replace(
            delay(chain.asked, took_ns=0, at=n),
            call=n,
            function=flashrom.facts.index(chain.function),
            site=n,
        )
        for n, chain in enumerate(chains, start=1)
    ]
    header = DelaysHeader(functions=flashrom.facts, late_ns=0, calls=len(calls), lost=0)
    sites = {
        n: CallSite(site=n, callers=["somewhere"], addresses=list(chain.addresses))
        for n, chain in enumerate(chains, start=1)
    }
    delays = Delays(header=header, sites=sites, calls=calls)
    folder = gate / side / cell.id
    folder.mkdir(parents=True)
    (folder / "delays.jsonl").write_bytes(encode_delays(delays))
    result = make_result(cell, subject=SubjectFacts(name=cell.subject, sha256=sha256))
    result = replace(result, guest=replace(result.guest, arch="x86_64"))
    write_results(run_of(result), gate / side)
    return make_subject(
        name=cell.subject, archive=str(packed / "subject.cpio"), program_sha256=sha256
    )


def keep_gate(gate: Path, before: Flashrom, after: Flashrom, *chains: Chain) -> None:
    subjects = [keep_side(gate, BASELINE, before), keep_side(gate, CANDIDATE, after, *chains)]
    called = {f"path:{side}": side for side in (BASELINE, CANDIDATE)}
    save_programs(subjects, gate / FOLDER, called)


def sides_of(gate: Path) -> tuple[list[Path], list[Path], Paths]:
    """Returns the run folders of both sides, and paths with a state folder beside the gate."""
    paths = Paths(checkout=find_paths().checkout, state=gate.parent / "state")
    return [gate / BASELINE], [gate / CANDIDATE], paths


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """Returns the folder of a gate."""
    return tmp_path / "gate"


def test_changed_waits_are_read_from_a_gate(
    gate: Path, flashrom: Flashrom, faster: Flashrom
) -> None:
    keep_gate(gate, flashrom, faster, faster.through("probe", 2))
    found = find_changed_waits(*sides_of(gate))
    assert found.why_not == ""
    assert [(wait.function, len(wait.cells)) for wait in found.waits] == [("probe", 1)]
    whole = find_gate_coverage(*sides_of(gate))
    assert whole.changed == found
    (coverage,) = whole.coverages
    assert [site.function for site in coverage.sites if site.changed] == ["probe"] * 3
    assert [site.asks for site in coverage.reached] == [50]


def test_stripped_side_has_no_names(gate: Path, flashrom: Flashrom, faster: Flashrom) -> None:
    bare = Flashrom.__new__(Flashrom)
    bare.program, bare.facts = programs.stripped(faster.program, folder=gate.parent), faster.facts
    keep_gate(gate, flashrom, bare)
    found = find_changed_waits(*sides_of(gate))
    (wait,) = found.unreached
    assert not found.named
    assert wait.function.startswith("the function at 0x")


def test_missing_programs_of_a_gate_are_the_reason(
    gate: Path, flashrom: Flashrom, faster: Flashrom
) -> None:
    keep_side(gate, BASELINE, flashrom)
    keep_side(gate, CANDIDATE, faster)
    found = find_changed_waits(*sides_of(gate))
    assert found.waits == []
    assert "program was not kept beside its results" in found.why_not
    (doubt,) = changed_wait_words(found).unreached
    assert doubt.startswith("changed waits are unknown: the baseline's program was not kept")
    assert "no cell has call chains" in coverage_html(find_gate_coverage(*sides_of(gate)))


def test_programs_may_be_in_another_folder(
    gate: Path, flashrom: Flashrom, faster: Flashrom
) -> None:
    keep_gate(gate, flashrom, faster, faster.through("probe", 2))
    elsewhere = (gate / FOLDER).rename(gate.parent / "elsewhere")
    found = find_changed_waits(*sides_of(gate), programs_in(elsewhere))
    assert not changed_wait_words(found).unreached
    assert [wait.function for wait in found.waits] == ["probe"]


def test_coverage_of_a_given_program_needs_no_program_of_the_baseline(
    gate: Path, flashrom: Flashrom, faster: Flashrom
) -> None:
    keep_side(gate, BASELINE, flashrom)
    given = keep_side(gate, CANDIDATE, faster, faster.through("probe", 0))
    found = find_gate_coverage(*sides_of(gate), [given])
    assert found.changed
    assert "the baseline's program was not kept" in found.changed.why_not
    assert [len(coverage.reached) for coverage in found.coverages] == [1]


def test_report_counts_reached_sites_and_names_changed_waits(
    gate: Path, flashrom: Flashrom, faster: Flashrom
) -> None:
    keep_gate(gate, flashrom, faster, faster.through("probe", 0))
    html = coverage_html(find_gate_coverage(*sides_of(gate)))
    assert "1 of 6 delay sites were reached by 1 cell." in html
    assert "the changed wait in probe was reached in none" in html


def answer_of_gate(
    gate: Path, baseline: Path, monkeypatch: pytest.MonkeyPatch, *words: str, terms: Terms = PLAIN
) -> str:
    """Writes the gate's decision, and returns the answer of `rig/rig coverage`."""
    *_, paths = sides_of(gate)
    monkeypatch.setattr("delayrig.features.coverage.command.find_paths", lambda: paths)
    runs = [read_results(folder) for folder in (baseline, gate / CANDIDATE)]
    (gate / GATE_FILE).write_bytes(msgspec.json.encode(decide(runs[:1], runs[1:], terms)))
    return answer_of("coverage", gate, *words)


def test_command_reads_the_calls_of_a_stored_baseline(
    gate: Path, flashrom: Flashrom, faster: Flashrom, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_gate(gate, flashrom, faster, faster.through("probe", 0))
    stored = gate.parent / "other" / BASELINE
    shutil.copytree(gate, stored.parent)
    shutil.rmtree(gate / BASELINE)
    terms = Terms(stored=str(stored / "results.json"))
    _, second, *_ = answer_of_gate(gate, stored, monkeypatch, terms=terms).splitlines()
    assert second == "the changed wait in probe was reached in none"


def test_command_prints_the_coverage_of_a_gate(
    gate: Path, flashrom: Flashrom, faster: Flashrom, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_gate(gate, flashrom, faster, faster.through("probe", 0))
    first, second, *table = answer_of_gate(gate, gate / BASELINE, monkeypatch).splitlines()
    assert first == "1 of 6 delay sites were reached by 1 cell"
    assert second == "the changed wait in probe was reached in none"
    assert any("probe*" in line for line in table)
    answer = answer_of_gate(gate, gate / BASELINE, monkeypatch, "--json")
    assert len(msgspec.json.decode(answer)["coverages"][0]["sites"]) == 6
