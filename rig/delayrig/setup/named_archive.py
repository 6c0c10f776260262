# SPDX-License-Identifier: GPL-2.0-or-later
"""The Debian archive that a user names, with `--archive` or by a variable.

Its address may hold a password, so it is never printed and never written to a file that others can
read. Debian's own keys verify what comes from it, so it needs no trust.
"""

import re
from collections.abc import Mapping

from delayrig.setup.errors import UsageError

VARIABLE = "FLASHROM_RIG_ARCHIVE"
ON_HOST = re.compile(r"https?://(?:[!-.0-~]*@)?[\w.:\[\]-]+(?:/[!-~]*)?", re.ASCII)
IN_FOLDER = re.compile(r"(?:file|copy):(?://)?(?P<folder>/(?:[!-.0-~][!-~]*)?)")


def named_archive(environment: Mapping[str, str]) -> str:
    """Returns the checked address; empty if none is named."""
    uri = environment.get(VARIABLE, "")
    # It must be an address that apt accepts, and one word of a .sources file.
    if uri and not (ON_HOST.fullmatch(uri) or IN_FOLDER.fullmatch(uri)):
        raise UsageError(
            f"--archive (or ${VARIABLE}) is no address of an archive:"
            " write http://HOST/PATH, https://HOST/PATH, file:/PATH or copy:/PATH"
        )
    return uri


def folder_of(uri: str) -> str:
    """Returns the folder of an archive on this machine; empty for one on a host."""
    match = IN_FOLDER.fullmatch(uri)
    return match["folder"] if match else ""
