# SPDX-License-Identifier: GPL-2.0-or-later
"""Python's search for circles of references, where many values are made and none is one."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collections() -> Iterator[None]:
    """Not searched within: of 100,000 cells the search takes four times as long as reading them."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
