# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the layers of tests, one after the other; tells what failed, and what was slow.

It starts on the distribution's Python before anything is set up, so it imports the standard
library and itself, nothing else. `record.py` alone is loaded by pytest.

    tests/run -> arguments -> rig/rig setup -> layers: native | python | programs -> report
"""
