# SPDX-License-Identifier: GPL-2.0-or-later
"""The system account that libvirt's driver looks up before it reads any setting.

As root, the embedded driver does not start without it, even if it is configured to run guests as
another user. Debian makes the account along with the system daemon, which the rig does not need.
"""

import grp
import os
import pwd
from collections.abc import Callable

from delayrig.setup.command import commands, run_logged
from delayrig.setup.console import Context
from delayrig.setup.errors import SetupError

NAME = "libvirt-qemu"
# Debian reserves this number for this name, so a later install of the daemon finds what it expects.
NUMBER = 64055
HOME = "/var/lib/libvirt"


def ensure_account(context: Context) -> bool:
    """Makes the account if root runs the rig. Returns False if there was nothing to do."""
    if os.geteuid() != 0 or not making():
        return False
    context.console.begin("system account")
    context.console.say(f"missing: {NAME}, which libvirt's embedded driver looks up under root")
    if context.no_install:
        raise SetupError(f"the account {NAME} is missing, and --no-install is set", _remedy())
    asked = context.console.interactive and not context.yes
    if asked and not context.console.ask("Make it now?"):
        raise SetupError(f"the account {NAME} is missing, and you chose not to make it", _remedy())
    for argv in making():
        run_logged(context, "account", argv).require(f"making the account {NAME}", _remedy())
    context.console.say("made")
    return True


def making() -> list[list[str]]:
    """Returns the commands that make the missing group and user."""
    lines = []
    if not _known(lambda: grp.getgrnam(NAME)):
        number = [] if _known(lambda: grp.getgrgid(NUMBER)) else ["--gid", str(NUMBER)]
        lines.append(["groupadd", "--system", *number, NAME])
    if not _known(lambda: pwd.getpwnam(NAME)):
        number = [] if _known(lambda: pwd.getpwuid(NUMBER)) else ["--uid", str(NUMBER)]
        kvm = ["--groups", "kvm"] if _known(lambda: grp.getgrnam("kvm")) else []
        place = ["--home-dir", HOME, "--no-create-home", "--shell", "/usr/sbin/nologin"]
        lines.append(["useradd", "--system", *number, "--gid", NAME, *kvm, *place, NAME])
    return lines


def _known(look_up: Callable[[], object]) -> bool:
    try:
        look_up()
    except KeyError:
        return False
    return True


def _remedy() -> str:
    return "run, as root:\n" + commands(*making())
