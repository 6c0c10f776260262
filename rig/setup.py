# SPDX-License-Identifier: GPL-2.0-or-later
"""Puts the sources of the rig beside the command of its wheel: `pip wheel --no-deps ./rig`."""

import shutil
import tempfile
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

CHECKOUT = Path(__file__).resolve().parents[1]
FOLDERS = ("emulators", "flashrom", "images", "rig", "ci")
FILES = ("meson.build", "meson.options", "README.md", "LICENSE")
LEFT_OUT = shutil.ignore_patterns(
    "__pycache__", "*.pyc", "build", "*.egg-info", "setup.py", "flashrom_delay_rig"
)


class BuildWithTree(build_py):  # type: ignore[misc]
    """Adds all that the launcher needs of a checkout."""

    def run(self) -> None:
        """Copies the folders and files with their executable bits."""
        super().run()
        tree = Path(self.build_lib) / "flashrom_delay_rig" / "tree"
        shutil.rmtree(tree, ignore_errors=True)
        for name in FOLDERS:
            shutil.copytree(CHECKOUT / name, tree / name, ignore=LEFT_OUT)
        for name in FILES:
            shutil.copy2(CHECKOUT / name, tree / name)


with tempfile.TemporaryDirectory(prefix="flashrom-rig-wheel-") as scratch:
    # Nothing is left in the checkout.
    options = {"build": {"build_base": scratch}, "egg_info": {"egg_base": scratch}}
    setup(cmdclass={"build_py": BuildWithTree}, options=options)
