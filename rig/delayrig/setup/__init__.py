# SPDX-License-Identifier: GPL-2.0-or-later
"""The set-up: brings a fresh machine to where the rig can run, and takes it back.

It runs on the distribution's Python before anything is installed, so it imports the standard
library and itself, nothing else.

    rig/rig -> __main__ -> stamp: all marks fresh? -> exec the rig
                              | no
                              v
                steps: packages -> environment -> native -> images, a mark after each
"""
