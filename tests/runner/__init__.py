# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the layers of tests one after the other; reports failures and slow tests.

It starts on the distribution's Python before anything is set up, so its modules import only the
standard library and each other; only `record.py` and `tiers.py` import pytest.

    tests/run -> arguments -> rig/rig setup -> layers: native | python | programs -> report
"""
