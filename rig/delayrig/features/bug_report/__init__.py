# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig bug-report`: a convicted cell as a report for the people who maintain the flashrom."""
