# SPDX-License-Identifier: GPL-2.0-or-later
"""One cell in a guest in real time: the line to its agent, its pace, the emulator outside."""
