# SPDX-License-Identifier: GPL-2.0-or-later
"""SHA-256 of bytes, files and plain values."""

import hashlib
from pathlib import Path

import msgspec


def of_bytes(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def of_value(value: object) -> str:
    """Returns the SHA-256 of a value's JSON with sorted keys, in hexadecimal."""
    return of_bytes(msgspec.json.encode(value, order="sorted"))
