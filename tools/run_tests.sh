#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# All tests: unit and golden files under ASan and UBSan, the command line, cbt against the server and the
# crash tests with the optimized program. Prints the time of each stage and a last line "N passed, N failed".
set -u
cd "$(dirname "$0")/.."
passed=0
failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
set -o pipefail

run_ctest() { # label
    ctest --test-dir build/dev -L "$1" -j 2 --output-on-failure >"$log" 2>&1
    local total bad
    total=$(grep -cE '^ *[0-9]+/[0-9]+ Test +#' "$log")
    bad=$(grep -cE '\*\*\*(Failed|Exception|Timeout|Not Run)' "$log")
    [ "$bad" -gt 0 ] && cat "$log"
    grep -hE '^[0-9]+ passed, [0-9]+ failed' "$log" | sed 's/^/  golden files: /'
    passed=$((passed + total - bad))
    failed=$((failed + bad))
    [ "$total" -gt 0 ] || failed=$((failed + 1))
}

run_script() { # command ...
    "$@" 2>&1 | tee "$log"
    local status=$?
    local counts
    counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -1)
    passed=$((passed + $(echo "${counts:-0 passed, 0 failed}" | cut -d' ' -f1)))
    local bad
    bad=$(echo "${counts:-0 passed, 1 failed}" | cut -d' ' -f3)
    [ "$status" -ne 0 ] && [ "$bad" -eq 0 ] && bad=1
    failed=$((failed + bad))
}

for stage in unit slt cli conformance crash; do
    start=$SECONDS
    echo "-- $stage"
    case $stage in
    unit | slt) run_ctest $stage ;;
    cli) run_script tests/cli/run.sh build/release/millstream ;;
    conformance) run_script tests/conformance/cbt.sh build/release/millstream ;;
    crash) run_script tests/crash/run.sh ;;
    esac
    echo "-- $stage: $((SECONDS - start)) s"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
