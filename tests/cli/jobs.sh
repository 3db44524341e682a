# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The cases of jobs: their end, signals, checkpoints, and what they leave in directories. Read by run.sh, which
# says what cases are made of.

# ---- Jobs ----

case_statement_set_is_one_job() {
    script "$(printer p)\n$(printer q)\nEXECUTE STATEMENT SET BEGIN\nINSERT INTO p VALUES (1);\nINSERT INTO q VALUES (2);\nEND;"
    status_is 0
    err_has '2 rows written'
}
case_file_sink_leaves_nothing_hidden() {
    script "$(files o made)\nINSERT INTO o VALUES (1), (2), (3);"
    status_is 0
    err_is '3 rows written\n'
    [ "$(sort made/part-*)" = "$(printf '{"id":1}\n{"id":2}\n{"id":3}')" ] || fail "rows: $(cat made/*)"
    [ "$(ls -A made | grep -c '^\.')" = 0 ] || fail "hidden files: $(ls -A made)"
}
case_standard_input_and_output_as_tables() {
    printf '%b' "$(files i -)\n$(files o -)\nINSERT INTO o SELECT id + 1 FROM i;" >s.sql
    printf '{"id":1}\n{"id":2}\n' | "$program" run s.sql --quiet >out 2>err
    status=$?
    status_is 0
    out_is '{"id":2}\n{"id":3}\n'
    err_is ''
}
case_unbounded_insert_goes_on_beside_the_script() {
    printf '%b' "$(numbers g 100)\n$(files o made)\nINSERT INTO o SELECT id FROM g;\nSELECT 'after' AS x;" >s.sql
    start run s.sql
    until_true has_lines out
    sleep 0.3
    stop_with INT
    status_is 0
    out_is '{"x":"after"}\n'
    has_rows made || fail 'STOP has not committed what was read'
}
case_unbounded_query_prints_until_it_is_stopped() {
    printf '%b' "$(numbers g 100)\nSELECT id FROM g;" >s.sql
    for signal in INT TERM; do
        start run s.sql
        until_true has_lines out
        stop_with $signal
        status_is 0
        err_is ''
        ! grep -qv '^{"op":"+I","id":-\?[0-9]*}$' out || fail "a strange line: $(grep -v '^{"op"' out)"
    done
}
case_failure_cancels_what_runs_beside() {
    script "$(numbers g 100)\n$(files o made)\nINSERT INTO o SELECT id FROM g;\nSELECT 1/0;"
    status_is 1
    err_has 'error[DIVISION_BY_ZERO]'
    ! has_rows made || fail 'a canceled job has committed'
}

# ---- Signals ----

stopped_without_checkpoints() { # signal, status
    printf '%b' "$(numbers g 100 100000)\n$(files o made)\nINSERT INTO o SELECT id FROM g;\nSELECT 1 AS x;" >s.sql
    start run s.sql
    sleep 0.5
    stop_with "$1"
    status_is "$2"
    out_is ''
    grep -qE '^stopped; the [0-9]+ rows read so far were not committed as a whole$' err || fail "$(cat err)"
    err_has 'stopped; statement 4 of 4 was not run'
    ! has_rows made || fail 'half a result was committed'
}
case_sigint_stops_a_bounded_job() { stopped_without_checkpoints INT 130; }
case_sigterm_stops_a_bounded_job() { stopped_without_checkpoints TERM 143; }
case_sighup_stops_a_bounded_job() { stopped_without_checkpoints HUP 129; }
case_stop_with_checkpoints_and_resume() {
    printf '%b' "$(numbers g 200 200)\n$(files o made)\nINSERT INTO o SELECT id FROM g;" >s.sql
    start run s.sql --checkpoint-interval 50ms
    until_true has_rows made
    stop_with INT
    status_is 0
    grep -qE '^stopped at checkpoint [0-9]+; go on with --resume$' err || fail "$(cat err)"
    ms run s.sql --checkpoint-interval 50ms
    status_is 1
    err_has 'error[RESUME_REQUIRED]: job "s-1" did not finish'
    err_has 'hint: Say --resume to go on from it, or --fresh to start anew.'
    ms run s.sql --checkpoint-interval 50ms --resume
    status_is 0
    [ "$(cat made/part-* | sort -u | wc -l)" = 200 ] || fail "$(cat made/* | sort -u | wc -l) different rows"
    [ "$(cat made/part-* | wc -l)" = 200 ] || fail "$(cat made/* | wc -l) rows"
    ms run s.sql --checkpoint-interval 50ms
    status_is 0
    [ "$(cat made/part-* | wc -l)" = 400 ] || fail 'a plain run behind a complete one does not start anew'
}
case_fresh_starts_anew() {
    printf '%b' "$(numbers g 200 200)\n$(files o made)\nINSERT INTO o SELECT id FROM g;" >s.sql
    start run s.sql --checkpoint-interval 50ms
    until_true has_rows made
    stop_with INT
    rm -rf made
    ms run s.sql --checkpoint-interval 50ms --fresh
    status_is 0
    [ "$(cat made/part-* | wc -l)" = 200 ] || fail "$(cat made/* | wc -l) rows"
}
case_resume_skips_statements_that_had_finished() {
    printf '%b' "$(numbers g 200 200)\n$(printer p)\n$(files o made)\nINSERT INTO p VALUES (1);\nINSERT INTO o SELECT id FROM g;" >s.sql
    start run s.sql --checkpoint-interval 50ms
    until_true has_rows made
    stop_with TERM
    status_is 0
    ms run s.sql --checkpoint-interval 50ms --resume
    status_is 0
    err_has_no '+I[1]'
    [ "$(cat made/part-* | sort -u | wc -l)" = 200 ] || fail "$(cat made/* | wc -l) rows"
}
case_resume_wants_checkpoints_and_a_name() {
    printf '%b' "$(printer p)\nINSERT INTO p VALUES (1);" >s.sql
    ms run s.sql --resume
    status_is 1
    err_has 'error[MISSING_OPTION]: there is no checkpoint to resume from, and checkpoints are off'
    "$program" run - --resume --checkpoint-interval 1s <s.sql >out 2>err
    status=$?
    status_is 1
    err_has 'error[MISSING_OPTION]: a script from standard input has no name to resume a job by'
    "$program" run - --resume --checkpoint-interval 1s --set pipeline.name=it <s.sql >out 2>err
    status=$?
    status_is 0
    err_has '+I[1]'
    ms run s.sql --fresh
    status_is 0
}
case_unfinished_job_is_noticed_without_an_interval() {
    printf '%b' "$(numbers g 200 100)\n$(printer p)\n$(files o made)\n$(files e ends)\nINSERT INTO o SELECT id FROM g;\nINSERT INTO e VALUES (1);" >s.sql
    start run s.sql --checkpoint-interval 50ms
    until_true has_rows made
    kill -9 $pid
    wait $pid 2>wait.err
    ms run s.sql
    status_is 1
    err_has 'error[RESUME_REQUIRED]: job "s-1" did not finish'
    ms run s.sql --resume
    status_is 0
    [ "$(cat made/part-* | sort -u | wc -l)" = 100 ] || fail "$(cat made/part-* | sort -u | wc -l) different rows"
    [ "$(cat made/part-* | wc -l)" = 100 ] || fail "$(cat made/part-* | wc -l) rows"
    [ "$(cat ends/part-* | wc -l)" = 1 ] || fail 'the job behind it, which had not begun, has not run'
    [ ! -e millstream-data/checkpoints/s-2 ] || fail 'a job has checkpoints that nobody asked for'
    ms run s.sql
    status_is 0
    ms run s.sql --resume
    status_is 1
    err_has 'error[MISSING_OPTION]'
}
case_fresh_forgets_without_an_interval() {
    printf '%b' "$(numbers g 200 200)\n$(files o made)\nINSERT INTO o SELECT id FROM g;" >s.sql
    start run s.sql --checkpoint-interval 50ms
    until_true has_rows made
    stop_with INT
    newest=$(ls millstream-data/checkpoints/s-1/manifest-* | tail -1)
    printf damage >"$newest"
    ms run s.sql --resume
    status_is 1
    err_has 'error[CORRUPT_DATA]'
    err_has 'Start anew with --fresh; what the job has committed before, files for instance, is not taken back.'
    rm -r made
    ms run s.sql --fresh
    status_is 0
    [ "$(cat made/part-* | wc -l)" = 200 ] || fail "$(cat made/part-* | wc -l) rows"
    ! ls millstream-data/checkpoints/s-1/manifest-* >ls.out 2>&1 || fail "$(cat ls.out)"
    ms run s.sql
    status_is 0
}
rows_are() { # directory, rows, different rows
    [ "$(cat "$1"/part-* | wc -l)" = "$2" ] || fail "$(cat "$1"/part-* | wc -l) rows in $1, not $2"
    [ "$(cat "$1"/part-* | sort -u | wc -l)" = "$3" ] || fail "$(cat "$1"/part-* | sort -u | wc -l) different rows in $1, not $3"
}
case_fresh_with_a_binding_error_keeps_the_checkpoint() {
    local head
    head="$(numbers g 200 200)\n$(files o made)"
    printf '%b' "$head\nINSERT INTO o SELECT id FROM g;" >s.sql
    start run s.sql --checkpoint-interval 50ms
    until_true has_rows made
    stop_with INT
    script "$head\nINSERT INTO o SELECT nope FROM g;" --checkpoint-interval 50ms --fresh
    status_is 1
    err_has 'error[UNDEFINED_COLUMN]'
    script "$head\nINSERT INTO o SELECT id FROM g;" --checkpoint-interval 50ms --resume
    status_is 0
    rows_are made 200 200
}
case_fresh_forgets_only_jobs_whose_statements_are_bound() {
    local head
    head="$(files a quick)\n$(numbers g 200 200)\n$(files o made)\nINSERT INTO a VALUES (1);"
    printf '%b' "$head\nINSERT INTO o SELECT id FROM g;" >s.sql
    start run s.sql --checkpoint-interval 50ms
    until_true has_rows made
    stop_with INT
    script "$head\nSET 'millstream.batch.rows' = '7';\nINSERT INTO o SELECT nope FROM g;" --checkpoint-interval 50ms --fresh
    status_is 1
    rows_are quick 2 1
    script "$head\nINSERT INTO o SELECT id FROM g;" --checkpoint-interval 50ms --resume
    status_is 0
    rows_are quick 2 1
    rows_are made 200 200
}
case_fresh_that_is_killed_goes_on_as_it_began() {
    local jobs
    jobs="$(numbers g 200 200)\n$(files a first)\n$(files o made)\nINSERT INTO a SELECT id FROM g;\nINSERT INTO o SELECT id FROM g;"
    printf '%b' "$jobs" >s.sql
    start run s.sql --checkpoint-interval 50ms
    until_true has_rows made
    stop_with INT
    rm -r first made
    start run s.sql --checkpoint-interval 50ms --fresh
    until_true has_rows first
    kill -9 $pid
    wait $pid 2>wait.err
    ms run s.sql --checkpoint-interval 50ms --resume
    status_is 0
    rows_are first 200 200
    rows_are made 200 200
}
case_refused_run_forgets_nothing() {
    printf '%b' "$(files a quick)\n$(numbers g 200 200)\n$(files o made)\nINSERT INTO a VALUES (1);\nINSERT INTO o SELECT id FROM g;" >s.sql
    start run s.sql --checkpoint-interval 50ms
    until_true has_rows made
    stop_with INT
    ms run s.sql --checkpoint-interval 50ms
    status_is 1
    err_has 'error[RESUME_REQUIRED]: job "s-2"'
    rows_are quick 1 1
    ms run s.sql --checkpoint-interval 50ms --resume
    status_is 0
    rows_are quick 1 1
    rows_are made 200 200
}
case_unfinished_jobs_are_found_under_names_that_the_script_sets() {
    printf '%b' "$(files a quick)\n$(numbers g 200 200)\n$(files o made)\nINSERT INTO a VALUES (1);\nSET 'pipeline.name' = 'other';\nINSERT INTO o SELECT id FROM g;" >s.sql
    start run s.sql --checkpoint-interval 50ms
    until_true has_rows made
    stop_with INT
    ms run s.sql --checkpoint-interval 50ms
    status_is 1
    err_has 'error[RESUME_REQUIRED]: job "other-2"'
    rows_are quick 1 1
}
small_files() { # name, directory: a file every few rows
    printf "CREATE TABLE %s (id BIGINT) WITH ('connector'='filesystem', 'path'='%s', 'format'='json', 'sink.rolling-policy.file-size'='64b');" "$1" "$2"
}
has_hidden() { # directory
    ls -A "$1" 2>/dev/null | grep -q '^\.part-.*\.inprogress$'
}
case_hidden_files_of_a_killed_job_are_removed_by_the_next_in_their_directory() {
    printf '%b' "$(numbers g 1000 100000)\n$(small_files o made)\nINSERT INTO o SELECT id FROM g;" >killed.sql
    for run in 1 2; do
        start run killed.sql
        until_true has_hidden made
        kill -9 $pid
        wait $pid 2>wait.err
        has_hidden made || fail 'the job has left nothing'
        script "$(small_files o made)\nINSERT INTO o VALUES (1);"
        status_is 0
        [ -z "$(ls -A made | grep -v '^part-')" ] || fail "$(ls -A made | head)"
        rows_are made $run 1
    done
}
case_hidden_files_of_a_live_job_are_left_alone() {
    # Of another script, and of the same one.
    printf '%b' "$(numbers g 1000)\n$(small_files o made)\nINSERT INTO o SELECT id FROM g;" >live.sql
    printf '%b' "$(numbers g 1000 7)\n$(small_files o made)\nINSERT INTO o SELECT id FROM g;" >s.sql
    mkdir again
    cp s.sql again/live.sql
    start run live.sql --quiet
    until_true has_hidden made
    for other in s.sql again/live.sql 'again/live.sql --checkpoint-interval 50ms'; do
        ls -A made >before
        # shellcheck disable=SC2086
        ms run $other
        status_is 0
        [ -z "$(comm -23 before <(ls -A made))" ] || fail "gone: $(comm -23 before <(ls -A made))"
    done
    kill -INT $pid
    wait $pid
    [ $? = 0 ] || fail "$(cat err)"
    [ -z "$(ls -A made | grep -v '^part-')" ] || fail "$(ls -A made | head)"
}
case_two_sinks_of_a_job_in_one_directory_recover_beside_each_other() {
    printf '%b' "$(numbers g 1000 300)\n$(files o made)\nEXECUTE STATEMENT SET BEGIN\nINSERT INTO o SELECT id FROM g;\nINSERT INTO o SELECT id + 1000 FROM g;\nEND;" >s.sql
    MS_FAULT=commit.before:2:kill "$program" run s.sql --checkpoint-interval 50ms >out 2>err
    has_hidden made || fail 'it was killed too early'
    ms run s.sql --checkpoint-interval 50ms --resume
    status_is 0
    rows_are made 600 600
    [ -z "$(ls -A made | grep -v '^part-')" ] || fail "$(ls -A made | head)"
}
case_files_that_are_not_a_jobs_are_left_alone() {
    mkdir -p precious/mine/state-of-things.d
    for name in notes progress.md state-of-things manifest-1 mine/notes mine/manifest-final mine/progress.txt; do echo kept >precious/$name; done
    script "SET 'pipeline.name' = '';\n$(printer p)\nINSERT INTO p VALUES (1);" --checkpoint-interval 1s --checkpoint-dir precious
    status_is 1
    err_has "error[INVALID_OPTION]: setting \"pipeline.name\" cannot be empty"
    err_has s.sql:1:23
    for mode in '' '' --fresh --resume; do
        script "SET 'pipeline.name' = 'mine';\n$(printer p)\nINSERT INTO p VALUES (1);" --checkpoint-interval 1s --checkpoint-dir precious $mode
        status_is 0
    done
    [ -e precious/mine/progress ] || fail "not a job's directory: $(ls precious/mine)"
    [ -d precious/mine/state-of-things.d ] || fail 'a directory is gone'
    [ "$(grep -rlx kept precious | wc -l)" = 7 ] || fail "$(find precious)"
}
case_jobs_with_slashes_in_their_names_do_not_meet() {
    for name in a/b a_b a%2Fb ..; do
        script "SET 'pipeline.name' = '$name';\n$(printer p)\nINSERT INTO p VALUES (1);" --checkpoint-interval 1s --checkpoint-dir cp
        status_is 0
    done
    [ "$(ls cp | LC_ALL=C sort | tr '\n' ' ')" = '%2E. a%252Fb a%2Fb a_b ' ] || fail "$(ls cp)"
}
case_interval_below_a_millisecond() {
    ms run a.sql --checkpoint-interval 1ns
    usage_error 'setting "execution.checkpointing.interval" cannot be "1ns": the shortest duration is 1 ms'
    script "SET 'execution.checkpointing.interval' = '999 micros';"
    status_is 1
    err_has 'error[INVALID_OPTION]'
}
case_second_signal_ends_what_cannot_stop() {
    # Nobody reads the pipe: the printing hangs in a write.
    printf '%b' "$(numbers g 100000000)\nSELECT id FROM g;" >s.sql
    mkfifo pipe
    sleep 30 <pipe &
    local reader=$!
    "$program" run s.sql >pipe 2>err </dev/null &
    pid=$!
    sleep 0.7
    kill -INT $pid
    sleep 0.3
    local before=$SECONDS
    stop_with INT
    kill $reader
    status_is 130
    [ $((SECONDS - before)) -lt 10 ] || fail 'it took too long'
}
stopped_query() { # signal, status
    printf '%b' "$(numbers g 1000 100000)\nSELECT COUNT(*) AS n FROM g;\nSELECT 'next' AS x;" >s.sql
    for format in json tableau; do
        start run s.sql --result $format
        sleep 0.7
        stop_with "$1"
        status_is "$2"
        out_is ''
        grep -qE '^stopped; the result is not complete: the query had read [0-9]+ rows$' err || fail "$(cat err)"
    done
}
case_sigint_stops_a_bounded_query() { stopped_query INT 130; }
case_sigterm_stops_a_bounded_query() { stopped_query TERM 143; }
# Runs a script with a statement, written as HELD, that prints more than a pipe holds; a signal comes while nobody
# reads the pipe. The statement is no job, so it ends as always, and the signal has come between two statements.
signal_at_held() { # signal, script, options of the program
    local name=$1 held i
    held="EXPLAIN SELECT 0 AS a0"
    for i in $(seq 1500); do held+=", 'printed with its name' AS a_rather_long_name_of_column_number_$i"; done
    held+=";"
    printf '%b' "${2//HELD/$held}" >s.sql
    shift 2
    rm -f pipe
    mkfifo pipe
    exec 7<>pipe
    "$program" run s.sql "$@" >pipe 2>err </dev/null &
    pid=$!
    read -r -N 1 <&7
    kill -s "$name" $pid
    until_true grep -qx 'ShdPnd:.0*' /proc/$pid/status
    cat pipe >out &
    exec 7>&-
    wait $pid
    status=$?
}
case_signal_between_bounded_statements() {
    signal_at_held INT "HELD\nSELECT 'second' AS x;\n$(printer p)\nINSERT INTO p VALUES (1);"
    status_is 130
    err_is 'stopped; statements 2 to 4 of 4 were not run\n'
    ! grep -q second out || fail 'a statement has run behind the signal'
    signal_at_held TERM "HELD\nSELECT 'second' AS x;"
    status_is 143
    err_is 'stopped; statement 2 of 2 was not run\n'
}
case_signal_between_bounded_statements_beside_an_unbounded_job() {
    signal_at_held INT "$(numbers g 100)\n$(files o made)\nINSERT INTO o SELECT id FROM g;\nHELD\nSELECT 'second' AS x;"
    status_is 130
    err_is 'stopped; statement 5 of 5 was not run\n'
}
case_signal_behind_the_last_statement() {
    signal_at_held INT "CREATE TABLE t (a INT);\nHELD"
    status_is 0
    err_is ''
}
case_signal_between_bounded_statements_with_checkpoints() {
    local jobs
    jobs="$(files a made)\n$(files b also)\nINSERT INTO a VALUES (1);\nHELD\nINSERT INTO b VALUES (2);"
    signal_at_held INT "$jobs" --checkpoint-interval 1s --quiet
    status_is 0
    err_is 'stopped; statement 5 of 5 was not run; go on with --resume\n'
    ms run s.sql --checkpoint-interval 1s --resume
    status_is 0
    [ "$(cat made/part-* | wc -l)" = 1 ] || fail 'the first job has run again'
    [ "$(cat also/part-* | wc -l)" = 1 ] || fail 'the second job has not run'
}
case_signal_between_bounded_statements_of_a_script_without_a_name() {
    # Checkpoints are on, but there is no name to go on by.
    signal_at_held INT "$(files a made)\nINSERT INTO a VALUES (1);\nHELD\nSELECT 2;" --checkpoint-interval 1s --quiet
    status_is 0
    cat s.sql >named.sql
    mkfifo again
    exec 7<>again
    "$program" run - --checkpoint-interval 1s --quiet --data-dir other >again 2>err <named.sql &
    pid=$!
    read -r -N 1 <&7
    kill -s INT $pid
    until_true grep -qx 'ShdPnd:.0*' /proc/$pid/status
    cat again >out &
    exec 7>&-
    wait $pid
    status=$?
    status_is 130
    err_is 'stopped; statement 4 of 4 was not run\n'
}
case_signal_stops_an_unbounded_query_in_the_middle() {
    printf '%b' "$(numbers g 100)\nSELECT id FROM g;\nSELECT 'second' AS x;" >s.sql
    start run s.sql
    until_true has_lines out
    stop_with INT
    status_is 0
    err_is 'stopped; statement 3 of 3 was not run\n'
}
case_standard_output_that_takes_nothing() {
    printf 'SELECT 1 AS a;' >s.sql
    for command in 'run s.sql' 'run s.sql --result csv' 'run s.sql --result tableau' 'explain s.sql' version 'version -v' --help 'run --help'; do
        "$program" $command >/dev/full 2>err
        status=$?
        status_is 1
        err_has 'error[DISK_FULL]: could not write to standard output'
        "$program" $command >&- 2>err
        status=$?
        status_is 1
        err_has 'error[IO_ERROR]: could not write to standard output'
    done
    for command in version --help; do
        "$program" $command 2>err | head -0
        status=${PIPESTATUS[0]}
        status_is 0
        err_is ''
    done
}
case_standard_output_beyond_the_size_limit() {
    printf 'SELECT 1 AS a;' >s.sql
    for command in 'run s.sql' version; do
        (ulimit -f 0 && exec "$program" $command >out) 2>&1 | cat >err
        status=${PIPESTATUS[0]}
        status_is 1
        err_has 'error[IO_ERROR]: could not write to standard output'
    done
}
case_closed_descriptors_are_not_given_to_files() {
    printf '%b' "$stored\nINSERT INTO t VALUES ('a', ROW(1));\nSELECT 'a result of a query' AS x;" >s.sql
    "$program" run s.sql <&- >&- 2>&-
    status=$?
    status_is 1
    ! grep -rqF 'a result of a query' millstream-data || fail 'a result is in a file of the store'
    "$program" run - <&- >out 2>err
    status=$?
    status_is 1
    err_has 'error[IO_ERROR]: could not read script'
}
case_more_unbounded_inserts_than_run_beside_each_other() {
    printf '%b' "$(numbers g 1)\nCREATE TABLE b (id BIGINT) WITH ('connector'='blackhole');\n" >s.sql
    for i in $(seq 257); do echo 'INSERT INTO b SELECT id FROM g;' >>s.sql; done
    ms run s.sql
    status_is 1
    err_has 'error[LIMIT]: more than 256 INSERTs without an end in a script'
    err_has 's.sql:259:1'
}
case_reader_that_goes_away() {
    printf '%b' "$(numbers g 1000)\nSELECT id FROM g;" >s.sql
    "$program" run s.sql 2>err | head -1 >out
    status=${PIPESTATUS[0]}
    status_is 0
    [ "$(wc -l <out)" = 1 ] || fail "$(cat out)"
    err_is ''
    printf 'SELECT 1;' >s.sql
    "$program" explain s.sql 2>err | head -0 >out
    status=${PIPESTATUS[0]}
    status_is 0
    err_is ''
}

# ---- Files that are none, and standard input ----

fed() { # what standard input gives, script
    printf '%b' "$2" >s.sql
    printf '%b' "$1" | timeout 100 "$program" run s.sql >out 2>err
    status=${PIPESTATUS[1]}
}
case_standard_input_is_read_once() {
    fed '{"id":5}\n{"id":7}\n' "$(files t -)\nSELECT id FROM t UNION ALL SELECT id + 100 FROM t;"
    status_is 1
    out_is ''
    err_has 'error[INVALID_QUERY]: standard input is read twice'
    err_has 's.sql:2:'
    err_has 'hint: '
    fed '{"id":5}\n{"id":7}\n' "$(files t -)\nEXPLAIN SELECT id FROM t;\nSELECT id FROM t;\nSELECT id + 100 AS id FROM t;"
    status_is 1
    out_has '{"id":7}'
    err_has 'error[INVALID_QUERY]: standard input is read twice'
    err_has 's.sql:4:'
    fed '{"id":5}\n{"id":7}\n' "$(files t -)\n$(files o one)\n$(files p two)\nEXECUTE STATEMENT SET BEGIN\nINSERT INTO o SELECT id FROM t;\nINSERT INTO p SELECT id FROM t;\nEND;"
    status_is 0
    [ "$(cat one/part-* two/part-*)" = "$(printf '{"id":5}\n{"id":7}\n{"id":5}\n{"id":7}')" ] || fail "rows: $(cat one/* two/*)"
}
case_pipes_and_devices_are_refused_as_paths() {
    local path
    mkdir d
    mkfifo pipe d/pipe
    printf '{"id":1}\n' >d/a
    for path in pipe d /dev/zero; do
        script "$(files t $path)\nSELECT id FROM t;"
        status_is 1
        out_is ''
        err_has 'is neither a file nor a directory'
        err_has 'hint: '
    done
    fed '{"id":5}\n' "$(files t /dev/stdin)\nSELECT id FROM t;"
    status_is 1
    err_has '"/dev/stdin" is neither a file nor a directory'
    err_has 'path "-"'
    script "$(files t /dev/null)\nSELECT id FROM t;"
    status_is 0
    out_is ''
}
case_links_that_lead_nowhere_or_back() {
    mkdir -p d/b
    printf '{"id":1}\n' >d/a
    ln -s ../../d d/b/loop
    script "$(files t d)\nSELECT id FROM t;"
    status_is 1
    out_is ''
    err_has 'd/b/loop" leads back to '
    rm d/b/loop
    ln -s nowhere d/b/link
    script "$(files t d)\nSELECT id FROM t;"
    status_is 1
    out_is ''
    err_has 'd/b/link" leads nowhere'
    rm d/b/link
    ln -s ../a d/b/link
    script "$(files t d)\nSELECT id FROM t;"
    status_is 0
    out_is '{"id":1}\n{"id":1}\n'
}
case_what_a_sink_writes_follows_the_umask() {
    (
        umask 027
        script "$(files o deep/made)\nINSERT INTO o VALUES (1);" --data-dir data --checkpoint-interval 50ms
        status_is 0
    ) || exit 1
    [ "$(stat -c %a deep deep/made deep/made/part-* | tr '\n' ' ')" = '750 750 640 ' ] || fail "$(ls -lR deep)"
}
case_sink_on_a_file_is_refused() {
    printf 'kept\n' >f
    local path
    for path in f /dev/full; do
        script "$(files o $path)\nINSERT INTO o VALUES (1);"
        status_is 1
        err_has 's.sql:2:'
        err_has "$path\" is a file, and a table is written to a directory"
    done
    [ "$(cat f)" = kept ] || fail 'the file has changed'
}
