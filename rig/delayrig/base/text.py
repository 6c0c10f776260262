# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes text safe for documents, whatever a subject prints."""

import re

# Characters that XML 1.0 forbids. No other format needs them.
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
CUT = "\n[cut]\n"


def plain(text: str) -> str:
    """Returns the text with forbidden characters replaced."""
    return FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)


def one_line(text: str) -> str:
    return " ".join(plain(text).split())


def cut_to(text: str, limit_bytes: int) -> bytes:
    """Returns the text as UTF-8, or as many whole lines as fit into the limit, and a mark."""
    content = text.encode()
    if len(content) <= limit_bytes:
        return content
    kept = content[: limit_bytes - len(CUT)]
    return kept[: kept.rfind(b"\n") + 1] + CUT.lstrip("\n").encode()
