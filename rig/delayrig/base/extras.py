# SPDX-License-Identifier: GPL-2.0-or-later
"""Python packages that few users need. The code that uses one checks first that it is there."""

import sys
from importlib.util import find_spec

from delayrig.base.errors import BadInputError

MODULES = {
    "cluster": "distributed",
    "jobqueue": "dask_jobqueue",
    "parquet": "pyarrow",
    "postgresql": "psycopg",
}
"""A module of each extra, by the name of the extra."""


def require_extra(name: str, why: str) -> None:
    """Raises `BadInputError` with the command that installs the extra, if it is missing."""
    module = MODULES[name]
    require_module(module, why, package=module, hint=f"rig/rig setup --extra {name}")


def require_module(module: str, why: str, *, package: str, hint: str = "") -> None:
    """Raises `BadInputError` if a Python module is missing; the default hint is to use pip."""
    if find_spec(module) is None:
        raise BadInputError(
            f"{why} needs the Python package {package}, which is not installed",
            hint=hint or f"install it beside the rig's: {sys.executable} -m pip install {package}",
        )
