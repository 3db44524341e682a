#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Google's clients of Python, Node.js, Go and Java against a server of a fresh data directory.
#   tests/conformance/clients/run.sh PROGRAM [CLIENT ...]      CLIENT: python node go java; all without any
# Each client is fetched from its registry in the version below into MS_CLIENTS, a temporary directory where that is
# not set; where it is, what is there already is not fetched again. So it needs the network and minutes, and no other
# test runs it. A client whose tool is missing or that cannot be fetched is SKIPPED. Prints a summary and a last line
# "N passed, N failed".
set -u
program=$(realpath "${1:?usage: run.sh PROGRAM [CLIENT ...]}")
shift
[ $# -gt 0 ] || set -- python node go java
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
into=${MS_CLIENTS:-$work/clients}
mkdir -p "$into"
into=$(realpath "$into")

python_version=2.50.2
node_version=6.5.1
go_version=v1.58.0
java_version=$(sed -n 's#.*<version>\([0-9.]*\.[0-9]*\)</version>.*#\1#p' "$here/java/pom.xml")

server=
stop() {
    [ -z "$server" ] || { kill "$server" && wait "$server"; } 2>/dev/null
    rm -rf "$work"
}
trap stop EXIT

serve() {
    "$program" serve --data-dir "$work/data" --listen 127.0.0.1:0 >"$work/out" 2>"$work/err" </dev/null &
    server=$!
    local i
    for i in $(seq 400); do
        BIGTABLE_EMULATOR_HOST=$(sed -n 's/^millstream: serving Bigtable at //p' "$work/out")
        [ -n "$BIGTABLE_EMULATOR_HOST" ] && break
        sleep 0.05
    done
    [ -n "$BIGTABLE_EMULATOR_HOST" ] || { echo "the server did not start: $(cat "$work/err")" && exit 1; }
    export BIGTABLE_EMULATOR_HOST
}

# ---- A client is fetched by fetch_X, which may fail, and run by run_X ----

fetch_python() {
    [ -x "$into/python/bin/python" ] && return
    python3 -m venv "$into/python" &&
        "$into/python/bin/pip" install -q "google-cloud-bigtable==$python_version"
}
run_python() { "$into/python/bin/python" "$here/python_client.py"; }

fetch_node() {
    [ -d "$into/node/node_modules/@google-cloud/bigtable" ] && return
    mkdir -p "$into/node" && cd "$into/node" &&
        npm install --no-audit --no-fund --no-save --prefix . "@google-cloud/bigtable@$node_version"
}
# The client looks for credentials of a machine in the cloud unless it is told that this is none.
run_node() { METADATA_SERVER_DETECTION=none NODE_PATH=$into/node/node_modules node "$here/node_client.js"; }

fetch_go() {
    mkdir -p "$into/go" && cd "$into/go" || return
    cmp -s "$here/go/main.go" main.go && [ -x client ] && return
    cp "$here/go/main.go" main.go
    { [ -f go.mod ] || go mod init conformance; } &&
        go get "cloud.google.com/go/bigtable@$go_version" && go build -o client .
}
run_go() { "$into/go/client"; }

fetch_java() {
    mkdir -p "$into/java" && cd "$into/java" || return
    if ! [ -f "lib/google-cloud-bigtable-$java_version.jar" ]; then
        mvn -q -B -f "$here/java/pom.xml" \
            org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
            -DoutputDirectory="$into/java/lib" || return
    fi
    javac -nowarn -cp 'lib/*' -d classes "$here/java/ChangeStreams.java"
}
run_java() { java -cp "$into/java/lib/*:$into/java/classes" ChangeStreams "$program"; }

# ---- Run ----

passed=0
failed=0
summary=
serve
for client in "$@"; do
    version=${client}_version
    echo "-- $client ${!version:?no such client}"
    if ! ("fetch_$client") >"$work/log" 2>&1; then
        reason=$(grep -v '^ *$' "$work/log" | tail -1)
        summary+="SKIPPED  $client ${!version}: $reason"$'\n'
        continue
    fi
    "run_$client" 2>&1 | tee "$work/log"
    counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$work/log" | tail -1)
    counts=${counts:-0 passed, 1 failed}
    passed=$((passed + $(echo "$counts" | cut -d' ' -f1)))
    failed=$((failed + $(echo "$counts" | cut -d' ' -f3)))
    summary+="$client ${!version}: $counts"$'\n'
done
printf '\n%s' "$summary"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
