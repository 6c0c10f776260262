# SPDX-License-Identifier: GPL-2.0-or-later
"""Small plans as text."""

from pathlib import Path

AT = 'mips = 250, cores = 1, job = "write", chip = "GD25Q16C"'
OVER = 'mips = [250], cores = [1], job = ["write"], chip = ["GD25Q16C"]'


def plan(*parts: str, lane: str = "virtual", subjects: str = '"bundled"') -> str:
    """Returns a plan of these cells and groups."""
    head = f'schema = 1\nabout = "for a test"\nlane = "{lane}"\nsubjects = [{subjects}]\n'
    return head + "".join(parts)


def write_plan(folder: Path, text: str) -> str:
    """Writes a plan into the folder; returns the path of its file."""
    path = folder / "plan.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def group(name: str, over: str = OVER, region_kib: int = 4) -> str:
    return f'[[group]]\nname = "{name}"\nregion_kib = {region_kib}\nover = {{ {over} }}\n'


def cell(name: str, at: str, region_kib: int = 64) -> str:
    return f'[[cell]]\nname = "{name}"\nregion_kib = {region_kib}\nat = {{ {at} }}\n'


def watched(at: str = AT) -> str:
    """Returns a canary and its control, which show that the rig sees short waits in such cells."""
    watching = (("canary", "canary:bus"), ("control", "bundled"))
    return "".join(
        f'{cell(role, at, 4)}role = "{role}"\nsubject = "{subject}"\n' for role, subject in watching
    )


SMALL_PLAN = plan(group("write"), watched())
"""The smallest plan of a gate."""
