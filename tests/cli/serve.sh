# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The cases of the server and of the administration of tables: in process, through a server that is named, and through
# the one that holds the data directory. Read by run.sh, which says what cases are made of.

# ---- What these cases are made of ----

# Starts a server at a free port: server, address. Options behind win.
serve() { # options
    rm -f serve.out
    "$program" serve --listen 127.0.0.1:0 "$@" >serve.out 2>serve.err </dev/null &
    server=$!
    until_true served
    address=$(sed -n 's/^millstream: serving Bigtable at //p' serve.out)
    port=${address##*:}
}
served() {
    has_lines serve.out || ! kill -0 $server 2>/dev/null
}

# Ends it and looks at how it went.
end_server() { # signal, status
    kill -s "$1" $server
    wait $server 2>wait.err
    local ended=$?
    [ $ended = "$2" ] || fail "the server ended with $ended, not $2: $(cat serve.err)"
    [ ! -s serve.err ] || fail "the server says: $(cat serve.err)"
}

# An administration command, resp. a script, on the way that is tested.
way=()
bt() { ms bigtable "$@" "${way[@]}"; }
sql() { # script
    script "$1" "${way[@]}"
}

# Runs a case's function in the three ways, each with an empty store: note is what each command says of where it is.
in_three_ways() { # function
    way=(--data-dir embedded)
    note='bigtable: embedded store in embedded\n'
    "$1"
    serve --data-dir served
    way=(--bigtable "$address")
    note="bigtable: $address\n"
    "$1"
    end_server TERM 0
    serve --data-dir held
    way=(--data-dir held)
    note="bigtable: embedded store in held, through its server at $address\n"
    "$1"
    end_server INT 0
}

# A family of texts and a primary key: the table p/i/t, or another one.
rows_of() { # name, table
    printf "CREATE TABLE %s (k STRING NOT NULL, cf ROW<n BIGINT>, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector'='bigtable', 'project'='p', 'instance'='i', 'table'='%s');" "$1" "${2-t}"
}

# What is expected of a failure: its first line and its detail, behind the note.
refused() { # error, detail
    status_is 1
    out_is ''
    err_has "error[$1"
    err_has "detail: $2"
}

# ---- Administration ----

admin_tables() {
    bt create-table p/i/t --family cf:max-versions=1 --family sum:int64-sum --family low:int64-min \
        --family high:int64-max:max-versions=2 --family many:int64-hll --family old:raw:max-age=1d --split m --split t --change-stream 24h
    status_is 0
    out_is ''
    err_is "$note"
    bt create-table p/i/t --family cf
    status_is 1
    err_is "${note}error[DUPLICATE_TABLE]: table \"t\" exists already\n"
    bt create-table p/i/bare
    status_is 0
    bt ls p/i
    status_is 0
    out_is 'p/i/bare\np/i/t\n'
    bt count p/i/t
    status_is 0
    out_is '0\n'
    bt drop-table p/i/bare
    status_is 0
    out_is ''
    bt drop-table p/i/bare
    refused 'BIGTABLE_NOT_FOUND]: could not drop table "bare"' 'NOT_FOUND: table "projects/p/instances/i/tables/bare" not found'
    bt ls p/i
    out_is 'p/i/t\n'
    # As where there is no store at all, but for where that is.
    bt ls p/other
    refused 'BIGTABLE_NOT_FOUND]: could not list the tables of "p/other"' 'NOT_FOUND: No tables found for instance projects/p/instances/other'
    grep -v ^bigtable: err >there
    ms bigtable ls p/other --data-dir nowhere
    status_is 1
    grep -v ^bigtable: err | cmp -s - there || fail "$(cat err) differs from $(cat there)"
    [ ! -e nowhere ] || fail 'a data directory was made'
}
case_tables_are_made_listed_and_dropped() { in_three_ways admin_tables; }

admin_refused() {
    bt create-table p/i/t --family cf --change-stream 23h
    refused 'BIGTABLE_ERROR]: could not create table "t"' "INVALID_ARGUMENT: Error in field 'change_stream_config.retention_period' : must be 1 to 7 days"
    bt create-table p/i/t --family cf --change-stream 8d
    refused 'BIGTABLE_ERROR]' "INVALID_ARGUMENT: Error in field 'change_stream_config.retention_period'"
    bt create-table p/i/t --family cf --family cf
    refused 'BIGTABLE_ERROR]' "INVALID_ARGUMENT: Error in field 'column_families' : 'cf' is named twice"
    bt create-table p/i/t --family 'c f'
    refused 'BIGTABLE_ERROR]' 'INVALID_ARGUMENT: '
    bt create-table p/i/t --family cf --split ''
    refused 'BIGTABLE_ERROR]' "INVALID_ARGUMENT: Error in field 'initial_splits' : Error in element #0 : a key has 1 to 4096 bytes"
    for command in add-family drop-table count show gc; do
        bt $command p/i/t $([ $command != add-family ] || echo --family cf)
        refused 'BIGTABLE_NOT_FOUND]' 'NOT_FOUND: No tables found for instance projects/p/instances/i'
    done
    for command in split merge; do
        bt $command p/i/t k
        refused 'BIGTABLE_NOT_FOUND]' 'NOT_FOUND: No tables found for instance projects/p/instances/i'
    done
}
case_administration_that_is_refused() { in_three_ways admin_refused; }

admin_families() {
    bt create-table p/i/t --family a
    bt add-family p/i/t --family b:int64-sum --family c:int64-max:max-versions=3
    status_is 0
    err_is "$note"
    bt add-family p/i/t --family d --family b
    refused 'BIGTABLE_ERROR]: could not add families to table "t"' 'ALREADY_EXISTS: family "b" already exists'
    # All or none: d was not made.
    bt add-family p/i/t --family d
    status_is 0
    bt add-family p/i/none --family d
    refused 'BIGTABLE_NOT_FOUND]' 'NOT_FOUND: table "projects/p/instances/i/tables/none" not found'
}
case_families_are_added_all_or_none() { in_three_ways admin_families; }

admin_profiles() {
    bt create-table p/i/t --family cf
    bt create-profile p/i/solo --cluster local-c1 --transactions
    status_is 0
    err_is "$note"
    bt create-profile p/i/solo --cluster local-c1
    refused 'BIGTABLE_ERROR]: could not create app profile "solo"' 'ALREADY_EXISTS: App profile "projects/p/instances/i/appProfiles/solo" already exists'
    bt create-profile p/i/any --multi-cluster
    status_is 0
    bt create-profile p/i/boost --data-boost
    status_is 0
    bt create-profile p/i/lost --cluster i-c1
    refused 'BIGTABLE_NOT_FOUND]: could not create app profile "lost"' 'NOT_FOUND: cluster "projects/p/instances/i/clusters/i-c1" not found'
    bt create-profile p/unmade/lost --cluster i-c1
    refused 'BIGTABLE_NOT_FOUND]' 'NOT_FOUND: cluster "projects/p/instances/unmade/clusters/i-c1" not found'
    bt ls p/unmade
    refused 'BIGTABLE_NOT_FOUND]' 'NOT_FOUND: No tables found for instance projects/p/instances/unmade'
    # An instance is there once a profile is in it.
    bt create-profile p/new/solo --cluster local-c1
    status_is 0
    bt ls p/new
    status_is 0
    out_is ''
    # What a profile allows holds in SQL. Data Boost reads only.
    sql "$(rows_of t)\nINSERT INTO t VALUES ('a', ROW(1));"
    status_is 0
    sql "$(rows_of t | sed "s/'table'='t'/'table'='t', 'scan.app-profile-id'='boost', 'sink.app-profile-id'='boost'/")\nSELECT k FROM t;\nINSERT INTO t VALUES ('b', ROW(1));"
    status_is 1
    out_is '{"k":"a"}\n'
    err_has 'FAILED_PRECONDITION: '
}
case_profiles_are_made_and_obeyed() { in_three_ways admin_profiles; }

admin_tablets() {
    bt create-table p/i/t --family cf --split m --change-stream 1d
    bt split p/i/t c
    status_is 0
    out_is '3 tablets\n'
    err_is "$note"
    bt split p/i/t c
    refused 'BIGTABLE_ERROR]: could not split a tablet of table "t"' "FAILED_PRECONDITION: A tablet begins at key 'c' already"
    bt merge p/i/t m
    status_is 0
    out_is '2 tablets\n'
    bt merge p/i/t m
    refused 'BIGTABLE_ERROR]: could not merge tablets of table "t"' "FAILED_PRECONDITION: No tablet begins at key 'm'"
    bt merge p/i/t c
    out_is '1 tablet\n'
    bt split p/i/t ''
    refused 'BIGTABLE_ERROR]' 'INVALID_ARGUMENT: A split key has 1 to 4096 bytes'
    ms bigtable split "${way[@]}" p/i/t -- --key
    out_is '2 tablets\n'
}
case_tablets_are_split_and_merged() { in_three_ways admin_tablets; }

admin_rows() {
    bt create-table p/i/t --family cf:max-versions=1
    sql "$(rows_of t)\nINSERT INTO t VALUES ('b', ROW(2)), ('a', ROW(1)), ('ab', ROW(3));\nINSERT INTO t VALUES ('a', ROW(4));\nSELECT k, t.cf.n FROM t;"
    status_is 0
    out_is '{"k":"a","n":4}\n{"k":"ab","n":3}\n{"k":"b","n":2}\n'
    err_is "${note}3 rows written\n1 row written\n"
    bt count p/i/t
    out_is '3\n'
    bt show p/i/t
    [ "$(grep -v '^ ' out | tr '\n' ' ' | tr -d -)" = ' a  ab  b ' ] || fail "$(cat out)"
    # Both versions are there until garbage is collected.
    bt show p/i/t --prefix a --limit 1
    [ "$(grep -c 'cf:n @' out)" = 2 ] || fail "$(cat out)"
    bt gc p/i/t
    status_is 0
    out_is '1 cell collected\n'
    err_is "$note"
    bt gc p/i/t
    out_is '0 cells collected\n'
    bt show p/i/t --prefix a --limit 2
    [ "$(grep -c 'cf:n @' out)" = 2 ] || fail "$(cat out)"
    bt show p/i/t --prefix z
    status_is 0
    out_is ''
}
case_rows_are_shown_counted_and_collected() { in_three_ways admin_rows; }

# Far more bytes of keys than a request may have: the service takes 512 KiB.
many_long_keys() {
    bt create-table p/i/t --family cf:max-versions=1
    local long keys i
    long=$(printf '%04000d' 0)
    keys="'${long}100'"
    for i in $(seq 101 400); do keys="$keys, '$long$i'"; done
    sql "$(rows_of t)\nINSERT INTO t VALUES ('${long}100', ROW(1)), ('${long}250', ROW(2)), ('${long}400', ROW(3)), ('${long}401', ROW(4));\nSELECT t.cf.n FROM t WHERE k IN ($keys);"
    status_is 0
    [ "$(sort out | tr '\n' ' ')" = '{"n":1} {"n":2} {"n":3} ' ] || fail "$(head -c 300 out)"
}
case_long_keys_are_asked_for_in_several_requests() { in_three_ways many_long_keys; }

# ---- Operands and options ----

case_administration_checks_its_operands_first() {
    local text
    for command in create-table drop-table show count gc; do
        ms bigtable $command p/i
        status_is 1
        err_is 'error[INVALID_ARGUMENT]: "p/i" is not PROJECT/INSTANCE/TABLE\nhint: Write the table too: "p/i/TABLE".\n'
    done
    for command in split merge; do
        ms bigtable $command p/i key
        status_is 1
        err_is 'error[INVALID_ARGUMENT]: "p/i" is not PROJECT/INSTANCE/TABLE\nhint: Write the table too: "p/i/TABLE".\n'
    done
    for text in p/i/t/x p ''; do
        ms bigtable add-family "$text" --family cf
        status_is 1
        err_is "error[INVALID_ARGUMENT]: \"$text\" is not PROJECT/INSTANCE/TABLE\nhint: Write three names with a slash between them.\n"
    done
    ms bigtable create-profile p/i --data-boost
    status_is 1
    err_is 'error[INVALID_ARGUMENT]: "p/i" is not PROJECT/INSTANCE/ID\nhint: Write the profile'"'"'s ID too: "p/i/ID".\n'
    ms bigtable create-profile 'p/i/a b' --data-boost
    status_is 1
    err_has "Error in field 'app_profile_id' : \"a b\" is not 1 to 50 of"
    ms bigtable ls p/i/t
    status_is 1
    err_is 'error[INVALID_ARGUMENT]: "p/i/t" is not PROJECT/INSTANCE\nhint: An instance is meant, without its tables: "p/i".\n'
    ms bigtable ls p
    status_is 1
    err_is 'error[INVALID_ARGUMENT]: "p" is not PROJECT/INSTANCE\nhint: Write two names with a slash between them.\n'
    ms bigtable create-table 'p/i/a b' --family cf
    status_is 1
    err_has 'error[BIGTABLE_ERROR]: "p/i/a b" is no valid name'
    [ ! -e millstream-data ] || fail 'the data directory was made'
}
case_options_that_a_command_does_not_take_are_refused() {
    ms bigtable ls p/i --split q
    usage_error 'option "--split" does not go with ls'
    ms bigtable count p/i/t --limit 3
    usage_error 'option "--limit" does not go with count'
    ms bigtable add-family p/i/t --family cf --change-stream 1d
    usage_error 'option "--change-stream" does not go with add-family'
    ms bigtable create-table p/i/t --transactions
    usage_error 'option "--transactions" does not go with create-table'
    ms bigtable create-profile p/i/x --multi-cluster --family cf
    usage_error 'option "--family" does not go with create-profile'
    ms bigtable gc p/i/t --prefix a
    usage_error 'option "--prefix" does not go with gc'
    ms bigtable drop-table --multi-cluster p/i/t
    usage_error 'option "--multi-cluster" does not go with drop-table'
    [ ! -e millstream-data ] || fail 'the data directory was made'
}
case_parts_of_a_family_are_said_once() {
    ms bigtable create-table p/i/t --family cf:raw:int64-sum
    usage_error 'family "cf:raw:int64-sum" says "int64-sum" after another type'
    ms bigtable create-table p/i/t --family cf:max-versions=1:max-versions=2
    usage_error 'family "cf:max-versions=1:max-versions=2" says "max-versions=2" after another number of versions'
    ms bigtable create-table p/i/t --family cf:max-age=1d:max-age=2d
    usage_error 'family "cf:max-age=1d:max-age=2d" says "max-age=2d" after another age'
    ms bigtable create-table p/i/t --family :raw
    usage_error 'family ":raw" has no name'
}
case_numbers_and_durations_of_administration() {
    for value in 0 -1d soon ''; do
        ms bigtable create-table p/i/t --change-stream "$value"
        usage_error "\"$value\" is no duration, such as 24h or 7d"
    done
    for value in 0 0d -1d soon ''; do
        ms bigtable create-table p/i/t --family "cf:max-age=$value"
        usage_error "\"max-age=$value\": the age is a duration above 0, such as 12h or 30d"
    done
    for value in 0 -1 2147483648 99999999999 many ''; do
        ms bigtable create-table p/i/t --family "cf:max-versions=$value"
        usage_error "\"max-versions=$value\": the number of versions is 1 to 2147483647"
    done
    ms bigtable create-table p/i/t --family cf:max-size=3
    usage_error '"max-size=3" is no part of a family'
}
case_settings_of_administration() {
    ms bigtable ls p/i --set bigtable.backend
    usage_error 'option "--set" needs NAME=VALUE'
    ms bigtable ls p/i --set bigtable.backnd=cloud
    status_is 2
    err_has 'bigtable.backend'
    # The last one that was given counts.
    ms bigtable ls p/i --bigtable example.com:1 --set bigtable.backend=embedded
    status_is 1
    err_has 'bigtable: embedded store in millstream-data, which is not there yet'
    ms bigtable ls p/i --set bigtable.backend=embedded --bigtable example.com:1
    status_is 1
    err_has '"example.com:1" is another machine, which is reached by TLS only'
}

# ---- Life of a server ----

case_serve_usage() {
    ms serve extra
    usage_error 'unexpected "extra"'
    ms serve --listen
    usage_error 'option "--listen" needs HOST:PORT'
    ms serve --port 1
    usage_error 'there is no option "--port"'
}
case_serve_collects_garbage_by_its_interval() {
    local write
    write="$(rows_of t)\nINSERT INTO t VALUES ('a', ROW(1));\nINSERT INTO t VALUES ('a', ROW(2));"
    one_version() {
        bt show p/i/t
        [ "$(grep -c 'cf:n @' out)" = 1 ]
    }
    serve --data-dir served --gc-interval 100ms
    way=(--bigtable "$address")
    bt create-table p/i/t --family cf:max-versions=1
    sql "$write"
    until_true one_version
    end_server TERM 0
    # Without one: only when it is asked for.
    serve --data-dir served --gc-interval 0s
    way=(--bigtable "$address")
    sql "$write"
    bt gc p/i/t
    out_is '2 cells collected\n'
    end_server TERM 0
    for interval in soon -1s 36500000d; do
        ms serve --gc-interval "$interval"
        usage_error "\"$interval\" is no interval; write a duration such as 10m, or 0s for none"
    done
}
case_serve_refuses_what_it_cannot_use() {
    : >empty
    echo token >token
    for address in nowhere 127.0.0.1 127.0.0.1:x 127.0.0.1:65536 :8086 '' 'a b:1' unix:; do
        ms serve --listen "$address"
        status_is 1
        err_has "error[INVALID_OPTION]: \"$address\" is not an address"
        err_has 'hint: Write HOST:PORT'
    done
    ms serve --listen no-such-host.invalid:0
    status_is 1
    err_has 'error[INVALID_OPTION]: address "no-such-host.invalid:0" can be reached from other machines'
    ms serve --token-file missing
    status_is 1
    err_has 'error[FILE_NOT_FOUND]: could not open file "missing"'
    ms serve --token-file empty
    status_is 1
    err_has 'error[INVALID_OPTION]: token file "empty" is empty'
    ms serve --tls-cert token
    status_is 1
    err_has 'error[MISSING_OPTION]: a certificate and its key go together'
    ms serve --tls-key token
    status_is 1
    err_has 'error[MISSING_OPTION]: a certificate and its key go together'
    ms serve --tls-cert missing --tls-key token
    status_is 1
    err_has 'error[FILE_NOT_FOUND]: could not read "missing"'
    ms serve --tls-cert token --tls-key token
    status_is 1
    err_has 'error[INVALID_OPTION]: certificate file "token" cannot be used'
    [ ! -e millstream-data ] || fail 'the data directory was made'
}
case_serve_beyond_loopback_wants_tls_and_a_token() {
    certificates
    for options in '' '--token-file token' '--tls-cert server.pem --tls-key server.key'; do
        for address in 0.0.0.0:0 [::]:0 192.0.2.1:0 example.com:0; do
            # shellcheck disable=SC2086
            ms serve --listen $address $options
            status_is 1
            err_is "error[INVALID_OPTION]: address \"$address\" can be reached from other machines, and needs TLS and a token\nhint: Give --tls-cert, --tls-key and --token-file, or listen on 127.0.0.1.\n"
        done
    done
    [ ! -e millstream-data ] || fail 'the data directory was made'
}
case_serve_at_a_port_that_is_taken() {
    serve --data-dir one
    ms serve --listen "$address" --data-dir two
    status_is 1
    out_is ''
    err_is "error[IO_ERROR]: could not listen on \"$address\"\ndetail: Address already in use\nhint: Another program listens there. Choose another port, or 0 for any that is free.\n"
    [ ! -e two ] || fail 'a store was made that nobody serves'
    ms serve --listen 127.0.0.1:0 --data-dir one
    status_is 1
    err_has 'error[DATA_DIR_IN_USE]: data directory "one" is in use'
    err_has "process $server holds it"
    way=(--bigtable "$address")
    bt create-table p/i/t --family cf
    status_is 0
    end_server TERM 0
}
# Where it says that it is, it is found: by name and through the data directory.
serve_at() { # address to listen on
    serve --listen "$1" --data-dir data
    ms bigtable create-table p/i/t --family cf --bigtable "$address"
    status_is 0
    ms bigtable ls p/i --data-dir data
    status_is 0
    out_is 'p/i/t\n'
    err_is "bigtable: embedded store in data, through its server at $address\n"
    ms bigtable ls p/i --data-dir data --quiet
    out_is 'p/i/t\n'
    err_is "bigtable: embedded store in data, through its server at $address\n"
    end_server TERM 0
}
case_serve_at_a_unix_socket() {
    serve_at "unix:$PWD/socket"
    [ "$address" = "unix:$PWD/socket" ] || fail "it says $address"
}
case_serve_at_an_ip6_address() {
    serve_at '[::1]:0'
    [ "$address" = "[::1]:$port" ] || fail "it says $address"
}

served_rows() { # rows
    ms bigtable count p/i/t --data-dir data
    status_is 0
    out_is "$1\n"
}
serve_and_end() { # signal, status
    serve --data-dir data
    way=(--bigtable "$address")
    bt create-table p/i/t --family cf:max-versions=1 --family sum:int64-sum --split m --change-stream 1d
    bt create-profile p/i/solo --cluster local-c1
    sql "$(rows_of t)\nINSERT INTO t VALUES ('a', ROW(1)), ('b', ROW(2)), ('z', ROW(3));"
    status_is 0
    kill -s "$1" $server
    wait $server 2>wait.err
    status=$?
    status_is "$2"
    # In process first, then by another server: tables, families, splits and profiles are as they were.
    served_rows 3
    serve --data-dir data
    served_rows 3
    err_is "bigtable: embedded store in data, through its server at $address\n"
    way=(--bigtable "$address")
    bt split p/i/t m
    refused 'BIGTABLE_ERROR]' "FAILED_PRECONDITION: A tablet begins at key 'm' already"
    bt add-family p/i/t --family sum
    refused 'BIGTABLE_ERROR]' 'ALREADY_EXISTS: family "sum" already exists'
    bt create-profile p/i/solo --cluster local-c1
    refused 'BIGTABLE_ERROR]' 'ALREADY_EXISTS: '
    sql "$(rows_of t)\nSELECT k, t.cf.n FROM t;"
    out_is '{"k":"a","n":1}\n{"k":"b","n":2}\n{"k":"z","n":3}\n'
    end_server TERM 0
}
case_serve_ends_at_sigterm_and_keeps_what_it_was_given() { serve_and_end TERM 0; }
case_serve_ends_at_sigint_and_keeps_what_it_was_given() { serve_and_end INT 0; }
case_serve_ends_at_sighup_and_keeps_what_it_was_given() { serve_and_end HUP 0; }
case_serve_under_nohup_outlives_its_terminal() {
    trap '' HUP
    serve --data-dir data
    trap - HUP
    kill -s HUP $server
    bt create-table p/i/t --family cf --bigtable "$address"
    status_is 0
    end_server TERM 0
}
case_serve_that_is_killed_keeps_what_it_acknowledged() { serve_and_end KILL 137; }
# A number of kB of the server.
memory_kb() { # field
    sed -n "s/^$1:[^0-9]*\([0-9]*\) kB/\1/p" /proc/$server/status
}
sum_of_values() {
    sql "$values SELECT COUNT(*) AS n, SUM(CHAR_LENGTH(cf.v)) AS c FROM t;"
    status_is 0
    out_is '{"n":12000,"c":120000000}\n'
}
case_large_scans_take_no_memory() {
    serve --data-dir served
    way=(--bigtable "$address")
    values="CREATE TABLE t (k STRING NOT NULL, cf ROW<v STRING>, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector'='bigtable', 'project'='p', 'instance'='i', 'table'='t');"
    bt create-table p/i/t --family cf
    sql "$values $(numbers g 1000000 12000)
INSERT INTO t SELECT CAST(id AS STRING), ROW(CONCAT(x, x, x, x, x, x, x, x, x, x)) FROM (SELECT id, '$(printf '%01000d' 0)' AS x FROM g);"
    status_is 0
    sum_of_values
    # 120 MB once more, with all caches warm: the highest it gets, beside what it has.
    local before peak
    echo 5 >/proc/$server/clear_refs
    before=$(memory_kb VmRSS)
    sum_of_values
    peak=$(memory_kb VmHWM)
    [ $((peak - before)) -lt 24000 ] || fail "a scan of 120 MB took the server from $before to $peak kB"
    end_server TERM 0
}
case_serve_finishes_the_calls_under_way() {
    # A tailing job reads and writes without end: it is told that the server goes, and the server ends.
    serve --data-dir data
    ms bigtable create-table p/i/t --family cf --bigtable "$address"
    printf '%b' "$(numbers g 500)\n$(rows_of t)\nINSERT INTO t SELECT CAST(id AS STRING), ROW(id) FROM g;" >s.sql
    start run s.sql --bigtable "$address"
    until_true grep -q "bigtable: $address" err
    sleep 0.5
    end_server TERM 0
    ms bigtable count p/i/t --data-dir data
    status_is 0
    [ "$(cat out)" -gt 0 ] || fail 'nothing was written'
    kill -9 $pid
}
# Somebody who asks for 30 MB and reads none of it.
read_nothing() {
    serve --data-dir data
    printf '%b' "$(numbers g 100000 3000)\nCREATE TABLE t (k STRING NOT NULL, cf ROW<v STRING>, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector'='bigtable', 'project'='p', 'instance'='i', 'table'='t', 'sink.create-disposition'='create-if-needed', 'sink.table-create.gc-rule.max-versions'='1');\nINSERT INTO t SELECT CAST(id AS STRING), ROW('$(printf %010000d 0)') FROM g;" >s.sql
    ms run s.sql --bigtable "$address"
    status_is 0
    mkfifo unread
    exec 8<>unread
    "$program" bigtable show p/i/t --bigtable "$address" >unread 2>err </dev/null &
    pid=$!
    until_true grep -q "bigtable: $address" err
    sleep 0.5
    kill -0 $pid || fail "the reader has ended: $(cat err)"
}
case_serve_waits_for_a_reader_who_does_not_read_but_not_for_long() {
    read_nothing
    end_server TERM 0
    kill $pid
    ms bigtable count p/i/t --data-dir data
    out_is '3000\n'
}
case_serve_waits_for_nobody_after_a_second_signal() {
    read_nothing
    kill -s TERM $server
    sleep 0.5
    kill -0 $server || fail 'the server did not wait for its call'
    end_server TERM 143
    kill $pid
    ms bigtable count p/i/t --data-dir data
    out_is '3000\n'
}
case_serve_does_not_wait_for_idle_connections() {
    serve --data-dir data
    exec 7<>"/dev/tcp/127.0.0.1/$port"
    end_server TERM 0
    exec 7>&-
}
# More sockets that say nothing than the server takes connections: with so few descriptors, 100.
case_serve_takes_clients_while_others_hold_all_its_connections() {
    (ulimit -n 200 && exec "$program" serve --listen 127.0.0.1:0 --data-dir data >serve.out 2>serve.err </dev/null) &
    server=$!
    until_true served
    address=$(sed -n 's/^millstream: serving Bigtable at //p' serve.out)
    port=${address##*:}
    local i held
    for i in $(seq 130); do
        exec {held}<>"/dev/tcp/127.0.0.1/$port"
    done
    ms bigtable create-table p/i/t --family cf --bigtable "$address"
    status_is 0
    for i in $(seq 30); do
        exec {held}<>"/dev/tcp/127.0.0.1/$port"
    done
    ms bigtable ls p/i --bigtable "$address"
    status_is 0
    out_is 'p/i/t\n'
    # One line, however many have come.
    [ "$(wc -l <serve.err)" = 1 ] || fail "the server says: $(head -c 600 serve.err)"
    grep -q ' warn net event=connection_limit max=[0-9]* .*peer=127.0.0.1:' serve.err || fail "$(cat serve.err)"
    : >serve.err
    end_server TERM 0
}
case_serve_passes_over_what_is_no_http() {
    serve --data-dir data
    for text in 'GET / HTTP/1.1\r\n\r\n' '\0\0\0' 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nxxxxxxxxxxxxxxxxxxxxxxxxxxx' '\026\003\001\001\000'; do
        exec 7<>"/dev/tcp/127.0.0.1/$port"
        (printf '%b' "$text" >&7) # SIGPIPE may end it
        exec 7>&-
    done
    head -c 100000 /dev/urandom >"/dev/tcp/127.0.0.1/$port" 2>noise.err
    ms bigtable create-table p/i/t --family cf --bigtable "$address"
    status_is 0
    end_server TERM 0
}
case_serve_says_only_its_address() {
    serve --data-dir data
    same serve.out "millstream: serving Bigtable at $address\n"
    [ "$(stat -c %a data)" = 700 ] || fail "mode $(stat -c %a data)"
    end_server TERM 0
    same serve.out "millstream: serving Bigtable at $address\n"
}

# ---- Beyond this machine ----

authority() { # name
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$1.key" -out "$1.pem" -days 2 \
        -subj "/CN=$1" -addext basicConstraints=critical,CA:TRUE >/dev/null 2>&1 || fail "openssl made no $1"
}

# ca.pem and other.pem are authorities, server.pem and server.key what the first one has signed, token what clients send.
certificates() {
    authority ca
    authority other
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout server.key -out server.csr -subj /CN=server >/dev/null 2>&1
    printf 'subjectAltName=IP:127.0.0.1,DNS:localhost\n' >extensions
    openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile extensions -out server.pem >/dev/null 2>&1 ||
        fail 'openssl made no server.pem'
    echo right-token >token
    echo wrong-token >wrong
}
secured() { # CA file, token file, operands and options
    local options=(--set "bigtable.tls-ca=$1" --set "bigtable.token-file=$2")
    shift 2
    ms bigtable "$@" "${options[@]}"
}
case_tls_and_token_are_checked() {
    certificates
    serve --listen 0.0.0.0:0 --tls-cert server.pem --tls-key server.key --token-file token --data-dir data
    [ "$address" = "0.0.0.0:$port" ] || fail "it says $address"
    secured ca.pem token create-table p/i/t --family cf --bigtable "localhost:$port"
    status_is 0
    err_is "bigtable: localhost:$port\n"
    script "SET 'bigtable.tls-ca' = 'ca.pem';\nSET 'bigtable.token-file' = 'token';\n$(rows_of t)\nINSERT INTO t VALUES ('a', ROW(1));\nSELECT k FROM t;" --bigtable "127.0.0.1:$port"
    status_is 0
    out_is '{"k":"a"}\n'
    secured ca.pem wrong ls p/i --bigtable "127.0.0.1:$port"
    refused 'BIGTABLE_ERROR]: could not list the tables of "p/i"' 'UNAUTHENTICATED: the authorization is missing or not accepted'
    err_has "hint: The token in the file that 'bigtable.token-file' names is not the server's."
    script "SET 'bigtable.tls-ca' = 'ca.pem';\n$(rows_of t)\nINSERT INTO t VALUES ('a', ROW(1));" --bigtable "127.0.0.1:$port"
    status_is 1
    err_has "hint: Set 'bigtable.token-file' to the file of the server's token."
    script "$(rows_of t | sed "s/'table'='t'/'table'='t', 'emulator-endpoint'='127.0.0.1:$port'/")\nSELECT k FROM t;"
    status_is 1
    err_has "hint: A table's 'emulator-endpoint' is plaintext without a token."
    ms bigtable ls p/i --bigtable "127.0.0.1:$port" --set bigtable.tls-ca=ca.pem
    refused 'BIGTABLE_ERROR]' 'UNAUTHENTICATED: the authorization is missing or not accepted'
    err_has "hint: Set 'bigtable.token-file' to the file of the server's token."
    secured other.pem token ls p/i --bigtable "127.0.0.1:$port"
    refused 'BIGTABLE_UNAVAILABLE]: could not list the tables of "p/i"' "UNAVAILABLE: the server's certificate was not accepted: "
    err_has "hint: The certificate, or one that has signed it, must be in the file that 'bigtable.tls-ca' names"
    # The name must be one of the certificate's.
    secured ca.pem token ls p/i --bigtable "127.0.0.2:$port"
    refused 'BIGTABLE_UNAVAILABLE]' "UNAVAILABLE: the server's certificate was not accepted: "
    # Neither without TLS nor with what is no certificate.
    ms bigtable ls p/i --bigtable "127.0.0.1:$port" --set bigtable.token-file=token
    refused 'BIGTABLE_UNAVAILABLE]' 'UNAVAILABLE: the server expects TLS'
    err_has "hint: Set 'bigtable.tls-ca' to the file of certificates to trust"
    ms bigtable ls p/i --bigtable "example.com:$port" --set bigtable.token-file=token
    status_is 1
    err_has "error[MISSING_OPTION]: \"example.com:$port\" is another machine, which is reached by TLS only"
    secured missing.pem token ls p/i --bigtable "127.0.0.1:$port"
    status_is 1
    err_has 'error[FILE_NOT_FOUND]: could not read "missing.pem"'
    secured token token ls p/i --bigtable "127.0.0.1:$port"
    status_is 1
    err_has 'error[INVALID_OPTION]'
    secured ca.pem missing ls p/i --bigtable "127.0.0.1:$port"
    status_is 1
    err_has 'error[FILE_NOT_FOUND]: could not open file "missing"'
    # After all of that it serves on.
    secured ca.pem token count p/i/t --bigtable "127.0.0.1:$port"
    out_is '1\n'
    end_server TERM 0
}
case_tls_at_the_holder_of_a_data_directory() {
    certificates
    serve --listen 0.0.0.0:0 --tls-cert server.pem --tls-key server.key --token-file token --data-dir data
    secured ca.pem token create-table p/i/t --family cf --data-dir data
    status_is 0
    err_is "bigtable: embedded store in data, through its server at 127.0.0.1:$port\n"
    ms bigtable ls p/i --data-dir data
    status_is 1
    err_is "error[MISSING_OPTION]: \"127.0.0.1:$port\" is reached by TLS only\nhint: Set 'bigtable.tls-ca' to the file of certificates to trust, and 'bigtable.token-file' to the file of the server's token.\n"
    ms bigtable ls p/i --data-dir data --set bigtable.tls-ca=ca.pem
    refused 'BIGTABLE_ERROR]' 'UNAUTHENTICATED: '
    end_server TERM 0
    # On loopback a token may do without TLS; a certificate to trust is then not for this server.
    serve --token-file token --data-dir data
    secured ca.pem token ls p/i --data-dir data
    status_is 0
    out_is 'p/i/t\n'
    ms bigtable ls p/i --data-dir data
    refused 'BIGTABLE_ERROR]' 'UNAUTHENTICATED: '
    ms bigtable ls p/i --bigtable "$address" --set bigtable.token-file=wrong
    refused 'BIGTABLE_ERROR]' 'UNAUTHENTICATED: '
    secured ca.pem token ls p/i --bigtable "$address"
    refused 'BIGTABLE_UNAVAILABLE]' 'UNAVAILABLE: the server does not speak TLS: '
    err_has "hint: The server was started without a certificate: leave 'bigtable.tls-ca' out"
    end_server TERM 0
}

# ---- Where Bigtable lives ----

case_order_of_choice() {
    serve --data-dir one
    local one=$address first=$server
    ms bigtable create-table p/i/t --family cf --bigtable "$one"
    serve --data-dir two
    local two=$address
    ms bigtable create-table p/i/t --family cf --bigtable "$two"
    ms bigtable create-table p/i/t --family cf
    local named insert="INSERT INTO t VALUES ('a', ROW(1));"
    named=$(rows_of t | sed "s/'table'='t'/'table'='t', 'emulator-endpoint'='$one'/")
    # Embedded, unless the environment says something else.
    script "$(rows_of t)\n$insert"
    err_is 'bigtable: embedded store in millstream-data\n1 row written\n'
    export BIGTABLE_EMULATOR_HOST=$one
    script "$(rows_of t)\n$insert"
    err_is "bigtable: $one\n1 row written\n"
    ms bigtable count p/i/t
    out_is '1\n'
    err_is "bigtable: $one\n"
    # The flag is before it, the script's setting before the flag.
    script "$(rows_of t)\n$insert" --bigtable "$two"
    err_is "bigtable: $two\n1 row written\n"
    script "$(rows_of t)\n$insert" --bigtable embedded
    err_is 'bigtable: embedded store in millstream-data\n1 row written\n'
    script "SET 'bigtable.backend' = '$two';\n$(rows_of t)\n$insert" --bigtable embedded
    err_is "bigtable: $two\n1 row written\n"
    ms bigtable ls p/i --bigtable embedded
    err_is 'bigtable: embedded store in millstream-data\n'
    # The table's own is before all of them.
    script "SET 'bigtable.backend' = '$two';\n$named\n$insert" --bigtable embedded
    err_is "bigtable: $one, as the table says\n1 row written\n"
    # One line a place, also under --quiet.
    script "$named\n$(rows_of u)\n$insert\nINSERT INTO u VALUES ('b', ROW(1));\nSELECT COUNT(*) AS n FROM t;" --bigtable "$two" --quiet
    status_is 0
    out_is '{"n":1}\n'
    err_is "bigtable: $one, as the table says\nbigtable: $two\n"
    ms bigtable count p/i/t --quiet
    err_is "bigtable: $one\n"
    export BIGTABLE_EMULATOR_HOST=
    ms bigtable ls p/i
    err_is 'bigtable: embedded store in millstream-data\n'
    export BIGTABLE_EMULATOR_HOST=nonsense
    ms bigtable ls p/i
    status_is 1
    err_has 'error[INVALID_OPTION]: BIGTABLE_EMULATOR_HOST cannot be "nonsense"'
    export BIGTABLE_EMULATOR_HOST=example.com:8086
    ms bigtable ls p/i
    status_is 1
    err_has '"example.com:8086" is another machine, which is reached by TLS only'
    unset BIGTABLE_EMULATOR_HOST
    end_server TERM 0
    server=$first
    mv serve.err two.err
    : >serve.err
    end_server TERM 0
}
case_administration_says_that_cloud_credentials_are_there() {
    export GOOGLE_APPLICATION_CREDENTIALS=$PWD/key.json
    ms bigtable create-table p/i/t --family cf
    status_is 0
    err_is 'bigtable: embedded store in millstream-data (Cloud credentials are there: --bigtable cloud uses them)\n'
    unset GOOGLE_APPLICATION_CREDENTIALS
    export HOME=$PWD
    mkdir -p .config/gcloud
    : >.config/gcloud/application_default_credentials.json
    ms bigtable ls p/i
    err_is 'bigtable: embedded store in millstream-data (Cloud credentials are there: --bigtable cloud uses them)\n'
    ms bigtable ls p/i --bigtable cloud
    status_is 1
    err_has 'error[INVALID_OPTION]'
}
case_nobody_at_the_address() {
    serve --data-dir data
    end_server TERM 0
    ms bigtable ls p/i --bigtable "$address"
    refused 'BIGTABLE_UNAVAILABLE]: could not list the tables of "p/i"' 'UNAVAILABLE: '
    err_has 'Connection refused'
}

case_server_that_does_not_answer() {
    serve --data-dir data
    kill -STOP $server
    # Beside each other: each waits for as long as a connect may take.
    timeout 60 "$program" bigtable count p/i/t --bigtable "$address" >count.out 2>count.err </dev/null &
    local count=$! create
    timeout 60 "$program" bigtable create-table p/i/t --bigtable "$address" >create.out 2>create.err </dev/null &
    create=$!
    ms bigtable ls p/i --data-dir data
    wait $count
    [ $? = 1 ] || fail "count: $(cat count.err)"
    wait $create
    [ $? = 1 ] || fail "create-table: $(cat create.err)"
    kill -CONT $server
    refused 'BIGTABLE_UNAVAILABLE]: could not list the tables of "p/i"' "UNAVAILABLE: the peer did not speak HTTP/2 in time (no server was reached for 2"
    for text in "$(cat err)" "$(cat count.err)" "$(cat create.err)"; do
        [[ $text == *'(no server was reached for '* ]] || fail "$text"
    done
    end_server TERM 0
}
case_addresses_that_are_none() {
    local address
    for address in 127.0.0.1:99999 '[::1]:99999' 127.0.0.1:x 'a b:1'; do
        ms bigtable ls p/i --bigtable "$address"
        status_is 1
        err_is "error[INVALID_OPTION]: \"$address\" is not an address\nhint: Write HOST:PORT, with an IPv6 address in brackets, or unix:PATH.\n"
        BIGTABLE_EMULATOR_HOST=$address ms bigtable ls p/i
        status_is 1
        err_has "error[INVALID_OPTION]: \"$address\" is not an address"
        script "$(rows_of t | sed "s/'table'='t'/'table'='t', 'emulator-endpoint'='$address'/")\nSELECT k FROM t;"
        status_is 1
        err_has_no 'another machine'
    done
}

# ---- Jobs beside a server that holds the data directory ----

case_jobs_with_checkpoints_beside_a_server() {
    serve --data-dir data
    printf '%b' "$(numbers g 400 800)\n$(rows_of t) $(files o made)\nINSERT INTO o SELECT id FROM g;" >s.sql
    ms bigtable create-table p/i/t --family cf --data-dir data
    start run s.sql --checkpoint-interval 50ms --data-dir data
    until_true has_rows made
    printf '%b' "$(numbers g 100000 500)\n$(rows_of t)\nINSERT INTO t SELECT CAST(id AS STRING), ROW(id) FROM g;\nSELECT COUNT(*) AS n FROM t;" >other.sql
    timeout 100 "$program" run other.sql --checkpoint-interval 50ms --data-dir data >out2 2>err2 || fail "another job: $(cat err2)"
    grep -qF "bigtable: embedded store in data, through its server at $address" err2 || fail "$(cat err2)"
    [ "$(cat out2)" = '{"n":500}' ] || fail "rows: $(cat out2)"
    "$program" run s.sql --checkpoint-interval 50ms --data-dir data >out2 2>err2
    [ $? = 1 ] || fail 'the job runs twice'
    grep -qF 'error[JOB_RUNNING]' err2 || fail "$(cat err2)"
    kill -9 $pid
    wait $pid 2>wait.err
    ms run s.sql --checkpoint-interval 50ms --data-dir data
    status_is 1
    err_has 'error[RESUME_REQUIRED]: job "s-1" did not finish'
    ms run s.sql --checkpoint-interval 50ms --data-dir data --resume
    status_is 0
    [ "$(cat made/part-* | sort -u | wc -l)" = 800 ] || fail "$(cat made/part-* | sort -u | wc -l) different rows"
    [ "$(cat made/part-* | wc -l)" = 800 ] || fail "$(cat made/part-* | wc -l) rows"
    end_server TERM 0
}
case_job_that_is_killed_beside_its_server_goes_on_without_it() {
    serve --data-dir data
    printf '%b' "$(numbers g 400 800)\n$stored\nINSERT INTO t SELECT CAST(id AS STRING), ROW(id) FROM g;\nSELECT COUNT(*) AS n, SUM(t.cf.n) AS s FROM t;" >s.sql
    start run s.sql --checkpoint-interval 50ms --data-dir data
    until_true has_checkpoint data/checkpoints/s-1
    kill -9 $pid
    wait $pid 2>wait.err
    end_server TERM 0
    ms run s.sql --checkpoint-interval 50ms --data-dir data --resume
    status_is 0
    out_is '{"n":800,"s":320400}\n'
    err_has 'bigtable: embedded store in data'
    err_has_no 'server'
}
case_job_outlives_a_server_that_is_killed() {
    serve --data-dir data
    printf '%b' "$(numbers g 400 800)\n$stored\nINSERT INTO t SELECT CAST(id AS STRING), ROW(id) FROM g;\nSELECT COUNT(*) AS n, SUM(t.cf.n) AS s FROM t;" >s.sql
    start run s.sql --checkpoint-interval 50ms --data-dir other --bigtable "$address"
    until_true has_checkpoint other/checkpoints/s-1
    end_server KILL 137
    serve --data-dir data --listen "$address"
    wait $pid
    status=$?
    status_is 0
    out_is '{"n":800,"s":320400}\n'
    err_is "bigtable: $address\n800 rows written\n"
    [ ! -e other/bigtable ] || fail 'the job has a store of its own'
    end_server TERM 0
}
