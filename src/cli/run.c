/* SPDX-License-Identifier: Apache-2.0 */
/*
 * millstream run and millstream explain: the statements of a script one after the other.
 *
 * A bounded INSERT runs to its end before the next statement; an unbounded one goes on beside it. A
 * job that fails stops the script and cancels the others; the first failure is the one printed.
 */
/* tidy: no-unit-test: tests/cli and tests/slt drive the program through its command line */
#include "cli/cli.h"

#include "base/memory.h"
#include "base/status.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define POLL_MS 100 /* how often jobs in the background are looked at while one is waited for */
#define BACKGROUND_MAX 256u

static const msi_flag run_flags[] = {
    {"--data-dir", "DIR", "where the embedded Bigtable and checkpoints live", false},
    {"--bigtable", "WHERE", "embedded, cloud or HOST:PORT", false},
    {"--set", "KEY=VALUE", "a setting, as by SET; a SET of the script wins", false},
    {"--define", "NAME=VALUE", "the value of ${NAME}", false},
    {"--parallelism", "N", "subtasks of an operator", false},
    {"--checkpoint-dir", "DIR", "where checkpoints go", false},
    {"--checkpoint-interval", "DURATION", "how often, as in 10s", false},
    {"--resume", NULL, "go on from the checkpoint of an unfinished job", false},
    {"--fresh", NULL, "start anew though there is a checkpoint", false},
    {"--result", "FORMAT", "json, csv, tableau; changelog for every change", false},
    {"--metrics", "HOST:PORT", "", true},
    {"--quiet", NULL, "no notes on standard error, but for where Bigtable is", false},
};

/* What changes a plan or where tables are; nothing runs. */
static const msi_flag explain_flags[] = {
    {"--data-dir", "DIR", "where the embedded Bigtable lives", false},
    {"--bigtable", "WHERE", "embedded, cloud or HOST:PORT", false},
    {"--set", "KEY=VALUE", "a setting, as by SET; a SET of the script wins", false},
    {"--define", "NAME=VALUE", "the value of ${NAME}", false},
    {"--parallelism", "N", "subtasks of an operator", false},
    {"--quiet", NULL, "no notes on standard error, but for where Bigtable is", false},
};

typedef struct run_state {
    msi_common common;
    const char *path;
    ms_result_format format;
    bool is_for_programs; /* standard output carries json or csv */
    bool explain_only;
    ms_script *script;
    ms_execution *background[BACKGROUND_MAX];
    uint32_t background_statement[BACKGROUND_MAX];
    uint32_t background_count;
    bool reader_gone;
    bool bounded_stopped;   /* a bounded job without checkpoints was stopped by a signal */
    bool unbounded_stopped; /* a query without an end was, so what follows it never runs */
    bool can_resume;        /* a later run goes on from what the jobs have left */
} run_state;

/* Jobs. */

static int fail(run_state *run, uint32_t statement, const ms_status *st)
{
    msi_print_status(&run->common, run->script, statement, st);
    ms_engine_cancel(run->common.engine);
    return MSI_EXIT_FAILED;
}

/* Looks whether a job in the background has ended badly. */
static int look_at_background(run_state *run)
{
    for (uint32_t i = 0; i < run->background_count; i++) {
        ms_status st = {0};
        ms_rc rc = ms_execution_wait(run->background[i], 0, &st);
        bool still_runs = rc == MS_CANCELED && st.retriable;
        if (rc == MS_CANCELED && !still_runs) {
            run->reader_gone |= !msi_signals_canceled();
        } else if (rc != MS_OK && !still_runs) {
            return fail(run, run->background_statement[i], &st);
        }
    }
    return MSI_EXIT_OK;
}

static void report_rows(const run_state *run, const ms_execution *execution)
{
    ms_job_stats stats = {.struct_bytes = sizeof stats};
    ms_execution_stats(execution, &stats);
    if (!run->common.quiet) {
        fprintf(stderr, "%" PRIu64 " row%s written\n", stats.rows_written,
                stats.rows_written == 1 ? "" : "s");
    }
}

/* A bounded job that a signal stopped: whether that lost something depends on checkpoints. */
static void note_stopped(run_state *run, const ms_execution *execution)
{
    ms_job_stats stats = {.struct_bytes = sizeof stats};
    ms_execution_stats(execution, &stats);
    if (ms_execution_can_resume(execution)) {
        fprintf(stderr, "stopped at checkpoint %" PRIu64 "; go on with --resume\n",
                stats.checkpoint_id);
        return;
    }
    run->bounded_stopped = true;
    fprintf(stderr, "stopped; the %" PRIu64 " row%s read so far %s not committed as a whole\n",
            stats.rows_read, stats.rows_read == 1 ? "" : "s",
            stats.rows_read == 1 ? "was" : "were");
}

/* A bounded query that a signal stopped: whoever reads its rows must not take them for all. */
static void note_stopped_query(run_state *run, const ms_execution *execution)
{
    ms_job_stats stats = {.struct_bytes = sizeof stats};
    ms_execution_stats(execution, &stats);
    run->bounded_stopped = true;
    fprintf(stderr, "stopped; the result is not complete: the query had read %" PRIu64 " row%s\n",
            stats.rows_read, stats.rows_read == 1 ? "" : "s");
}

static int wait_bounded(run_state *run, uint32_t statement, ms_execution *execution)
{
    for (;;) {
        ms_status st = {0};
        ms_rc rc = ms_execution_wait(execution, POLL_MS, &st);
        if (rc == MS_OK) {
            if (ms_execution_was_stopped(execution)) {
                note_stopped(run, execution);
            } else {
                report_rows(run, execution);
            }
            return MSI_EXIT_OK;
        }
        if (rc == MS_CANCELED && !st.retriable) {
            run->reader_gone |= !msi_signals_canceled();
            return MSI_EXIT_OK;
        }
        if (rc != MS_CANCELED) {
            return fail(run, statement, &st);
        }
        int status = look_at_background(run);
        if (status != MSI_EXIT_OK) {
            return status;
        }
    }
}

static int refuse_background(run_state *run, uint32_t statement)
{
    ms_status st = {0};
    ms_status_set(&st, MS_LIMIT, ms_script_statement_span(run->script, statement),
                  "more than %u INSERTs without an end in a script", BACKGROUND_MAX);
    ms_status_hint(&st, "A STATEMENT SET runs several INSERTs as one job.");
    return fail(run, statement, &st);
}

static int wait_background(run_state *run)
{
    bool running = run->background_count > 0;
    while (running) {
        running = false;
        for (uint32_t i = 0; i < run->background_count; i++) {
            ms_status st = {0};
            ms_rc rc = ms_execution_wait(run->background[i], POLL_MS, &st);
            running |= rc == MS_CANCELED && st.retriable;
        }
        int status = look_at_background(run);
        if (status != MSI_EXIT_OK) {
            return status;
        }
    }
    return MSI_EXIT_OK;
}

static int print_result(run_state *run, uint32_t statement, ms_execution *execution)
{
    ms_status st = {0};
    ms_print_options options = {
        .struct_bytes = sizeof options,
        .format = run->format,
        .write = msi_write_stdout,
        .arg = &run->common,
    };
    ms_rc rc = ms_execution_print(execution, &options, &st);
    ms_status output = {0};
    if (msi_output_status(run->common.output_errno, &output) != MS_OK) {
        return fail(run, statement, &output);
    }
    if (rc == MS_OK && ms_execution_was_stopped(execution)) {
        if (ms_execution_is_bounded(execution)) {
            note_stopped_query(run, execution);
        } else {
            run->unbounded_stopped = true;
        }
    }
    if (rc == MS_OK || msi_signals_canceled()) {
        return MSI_EXIT_OK;
    }
    if (rc == MS_CANCELED) {
        run->reader_gone = true;
        return MSI_EXIT_OK;
    }
    return fail(run, statement, &st);
}

/* EXPLAIN as a command prints the text itself, not a table of one cell. */
static int print_plan(run_state *run, uint32_t statement, ms_execution *execution)
{
    ms_status st = {0};
    ms_rows rows = {.struct_bytes = sizeof rows};
    for (;;) {
        if (ms_execution_next(execution, -1, &rows, &st) != MS_OK) {
            return fail(run, statement, &st);
        }
        if (rows.count == 0) {
            return MSI_EXIT_OK;
        }
        for (uint32_t i = 0; i < rows.count; i++) {
            ms_cell cell = ms_rows_cell(execution, &rows, i, 0);
            if (!msi_write_stdout(&run->common, cell.str) ||
                !msi_write_stdout(&run->common, ms_str_lit("\n"))) {
                run->reader_gone = true;
                return msi_output_status(run->common.output_errno, &st) == MS_OK
                           ? MSI_EXIT_OK
                           : fail(run, statement, &st);
            }
        }
    }
}

static int run_statement(run_state *run, uint32_t statement)
{
    ms_status st = {0};
    ms_execution *execution = NULL;
    run->common.statement = statement;
    if (ms_script_execute(run->script, statement, run->explain_only, &execution, &st) != MS_OK) {
        return fail(run, statement, &st);
    }
    int status = MSI_EXIT_OK;
    if (ms_execution_has_rows(execution)) {
        status = run->explain_only ? print_plan(run, statement, execution)
                                   : print_result(run, statement, execution);
    } else if (ms_execution_is_job(execution) && ms_execution_is_bounded(execution)) {
        status = wait_bounded(run, statement, execution);
    } else if (ms_execution_is_job(execution) && run->background_count == BACKGROUND_MAX) {
        status = refuse_background(run, statement);
    } else if (ms_execution_is_job(execution)) {
        run->background[run->background_count] = execution;
        run->background_statement[run->background_count++] = statement;
        return look_at_background(run);
    }
    run->can_resume |= ms_execution_can_resume(execution);
    ms_execution_close(execution);
    return status == MSI_EXIT_OK ? look_at_background(run) : status;
}

/*
 * A signal came before this statement could run. Whoever started the script must not take it for
 * done, unless a later run goes on here, or nothing here was ever to run.
 */
static bool note_not_run(const run_state *run, uint32_t next)
{
    uint32_t count = ms_script_statement_count(run->script);
    if (next == count || msi_signals_received() == 0) {
        return false;
    }
    const char *resume = run->can_resume ? "; go on with --resume" : "";
    if (next + 1 == count) {
        fprintf(stderr, "stopped; statement %u of %u was not run%s\n", count, count, resume);
    } else {
        fprintf(stderr, "stopped; statements %u to %u of %u were not run%s\n", next + 1, count,
                count, resume);
    }
    return !run->can_resume && !run->unbounded_stopped;
}

static int run_statements(run_state *run)
{
    uint32_t count = ms_script_statement_count(run->script);
    int status = MSI_EXIT_OK;
    uint32_t next = 0;
    while (next < count && status == MSI_EXIT_OK && !run->reader_gone &&
           msi_signals_received() == 0) {
        status = run_statement(run, next++);
    }
    if (run->reader_gone) {
        ms_engine_cancel(run->common.engine);
    } else if (status == MSI_EXIT_OK) {
        status = wait_background(run);
    }
    for (uint32_t i = 0; i < run->background_count; i++) {
        run->can_resume |= ms_execution_can_resume(run->background[i]);
        ms_execution_close(run->background[i]);
    }
    if (status != MSI_EXIT_OK || run->reader_gone || msi_signals_received() == 0) {
        return status;
    }
    bool is_cut = note_not_run(run, next);
    bool by_signal = msi_signals_canceled() || run->bounded_stopped || is_cut;
    return by_signal ? 128 + msi_signals_received() : MSI_EXIT_OK;
}

static int run_script(run_state *run)
{
    ms_status st = {0};
    ms_buf text;
    ms_buf_init(&text, (17u << 20));
    ms_rc rc = msi_read_script(run->path, &text, &st);
    if (rc == MS_OK) {
        rc = ms_script_open(run->common.session, ms_str_cstr(run->path), ms_buf_view(&text),
                            &run->script, &st);
    }
    ms_buf_release(&text);
    if (rc == MS_OK) {
        rc = ms_script_parse(run->script, &st);
    }
    int status = MSI_EXIT_OK;
    if (rc == MS_OK) {
        /* Not before: while a script comes from a terminal, a signal ends the process at once. */
        msi_signals_start(run->common.engine);
        run->common.script = run->script;
        status = run_statements(run);
    } else {
        status = fail(run, 0, &st);
    }
    run->common.script = NULL;
    ms_script_close(run->script);
    return status;
}

/* Arguments. */

static bool set_format(run_state *run, ms_str word)
{
    static const struct {
        const char *name;
        ms_result_format format;
    } formats[] = {{"json", MS_RESULT_JSON},
                   {"csv", MS_RESULT_CSV},
                   {"tableau", MS_RESULT_TABLEAU},
                   {"table", MS_RESULT_TABLEAU}};
    if (ms_str_equals(word, ms_str_lit("changelog"))) {
        ms_session_set_changelog(run->common.session, true);
        return true;
    }
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (ms_str_equals(word, ms_str_cstr(formats[i].name))) {
            run->format = formats[i].format;
            return true;
        }
    }
    return false;
}

/* "json", "changelog", or both: "json,changelog". */
static int apply_result(run_state *run, const msi_command *command, const char *value)
{
    ms_str rest = ms_str_cstr(value);
    for (;;) {
        size_t comma = ms_str_find_byte(rest, ',', 0);
        ms_str word = ms_str_slice(rest, 0, comma);
        if (!set_format(run, word)) {
            return msi_usage_error(command,
                                   "\"%.*s\" is no result format; use json, csv, tableau or "
                                   "changelog",
                                   MS_STR_ARG(word));
        }
        if (comma == SIZE_MAX) {
            return MSI_EXIT_OK;
        }
        rest = ms_str_slice(rest, comma + 1, rest.bytes);
    }
}

static int apply_flag(run_state *run, const msi_command *command, const msi_args *args)
{
    static const struct {
        const char *flag;
        const char *key;
    } settings[] = {{"--bigtable", "bigtable.backend"},
                    {"--parallelism", "parallelism.default"},
                    {"--checkpoint-dir", "execution.checkpointing.dir"},
                    {"--checkpoint-interval", "execution.checkpointing.interval"}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (msi_args_is(args, settings[i].flag)) {
            return msi_apply_setting(&run->common, settings[i].flag, settings[i].key, args->value);
        }
    }
    if (msi_args_is(args, "--set") || msi_args_is(args, "--define")) {
        return msi_apply_pair(&run->common, command, args->flag->name, args->value);
    }
    if (msi_args_is(args, "--result")) {
        return apply_result(run, command, args->value);
    }
    if (msi_args_is(args, "--resume")) {
        ms_session_set_resume(run->common.session, MS_RESUME_YES);
    } else if (msi_args_is(args, "--fresh")) {
        ms_session_set_resume(run->common.session, MS_RESUME_FRESH);
    }
    return MSI_EXIT_OK;
}

/* The flags that must be known before the engine opens: a first pass over the arguments. */
static int early_flags(run_state *run, const msi_command *command, int argc, char **argv)
{
    bool resume = false;
    bool fresh = false;
    run->is_for_programs = !isatty(STDOUT_FILENO);
    msi_args args = msi_args_make(command, argc, argv);
    while (msi_args_next(&args)) {
        if (args.flag == NULL && run->path != NULL) {
            return msi_usage_error(command, "more than one script");
        }
        run->path = args.flag == NULL ? args.value : run->path;
        run->common.data_dir = msi_args_is(&args, "--data-dir") ? args.value : run->common.data_dir;
        run->common.quiet |= msi_args_is(&args, "--quiet");
        resume |= msi_args_is(&args, "--resume");
        fresh |= msi_args_is(&args, "--fresh");
        if (msi_args_is(&args, "--result")) {
            bool is_program =
                strstr(args.value, "json") != NULL || strstr(args.value, "csv") != NULL;
            bool is_table = strstr(args.value, "tab") != NULL;
            run->is_for_programs = is_program || (run->is_for_programs && !is_table);
            run->common.json_errors |= strstr(args.value, "json") != NULL;
        }
    }
    if (args.failed) {
        return MSI_EXIT_USAGE;
    }
    if (resume && fresh) {
        return msi_usage_error(command, "--resume and --fresh exclude each other");
    }
    return run->path == NULL ? msi_usage_error(command, "no script") : MSI_EXIT_OK;
}

static int run_with_session(run_state *run, const msi_command *command, int argc, char **argv)
{
    run->format = isatty(STDOUT_FILENO) ? MS_RESULT_TABLEAU : MS_RESULT_JSON;
    int status = MSI_EXIT_OK;
    msi_args args = msi_args_make(command, argc, argv);
    while (status == MSI_EXIT_OK && msi_args_next(&args)) {
        status = args.flag != NULL ? apply_flag(run, command, &args) : MSI_EXIT_OK;
    }
    return status == MSI_EXIT_OK ? run_script(run) : status;
}

static int run_command(const msi_command *command, int argc, char **argv, bool explain_only)
{
    run_state *run = ms_mem_calloc(1, sizeof *run);
    run->explain_only = explain_only;
    int status = early_flags(run, command, argc, argv);
    if (status != MSI_EXIT_OK) {
        ms_mem_free(run);
        return status;
    }
    ms_status st = {0};
    ms_engine_options options = {
        .struct_bytes = sizeof options,
        .data_dir = run->common.data_dir,
        .notice = msi_common_notice,
        .notice_arg = &run->common,
        .stdout_is_result = run->is_for_programs,
    };
    if (ms_engine_open(&options, &run->common.engine, &st) != MS_OK ||
        ms_session_open(run->common.engine, &run->common.session, &st) != MS_OK) {
        msi_print_status(&run->common, NULL, 0, &st);
        status = MSI_EXIT_FAILED;
    } else {
        status = run_with_session(run, command, argc, argv);
    }
    msi_signals_end();
    ms_session_close(run->common.session);
    ms_engine_close(run->common.engine);
    ms_mem_free(run);
    return status;
}

static int run_main(const msi_command *command, int argc, char **argv)
{
    return run_command(command, argc, argv, false);
}

static int explain_main(const msi_command *command, int argc, char **argv)
{
    return run_command(command, argc, argv, true);
}

const msi_command msi_command_run = {
    .name = "run",
    .operands = "FILE.sql|-",
    .help = "run a script",
    .flags = run_flags,
    .flag_count = sizeof run_flags / sizeof *run_flags,
    .run = run_main,
};

const msi_command msi_command_explain = {
    .name = "explain",
    .operands = "FILE.sql|-",
    .help = "print the plans of a script's queries and INSERTs, run none",
    .flags = explain_flags,
    .flag_count = sizeof explain_flags / sizeof *explain_flags,
    .run = explain_main,
};
