# SPDX-License-Identifier: GPL-2.0-or-later
"""What those read who run the rig: a run or a decision, in the formats of their tools."""
