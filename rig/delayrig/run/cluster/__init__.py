# SPDX-License-Identifier: GPL-2.0-or-later
"""Cells on several machines. Dask schedules them; the tasks are ours."""
