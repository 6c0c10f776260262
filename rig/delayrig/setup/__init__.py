# SPDX-License-Identifier: GPL-2.0-or-later
"""The set-up: makes a fresh machine ready for the rig, and removes what it made.

It runs on the distribution's Python before anything is installed, so it imports the standard
library and itself, nothing else.

    rig/rig -> __main__ -> stamp: all marks fresh? -> run the rig
                              | no
                              v
                steps: packages -> account -> environment -> native -> images (only `rig/rig
                setup`); each step that is done writes its mark
"""
