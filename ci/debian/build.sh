#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the Debian package of what is committed, below OUT:
#   ci/debian/build.sh OUT [OPTION...]       options go to dpkg-buildpackage; default: -us -uc
# Needs dpkg-dev, debhelper, python3 and git, and no network.
set -eu
out=$1
shift
[ $# -gt 0 ] || set -- -us -uc
top=$(git -C "$(dirname -- "$0")" rev-parse --show-toplevel)
source=$out/flashrom-delay-rig-$(cat "$top/rig/delayrig/VERSION")

mkdir -p "$source"
git -C "$top" archive HEAD | tar -x -C "$source"
cp -R "$source/ci/debian" "$source/debian"
rm "$source/debian/build.sh"
cd "$source"
exec dpkg-buildpackage "$@"
