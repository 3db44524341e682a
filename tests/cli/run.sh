#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Drives the program as a user would: arguments, scripts, results, errors, signals, exit statuses.
#   tests/cli/run.sh PROGRAM [CASE ...]
# Every function whose name begins with "case_", here and in the files beside it, is a case and runs in an empty
# directory of its own, as the working directory. It calls `ms` and looks at what came of it; the first check that fails
# ends it. Ends with a line "N passed, N failed".
set -u
program=$(realpath "${1:?usage: run.sh PROGRAM [CASE ...]}")
shift
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset BIGTABLE_EMULATOR_HOST GOOGLE_APPLICATION_CREDENTIALS MS_FAULT MS_SEED MILLSTREAM_LOG
export HOME=$work TZ=UTC

# ---- What cases are made of ----

fail() {
    printf '    %s\n' "$*" >&3
    exit 1
}

# Runs the program; status, out and err hold what came of it. What hangs ends with status 124.
ms() {
    timeout 100 "$program" "$@" >out 2>err </dev/null
    status=$?
}

# The same with a script from here, which may have \n and other escapes of printf's %b.
script() {
    printf '%b' "$1" >s.sql
    shift
    ms run s.sql "$@"
}

status_is() {
    [ "$status" = "$1" ] || fail "exit status $status, not $1; standard error: $(head -c 600 err)"
}

# out_is and err_is compare everything, byte by byte.
same() { # file, expected
    printf '%b' "$2" >expected
    cmp -s expected "$1" || fail "$1 differs from what was expected: $(diff expected "$1" | head -20)"
}
out_is() { same out "$1"; }
err_is() { same err "$1"; }
out_has() { grep -qF -- "$1" out || fail "no \"$1\" in standard output: $(head -c 600 out)"; }
err_has() { grep -qF -- "$1" err || fail "no \"$1\" in standard error: $(head -c 600 err)"; }
err_has_no() { ! grep -qF -- "$1" err || fail "\"$1\" in standard error: $(head -c 600 err)"; }

usage_error() { # text
    status_is 2
    out_is ''
    err_has "$1"
}

# Starts the program in the background: pid.
start() {
    rm -f out err # the shell that makes them anew may be later than a look at them
    "$program" "$@" >out 2>err </dev/null &
    pid=$!
}

# Waits up to ten seconds for a condition.
until_true() {
    local i
    for i in $(seq 200); do
        if "$@"; then return 0; fi
        sleep 0.05
    done
    fail "waited in vain: $*"
}

# Sends a signal and waits for the end; status.
stop_with() {
    kill -s "$1" "$pid"
    wait "$pid"
    status=$?
}

numbers() { # name, rows a second, last number or nothing
    if [ -n "${3-}" ]; then
        printf "CREATE TABLE %s (id BIGINT) WITH ('connector'='datagen', 'rows-per-second'='%s', 'fields.id.kind'='sequence', 'fields.id.start'='1', 'fields.id.end'='%s');" "$1" "$2" "$3"
    else
        printf "CREATE TABLE %s (id BIGINT) WITH ('connector'='datagen', 'rows-per-second'='%s');" "$1" "$2"
    fi
}

files() { # name, directory
    printf "CREATE TABLE %s (id BIGINT) WITH ('connector'='filesystem', 'path'='%s', 'format'='json');" "$1" "$2"
}

printer() { # name
    printf "CREATE TABLE %s (id BIGINT) WITH ('connector'='print');" "$1"
}

has_rows() { # directory: committed rows
    [ "$(cat "$1"/part-* 2>/dev/null | wc -l)" -gt 0 ]
}

has_lines() { # file
    [ "$(cat "$1" 2>/dev/null | wc -l)" -gt 0 ]
}

# ---- Arguments ----

case_without_command() {
    ms
    usage_error 'the shell is not built yet'
}
case_help() {
    ms --help
    status_is 0
    out_has 'usage: millstream COMMAND'
    err_is ''
    ms help
    status_is 0
    for command in run check explain serve bigtable version; do
        ms $command --help
        status_is 0
        out_has "usage: millstream $command"
        err_is ''
        ms help $command
        status_is 0
        out_has "usage: millstream $command"
    done
    ms run x -h
    status_is 0
    ms help bogus
    usage_error 'there is no command "bogus"'
}
case_help_of_a_command_of_bigtable() {
    ms bigtable --help
    status_is 0
    out_has 'usage: millstream bigtable COMMAND ...'
    local command
    # shellcheck disable=SC2013
    for command in create-table add-family drop-table create-profile ls show count split merge gc; do
        grep -qE "^  $command +PROJECT/INSTANCE" out || fail "no $command"
        ms bigtable "$command" --help
        status_is 0
        err_is ''
        out_has "usage: millstream bigtable $command PROJECT/INSTANCE"
        out_has "  millstream bigtable $command demo/local"
        out_has '  --data-dir DIR'
        mv out long
        ms help bigtable "$command"
        cmp -s long out || fail "two helps of $command"
        ms bigtable --help
    done
    ms bigtable show --help
    out_has 'usage: millstream bigtable show PROJECT/INSTANCE/TABLE [options]'
    out_has '--prefix KEY'
    ! grep -qe --family -e --split out || fail 'options of other commands'
    ms bigtable --data-dir x split -h
    out_has 'usage: millstream bigtable split PROJECT/INSTANCE/TABLE KEY [options]'
    ms bigtable xy
    usage_error 'there is no command "bigtable xy"'
    err_has_no 'did you mean'
    ms bigtable frob
    usage_error 'there is no command "bigtable frob"'
    err_has_no 'did you mean'
    ms help bigtable sow
    usage_error 'there is no command "bigtable sow"; did you mean "show"?'
    ms bigtable sow p/i/t
    usage_error 'there is no command "bigtable sow"; did you mean "show"?'
    ms bigtable show
    usage_error 'show needs PROJECT/INSTANCE/TABLE'
    err_has 'try: millstream bigtable show --help'
}
# What the help shows is what the command takes.
case_examples_of_the_help_work() {
    local command
    for command in create-table add-family create-profile merge split show count gc ls drop-table; do
        ms help bigtable "$command"
        # shellcheck disable=SC2046
        ms $(sed -n 's/^  millstream bigtable/bigtable/p' out)
        status_is 0
    done
}
case_help_columns_do_not_touch() {
    ms run --help
    ! grep -E '^  --[^ ]+( [A-Z:=]+)? [a-z]' out || fail "an option and its help touch"
    ms bigtable create-table --help
    out_has '--family NAME[:TYPE][:max-versions=N][:max-age=D]'
}
case_unknown_command() {
    ms bogus
    usage_error 'there is no command "bogus"'
    ms srve
    usage_error 'there is no command "srve"; did you mean "serve"?'
}
case_commands_to_come_are_refused_by_name() {
    for command in state node; do
        ms $command
        usage_error "command \"$command\" is not built yet"
    done
}
case_run_wants_a_script() {
    ms run
    usage_error 'no script'
    ms check
    usage_error 'no script'
    ms explain
    usage_error 'no script'
}
case_run_takes_one_script() {
    ms run a.sql b.sql
    usage_error 'more than one script'
}
case_unknown_option_names_the_nearest() {
    ms run a.sql --pararelism 2
    usage_error 'there is no option "--pararelism"; did you mean "--parallelism"?'
    ms run a.sql --format json
    usage_error 'there is no option "--format"; did you mean "--result"?'
    ms check a.sql --format json
    usage_error 'there is no option "--format"'
    err_has_no '--result'
    ms run a.sql --xyzzyxyzzy
    usage_error 'there is no option "--xyzzyxyzzy"'
    ms check a.sql --resume
    usage_error 'there is no option "--resume"'
    ms explain a.sql --resume
    usage_error 'there is no option "--resume"'
}
case_option_to_come_is_refused_by_name() {
    ms run a.sql --metrics 127.0.0.1:9090
    usage_error 'option "--metrics" is not built yet'
}
case_option_without_its_value() {
    ms run a.sql --data-dir
    usage_error 'option "--data-dir" needs DIR'
}
case_data_directory_without_a_name() {
    # "$DIR" of a script that forgot to set it; the root of the file system would be meant.
    script "SELECT 1 AS a;" --data-dir ''
    status_is 1
    err_has 'error[INVALID_OPTION]: the data directory has no name'
    err_has 'hint: Name one, or leave it out: the default is "millstream-data".'
}
case_option_with_a_value_that_it_does_not_take() {
    ms run a.sql --quiet=1
    usage_error 'option "--quiet" takes no value'
}
case_option_with_equals() {
    script 'SELECT 1 AS a' --result=csv
    status_is 0
    out_is 'a\n1\n'
}
case_options_in_front_of_the_script() {
    echo 'SELECT 1 AS a' >s.sql
    ms run --result csv s.sql
    out_is 'a\n1\n'
}
case_two_dashes_end_the_options() {
    echo 'SELECT 1 AS a' >-s.sql
    ms run --result csv -- -s.sql
    status_is 0
    out_is 'a\n1\n'
}
case_set_without_equals() {
    ms run a.sql --set foo
    usage_error 'option "--set" needs NAME=VALUE, not "foo"'
}
case_set_of_a_wrong_setting_or_value() {
    ms run a.sql --set table.foo=1
    usage_error 'error[UNKNOWN_OPTION]: there is no setting "table.foo"'
    ms bigtable ls p/i --set bigtable.nope=1
    usage_error 'error[UNKNOWN_OPTION]: there is no setting "bigtable.nope"'
    err_has 'hint: There are bigtable.backend, '
    err_has 'bigtable.token-file'
    ms run a.sql --parallelism 0
    usage_error 'setting "parallelism.default" cannot be "0"'
    err_has 'detail: option "--parallelism" gives the setting its value'
    ms run a.sql --parallelism two
    usage_error 'setting "parallelism.default" cannot be "two"'
    ms run a.sql --checkpoint-interval 5xx
    usage_error 'setting "execution.checkpointing.interval" cannot be "5xx"'
}
case_define_of_a_wrong_name() {
    ms run a.sql --define 1x=3
    usage_error '"1x" is no name of a variable'
}
case_unknown_result_format() {
    ms run a.sql --result xml
    usage_error '"xml" is no result format; use json, csv, tableau or changelog'
}
case_resume_and_fresh_exclude_each_other() {
    ms run a.sql --resume --fresh
    usage_error '--resume and --fresh exclude each other'
}

# ---- Version ----

case_version() {
    ms version
    status_is 0
    grep -qE '^millstream [0-9]+\.[0-9]+\.[0-9]+$' out || fail "no version: $(cat out)"
    cp out first
    ms --version
    cmp -s out first || fail '--version says something else'
    ms version x
    usage_error 'unexpected "x"'
}
case_version_v_says_the_zone() {
    ms version -v
    status_is 0
    grep -qE '^local-time-zone [A-Za-z/]+$' out || fail "no zone: $(cat out)"
}

# ---- Scripts ----

case_script_of_a_file() {
    script 'SELECT 1 AS a;\nSELECT 2 AS b;\n'
    status_is 0
    out_is '{"a":1}\n{"b":2}\n'
    err_is ''
}
case_script_of_standard_input() {
    echo 'SELECT 5 AS five' | "$program" run - >out 2>err
    status=$?
    status_is 0
    out_is '{"five":5}\n'
}
case_script_that_is_not_there() {
    ms run nothing.sql
    status_is 1
    err_is 'error[FILE_NOT_FOUND]: could not open script "nothing.sql"\ndetail: No such file or directory\n'
}
case_script_that_is_a_directory() {
    ms run .
    status_is 1
    err_is 'error[IO_ERROR]: could not read script "."\ndetail: Is a directory\n'
}
case_script_that_may_not_be_read() {
    echo 'SELECT 1' >s.sql
    chmod 000 s.sql
    [ ! -r s.sql ] || return 0 # root may
    ms run s.sql
    status_is 1
    err_has 'could not open script "s.sql"'
}
case_empty_scripts() {
    for text in '' ' \n\t' '-- a comment\n' '/* a comment */' ';' ';;\n;'; do
        script "$text"
        status_is 0
        out_is ''
        err_is ''
    done
}
case_last_semicolon_may_be_missing() {
    script 'SELECT 1 AS a; SELECT 2 AS a'
    out_is '{"a":1}\n{"a":2}\n'
}
case_line_ends_of_dos_and_byte_order_mark() {
    script '\xef\xbb\xbfSELECT 1 AS a;\r\nSELECT 2\r\n AS b;\r\n'
    status_is 0
    out_is '{"a":1}\n{"b":2}\n'
    script 'SELECT 1 AS a;\r\nSELECT nope;\r\n'
    err_is 'error[UNDEFINED_COLUMN]: column "nope" does not exist\ns.sql:2:8\n  SELECT nope;\n         ^^^^\nhint: There are no columns here. A text is written in single quotes.\n'
}
case_nul_in_a_string() {
    script "SELECT 'a\x00b' AS a"
    status_is 0
    out_is '{"a":"a\\u0000b"}\n'
}
case_nul_between_statements() {
    script 'SELECT 1 AS a;\x00'
    status_is 1
    err_has 'error[SYNTAX_ERROR]'
}
case_invalid_utf8() {
    script "SELECT '\xff\xfe' AS a"
    status_is 1
    out_is ''
    err_has 'error[SYNTAX_ERROR]: byte 0xff is not valid UTF-8'
    err_has 's.sql:1:9'
    err_has 'hint: Scripts are UTF-8; convert the file.'
}
case_script_of_16_mib_and_one_byte_more() {
    head -c 16777216 /dev/zero | tr '\0' ' ' >s.sql
    ms run s.sql
    status_is 0
    printf ' ' >>s.sql
    ms run s.sql
    status_is 1
    err_is 'error[STATEMENT_TOO_LARGE]: script "s.sql" has more than 16777216 bytes\n'
    "$program" run - <s.sql >out 2>err
    status=$?
    status_is 1
    err_has 'error[STATEMENT_TOO_LARGE]'
}
case_syntax_error_anywhere_runs_nothing() {
    script 'SELECT 1 AS a;\nSELEC 2;\n'
    status_is 1
    out_is ''
    err_is 'error[SYNTAX_ERROR]: syntax error at or near "SELEC"\ns.sql:2:1\n  SELEC 2;\n  ^^^^^\ndetail: expected a statement\nhint: Did you mean SELECT?\n'
}
case_binding_error_stops_at_its_statement() {
    script 'SELECT 1 AS a;\nSELECT b FROM nope;\nSELECT 3 AS c;\n'
    status_is 1
    out_is '{"a":1}\n'
    err_is 'error[UNDEFINED_TABLE]: table "nope" does not exist\ns.sql:2:15\n  SELECT b FROM nope;\n                ^^^^\nhint: No table has been created yet.\n'
}
case_failure_at_run_time_stops_the_script() {
    script "$(printer p)\nINSERT INTO p VALUES (1);\nSELECT 1/0 AS bad;\nINSERT INTO p VALUES (2);\n"
    status_is 1
    out_is ''
    err_is '+I[1]\n1 row written\nerror[DIVISION_BY_ZERO]: division by zero\ns.sql:3:8\n  SELECT 1/0 AS bad;\n         ^^^\n'
}
case_variables() {
    script "SELECT \${n} AS a, '\${n}' AS b -- \${not_this}\n" --define n=7
    status_is 0
    out_is '{"a":7,"b":"7"}\n'
    script "SELECT '\$\${n}' AS a"
    out_is '{"a":"${n}"}\n'
    script 'SELECT ${n} AS a'
    status_is 1
    err_is 'error[UNDEFINED_VARIABLE]: variable "n" has no value\ns.sql:1:8\n  SELECT ${n} AS a\n         ^^^^\nhint: Give it one with --define n=VALUE.\n'
}
case_statements_that_are_refused_by_name() {
    script "CREATE TABLE t (id INT) WITH ('connector'='blackhole'); DELETE FROM t;"
    status_is 1
    err_has 'error[NOT_SUPPORTED]: DELETE is not supported'
    script "UPDATE t SET id = 1;"
    status_is 1
    err_has 'error[NOT_SUPPORTED]: UPDATE is not supported'
    script "TRUNCATE TABLE t;"
    status_is 1
    err_has 'error[NOT_SUPPORTED]: TRUNCATE'
    script "CREATE FUNCTION f AS 'x' LANGUAGE JAVA USING JAR 'a.jar';"
    status_is 1
    err_has 'error[NOT_SUPPORTED]'
}
case_add_jar_warns() {
    script "ADD JAR 'x.jar';\nSELECT 1 AS a;"
    status_is 0
    out_is '{"a":1}\n'
    err_is "warning[STATEMENT_WITHOUT_EFFECT]: ADD JAR does nothing here: connectors and formats are built in
s.sql:1:1
  ADD JAR 'x.jar';
  ^^^^^^^^^^^^^^^
hint: Leave it out of a script that need not run on Apache Flink.
"
}

# ---- Settings ----

case_script_beats_flag() {
    script "SET 'parallelism.default' = '1';\n$(numbers g 1 2)\nEXPLAIN SELECT COUNT(*) AS n FROM g;" --parallelism 2 --result csv
    status_is 0
    out_has 'parallelism=[1]'
    ! grep -q 'parallelism=\[2\]' out || fail 'the flag has won'
}
case_setting_that_has_no_effect_warns_once() {
    script "SET 'table.exec.mini-batch.enabled' = 'true';\nSELECT 1 AS a;"
    status_is 0
    out_is '{"a":1}\n'
    err_is "warning[SETTING_WITHOUT_EFFECT]: setting \"table.exec.mini-batch.enabled\" has no effect here
s.sql:1:5
  SET 'table.exec.mini-batch.enabled' = 'true';
      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: Leave it out of a script that need not run on Apache Flink.
"
}
case_flag_that_has_no_effect_warns_without_a_place() {
    script 'SELECT 1 AS a;' --set table.exec.state.ttl=1h
    status_is 0
    err_is "warning[SETTING_WITHOUT_EFFECT]: setting \"table.exec.state.ttl\" has no effect here
hint: Leave it out of a script that need not run on Apache Flink.
"
}
case_misspelt_root_of_a_setting_warns_with_the_nearest() {
    script "SET 'bigtabel.tls-ca' = 'ca.pem';\nSET 'my.own' = 'x';\nSELECT 1 AS a;" --set paralelism.default=2
    status_is 0
    out_is '{"a":1}\n'
    err_is "warning[SETTING_MISSPELT]: setting \"paralelism.default\" is not known, and kept for functions only
hint: Did you mean \"parallelism.default\"?
warning[SETTING_MISSPELT]: setting \"bigtabel.tls-ca\" is not known, and kept for functions only
s.sql:1:5
  SET 'bigtabel.tls-ca' = 'ca.pem';
      ^^^^^^^^^^^^^^^^^
hint: Did you mean \"bigtable.tls-ca\"?
"
}
case_warnings_are_json_beside_json_errors() {
    script "SELECT 1 AS a;\nSET 'table.exec.state.ttl' = '1h';" --result json
    status_is 0
    err_has '{"warning":{"code":"SETTING_WITHOUT_EFFECT","sqlstate":"01M03","message":"setting \"table.exec.state.ttl\" has no effect here"'
    err_has '"file":"s.sql","line":2,"column":5,"statement":2}}'
}
case_misspelt_setting_names_the_nearest() {
    script "SET 'execution.runtime-mod' = 'batch';"
    status_is 1
    err_has 'error[UNKNOWN_OPTION]: there is no setting "execution.runtime-mod"'
    err_has 'execution.runtime-mode'
}
case_value_of_a_setting_is_checked_at_set() {
    script "SET 'execution.runtime-mode' = 'batsh';"
    status_is 1
    err_has 'error[INVALID_OPTION]: setting "execution.runtime-mode" cannot be "batsh"'
    script "SET 'table.local-time-zone' = 'Mars/Olympus';"
    status_is 1
    err_has 'the time zone "Mars/Olympus" is not known'
}
case_any_other_key_is_kept() {
    script "SET 'my.own.key' = 'x';\nSELECT 1 AS a;"
    status_is 0
    err_is ''
}
case_dml_sync_false_is_refused_with_a_hint() {
    script "SET 'table.dml-sync' = 'false';"
    status_is 1
    err_has 'hint: A bounded INSERT always runs to its end'
}

# ---- Results ----

row="SELECT 1 AS a, CAST(NULL AS STRING) AS b, '' AS c, 'x,\"y' AS d"
case_result_json() {
    script "$row" --result json
    out_is '{"a":1,"b":null,"c":"","d":"x,\\"y"}\n'
}
case_result_csv() {
    script "$row" --result csv
    out_is 'a,b,c,d\n1,,"","x,""y"\n'
}
case_result_tableau() {
    script "$row" --result tableau
    out_is '+---+--------+---+------+\n| a |      b | c |    d |\n+---+--------+---+------+\n| 1 | <NULL> |   | x,"y |\n+---+--------+---+------+\n1 row in set\n'
    cp out first
    script "$row" --result table
    cmp -s out first || fail 'table is not tableau'
}
case_result_changelog() {
    script 'SELECT 1 AS a' --result changelog
    out_is '{"op":"+I","a":1}\n'
    script 'SELECT 1 AS a' --result csv,changelog
    out_is 'op,a\n+I,1\n'
}
case_result_changelog_has_both_halves_of_an_update() {
    script "SET 'millstream.batch.rows' = '1';\n$(numbers g 1000 3)\nSELECT COUNT(*) AS n FROM g;" --result changelog --parallelism 1
    status_is 0
    out_is '{"op":"+I","n":1}\n{"op":"-U","n":1}\n{"op":"+U","n":2}\n{"op":"-U","n":2}\n{"op":"+U","n":3}\n'
    script "SET 'millstream.batch.rows' = '1';\n$(numbers g 1000 3)\nSELECT COUNT(*) AS n FROM g;"
    out_is '{"n":3}\n'
}
case_names_of_columns() {
    script 'SELECT 1, 2, 1 AS a, 2 AS a'
    out_is '{"EXPR$0":1,"EXPR$1":2,"a":1,"a0":2}\n'
}
case_no_rows() {
    script 'SELECT 1 AS a WHERE FALSE'
    status_is 0
    out_is ''
    script 'SELECT 1 AS a WHERE FALSE' --result csv
    out_is 'a\n'
}
case_ddl_set_and_insert_print_nothing_on_standard_output() {
    script "SET 'parallelism.default' = '1';\n$(printer p)\nINSERT INTO p VALUES (1), (2);\nDROP TABLE p;"
    status_is 0
    out_is ''
    err_is '+I[1]\n+I[2]\n2 rows written\n'
}
case_quiet_keeps_notes_back() {
    script "ADD JAR 'x.jar';\n$(printer p)\nINSERT INTO p VALUES (1);" --quiet
    status_is 0
    err_is '+I[1]\n'
}
case_show_and_describe_are_results() {
    script "$(printer p)\nSHOW TABLES;\nDESCRIBE p;" --result csv
    status_is 0
    out_has 'table name'
    out_has 'BIGINT'
}
case_print_goes_to_standard_error_beside_json_and_csv() {
    for format in json csv; do
        script "$(printer p)\nINSERT INTO p VALUES (1);" --result $format
        out_is ''
        err_has '+I[1]'
    done
}

# ---- Errors ----

case_error_as_json_beside_the_text() {
    script 'SELECT 1/0;' --result json
    status_is 1
    out_is ''
    err_is 'error[DIVISION_BY_ZERO]: division by zero\ns.sql:1:8\n  SELECT 1/0;\n         ^^^\n{"error":{"code":"DIVISION_BY_ZERO","sqlstate":"22012","message":"division by zero","detail":null,"hint":null,"file":"s.sql","line":1,"column":8,"statement":1}}\n'
}
case_errors_are_not_json_unless_asked_for() {
    script 'SELECT 1/0;'
    err_has_no '{"error"'
}
case_caret_below_a_line_with_wide_characters() {
    script "SELECT 'äöü' || nope;"
    status_is 1
    err_has 's.sql:1:17'
    err_has "                  ^^^^"
}
case_very_long_line_is_cut_around_the_caret() {
    printf 'SELECT %s nope;' "$(head -c 5000 /dev/zero | tr '\0' ' ')" >s.sql
    ms run s.sql
    status_is 1
    err_has '^^^^'
    [ "$(wc -c <err)" -lt 6000 ] || fail 'the line was not cut'
}

# ---- check and explain ----

case_check_reports_all_errors() {
    printf 'SELECT a FROM t1;\nSELECT 1;\nSELECT b FROM t2;\n' >s.sql
    ms check s.sql
    status_is 1
    out_is ''
    err_has 's.sql:1:15'
    err_has 's.sql:3:15'
}
case_check_runs_nothing() {
    printf '%b' "$(files o made)\nINSERT INTO o VALUES (1);\nSELECT 1/0;" >s.sql
    ms check s.sql
    status_is 0
    out_is ''
    [ ! -e made ] || fail 'the sink was made'
    [ ! -e millstream-data ] || fail 'the data directory was made'
}
case_check_warns_of_an_unbounded_query_in_the_middle() {
    printf '%b' "$(numbers g 1)\nSELECT id FROM g;\nSELECT 1;" >s.sql
    ms check s.sql
    status_is 0
    err_has 'warning[UNREACHABLE_STATEMENT]: this query is unbounded, so the statements after it do not run'
    err_has 's.sql:2:1'
}
case_check_places_warnings_of_settings_and_statements() {
    printf '%b' "SELECT 1;\nSET 'table.exec.state.ttl' = '1h';\nADD JAR 'x.jar';\n" >s.sql
    ms check s.sql
    status_is 0
    err_has 'warning[SETTING_WITHOUT_EFFECT]: setting "table.exec.state.ttl" has no effect here'
    err_has 's.sql:2:5'
    err_has 'warning[STATEMENT_WITHOUT_EFFECT]: ADD JAR'
    err_has 's.sql:3:1'
}
case_check_warns_of_what_flink_does_not_have() {
    printf '%b' "CREATE TABLE i (a STRING) WITH ('connector' = 'filesystem', 'path' = '-', 'format' = 'json');\nSELECT a FROM i;" >s.sql
    ms check s.sql
    status_is 0
    err_has 'warning[NOT_IN_FLINK]: table "i" uses path "-", which Flink does not have'
    err_has 's.sql:2:15'
}
case_explain_prints_plans_and_runs_nothing() {
    printf '%b' "$(numbers g 1)\n$(files o made)\nINSERT INTO o SELECT id FROM g;\nSELECT COUNT(*) FROM g;" >s.sql
    ms explain s.sql
    status_is 0
    err_is ''
    out_has '== Optimized Physical Plan =='
    out_has 'guarantee=[exactly-once]'
    out_has 'changelogMode=[I,UB,UA]'
    [ ! -e made ] || fail 'the sink was made'
}

# ---- The data directory ----

case_query_makes_no_data_directory() {
    script 'SELECT 1 AS a'
    [ ! -e millstream-data ] || fail 'it was made'
}
case_data_directory_is_private() {
    script "$(numbers g 100 2)\n$(files o made)\nINSERT INTO o SELECT id FROM g;" --checkpoint-interval 1s --data-dir data
    status_is 0
    [ "$(stat -c %a data)" = 700 ] || fail "mode $(stat -c %a data)"
}
case_data_directory_in_use() {
    printf '%b' "$(numbers g 100 100000)\n$stored\nINSERT INTO t SELECT CAST(id AS STRING), ROW(id) FROM g;" >s.sql
    start run s.sql --checkpoint-interval 50ms --data-dir data
    until_true grep -q 'embedded store' err
    printf '%b' "$stored\nINSERT INTO t VALUES ('a', ROW(1));" >other.sql
    "$program" run other.sql --checkpoint-interval 50ms --data-dir data >out2 2>err2
    local second=$?
    stop_with INT
    [ $second = 1 ] || fail "the second ends with $second"
    grep -qF 'error[DATA_DIR_IN_USE]: data directory "data" is in use' err2 || fail "$(cat err2)"
    grep -qF "  INSERT INTO t VALUES ('a', ROW(1));" err2 || fail "no place: $(cat err2)"
    grep -qF "process $pid holds it" err2 || fail "not the process $pid: $(cat err2)"
}

# Each job has a directory of its own, wherever it is: other jobs run beside it, and it runs once.
one_run_of_a_job() { # option, directory of jobs
    printf '%b' "$(numbers g 100 100000)\nCREATE TABLE b (id BIGINT) WITH ('connector'='blackhole');\nINSERT INTO b VALUES (1);\nINSERT INTO b SELECT id FROM g;" >s.sql
    start run s.sql --checkpoint-interval 50ms "$1"
    until_true has_checkpoint "$2/s-2"
    local how
    for how in '' --fresh --resume; do
        "$program" run s.sql --checkpoint-interval 50ms "$1" $how >out2 2>err2
        local second=$?
        [ $second = 1 ] || fail "the second ends with $second: $(cat err2)"
        grep -qF "error[JOB_RUNNING]: the checkpoint directory \"$2/s-2\" is in use by a running job" err2 || fail "$how: $(cat err2)"
        grep -qF "process $pid holds it" err2 || fail "not the process $pid: $(cat err2)"
    done
    [ "$(ls "$2/s-1")" = "$(printf 'LOCK\nprogress')" ] || fail "of the job before it there is: $(ls "$2/s-1")"
    printf '%b' "$(printer p)\nINSERT INTO p VALUES (1);" >other.sql
    "$program" run other.sql --checkpoint-interval 50ms "$1" >out2 2>err2 || fail "another job: $(cat err2)"
    stop_with INT
    status_is 0
    ms run s.sql --checkpoint-interval 50ms "$1"
    err_has 'error[RESUME_REQUIRED]: job "s-2" did not finish'
}
has_checkpoint() {
    ls "$1"/manifest-* >ls.out 2>&1
}
case_one_run_of_a_job() { one_run_of_a_job --data-dir=data data/checkpoints; }
case_one_run_of_a_job_elsewhere() { one_run_of_a_job --checkpoint-dir=chk chk; }

# ---- Bigtable ----

stored="CREATE TABLE t (k STRING NOT NULL, cf ROW<n BIGINT>, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector'='bigtable', 'project'='p', 'instance'='i', 'table'='t', 'sink.create-disposition'='create-if-needed', 'sink.table-create.gc-rule.max-versions'='1');"
case_bigtable_rows_and_back() {
    script "$stored\nINSERT INTO t VALUES ('b', ROW(2)), ('a', ROW(1)), ('b', ROW(3));\nSELECT k, t.cf.n FROM t;"
    status_is 0
    out_is '{"k":"a","n":1}\n{"k":"b","n":3}\n'
    err_is 'bigtable: embedded store in millstream-data\n3 rows written\n'
    [ "$(stat -c %a millstream-data)" = 700 ] || fail "mode $(stat -c %a millstream-data)"
}
case_bigtable_backend_is_said_also_when_quiet() {
    script "$stored\nINSERT INTO t VALUES ('a', ROW(1));" --quiet
    status_is 0
    err_is 'bigtable: embedded store in millstream-data\n'
}
case_bigtable_says_that_cloud_credentials_are_there() {
    export GOOGLE_APPLICATION_CREDENTIALS=$PWD/key.json
    script "$stored\nINSERT INTO t VALUES ('a', ROW(1));"
    status_is 0
    err_has 'Cloud credentials are there'
}
case_bigtable_backends() {
    local insert="$stored\nINSERT INTO t VALUES ('a', ROW(1));"
    GOOGLE_APPLICATION_CREDENTIALS=missing.json script "$insert" --bigtable cloud
    status_is 1
    err_has 'error[FILE_NOT_FOUND]: could not open file "missing.json"'
    script "$insert" --bigtable example.com:8086
    status_is 1
    err_has 'error[MISSING_OPTION]: "example.com:8086" is another machine, which is reached by TLS only'
    script "$insert" --bigtable nowhere
    status_is 1
    err_has 'error[INVALID_OPTION]: "bigtable.backend" cannot be "nowhere"'
    export BIGTABLE_EMULATOR_HOST=example.com:8086
    script "$insert"
    status_is 1
    err_has '"example.com:8086" is another machine'
    script "$insert" --bigtable embedded
    status_is 0
}
case_bigtable_table_that_is_not_there() {
    script "$stored\nSELECT * FROM t;"
    status_is 1
    err_has 'bigtable: embedded store in millstream-data, which is not there yet'
    err_has 'error[BIGTABLE_NOT_FOUND]: could not read table "p.i.t"'
    err_has 'detail: NOT_FOUND: No tables found for instance projects/p/instances/i'
    ms bigtable ls p/i
    status_is 1
    err_has 'error[BIGTABLE_NOT_FOUND]: could not list the tables of "p/i"'
    err_has 'detail: NOT_FOUND: No tables found for instance projects/p/instances/i'
    ms bigtable count p/i/t
    status_is 1
    err_has 'error[BIGTABLE_NOT_FOUND]: could not read table "t"'
    err_has 'detail: NOT_FOUND: No tables found for instance projects/p/instances/i'
    [ ! -e millstream-data ] || fail 'a query has made the data directory'
}
case_bigtable_administration() {
    ms bigtable create-table p/i/t --family cf:max-versions=1 --family other:max-age=1d
    status_is 0
    out_is ''
    ms bigtable create-table p/i/t --family cf
    status_is 1
    err_has 'error['
    ms bigtable ls p/i
    status_is 0
    out_is 'p/i/t\n'
    ms bigtable count p/i/t
    out_is '0\n'
    script "$stored\nINSERT INTO t VALUES ('a', ROW(1)), ('b', ROW(2));"
    status_is 0
    ms bigtable count p/i/t
    out_is '2\n'
    ms bigtable show p/i/t --prefix a --limit 5
    status_is 0
    out_has 'cf:n'
    ms bigtable ls p/nothing
    status_is 1
    err_has 'error[BIGTABLE_NOT_FOUND]'
}
case_bigtable_usage() {
    ms bigtable
    usage_error 'no command'
    ms bigtable bogus
    usage_error 'there is no command "bigtable bogus"'
    ms bigtable count
    usage_error 'count needs PROJECT/INSTANCE/TABLE'
    ms bigtable create-table p/i/t --family cf:int64-avg
    usage_error '"int64-avg" is no part of a family'
    ms bigtable create-table p/i/t --family cf:max-versions=0
    usage_error '"max-versions=0": the number of versions is 1 to 2147483647'
    ms bigtable split p/i/t
    usage_error 'split needs PROJECT/INSTANCE/TABLE KEY'
    ms bigtable show p/i/t --limit 0
    usage_error '"0" is no number of rows; use a number from 1'
    ms bigtable show p/i/t --limit many
    usage_error '"many" is no number of rows'
}
case_bigtable_show_to_a_reader_that_goes_away() {
    script "$stored\nINSERT INTO t VALUES ('a', ROW(1)), ('b', ROW(2));"
    "$program" bigtable show p/i/t 2>err | head -0 >out
    status=${PIPESTATUS[0]}
    status_is 0
    err_has_no 'error['
}
case_bigtable_store_is_locked() {
    printf '%b' "$(numbers g 100 100000)\n$stored\nINSERT INTO t SELECT CAST(id AS STRING), ROW(id) FROM g;" >s.sql
    start run s.sql
    until_true grep -q 'embedded store' err
    "$program" bigtable count p/i/t >out2 2>err2
    local second=$?
    stop_with INT
    status_is 130
    [ $second = 1 ] || fail "the second ends with $second"
    grep -qF "process $pid holds it" err2 || fail "$(cat err2)"
}

# ---- The examples ----

case_example_main_job() {
    "$top/examples/run.sh" "$program" "$PWD/data" >out 2>err
    status=$?
    status_is 0
    err_has '1707 rows written'
    err_has 'a second run gave the same rows'
    out_has '1707'
}
case_example_flights() {
    ms run "$top/examples/flights.sql" --define DATA="$top/examples/data"
    status_is 0
    err_is 'bigtable: embedded store in millstream-data\n23376 rows written\n'
    out_is '{"airports":3376}\n{"flights":20000,"worst":522,"miles":723}\n{"departure":"2001-01-01 22:30:00.000","delay":47}\n{"departure":"2001-01-14 14:33:00.000","delay":38}\n{"departure":"2001-03-29 13:00:00.000","delay":62}\n{"iata":"SFO","name":"San Francisco International"}\n'
}

# ---- All of it ----

. "$here/jobs.sh"
. "$here/serve.sh"
. "$here/secrets.sh"
. "$here/streams.sh"

# In a shell of its own, so that what a case has started ends with it.
in_a_shell() {
    trap 'for left in $(jobs -p); do kill -9 "$left"; done' EXIT
    cd "$work/$1" && "case_$1" </dev/null
}
run_case() {
    mkdir "$work/$1"
    if (in_a_shell "$1") >"$work/$1.log" 2>&1 3>"$work/$1.why"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED  $1"
        cat "$work/$1.why"
    fi
}

passed=0
failed=0
if [ $# -eq 0 ]; then
    set -- $(grep -ohE '^case_[a-z0-9_]+' "$here"/*.sh | sed 's/^case_//')
fi
for name in "$@"; do
    run_case "$name"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
