#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Google's suite for client libraries against our client, by way of the test proxy.
#   tests/conformance/proxy/run.sh PROXY SUITE [FLAG ...]      FLAGs go to the suite
# PROXY is conformance_proxy of a build directory. SUITE is the compiled test program of the suite, which is not ours
# and not in the repository: see README.md. Its cases of ExecuteQuery are left out, which our client does not have.
# The suite's case of an emulator is a program of its own: BIGTABLE_EMULATOR_HOST=localhost:PORT run.sh PROXY SUITE.
# No test runs it. Prints what failed or was skipped, and a last line "N passed, N failed, N skipped".
set -u
usage='usage: run.sh PROXY SUITE [FLAG ...]'
proxy=$(realpath "${1:?$usage}")
suite=$(realpath "${2:?$usage}")
shift 2
[ -x "$suite" ] || { echo "SKIPPED: there is no program $suite" && exit 0; }
work=$(mktemp -d)
server=
stop() {
    [ -z "$server" ] || { kill "$server" && wait "$server"; } 2>/dev/null
    rm -rf "$work"
}
trap stop EXIT

"$proxy" 127.0.0.1:0 >"$work/out" 2>"$work/err" </dev/null &
server=$!
port=
for _ in $(seq 400); do
    port=$(sed -n 's/^proxy: listening at port //p' "$work/out")
    [ -n "$port" ] && break
    sleep 0.05
done
[ -n "$port" ] || { echo "the proxy did not start: $(cat "$work/err")" && exit 1; }

cd "$work" || exit 1
"$suite" -test.v -proxy_addr="127.0.0.1:$port" -enable_features_all -test.skip ExecuteQuery "$@" >"$work/log" 2>&1
status=$?
count() { grep -c "^--- $1: " "$work/log"; }
passed=$(count PASS)
failed=$(count FAIL)
skipped=$(count SKIP)
if [ "$failed" -gt 0 ] || [ "$skipped" -gt 0 ]; then
    grep -B 20 -E '^--- (FAIL|SKIP): ' "$work/log"
elif [ "$status" -ne 0 ] || ! kill -0 "$server" 2>/dev/null; then
    tail -30 "$work/log"
    failed=1
fi
cat "$work/err"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
