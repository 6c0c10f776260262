# SPDX-License-Identifier: GPL-2.0-or-later
"""Python packages that few users need: asked for by name where they are used first."""

from importlib.util import find_spec

from delayrig.base.errors import BadInputError

MODULES = {"cluster": "distributed", "parquet": "pyarrow", "postgresql": "psycopg"}
"""By extra, a module that it brings."""


def require_extra(name: str, why: str) -> None:
    """Raises `BadInputError` with the command that installs it, where it is not there."""
    if find_spec(MODULES[name]) is None:
        raise BadInputError(
            f"{why} needs the Python package {MODULES[name]}, which is not installed",
            hint=f"rig/rig setup --extra {name}",
        )
