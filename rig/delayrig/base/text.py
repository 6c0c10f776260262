# SPDX-License-Identifier: GPL-2.0-or-later
"""What of a text may stand in documents: subjects print what they like."""

import re

# Of XML 1.0; nothing else wants the rest either.
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
CUT = "\n[cut]\n"


def plain(text: str) -> str:
    """Without what no document may hold."""
    return FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)


def one_line(text: str) -> str:
    return " ".join(plain(text).split())


def cut_to(text: str, limit_bytes: int) -> bytes:
    """All of it, or as many whole lines as fit, and a mark."""
    content = text.encode()
    if len(content) <= limit_bytes:
        return content
    kept = content[: limit_bytes - len(CUT)]
    return kept[: kept.rfind(b"\n") + 1] + CUT.lstrip("\n").encode()
