# SPDX-License-Identifier: GPL-2.0-or-later
"""The answers of a gate to each known-bad build, as a page."""

from delayrig.features.selfcheck.known_bad import WANTED, KnownBad
from delayrig.features.selfcheck.terminal import reason_of, summary
from delayrig.present.pages.page import Section, paragraph, render_page, table_html
from delayrig.present.tables import Table

COLUMNS = ("name", "what is wrong", "class", "who sees it", "wanted", "answered", "right", "cell")


def known_bad_page(answer: KnownBad) -> bytes:
    kinds = dict.fromkeys(str(build.kind) for build in answer.builds)
    return render_page(
        title="Known-bad builds, and what a gate says of them",
        summary=paragraph(summary(answer)),
        sections=[
            Section(
                key=f"{kind}-builds", title=f"Class {kind}", body=table_html(_table(answer, kind))
            )
            for kind in kinds
        ],
    )


def _table(answer: KnownBad, kind: str) -> Table:
    return Table(
        caption=f"Builds of class {kind}: what a gate has to answer, and what it answered",
        columns=COLUMNS,
        rows=[
            [
                *(build.name, build.what, build.kind, build.sight, WANTED[build.kind]),
                *(build.outcome, "yes" if build.right else "no", reason_of(build)),
            ]
            for build in answer.builds
            if build.kind == kind
        ],
    )
