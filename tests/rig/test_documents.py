# SPDX-License-Identifier: GPL-2.0-or-later
"""Documents and source comments: links, names, retired words, generated pages."""

import re
import sys
import typing
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
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
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.rig.builders import CHECKOUT
from tests.rig.plain_words import FOLDERS, findings_in, sources_in
from tests.rig.test_event_writers import STREAMS
from tests.rig.test_lint import PYTHON_FOLDERS, our_files

PLACEHOLDER = re.compile(r"MODULE|NAME|FILE|TOPIC|VENDOR|PART")
"""Placeholders, as in `test_MODULE.py`."""
SOURCE = re.compile(r"[\w.-]+(/[\w.-]+)*\.(py|c|h|toml|md)")
FOLDER = re.compile(r"([\w-]+/)+")
MODULE_PATH = re.compile(r"delayrig(?:/[\w-]+)+(?:\.\w+)*/?")


@dataclass(frozen=True)
class Document:
    """A Markdown file, parsed as GitHub does."""

    path: Path

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tokens(self) -> list[Token]:
        return MarkdownIt("commonmark").enable("table").parse(self.text)

    def inline(self) -> Iterator[Token]:
        for token in self.tokens:
            yield from token.children or ()

    @property
    def links(self) -> list[str]:
        """Returns the targets of links and images."""
        targets = (token.attrGet("href") or token.attrGet("src") for token in self.inline())
        return [str(target) for target in targets if target]

    @property
    def code_spans(self) -> list[str]:
        return [token.content for token in self.inline() if token.type == "code_inline"]

    @property
    def words(self) -> str:
        """Returns the text without code."""
        return " ".join(token.content for token in self.inline() if token.type == "text")

    @cached_property
    def anchors(self) -> set[str]:
        """Returns the anchors of its headings, as GitHub makes them."""
        pairs = zip(self.tokens, self.tokens[1:], strict=False)
        titles = [inside.content for token, inside in pairs if token.type == "heading_open"]
        seen: Counter[str] = Counter()
        anchors = set()
        for slug in map(slug_of, titles):
            anchors.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
            seen[slug] += 1
        return anchors


def slug_of(title: str) -> str:
    shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
    return re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")


def broken_links(document: Document) -> list[str]:
    """Returns the relative links to no file, or to no heading of their page."""
    return [link for link in document.links if is_relative(link) and not leads(document, link)]


def is_relative(link: str) -> bool:
    return re.match(r"[a-z][a-z0-9+.-]*:", link) is None


def leads(document: Document, link: str) -> bool:
    file, _, anchor = link.partition("#")
    target = (document.path.parent / file).resolve() if file else document.path
    if not target.exists():
        return False
    return not anchor or target.suffix != ".md" or anchor in Document(target).anchors


def missing_files(document: Document, checkout: Path, names: set[str]) -> list[str]:
    """Returns our files and folders that the document names and that do not exist."""
    package = checkout / "rig" / "delayrig"
    bases = (document.path.parent, checkout, checkout / "rig", package)
    spans = [span for span in document.code_spans if not PLACEHOLDER.search(span)]
    files = {span for span in spans if SOURCE.fullmatch(span)}
    folders = {span for span in spans if FOLDER.fullmatch(span) and is_ours(span, checkout)}
    modules = {path for path in MODULE_PATH.findall(document.text) if not PLACEHOLDER.search(path)}
    missing = [path for path in files | folders if "/" in path and not exists_in(bases, path)]
    missing += [name for name in files - names if "/" not in name and name.endswith(".py")]
    return sorted({*missing, *(path for path in modules if not (checkout / "rig" / path).exists())})


def is_ours(folder: str, checkout: Path) -> bool:
    """Returns True for a folder of the checkout or of the package, not of a run's output."""
    first = folder.split("/")[0]
    return any((base / first).is_dir() for base in (checkout, checkout / "rig" / "delayrig"))


def exists_in(bases: tuple[Path, ...], path: str) -> bool:
    return any((base / path).exists() for base in bases)


def retired_words(glossary: Document) -> list[str]:
    """Returns the first column of the table below "Retired words"."""
    _, _, table = glossary.text.partition("## Retired words")
    return re.findall(r"(?m)^\| `([^`]+)` \|", table)


def used_words(document: Document, words: list[str]) -> list[str]:
    return [word for word in words if re.search(rf"(?i)\b{re.escape(word)}\b", document.words)]


DOCUMENTS = [path for path in our_files() if path.suffix == ".md"]
NAMES = {path.name for path in our_files()}
RETIRED = retired_words(Document(CHECKOUT / "rig" / "docs" / "glossary.md"))


def named(path: Path) -> str:
    return str(path.relative_to(CHECKOUT))


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_document_has_no_broken_link_missing_file_or_retired_word(path: Path) -> None:
    document = Document(path)
    assert broken_links(document) == []
    assert missing_files(document, CHECKOUT, NAMES) == []
    assert used_words(document, RETIRED) == []


def test_every_page_is_linked_from_the_index() -> None:
    readme = CHECKOUT / "rig" / "docs" / "README.md"
    linked = {(readme.parent / link.partition("#")[0]).resolve() for link in Document(readme).links}
    pages = {path for path in DOCUMENTS if path.is_relative_to(CHECKOUT / "rig" / "docs")}
    assert [named(path) for path in sorted(pages - linked - {readme})] == []


@pytest.mark.parametrize("folder", ["ci", "emulators", "flashrom", "images", "rig", "tests"])
def test_readme_of_a_folder_is_one_page(folder: str) -> None:
    assert len(Document(CHECKOUT / folder / "README.md").text.splitlines()) <= 120


def test_table_of_packages_is_complete() -> None:
    page = CHECKOUT / "rig" / "README.md"
    listed = set(re.findall(r"(?m)^\| `(\w+)` \|", Document(page).text))
    folders = (CHECKOUT / "rig" / "delayrig").iterdir()
    assert listed == {path.name for path in folders if (path / "__init__.py").is_file()}


def write_document(folder: Path, text: str) -> Document:
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
def test_broken_link_is_found(tmp_path: Path, text: str, broken: list[str]) -> None:
    assert broken_links(write_document(tmp_path, text)) == broken


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("`judge/gone.py`", 1),
        ("`judge/gone/`", 1),
        ("`gone_for_good.py`", 1),
        ("    rig/delayrig/verdict/trust.py", 1),
        ("`judge/judge.py` `rig/delayrig/judge/` `test_MODULE.c` `out/`", 0),
    ],
)
def test_name_of_a_missing_file_is_found(tmp_path: Path, text: str, count: int) -> None:
    assert len(missing_files(write_document(tmp_path, text), CHECKOUT, NAMES)) == count


def test_retired_word_is_found_only_outside_code(tmp_path: Path) -> None:
    assert "agenda" in RETIRED
    found = used_words(write_document(tmp_path, "The Agenda, `lanes/scheduler.py`"), RETIRED)
    assert found == ["agenda"]
    assert used_words(write_document(tmp_path, "`lanes/scheduler.py`"), RETIRED) == []


LINTERS = {"ruff", "mypy", "lint-imports", "clang-format"}


def hook_commands() -> list[list[str]]:
    text = (CHECKOUT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    hooks = [hook for repo in yaml.safe_load(text)["repos"] for hook in repo["hooks"]]
    assert {hook["language"] for hook in hooks} == {"system", "pygrep"}
    return [hook["entry"].split() for hook in hooks if hook["language"] == "system"]


def test_hooks_run_the_installed_linters() -> None:
    programs = [Path(command[0]) for command in hook_commands()]
    assert {program.name for program in programs} == LINTERS
    assert {str(program.parent) for program in programs} == {".rig/venv/bin"}
    here = Path(sys.executable).parent
    assert [name for name in LINTERS if not (here / name).is_file()] == []


def test_hooks_name_existing_files_and_mypy_checks_all_python() -> None:
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


def test_page_has_each_kind_of_event_once() -> None:
    shown = [kind for kinds in SECTIONS.values() for kind in kinds]
    # The rig converts the delay plugin's lines to `delays.jsonl`. Of the CPU plugin's lines only
    # `speed` is an event.
    plugins = {Writer.DELAY_PLUGIN, Writer.CPU_PLUGIN}
    expected = [kind for kind in kinds() if not plugins & set(kind.writers)] + [Speed]
    assert sorted(map(str, shown)) == sorted(map(str, expected))
    assert len(re.findall(r"(?m)^### ", PAGE)) == len(shown)


@pytest.mark.parametrize("kind", kinds(), ids=name_of)
def test_each_key_is_described(kind: type[Kind]) -> None:
    texts = field_texts(kind)
    assert list(texts) == [field.name for field in msgspec.structs.fields(kind)]
    assert [name for name, (_, meaning) in texts.items() if not meaning.endswith((".", ":"))] == []


@pytest.mark.parametrize(
    ("name", "annotation", "shown"),
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
def test_unit_of_a_value_is_in_its_name_or_type(name: str, annotation: str, shown: str) -> None:
    assert unit_of(name, annotation) == shown


@pytest.mark.parametrize(
    ("kind", "row"),
    [
        (Serprog, "- `arrived_ns` (optional): Time at which it had arrived"),
        (Serprog, "- `gap_ns` (signed or null): Time from the previous"),
        (SubjectStart, "- `cpus` (text, optional): CPUs of this machine"),
        (DelaysHeader, "- `functions[].found_by` (text): How it was found."),
    ],
)
def test_row_of_a_key_is_in_the_section_of_its_kind(kind: type[Kind], row: str) -> None:
    places = [place.start() for place in re.finditer(f"### `{name_of(kind)}`\n", PAGE)]
    ends = [(PAGE + "\n### ").index("\n### ", place + 1) for place in places]
    assert any(row in PAGE[place:end] for place, end in zip(places, ends, strict=True))


def test_writers_are_named_once_a_section() -> None:
    text = " ".join(PAGE.split())
    assert "## Emulator Written by: emulator (`emulators/record/jsonl.c`), agent" in text
    assert len(re.findall(r"Written by: ", PAGE)) == len(SECTIONS)
    assert "`: When it happened" not in PAGE
    assert "- `t_ns` (signed): When it began." in PAGE
