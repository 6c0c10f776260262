# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig like`: the cell that is like the machine in the attachments of a bug report."""
