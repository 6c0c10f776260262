# SPDX-License-Identifier: GPL-2.0-or-later
"""Strict reading of TOML into typed values: errors name the file, the key and the nearest name."""

import re
import tomllib
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from delayrig.base.errors import BadInputError, UnknownNameError

T = TypeVar("T", bound=msgspec.Struct)

SCHEMA = 1
PLAIN_NAMES = {
    "`float`": "a number",
    "`int`": "a whole number",
    "`str`": "text",
    "`array`": "a list",
    "`object`": "a table",
    "`null`": "nothing",
    "`bool`": "true or false",
}


def complete_types() -> None:
    """Makes msgspec complete all structs that are imported.

    Otherwise it completes each struct at its first use, and crashes if two threads do so at once.
    """
    todo = [msgspec.Struct]
    while todo:
        found = todo.pop().__subclasses__()
        todo += found
        for each in found:
            msgspec.json.Decoder(each)


def read_toml(path: Path, kind: type[T]) -> T:
    """Returns the file as a `kind`; raises `BadInputError` for anything else."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInputError(
            f"{path}: {error.strerror}", hint="check the name of the file"
        ) from error
    except UnicodeDecodeError as error:
        raise BadInputError(f"{path}: not UTF-8 text", hint="save it as UTF-8") from error
    return parse_toml(text, kind, source=str(path))


def parse_toml(text: str, kind: type[T], *, source: str) -> T:
    """Returns the text as a `kind`; `source` names it in errors."""
    try:
        tree = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadInputError(
            f"{source}: not valid TOML: {error}", hint="correct that line"
        ) from error
    if tree.get("schema") != SCHEMA:
        raise BadInputError(
            f"{source}: key 'schema' is {tree.get('schema')!r}, this rig reads {SCHEMA}",
            hint=f"begin the file with `schema = {SCHEMA}`",
        )
    try:
        return msgspec.convert(tree, kind)
    except msgspec.ValidationError as error:
        raise _explained(str(error), kind, source) from error


def _explained(message: str, kind: type[msgspec.Struct], source: str) -> BadInputError:
    """Returns the error for a message such as "Object contains unknown field `x` - at `$.a`"."""
    where = re.search(r" - at `\$\.?([^`]*)`", message)
    path = where[1] if where else ""
    field = re.search(r"(unknown|missing required) field `([^`]+)`", message)
    if field is None:
        what = message.split(" - at ")[0]
        for type_name, plain_name in PLAIN_NAMES.items():
            what = what.replace(type_name, plain_name)
        hint = "see rig/docs/reference/plans.md"
        return BadInputError(f"{source}: key {path!r}: {what}", hint=hint)
    name = field[2]
    key = f"{path}.{name}" if path else name
    if field[1] == "unknown":
        known = _fields_at(kind, path)
        return UnknownNameError(f"{source}: unknown key {key!r}", name, known, what="keys")
    return BadInputError(f"{source}: key {key!r} is missing", hint="add it")


def _fields_at(kind: type[msgspec.Struct], path: str) -> list[str]:
    """Returns the known keys at a path such as `cell[...].guest`."""
    current: Any = msgspec.inspect.type_info(kind)
    for part in re.findall(r"\[[^.\[]*|[^.\[]+", path):
        inner = {field.encode_name: field.type for field in getattr(current, "fields", ())}
        if part.startswith("["):
            inner[part] = getattr(current, "value_type", getattr(current, "item_type", current))
        found = inner.get(part, current)
        # Take a type out of its union with None.
        choices = [
            choice
            for choice in getattr(found, "types", ())
            if not isinstance(choice, msgspec.inspect.NoneType)
        ]
        current = choices[0] if choices else found
    return [field.encode_name for field in getattr(current, "fields", ())] or ["(none)"]
