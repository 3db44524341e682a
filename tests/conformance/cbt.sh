#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Google's command line client, cbt, against a server of a fresh data directory, which is killed and started again in
# between: what was acknowledged is there after it.
#   tests/conformance/cbt.sh PROGRAM
# Every function whose name begins with "case_" is a case; they run in the order they are written in, each on what
# the one before left; the server is killed and started before one whose name ends with "_after_a_kill". Ends with a line "N passed, N failed". Where there is no cbt it says so and passes nothing.
set -u
program=$(realpath "${1:?usage: cbt.sh PROGRAM}")
self=$(realpath "${BASH_SOURCE[0]}")
if ! command -v cbt >/dev/null; then
    echo "SKIPPED  cbt: the program is not on the path (it is part of the Google Cloud CLI)"
    echo "0 passed, 0 failed"
    exit 0
fi

work=$(mktemp -d)
server=
stop() {
    [ -z "$server" ] || { kill -s KILL "$server" && wait "$server"; } 2>/dev/null
    rm -rf "$work"
}
trap stop EXIT
cd "$work" || exit 1
unset GOOGLE_APPLICATION_CREDENTIALS
export HOME=$work TZ=UTC
# Without credentials named, cbt asks gcloud for some, which takes seconds; for an emulator they are not looked at.
printf 'creds = /dev/null\nproject = conformance\ninstance = cbt\ntimeout = 20s\n' >.cbtrc

# ---- What cases are made of ----

serve() {
    rm -f server.out
    "$program" serve --data-dir data --listen 127.0.0.1:0 >server.out 2>server.err </dev/null &
    server=$!
    local i
    for i in $(seq 400); do
        BIGTABLE_EMULATOR_HOST=$(sed -n 's/^millstream: serving Bigtable at //p' server.out 2>/dev/null)
        [ -n "$BIGTABLE_EMULATOR_HOST" ] && break
        sleep 0.05
    done
    [ -n "$BIGTABLE_EMULATOR_HOST" ] || { echo "the server did not start: $(cat server.err)" && exit 1; }
    export BIGTABLE_EMULATOR_HOST
}

fail() {
    printf '    %s\n' "$*" >&3
    exit 1
}

# Runs cbt; status, out and err hold what came of it. Times that the server gave are written NOW, and a space
# stands for the tabs between columns.
cbt_ends() {
    cbt "$@" >raw 2>err </dev/null
    status=$?
    sed -E 's#@ 20[0-9]{2}/[0-9/]+-[0-9:.]+$#@ NOW#; s#\t+# #g' raw >out
}
does() {
    cbt_ends "$@"
    [ "$status" = 0 ] || fail "cbt $*: exit status $status: $(head -c 600 err)"
}
refuses() { # text, arguments ...
    local text=$1
    shift
    cbt_ends "$@"
    [ "$status" != 0 ] || fail "cbt $*: was taken"
    grep -qF -- "$text" err || fail "cbt $*: no \"$text\" in: $(head -c 600 err)"
}

# Everything printed, byte by byte, from standard input here.
prints() {
    cat >expected
    cmp -s expected out || fail "differs from what was expected: $(diff expected out | head -20)"
}
prints_nothing() { prints </dev/null; }

# The rows printed, as "key family:qualifier=value ..." on one line each.
rows() {
    awk '/^----/ { if (line != "") print line; line = ""; getline; line = $0; next }
         /^  [^ ]/ { cell = $1; next }
         /^    / { sub(/^    /, ""); line = line " " cell "=" $0 }
         END { if (line != "") print line }' out >rows
    mv rows out
    prints
}

# ---- Tables and families ----

case_createtable() {
    does createtable people families=cf,other:maxversions=2 splits=m
    prints_nothing
    does createtable empty
    refuses AlreadyExists createtable people
}

case_createfamily() {
    does createfamily people third
    refuses AlreadyExists createfamily people third
    refuses NotFound createfamily absent third
}

case_ls_lists_tables() {
    does ls
    prints <<'EOF'
empty
people
EOF
}

case_ls_of_a_table_lists_families() {
    does ls people
    prints <<'EOF'
Family Name GC Policy Value Type
----------- --------- ----------
cf <never> {}
other versions() > 2 {}
third <never> {}
EOF
}

case_setgcpolicy() {
    does setgcpolicy people cf maxage=1d or maxversions=3
    does setgcpolicy people other maxage=36h and maxversions=7
    does ls people
    prints <<'EOF'
Family Name GC Policy Value Type
----------- --------- ----------
cf (age() > 1d || versions() > 3) {}
other (age() > 36h && versions() > 7) {}
third <never> {}
EOF
    does setgcpolicy people cf never
    refuses NotFound setgcpolicy people nope maxversions=1
}

# ---- Writing and reading ----

case_set() {
    does set people alice cf:city=Basel cf:age=30@5000 other:x=1
    prints_nothing
    does set people bob cf:city=Bern
    does set people carol cf:city=Chur cf:age=41@6000
    does set people 'zoë' other:note=$'a\x01b'
    refuses 'Requested column family not found' set people bob nope:q=1
}

case_read() {
    does read people
    prints <<'EOF'
----------------------------------------
alice
  cf:age                                   @ 1970/01/01-00:00:00.005000
    "30"
  cf:city                                  @ NOW
    "Basel"
  other:x                                  @ NOW
    "1"

----------------------------------------
bob
  cf:city                                  @ NOW
    "Bern"

----------------------------------------
carol
  cf:age                                   @ 1970/01/01-00:00:00.006000
    "41"
  cf:city                                  @ NOW
    "Chur"

----------------------------------------
zoë
  other:note                               @ NOW
    "a\x01b"

EOF
    refuses NotFound read absent
}

case_read_of_a_prefix() {
    does read people prefix=bo
    rows <<<'bob cf:city="Bern"'
}

case_read_of_a_range() {
    does read people start=b end=carol
    rows <<<'bob cf:city="Bern"'
}

case_read_of_a_regular_expression() {
    does read people 'regex=.*o.*' columns=cf:city
    rows <<'EOF'
bob cf:city="Bern"
carol cf:city="Chur"
EOF
    refuses InvalidArgument read people 'regex=[a'
}

case_read_of_columns() {
    does read people columns=cf:age,other:.*
    rows <<'EOF'
alice cf:age="30" other:x="1"
carol cf:age="41"
zoë other:note="a\x01b"
EOF
}

case_read_of_a_count_of_rows() {
    does read people count=2 columns=cf:city
    rows <<'EOF'
alice cf:city="Basel"
bob cf:city="Bern"
EOF
}

case_read_reversed() {
    does read people reversed=true columns=cf:city count=2
    rows <<'EOF'
carol cf:city="Chur"
bob cf:city="Bern"
EOF
}

case_read_of_keys_only() {
    does read people keys-only=true prefix=bob
    rows <<<'bob cf:city=""'
}

case_lookup() {
    does lookup people alice
    rows <<<'alice cf:age="30" cf:city="Basel" other:x="1"'
    does lookup people alice columns=cf:age
    rows <<<'alice cf:age="30"'
    does lookup people nobody
    rows </dev/null # it prints the line above a row even then
}

case_versions() {
    does set people bob cf:v=one@1000 cf:v=two@2000 cf:v=three@3000
    does lookup people bob columns=cf:v
    rows <<<'bob cf:v="three" cf:v="two" cf:v="one"'
    does lookup people bob columns=cf:v cells-per-column=2
    rows <<<'bob cf:v="three" cf:v="two"'
}

case_count() {
    does count people
    prints <<<4
    does count people prefix=b
    prints <<<1
    does count empty
    prints <<<0
}

case_import() {
    printf ',cf,,other\n,a,b,c\nin-1,1,,3\nin-2,4@7000,5,\n' >in.csv
    does import people in.csv timestamp=value-encoded
    does read people prefix=in-
    rows <<'EOF'
in-1 cf:a="1" other:c="3"
in-2 cf:a="4" cf:b="5"
EOF
}

case_addtocell() {
    does createfamily people sum:never:intsum
    does addtocell people total sum:n=5@1000
    does addtocell people total sum:n=7@1000
    does lookup people total
    rows <<<'total sum:n="\x00\x00\x00\x00\x00\x00\x00\f"'
    refuses InvalidArgument set people total sum:n=5
}

# ---- The server ends without a word ----

case_rows_are_there_after_a_kill() {
    does read people columns=cf:city,other:.*
    rows <<'EOF'
alice cf:city="Basel" other:x="1"
bob cf:city="Bern"
carol cf:city="Chur"
in-1 other:c="3"
zoë other:note="a\x01b"
EOF
    does lookup people total
    rows <<<'total sum:n="\x00\x00\x00\x00\x00\x00\x00\f"'
    does ls
    prints <<'EOF'
empty
people
EOF
}

# ---- Removing ----

case_deletecolumn() {
    does deletecolumn people bob cf v
    does lookup people bob
    rows <<<'bob cf:city="Bern"'
}

case_deleterow() {
    does deleterow people bob
    does lookup people bob
    rows </dev/null
    does deleterow people nobody
}

case_deletefamily() {
    does deletefamily people other
    does lookup people alice
    rows <<<'alice cf:age="30" cf:city="Basel"'
    refuses NotFound deletefamily people other
}

case_what_was_removed_stays_removed_after_a_kill() {
    does read people columns=cf:.*
    rows <<'EOF'
alice cf:age="30" cf:city="Basel"
carol cf:age="41" cf:city="Chur"
in-1 cf:a="1"
in-2 cf:a="4" cf:b="5"
EOF
}

case_deleteallrows() {
    does deleteallrows people
    does count people
    prints <<<0
}

# ---- The instance ----

case_app_profiles() {
    does createappprofile cbt one text route-to=local-c1 transactional-writes=true force=true
    does getappprofile cbt one
    grep -q 'local-c1' out || fail "no cluster in $(cat out)"
    does listappprofile cbt
    [ "$(grep -c '/appProfiles/' out)" = 2 ] || fail "not two profiles: $(cat out)"
    does set people alice cf:city=Basel app-profile=one
    refuses NotFound read people app-profile=absent
}

case_clusters() {
    does listclusters
    grep -q '^local-c1' out || fail "no cluster in $(cat out)"
}

case_deletetable() {
    does deletetable people
    does ls
    prints <<<empty
    refuses NotFound deletetable people
    refuses NotFound read people
}

# ---- Run ----

passed=0
failed=0
exec 3>&1
serve
for name in $(grep -oE '^case_[a-z_]+' "$self"); do
    case $name in *_after_a_kill)
        kill -s KILL "$server"
        wait "$server" 2>/dev/null
        serve
        ;;
    esac
    if ("$name"); then
        echo "passed  $name"
        passed=$((passed + 1))
    else
        echo "FAILED  $name"
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
