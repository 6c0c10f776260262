# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig like`: from what users attach to a bug report to a cell that is like their machine."""
