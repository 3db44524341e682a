#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The checks that need no build: house rules, headers, formatting, generated files. Prints the time
# of each and, at the end, how many passed. Goes on after a failure, to show all of them.
set -eu
cd "$(dirname "$0")/.."
passed=0
failed=0

# stage NAME COMMAND...
stage() {
    name=$1
    shift
    start=$(date +%s%N)
    if "$@"; then
        outcome=passed
        passed=$((passed + 1))
    else
        outcome=FAILED
        failed=$((failed + 1))
    fi
    printf '%-24s %s  %5d ms\n' "$name" "$outcome" $((($(date +%s%N) - start) / 1000000))
}

quietly() {
    output=$("$@" 2>&1) || { echo "$output"; return 1; }
}

check_format() {
    git ls-files -z --cached --others --exclude-standard '*.c' '*.h' '*.cc' |
        xargs -0 -n 20 -P "$(nproc)" clang-format-14 --dry-run -Werror
}

check_generated() {
    status=0
    for generator in tools/gen_*.py; do
        python3 "$generator" --check || status=1
    done
    return $status
}

stage "house rules" python3 tools/tidy.py
stage "house rules self-test" quietly python3 tools/tidy_test.py
stage "headers alone" tools/check_headers.sh
stage "formatting" check_format
stage "generated files" check_generated
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
