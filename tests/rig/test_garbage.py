# SPDX-License-Identifier: GPL-2.0-or-later
"""Python's garbage collector pauses within a block, and resumes afterwards."""

import gc

import pytest
from delayrig.base.garbage import without_collections


def test_search_goes_on_after_the_outermost_end() -> None:
    assert gc.isenabled()
    with without_collections():
        with without_collections():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_search_goes_on_after_a_failure() -> None:
    with pytest.raises(ZeroDivisionError), without_collections():
        _ = 1 // 0
    assert gc.isenabled()
