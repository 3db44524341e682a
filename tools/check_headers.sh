#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every header compiles alone: it includes what it uses. Public headers also compile as C++, because
# programs that embed the engine may be written in it. What protoc-c makes of our messages is made here.
set -eu
cd "$(dirname "$0")/.."
flags="-Isrc -Iinclude -Itests/unit -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Werror -fsyntax-only"
# A header alone uses little of what it defines.
flags="$flags -Wno-unused -Wno-unused-const-variable"
jobs=$(nproc)
generated=$(mktemp -d)
trap 'rm -rf "$generated"' EXIT
protos=src/bigtable/wire/proto
protoc-c --c_out="$generated" -I"$protos" -I/usr/include $(cd "$protos" && find . -name '*.proto' | sed 's|^\./||') \
    google/protobuf/any.proto google/protobuf/duration.proto google/protobuf/empty.proto google/protobuf/field_mask.proto \
    google/protobuf/timestamp.proto google/protobuf/wrappers.proto
proxy=tests/conformance/proxy/proto
protoc-c --c_out="$generated" -I"$proxy" -I"$protos" -I/usr/include $(cd "$proxy" && find . -name '*.proto' | sed 's|^\./||')
flags="$flags -isystem $generated"
headers=$(git ls-files --cached --others --exclude-standard '*.h')

# Compiles each header of the standard input: check LANGUAGE STANDARD COMPILER
check() {
    # limits.h and the like declare nothing, which C does not allow a file to do: the typedef helps.
    xargs -P "$jobs" -I '{}' sh -c "
        printf '#include \"%s\"\ntypedef int ms_not_empty;\n' \"\$PWD/{}\" |
            $3 -x $1 -std=$2 $flags - || { echo 'check_headers: {} does not compile as $1' >&2; exit 1; }"
}

status=0
echo "$headers" | check c c17 "${CC:-gcc}" || status=1
echo "$headers" | grep '^include/' | check c++ c++17 "${CXX:-g++}" || status=1
exit $status
