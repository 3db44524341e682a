#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs every benchmark of the release build once, one after the other, and gathers their results at
# the end: what, ours, yardstick, ratio, bound, pass or ALARM. Ends with 1 when a bound was missed or
# a benchmark failed (digests that differ included). Builds nothing of ours; the yardstick programs
# of ../shared/limit are made from their own Makefile where they are, and tests/bench/yardstick.c
# stands in where they are not.
#
#     tests/bench/run.sh [directory of the release build]
set -eu
cd "$(dirname "$0")/../.."
build=$(cd "${1:-build/release}" && pwd)
bench=$build/tests/bench
limit_source=../shared/limit
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# The path of nxq, or nothing.
find_limit() {
    if [ ! -f "$limit_source/Makefile" ]; then
        echo "no $limit_source here: the denominators are those of tests/bench/yardstick.c" >&2
    elif make -s -C "$limit_source" OUT="$build/limit" >&2; then
        echo "$build/limit/nxq"
    else
        echo "$limit_source does not build here: see above; tests/bench/yardstick.c stands in" >&2
    fi
}

# run NAME ARGUMENT...: a failure is a result too.
run() {
    name=$1
    shift
    echo "== $name"
    { "$bench/$name" "$@" 2>&1 || echo "result | $name | - | - | - | runs to its end | FAILED"; } |
        tee -a "$log"
}

limit=$(find_limit)
run bench_nexmark ${limit:+"$limit"}
run bench_json
run bench_store
run bench_rows
run bench_grpc
run bench_wire
run bench_start "$build/millstream"
unmeasured=
emulator=$(command -v cbtemulator || ls /usr/lib/google-cloud-sdk/platform/bigtable-emulator/cbtemulator 2>/dev/null || true)
if [ -n "$emulator" ]; then
    run bench_service "$build/millstream" "$emulator"
else
    echo "== bench_service: skipped, Google's emulator (cbtemulator) is not installed"
    unmeasured=" that were measured; not measured: those of bench_service"
fi

echo "== summary"
{ echo "result | what | ours | yardstick | ratio | bound | outcome" && grep '^result | ' "$log"; } |
    awk -F ' [|] ' '{ printf "%-36s  %18s  %20s  %6s  %-16s  %s\n", $2, $3, $4, $5, $6, $7 }'
if grep -Eq '^result .*(ALARM|FAILED)$' "$log"; then
    echo "some bounds were missed"
    exit 1
fi
echo "all bounds were kept$unmeasured"
