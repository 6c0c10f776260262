# SPDX-License-Identifier: GPL-2.0-or-later
"""The features behind the commands of `rig/rig`: one feature, one folder."""
