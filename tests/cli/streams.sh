# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Change streams of a server while tablets are split and merged by command, while it is killed, and while nobody serves:
# every commit is in the stream once, in the order of its row. Read by run.sh, which says what cases are made of.
# The reader is tests/crash/stream_reader.c, from the build that has the program.

reader=$(dirname "$program")/tests/crash/stream_reader

# A script of a job that writes the numbers from 1 to $2 into 26 rows of table t, named by a letter and $1, $3 a second.
writer() { # name, count, rows a second
    printf '%b' "$(numbers g "$3" "$2")\n$(rows_of t)\nINSERT INTO t SELECT CONCAT(SUBSTRING('abcdefghijklmnopqrstuvwxyz', CAST(MOD(id, 26) AS INT) + 1, 1), '-$1'), ROW(id) FROM g;" >"$1.sql"
}

# Follows the stream from the time of `begin_stream` on, behind what is in tokens: changes, one a line, go to $1.
begin_stream() {
    stream_start=$(date +%s%6N)
}
follow() { # file, tail or nothing
    "$reader" "$address" projects/p/instances/i/tables/t tokens "$stream_start" ${2:+"$2"} >"$1" 2>follow.err
}
follow_in_background() { # file: follower
    [ -x "$reader" ] || fail "there is no $reader"
    follow "$1" tail &
    follower=$!
}
has_changes() { # file, count
    [ "$(grep -c '^change ' "$1")" -ge "$2" ]
}
end_following() { # file
    # The reader itself, not the shell around it.
    kill -s TERM "$(pgrep -P $follower)"
    wait $follower || fail "the reader ended with $?: $(cat follow.err)"
    grep -q '^closed ' "$1" || fail "the reader did not end: $(tail -3 "$1")"
}

# Of all that was written by a writer, the files have every number once, and those of a row ascend.
audit() { # name, count, files
    local name=$1 count=$2
    shift 2
    cat "$@" | awk -v name="-$name" -v count="$count" '
        $1 != "change" || substr($2, 2) != name { next }
        { rows++ }
        seen[$3]++ { print "twice: " $0; bad = 1 }
        $3 <= last[$2] "" { print "out of order: " $0; bad = 1 }
        { last[$2] = $3 "" }
        END { if (rows != count) { print rows " of " count " changes"; bad = 1 } exit bad }' >audit.out ||
        fail "writer $name: $(head -5 audit.out)"
}

# Splits at a letter and merges it, again and again, by turns in two ways to the server, until the process has ended.
operate_while() { # pid
    local letter
    operations=0
    while kill -0 "$1" 2>/dev/null; do
        for letter in e t q; do
            ms bigtable split p/i/t $letter --bigtable "$address"
            status_is 0
            ms bigtable split p/i/t "$letter-one" --data-dir data
            status_is 0
            ms bigtable merge p/i/t $letter --data-dir data
            status_is 0
            ms bigtable merge p/i/t "$letter-one" --bigtable "$address"
            status_is 0
            operations=$((operations + 4))
        done
    done
}

sql_at_server() { # statement
    script "$(rows_of t)\n$1" --bigtable "$address"
    status_is 0
}

case_splits_and_merges_while_a_stream_is_read() {
    serve --data-dir data
    ms bigtable create-table p/i/t --family cf --split m --change-stream 1d --bigtable "$address"
    begin_stream
    follow_in_background first
    writer one 1200 400
    writer two 1200 400
    "$program" run one.sql --bigtable "$address" >one.out 2>one.err &
    local one=$!
    "$program" run two.sql --data-dir data >two.out 2>two.err &
    local two=$!
    operate_while $one
    wait $one || fail "a writer: $(cat one.err)"
    wait $two || fail "a writer: $(cat two.err)"
    until_true has_changes first 2400
    end_following first
    audit one 1200 first
    audit two 1200 first
    # A split closes a stream, and a merge two.
    [ "$(sed -n 's/^closed //p' first)" -ge $((operations / 2 * 3)) ] || fail "$operations operations, $(tail -1 first)"
    [ $operations -ge 12 ] || fail "only $operations operations"

    # In process, while nobody serves; the tokens are those of tablets that have ended since.
    end_server TERM 0
    for command in 'split e' 'split g' 'merge m' 'merge e' 'split x'; do
        # shellcheck disable=SC2086
        ms bigtable ${command% *} p/i/t "${command#* }" --data-dir data
        status_is 0
        err_is 'bigtable: embedded store in data\n'
        writer "${command#* }-${command% *}" 100 100000
        ms run "${command#* }-${command% *}.sql" --data-dir data
        status_is 0
    done
    serve --data-dir data
    follow second || fail "the reader: $(cat follow.err)"
    for command in e-split g-split m-merge e-merge x-split; do audit $command 100 second; done
    has_changes second 500 || fail "$(grep -c '^change' second) changes"
    ! has_changes second 501 || fail "$(grep -c '^change' second) changes"
    # What was followed is not told again.
    ms bigtable split p/i/t k --bigtable "$address"
    follow third || fail "the reader: $(cat follow.err)"
    ! has_changes third 1 || fail "told again: $(head -3 third)"
    [ "$(tail -1 third)" = 'closed 1' ] || fail "$(tail -1 third)"
    end_server TERM 0
}

# A reader and a writer outlive a server that is killed. The writer has two requests under way and sends again what was not
# answered: the stream may have numbers twice, and those of both requests in another order. It has all of them, and the
# table what was written last.
case_stream_outlives_a_server_that_is_killed() {
    serve --data-dir data
    ms bigtable create-table p/i/t --family cf --split m --change-stream 1d --bigtable "$address"
    begin_stream
    follow_in_background told
    writer one 1500 500
    "$program" run one.sql --bigtable "$address" >one.out 2>one.err &
    local one=$! i
    for i in 200 600 1000; do
        until_true has_changes told $i
        ms bigtable split p/i/t "k$i" --bigtable "$address"
        status_is 0
        end_server KILL 137
        serve --data-dir data --listen "$address"
        ms bigtable merge p/i/t "k$i" --bigtable "$address"
        status_is 0
    done
    wait $one || fail "the writer: $(cat one.err)"
    until_true grep -qE '^change .*-one 00000000000005dc$' told
    end_following told
    follow more || fail "the reader: $(cat follow.err)"
    [ "$(grep -c . one.err)" = 2 ] || fail "the writer says: $(cat one.err)"
    [ "$(cat told more | awk '$1 == "change" { print $3 }' | sort -u | wc -l)" = 1500 ] || fail 'numbers are missing'
    sql_at_server "SELECT COUNT(*) AS n, MIN(t.cf.n) AS least, MAX(t.cf.n) AS most, SUM(t.cf.n) AS s FROM t;"
    out_is '{"n":26,"least":1475,"most":1500,"s":38675}\n'
    end_server TERM 0
}
