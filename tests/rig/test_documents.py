# SPDX-License-Identifier: GPL-2.0-or-later
"""Documents and source comments: links, names, retired words, generated pages."""

import re
import sys
import typing
from pathlib import Path

import msgspec
import pytest
import yaml
from delayrig.features.documents.event_reference import SECTIONS, events_page, field_texts, unit_of
from delayrig.model.delays import DelaysHeader
from delayrig.model.kinds.agent import SubjectStart
from delayrig.model.kinds.emulator import Serprog
from delayrig.model.kinds.kind import Kind, Writer, name_of
from delayrig.model.kinds.pace import Speed

from tests.rig.builders import CHECKOUT
from tests.rig.documents import Document, broken_links, missing_files, retired_words, used_words
from tests.rig.plain_words import FOLDERS, findings_in, sources_in
from tests.rig.test_event_writers import STREAMS
from tests.rig.test_lint import PYTHON_FOLDERS, our_files

GLOSSARY = CHECKOUT / "rig" / "docs" / "glossary.md"
DOCUMENTS = [path for path in our_files() if path.suffix == ".md"]
NAMES = {path.name for path in our_files()}


def named(path: Path) -> str:
    return str(path.relative_to(CHECKOUT))


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_links_and_anchors_lead_somewhere(path: Path) -> None:
    assert broken_links(Document(path)) == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_files_that_a_document_names_are_there(path: Path) -> None:
    assert missing_files(Document(path), CHECKOUT, NAMES) == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_retired_words_are_gone(path: Path) -> None:
    assert used_words(Document(path), retired_words(Document(GLOSSARY))) == []


def test_every_page_is_linked_from_the_index() -> None:
    readme = CHECKOUT / "rig" / "docs" / "README.md"
    linked = {(readme.parent / link.partition("#")[0]).resolve() for link in Document(readme).links}
    pages = {path for path in DOCUMENTS if path.is_relative_to(CHECKOUT / "rig" / "docs")}
    assert [named(path) for path in sorted(pages - linked - {readme})] == []


@pytest.mark.parametrize("folder", ["ci", "emulators", "flashrom", "images", "rig", "tests"])
def test_readme_of_a_folder_is_one_page(folder: str) -> None:
    assert len(Document(CHECKOUT / folder / "README.md").text.splitlines()) <= 120


def test_map_of_the_code_has_every_room() -> None:
    page = CHECKOUT / "rig" / "README.md"
    told = set(re.findall(r"(?m)^\| `(\w+)` \|", Document(page).text))
    folders = (CHECKOUT / "rig" / "delayrig").iterdir()
    assert told == {path.name for path in folders if (path / "__init__.py").is_file()}


def a_document(folder: Path, text: str) -> Document:
    path = folder / "page.md"
    path.write_text(text, encoding="utf-8")
    return Document(path)


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("# A `title`, twice\n\n[a](gone.md) [b](#a-title-twice) [c](#no)\n", ["gone.md", "#no"]),
        ("# Debug\n\n## Debug\n\n[a](#debug) [b](#debug-1) [c](#debug-2)\n", ["#debug-2"]),
        # Code and URLs are not checked.
        ("`[a](b)` [c](https://e.org)\n\n    [d](e)\n", []),
    ],
)
def test_link_to_nothing_is_found(tmp_path: Path, text: str, broken: list[str]) -> None:
    assert broken_links(a_document(tmp_path, text)) == broken


@pytest.mark.parametrize(
    ("text", "count"),
    [
        *(("`judge/gone.py`", 1), ("`judge/gone/`", 1), ("`gone_for_good.py`", 1)),
        ("    rig/delayrig/verdict/trust.py", 1),
        ("`judge/judge.py` `rig/delayrig/judge/` `test_MODULE.c` `out/`", 0),
    ],
)
def test_file_that_is_not_there_is_found(tmp_path: Path, text: str, count: int) -> None:
    assert len(missing_files(a_document(tmp_path, text), CHECKOUT, NAMES)) == count


def test_retired_word_is_found_outside_code_alone(tmp_path: Path) -> None:
    words = retired_words(Document(GLOSSARY))
    assert "agenda" in words
    assert used_words(a_document(tmp_path, "The Agenda, `lanes/scheduler.py`"), words) == ["agenda"]
    assert used_words(a_document(tmp_path, "`lanes/scheduler.py`"), words) == []


LINTERS = {"ruff", "mypy", "lint-imports", "clang-format"}


def hook_commands() -> list[list[str]]:
    text = (CHECKOUT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    hooks = [hook for repo in yaml.safe_load(text)["repos"] for hook in repo["hooks"]]
    assert {hook["language"] for hook in hooks} == {"system", "pygrep"}
    return [hook["entry"].split() for hook in hooks if hook["language"] == "system"]


def test_hooks_call_the_linters_that_the_tests_call() -> None:
    programs = [Path(command[0]) for command in hook_commands()]
    assert {program.name for program in programs} == LINTERS
    assert {str(program.parent) for program in programs} == {".rig/venv/bin"}
    here = Path(sys.executable).parent
    assert [name for name in LINTERS if not (here / name).is_file()] == []


def test_hooks_name_files_that_are_there_and_mypy_looks_at_all_of_our_python() -> None:
    words = [word for command in hook_commands() for word in command[1:] if "/" in word]
    assert "rig/pyproject.toml" in words
    assert [word for word in words if not (CHECKOUT / word).exists()] == []
    command = next(words for words in hook_commands() if words[0].endswith("/mypy"))
    assert command[-len(PYTHON_FOLDERS) :] == PYTHON_FOLDERS


def test_no_docstring_or_comment_is_a_fragment() -> None:
    files = sources_in(list(FOLDERS))
    assert files
    assert [finding for file in files for finding in findings_in(file)] == []


@pytest.mark.parametrize(
    ("file", "source", "fault"),
    [
        ("a.py", 'def f():\n    """Returns one."""\n', None),
        ("a.py", 'def f():\n    """The one."""\n', "no verb"),
        ("a.py", 'def f():\n    """Whether it is one."""\n', "no verb"),
        ("a.py", 'def test_f():\n    """The one."""\n', None),
        ("a.py", 'class A:\n    """What it is."""\n', "fragment"),
        ("a.py", 'class A:\n    x: int\n    """Of the sleep."""\n', "fragment"),
        ("a.py", "x = 1  # what it is\n", "fragment"),
        ("a.py", "# One line,\n# of two.\nx = 1\n", None),
        ("a.py", "# What is this?\n", None),
        ("a.c", "/* The time. */\n", None),
        ("a.c", "/*\n * Whether it is\n * one. */\n", "fragment"),
        ("a.c", "int a; /* of the sleep */\n", "fragment"),
        ("a.c", 'char *a = "/* what */";\n', None),
    ],
)
def test_fragment_is_found(tmp_path: Path, file: str, source: str, fault: str | None) -> None:
    (tmp_path / file).write_text(source, encoding="utf-8")
    found = [finding.fault for finding in findings_in(tmp_path / file)]
    assert found == ([fault] if fault else [])


PAGE = events_page()


def kinds() -> list[type[Kind]]:
    return [kind for union in STREAMS for kind in typing.get_args(union)]


def test_page_has_each_kind_of_each_stream_once() -> None:
    shown = [kind for kinds in SECTIONS.values() for kind in kinds]
    # The rig converts the delay plugin's lines to `delays.jsonl`. Of the CPU plugin's lines only
    # `speed` is an event.
    apart = {Writer.DELAY_PLUGIN, Writer.CPU_PLUGIN}
    kept = [kind for kind in kinds() if not apart & set(kind.writers)] + [Speed]
    assert sorted(map(str, shown)) == sorted(map(str, kept))
    assert len(re.findall(r"(?m)^### ", PAGE)) == len(shown)


@pytest.mark.parametrize("kind", kinds(), ids=name_of)
def test_every_key_has_a_meaning(kind: type[Kind]) -> None:
    texts = {row.name: row.meaning for row in field_texts(kind)}
    assert list(texts) == [field.name for field in msgspec.structs.fields(kind)]
    assert [name for name, meaning in texts.items() if not meaning.endswith((".", ":"))] == []


@pytest.mark.parametrize(
    ("name", "annotation", "said"),
    [
        ("t_ns", "Ns", "ns"),
        ("gap_ns", "int | None", "ns, signed or null"),
        ("short_ns_max", "Ns", "ns"),
        ("size_bytes", "Count", "bytes"),
        ("op", "Octet | None", 'byte, `"0x9f"` or null'),
        ("link", "str | None", "text or null"),
        ("ack", "bool", "bool"),
        ("by", "Literal['return', 'site']", "`return` or `site`"),
        ("words", "list[Word]", "list"),
        ("count", "Count", "number"),
    ],
)
def test_value_is_told_by_the_unit_in_its_name(name: str, annotation: str, said: str) -> None:
    assert unit_of(name, annotation) == said


@pytest.mark.parametrize(
    ("kind", "row"),
    [
        (Serprog, "- `arrived_ns` (optional): Time at which it had arrived"),
        (Serprog, "- `gap_ns` (signed or null): Time from the previous"),
        (SubjectStart, "- `cpus` (text, optional): CPUs of this machine"),
        (DelaysHeader, "- `functions[].found_by` (text): How it was found."),
    ],
)
def test_row_of_a_key_is_below_its_kind(kind: type[Kind], row: str) -> None:
    places = [place.start() for place in re.finditer(f"### `{name_of(kind)}`\n", PAGE)]
    ends = [(PAGE + "\n### ").index("\n### ", place + 1) for place in places]
    assert any(row in PAGE[place:end] for place, end in zip(places, ends, strict=True))


def test_writers_are_told_once_a_section_and_the_moment_of_each_kind_once() -> None:
    text = " ".join(PAGE.split())
    assert "## Emulator Written by: emulator (`emulators/record/jsonl.c`), agent" in text
    assert len(re.findall(r"Written by: ", PAGE)) == len(SECTIONS)
    assert "`: When it happened" not in PAGE
    assert "- `t_ns` (signed): When it began." in PAGE
