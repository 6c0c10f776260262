# SPDX-License-Identifier: GPL-2.0-or-later
"""The Debian archive that a user names, with `--archive` or by a variable.

Its address may hold a password: it is never printed and never written to a file that others read.
What comes from it is checked by Debian's own keys, so it needs no trust.
"""

import re
from collections.abc import Mapping

from delayrig.setup.errors import UsageError

VARIABLE = "FLASHROM_RIG_ARCHIVE"
ON_HOST = re.compile(r"https?://(?:[!-.0-~]*@)?[\w.:\[\]-]+(?:/[!-~]*)?", re.ASCII)
IN_FOLDER = re.compile(r"(?:file|copy):(?://)?(?P<folder>/(?:[!-.0-~][!-~]*)?)")


def named_archive(environment: Mapping[str, str]) -> str:
    """The address, checked; empty where none is named."""
    uri = environment.get(VARIABLE, "")
    # What apt takes, and is one word of a .sources file.
    if uri and not (ON_HOST.fullmatch(uri) or IN_FOLDER.fullmatch(uri)):
        raise UsageError(
            f"--archive (or ${VARIABLE}) is no address of an archive:"
            " write http://HOST/PATH, https://HOST/PATH, file:/PATH or copy:/PATH"
        )
    return uri


def folder_of(uri: str) -> str:
    """The folder of an archive on this machine; empty for one on a host."""
    match = IN_FOLDER.fullmatch(uri)
    return match["folder"] if match else ""
