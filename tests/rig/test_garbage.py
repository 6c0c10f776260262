# SPDX-License-Identifier: GPL-2.0-or-later
"""Python's garbage collector pauses within a block, and resumes afterwards."""

import gc

import pytest
from delayrig.base.garbage import without_collections


def test_collector_is_enabled_after_the_outermost_block() -> None:
    assert gc.isenabled()
    with without_collections():
        with without_collections():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_collector_is_enabled_after_an_exception() -> None:
    with pytest.raises(ZeroDivisionError), without_collections():
        _ = 1 // 0
    assert gc.isenabled()
