# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that no other user can connect. Without TLS, Dask runs any code that a peer sends."""

import os
import subprocess
from pathlib import Path

from delayrig.base.errors import BadInputError, RigFaultError
from delayrig.plan.cluster import ClusterOptions

DAYS = "30"
"""The life of a run's certificates; they are deleted with its scratch folder."""


def require_trust(asked: ClusterOptions, *, who: str, everyone: bool) -> None:
    """Raises `BadInputError` if another user could connect without a certificate."""
    if asked.tls is None and not everyone and not is_alone():
        raise BadInputError(
            f"{who} {asked.address}: without --tls every user of this machine can run programs as"
            " you",
            hint="name certificates with --tls DIR, or say --trust-everyone-here",
        )


def is_alone(processes: Path = Path("/proc"), user: int | None = None) -> bool:
    """Returns True if all processes in this network namespace are the user's (default: ours).

    A process whose namespace cannot be read counts as one in this namespace.
    """
    own, network = os.geteuid() if user is None else user, _network_of(processes / "self")
    for process in processes.iterdir():
        if process.name.isdecimal() and _network_of(process) in (network, None):
            try:
                if process.stat().st_uid != own:
                    return False
            except OSError:  # It has ended.
                continue
    return network is not None


def _network_of(process: Path) -> str | None:
    try:
        return str((process / "ns/net").readlink())
    except OSError:
        return None


def make_certificate(folder: Path) -> None:
    """Makes the `TLS_FILES` of one run: a key and a self-signed certificate."""
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    made = ("-keyout", "key.pem", "-out", "cert.pem", "-days", DAYS, "-subj", "/CN=run")
    try:
        subprocess.run(
            ["openssl", "req", "-x509", *key, *made], cwd=folder, check=True, capture_output=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise RigFaultError(
            f"--cluster local: no certificate for its workers: {error}", hint="install openssl"
        ) from error
    (folder / "ca.pem").write_bytes((folder / "cert.pem").read_bytes())
