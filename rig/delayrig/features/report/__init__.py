# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig report`: runs and gates as one HTML page, with a module for each section."""
