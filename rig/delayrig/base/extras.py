# SPDX-License-Identifier: GPL-2.0-or-later
"""Python packages that few users need: asked for by name where they are used first."""

import sys
from importlib.util import find_spec

from delayrig.base.errors import BadInputError

MODULES = {
    "cluster": "distributed",
    "jobqueue": "dask_jobqueue",
    "parquet": "pyarrow",
    "postgresql": "psycopg",
}
"""By extra, a module that it brings."""


def require_extra(name: str, why: str) -> None:
    """Raises `BadInputError` with the command that installs it, where it is not there."""
    module = MODULES[name]
    require_module(module, why, package=module, hint=f"rig/rig setup --extra {name}")


def require_module(module: str, why: str, *, package: str, hint: str = "") -> None:
    """The same of a package that the rig does not bring, for those who have it."""
    if find_spec(module) is None:
        raise BadInputError(
            f"{why} needs the Python package {package}, which is not installed",
            hint=hint or f"install it beside the rig's: {sys.executable} -m pip install {package}",
        )
