# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether this machine can get what the rig needs, asked before the first set-up begins."""

import os
import shutil

from delayrig.setup.apt import has_debian
from delayrig.setup.container import engine_name
from delayrig.setup.context import Context
from delayrig.setup.distribution import Machine, refusal, this_release
from delayrig.setup.install import AptGet, read_targets
from delayrig.setup.named_archive import named_archive
from delayrig.setup.packages import new_enough
from delayrig.setup.stamp import PACKAGES, read_marks

QEMU_PACKAGE, QEMU_VERSION_MIN = "qemu-system-x86", "9.1"


def check_machine(context: Context) -> None:
    """Raises, with the ways that are left, where guests are wanted and nothing brings them.

    A machine that got its packages once is not asked again.
    """
    is_prepared = PACKAGES in read_marks(context.layout.stamp) and not context.again
    if PACKAGES not in context.steps or is_prepared:
        return
    refused = refusal(examine_machine(context))
    if refused is not None:
        raise refused


def examine_machine(context: Context) -> Machine:
    """What decides which way this machine has to packages and subjects."""
    release = this_release()
    has_apt = shutil.which("apt-get") is not None and shutil.which("dpkg") is not None
    with_debian = has_debian(read_targets(), release)
    offers = () if with_debian or not has_apt else AptGet(context=context).offers(QEMU_PACKAGE)
    return Machine(
        release=release,
        has_apt=has_apt,
        has_debian=with_debian,
        has_named=bool(named_archive(os.environ)),
        qemu_versions=() if any(new_enough(each, QEMU_VERSION_MIN) for each in offers) else offers,
        qemu_version_min=QEMU_VERSION_MIN,
        engine=engine_name(),
    )
