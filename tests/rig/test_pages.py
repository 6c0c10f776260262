# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages are single files that fetch nothing; their charts are SVG in the page's colours."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import matplotlib as mpl
import pytest
from delayrig.present.pages.charts import VARIABLES, Chart, Colour, new_figure
from delayrig.present.pages.page import (
    TEMPLATES,
    Section,
    code,
    paragraph,
    render_page,
    table_html,
)
from delayrig.present.tables import Row, Table, words_and_figures
from markupsafe import Markup

HOSTILE = '<script>alert(1)</script> & "x"'
SCHEMES = ("light", "dark")
GROUNDS = {"good": "good-ground", "bad": "bad-ground", "doubt": "doubt-ground", "rig": "rig-ground"}
TEXT_CONTRAST, GRAPHIC_CONTRAST = 4.5, 3.0


class Outline(HTMLParser):
    """The ids, headings and links of a page, and its tags that fetch a file."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.headings: list[int] = []
        self.fetched: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {key: value or "" for key, value in attrs}
        if "id" in values:
            self.ids.append(values["id"])
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if "src" in values or (tag == "link" and not values["href"].startswith("data:")):
            self.fetched.append(tag)
        if tag == "a":
            self.links.append(values["href"])


def outline(page: bytes) -> Outline:
    read = Outline()
    read.feed(page.decode())
    return read


def make_table(*rows: Row) -> Table:
    return words_and_figures("Total time", ["subject"], ["s"], rows)


def make_chart(title: str, colour: Colour = Colour.FIRST) -> Chart:
    with new_figure(height_in=2) as figure:
        axes = figure.add_subplot()
        axes.barh(["a", "$b$"], [2.5, 1.0], color=colour)
        axes.grid(axis="x")
        axes.set_xlabel("s")
    return Chart(title=title, description="one bar", figure=figure)


def make_page(*bodies: Markup) -> bytes:
    sections = [
        Section(key=f"part-{number}", title=f"Part {number}", body=body)
        for number, body in enumerate(bodies)
    ]
    return render_page(title="A run", summary=paragraph("All is well."), sections=sections)


def test_page_has_one_title_ordered_headings_and_links_with_targets() -> None:
    read = outline(make_page(paragraph("one"), paragraph("two")))
    assert read.headings == [1, 2, 2]
    assert len(set(read.ids)) == len(read.ids)
    assert {link.removeprefix("#") for link in read.links} <= set(read.ids)


def test_text_is_escaped_in_each_part_of_a_page() -> None:
    row = Row(values=[HOSTILE, code(HOSTILE)], marks={"subject": HOSTILE})
    body = paragraph(HOSTILE, code(HOSTILE)) + table_html(make_table(row))
    page = render_page(
        title=HOSTILE,
        summary=paragraph(HOSTILE),
        sections=[Section(key="x", title=HOSTILE, body=body)],
    )
    assert b"<script" not in page
    assert page.count(b"&lt;script&gt;") == 9


def test_control_characters_are_replaced() -> None:
    with new_figure(height_in=2) as figure:
        figure.add_subplot().barh(["a\x1b[31m\x00"], [1])
    chart = Chart(title="T\x08", description="d\x00", figure=figure)
    page = make_page(paragraph("x\x00y"), chart.svg()).decode()
    assert not re.search("[\x00-\x08\x1b]", page)
    assert "a\ufffd[31m\ufffd" in page
    ET.fromstring(chart.svg_file())


def test_page_has_inline_script_and_style_and_may_fetch_nothing() -> None:
    page = make_page(make_chart("Total").html(caption="Total", table=make_table()))
    assert outline(page).fetched == []
    assert b"default-src 'none'" in page
    assert b"@import" not in page
    page = render_page(
        title="A",
        summary=paragraph(""),
        sections=[],
        style=".x{color:red}",
        script="const x = 1 && 2;",
    )
    assert b".x{color:red}" in page
    assert b"<script>\nconst x = 1 && 2;\n</script>" in page


def test_duplicate_section_or_invalid_anchor_is_refused() -> None:
    section = Section(key="a", title="A", body=paragraph(""))
    with pytest.raises(ValueError, match="not unique"):
        render_page(title="A", summary=paragraph(""), sections=[section, section])
    with pytest.raises(ValueError, match="no anchor"):
        Section(key="A b", title="A", body=paragraph(""))


def test_table_has_a_caption_and_header_cells_with_scopes() -> None:
    html = table_html(make_table(Row(values=["bundled", "2.5"], marks={"verdict": "pass"})))
    assert "<caption><span>Total time</span></caption>" in html
    assert '<th scope="col">subject</th>' in html
    assert '<th scope="row">bundled</th>' in html
    assert '<td class="n">2.5</td>' in html
    assert '<tr data-verdict="pass">' in html


def test_chart_has_title_description_and_text_elements() -> None:
    svg = ET.fromstring(make_chart("Total time").svg())
    assert svg.get("role") == "img"
    names = {element.get("id"): element.text for element in svg.iter() if element.get("id")}
    assert names[svg.get("aria-labelledby")] == "Total time"
    assert names[svg.get("aria-describedby")] == "one bar"
    texts = ["".join(element.itertext()) for element in svg.iter() if element.tag.endswith("text")]
    assert "$b$" in texts
    assert "s" in texts


def test_equal_figures_give_equal_bytes_without_a_date_and_change_no_settings() -> None:
    before = dict(mpl.rcParams)
    assert make_chart("Total").svg() == make_chart("Total").svg()
    assert make_chart("T").svg_file() == make_chart("T").svg_file()
    assert not re.search(r"20\d\d-\d\d", make_chart("Total").svg())
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("colour", list(Colour))
def test_chart_has_the_pages_colours_and_no_others(colour: Colour) -> None:
    chart = make_chart("Total", colour).svg()
    assert f"var(--{VARIABLES[colour]})" in chart
    assert re.findall(r"#[0-9a-f]{6}\b", chart) == []


def test_charts_of_one_page_share_no_id() -> None:
    charts = [make_chart(title).html(caption=title, table=make_table()) for title in ("A", "B")]
    read = outline(make_page(*charts))
    assert len(set(read.ids)) == len(read.ids)
    for chart in charts:
        used = set(re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', chart))
        assert {a or b for a, b in used} <= set(read.ids)


def test_file_of_a_chart_has_both_colour_schemes_and_a_size() -> None:
    content = make_chart("Total").svg_file()
    root = ET.fromstring(content)
    assert root.get("width")
    assert b"SPDX-License-Identifier" in content
    style = next(element.text for element in root.iter() if element.tag.endswith("style"))
    assert style is not None
    for name in set(re.findall(r"var\(--([a-z0-9-]+)\)", content.decode())):
        assert len(re.findall(rf"--{name}: #[0-9a-f]{{6}};", style)) == 2


def colours_of_schemes() -> dict[str, dict[str, str]]:
    css = (TEMPLATES / "page.css").read_text(encoding="utf-8")
    blocks = re.findall(r":root \{(.*?)\}", css, flags=re.DOTALL)[:2]
    found = [dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", block)) for block in blocks]
    return dict(zip(SCHEMES, found, strict=True))


def contrast(one: str, other: str) -> float:
    """Returns the contrast ratio of two colours (WCAG 2)."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_and_graphics_have_enough_contrast(scheme: str) -> None:
    colours = colours_of_schemes()[scheme]
    for ground in ("ground", "panel"):
        for name in ("ink", "soft", "link", *GROUNDS):
            assert contrast(colours[name], colours[ground]) >= TEXT_CONTRAST, (name, ground)
    for name, ground in GROUNDS.items():
        assert contrast(colours[name], colours[ground]) >= TEXT_CONTRAST, name
    for name in ("c1", "c2", "c3", "c4", "c5", "c6", "focus"):
        assert contrast(colours[name], colours["ground"]) >= GRAPHIC_CONTRAST, name


def test_colours_of_charts_are_those_of_the_light_scheme() -> None:
    light = colours_of_schemes()["light"]
    assert {colour: light[name] for colour, name in VARIABLES.items()} == {
        colour: colour.value for colour in Colour
    }
