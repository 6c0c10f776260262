# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts by matplotlib as SVG in a page, with selectable text and the page's colours.

    with new_figure(height_in=3) as figure:
        axes = figure.add_subplot()
        axes.barh(names, seconds, color=Colour.FIRST)
    text = "bookworm 2.5 s, trixie 1.5 s"
    chart = Chart(title="Total time", description=text, figure=figure)
    body = chart.html(caption="Total time by subject", table=table)

Draw only with `Colour`: each value is a colour of the light scheme and becomes a variable of the
page's CSS, which also has a value for the dark scheme. Do not use pyplot: equal figures must give
equal bytes. `svg_file()` makes a separate file, for a README; `png_file()` makes one for trackers
that show no SVG.
"""

import io
import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from markupsafe import Markup

from delayrig.base.paths import find_paths
from delayrig.base.text import plain
from delayrig.present.pages.page import TEMPLATES, anchor, rendered, table_html
from delayrig.present.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"
LONG_FRACTION = re.compile(r"(\.\d\d)\d+")
FONT = re.compile(r" font-family: [^;]*;")
WIDTH_IN = 9.0
PNG_DPI = 144
EDGE = 10
"""The space around a chart in a separate SVG file, in px."""


class Colour(StrEnum):
    """Colours by purpose. The values are those of the light scheme; page.css has the dark ones."""

    INK = "#1b2127"
    SOFT = "#55606b"
    GROUND = "#ffffff"
    GRID = "#dde3e8"
    FIRST = "#2563c9"
    SECOND = "#b45309"
    THIRD = "#be2459"
    FOURTH = "#6d4fd1"
    FIFTH = "#0d7a70"
    REST = "#68737e"
    GOOD = "#17693a"
    BAD = "#b0201c"
    DOUBT = "#7a5200"


_NAMED = ("ink", "soft", "ground", "grid", *(f"c{n}" for n in range(1, 7)), "good", "bad", "doubt")
VARIABLES = dict(zip(Colour, _NAMED, strict=True))
"""The variable of page.css for each colour."""
STANDALONE = "svg{background:var(--ground);stroke-linejoin:round}"
STANDALONE += "text{font-family:sans-serif;fill:var(--ink)}"
SERIES = (Colour.FIRST, Colour.SECOND, Colour.FIFTH, Colour.FOURTH, Colour.THIRD, Colour.REST)
"""The colours for series of equal rank, in this order."""

STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.family": ["DejaVu Sans"],
    "font.size": 10,
    "text.parse_math": False,
    "text.color": Colour.INK.value,
    "axes.labelcolor": Colour.SOFT.value,
    "axes.edgecolor": Colour.SOFT.value,
    "axes.linewidth": 0.8,
    "axes.titlecolor": Colour.INK.value,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.color": Colour.SOFT.value,
    "ytick.color": Colour.SOFT.value,
    "xtick.labelcolor": Colour.INK.value,
    "ytick.labelcolor": Colour.INK.value,
    "grid.color": Colour.GRID.value,
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "patch.linewidth": 0,
    "path.simplify": True,
}


@contextmanager
def new_figure(*, height_in: float, width_in: float = WIDTH_IN) -> "Iterator[Figure]":
    """Yields an empty figure. Drawing within the context uses the style of the page.

    An inch is 72 px. On a narrower page the chart shrinks to 34rem, and scrolls below that.
    """
    # matplotlib caches a list of fonts; it must go into the rig's own folder.
    os.environ.setdefault("MPLCONFIGDIR", str(find_paths().state / "matplotlib"))
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        yield Figure(figsize=(width_in, height_in), layout="constrained")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A figure, and its description for readers who cannot see it.

    Charts of one page need different titles, because ids within the SVG are derived from them.
    """

    title: str
    description: str
    figure: "Figure"

    def svg(self) -> Markup:
        """Returns the chart as an SVG element for a page."""
        drawing = _drawing(self.figure, self.title)
        _name(drawing, self.title, self.description)
        return Markup(_coloured(ET.tostring(drawing, encoding="unicode")))

    def svg_file(self) -> bytes:
        """Returns the chart as an SVG file with a light and a dark scheme, for a README."""
        drawing = _drawing(self.figure, self.title)
        width, height = (float(size) + 2 * EDGE for size in drawing.get("viewBox", "").split()[2:])
        drawing.set("viewBox", f"-{EDGE} -{EDGE} {width:g} {height:g}")
        drawing.set("width", f"{width:g}")
        drawing.set("height", f"{height:g}")
        _name(drawing, self.title, self.description)
        coloured = plain(_coloured(ET.tostring(drawing, encoding="unicode")))
        style = f"<style>{_schemes()}{STANDALONE}</style>"
        licence = "<!-- SPDX-License-Identifier: GPL-2.0-or-later -->\n"
        return (licence + coloured.replace("</title>", f"</title>{style}", 1) + "\n").encode()

    def png_file(self) -> bytes:
        """Returns the chart as a PNG file in the light scheme."""
        import matplotlib as mpl

        written = io.BytesIO()
        with mpl.rc_context(STYLE), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing")
            self.figure.savefig(
                written,
                format="png",
                dpi=PNG_DPI,
                facecolor=Colour.GROUND.value,
                metadata={"Software": None, "Title": self.title},
            )
        return written.getvalue()

    def html(self, *, caption: str, table: Table) -> Markup:
        """Returns the figure of the page: the caption, the SVG, and its values as a table."""
        return rendered(
            TEMPLATES, "chart.html", svg=self.svg(), caption=caption, table=table_html(table)
        )


def label_bar(axes: Any, text: str, x: float, y: float) -> None:
    """Writes the text after the end of a bar."""
    axes.annotate(text, (x, y), xytext=(5, 0), textcoords="offset points", va="center")


def hide_left_axis(axes: Any) -> None:
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)


def _drawing(figure: "Figure", title: str) -> ET.Element:
    """Returns matplotlib's SVG, without what the page provides; ids begin with the title."""
    import matplotlib as mpl

    written = io.BytesIO()
    with mpl.rc_context({**STYLE, "svg.hashsalt": title}), warnings.catch_warnings():
        # The SVG contains the text itself and uses the reader's fonts: a glyph may be missing here.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure.savefig(
            written, format="svg", transparent=True, metadata={"Date": None, "Creator": None}
        )
    drawing = _without_namespaces(ET.fromstring(plain(written.getvalue().decode())))
    _remove_the_pages_part(drawing)
    _make_ids_unique(drawing, anchor(title))
    for key in ("width", "height", "version"):
        drawing.attrib.pop(key, None)
    return drawing


def _without_namespaces(root: ET.Element) -> ET.Element:
    """Renames the elements of SVG to their plain names, which HTML uses."""
    for element in root.iter():
        element.tag = element.tag.removeprefix(SVG)
        if HREF in element.attrib:
            element.set("href", element.attrib.pop(HREF))
    root.set("xmlns", "http://www.w3.org/2000/svg")
    return root


def _remove_the_pages_part(drawing: ET.Element) -> None:
    """Removes fonts and styles, which the page has, and cuts numbers after two decimals."""
    for element in list(drawing.iter()):
        for child in [child for child in element if child.tag in ("metadata", "style")]:
            element.remove(child)
        if element.tag != "text" and not (element.text or "").strip():
            element.text = None
        element.tail = None
        for key in ("d", "x", "y", "transform", "points"):
            if key in element.attrib:
                element.set(key, LONG_FRACTION.sub(r"\1", element.attrib[key]))
        if "style" in element.attrib:
            element.set("style", FONT.sub("", element.attrib["style"]))


def _make_ids_unique(drawing: ET.Element, prefix: str) -> None:
    """Removes ids that nothing refers to, and prefixes the others."""
    text = ET.tostring(drawing, encoding="unicode")
    used = set(re.findall(r'(?:url\(#|href="#)([^)"]+)', text))
    for element in drawing.iter():
        name = element.attrib.pop("id", None)
        if name in used:
            element.set("id", f"{prefix}-{name}")
        for key, value in element.attrib.items():
            if key == "href":
                element.set(key, value.replace("#", f"#{prefix}-", 1))
            elif "url(#" in value:
                element.set(key, value.replace("url(#", f"url(#{prefix}-"))


def _name(drawing: ET.Element, title: str, description: str) -> None:
    prefix = anchor(title)
    drawing.set("class", "chart")
    drawing.set("role", "img")
    drawing.set("aria-labelledby", f"{prefix}-title")
    drawing.set("aria-describedby", f"{prefix}-desc")
    for at, (tag, text) in enumerate((("title", title), ("desc", description))):
        element = ET.Element(tag, {"id": f"{prefix}-{tag}"})
        element.text = text
        drawing.insert(at, element)


def _coloured(text: str) -> str:
    for colour, name in VARIABLES.items():
        text = re.sub(rf"{colour}\b", f"var(--{name})", text)
    return text


def _schemes() -> str:
    css = (TEMPLATES / "page.css").read_text(encoding="utf-8")
    light, dark = re.findall(r":root \{(.*?)\}", css, flags=re.DOTALL)[:2]
    squeezed = ["".join(re.findall(r"--[a-z0-9-]+: #\w+;", scheme)) for scheme in (light, dark)]
    return f":root{{{squeezed[0]}}}@media(prefers-color-scheme:dark){{:root{{{squeezed[1]}}}}}"
