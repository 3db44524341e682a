#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the packages of packages.txt that are missing. Says nothing when there are none.
set -eu
cd "$(dirname "$0")/.."
missing=""
for package in $(sed 's/#.*//' packages.txt); do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
echo "installing:$missing" >&2
if [ "$(id -u)" != 0 ]; then
    echo "not root: run  sudo apt-get install$missing" >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >/dev/null
# shellcheck disable=SC2086
apt-get install -y -qq --no-install-recommends $missing >/dev/null
