# SPDX-License-Identifier: GPL-2.0-or-later
"""Certificates for the tests of clusters."""

import subprocess
from pathlib import Path

NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


def make_certificates(folder: Path) -> Path:
    """Makes an authority, and a certificate that it signed, in that folder."""
    authority = ("-x509", "-subj", "/CN=ca", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2")
    _openssl(folder, "req", *NEW_KEY, *authority)
    _openssl(folder, "req", *NEW_KEY, "-subj", "/CN=rig", "-keyout", "key.pem", "-out", "rig.csr")
    signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2")
    _openssl(folder, "x509", "-req", "-in", "rig.csr", *signed, "-out", "cert.pem")
    return folder


def _openssl(folder: Path, *words: str) -> None:
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)
