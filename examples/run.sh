#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the main job on the embedded store, twice: the second run gives the same rows.
#   examples/run.sh PROGRAM [DATA-DIR]
set -eu
program=$1
here=$(cd "$(dirname "$0")" && pwd)
dir=${2:-$here/../millstream-data}
first=$(mktemp)
second=$(mktemp)
trap 'rm -f "$first" "$second"' EXIT
"$program" run "$here/earthquakes.sql" --define DATA="$here/data" --data-dir "$dir" --result tableau | tee "$first"
"$program" run "$here/earthquakes.sql" --define DATA="$here/data" --data-dir "$dir" --result tableau --quiet >"$second"
if ! cmp -s "$first" "$second"; then
    echo "the second run gave other rows" >&2
    exit 1
fi
echo "a second run gave the same rows" >&2
