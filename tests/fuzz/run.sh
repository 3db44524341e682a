#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs every fuzz target for FUZZ_SECONDS (default 60), one after the other, from its committed corpus. What a run finds
# that is new goes to BUILD_DIR/tests/fuzz/found/NAME; a failure is kept there too, and ends the script with status 1.
#   tests/fuzz/run.sh BUILD_DIR [NAME ...]
set -eu
build=${1:?usage: run.sh BUILD_DIR [NAME ...]}
shift
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -eq 0 ]; then
  set -- $(cd "$here" && ls fuzz_*.c | sed 's/\.c$//')
fi
failed=0
for name in "$@"; do
  found=$build/tests/fuzz/found/$name
  mkdir -p "$found" "$here/corpus/$name"
  dict=
  if [ -f "$here/$name.dict" ]; then
    dict=-dict=$here/$name.dict
  fi
  echo "fuzz: $name for ${FUZZ_SECONDS:-60} s"
  log=$found.log
  if "$build/tests/fuzz/$name" "$found" "$here/corpus/$name" $dict -max_total_time="${FUZZ_SECONDS:-60}" -max_len="${FUZZ_MAX_LEN:-4096}" \
    -timeout=10 -rss_limit_mb=2048 -artifact_prefix="$found/failure-" -verbosity=0 -print_final_stats=1 >"$log" 2>&1; then
    grep -E 'number_of_executed_units|new_units_added' "$log"
  else
    failed=1
    grep -v '# Uses' "$log" | tail -50
  fi
done
exit $failed
