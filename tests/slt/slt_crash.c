/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The crash modes: a job is run in pieces. Each piece is a run in an engine of its own over one
 * data directory, at one of two parallelisms in turn:
 *
 *     rows given out by the sources, of 1000
 *     |-A---------B-x              run 1: checkpoints A and B; some rows more; torn down
 *     |           |-A---------B-x  run 2: from B of run 1
 *     |                       |-----------|  the last run: from B of run 2, to the end
 *
 * A comes behind the first batch, so that B writes what has changed since. Whoever compares only
 * the rows at the end is content with a program that starts over. So it is also required that a run
 * goes on from the checkpoint that was seen to complete, or from a newer one; with as many rows
 * behind it as had passed the gate; with splits or other positions, and with every entry of state
 * that there was; that the numbers of checkpoints grow; and that the rows before the last run and
 * in it are all rows, and none twice.
 *
 * Where tables of Bigtable are behind servers, one server is replaced by another behind B, while
 * the job runs, and after each run.
 *
 * A child that kills itself writes what it knows to its standard output before: the numbers of an
 * outcome, the checkpoint as 0 when it is to die of it.
 */
#include "slt_gate.h"
#include "slt_run.h"

#include "base/env.h"
#include "engine/engine_test.h"

#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECKPOINT_MS 60000
#define WAIT_MS 60000
#define PIECES_FEW 2u
#define PIECES_MANY 5u
#define CHILD_NUMBERS 10u

extern char **environ;

/* A run of a job up to an interruption. */
typedef struct piece {
    uint32_t record;
    uint32_t statement;
    uint32_t replay_from;
    uint32_t parallelism;
    bool resumes;
    uint64_t rows;      /* passed by B, in this run */
    uint64_t rows_left; /* that the job has left to read: not even the end may pass */
    slt_tear tear;
} piece;

/* What a run has shown. */
typedef struct outcome {
    uint64_t rows; /* passed the gate up to B */
    uint64_t table_rows;
    uint64_t rows_torn; /* up to the end of the run */
    uint64_t from;      /* the checkpoint gone on from, 0: none */
    uint64_t checkpoint;
    uint64_t rows_before; /* says the job */
    uint64_t entries;
    uint64_t positions;
    uint64_t state_min; /* entries of state at B, but for operators that have ended */
    uint64_t state_max; /* and with them */
} outcome;

/* A job over all its runs. */
typedef struct torn_job {
    slt_run *r;
    uint32_t record;
    uint32_t statement;
    uint64_t rows; /* of its input */
    uint32_t runs;
    uint64_t base; /* rows up to the last checkpoint */
    uint64_t table_base;
    uint64_t checkpoint;
    uint64_t state_min;
    uint64_t state_max;
    slt_crashes crashes;
} torn_job;

/* One run. */

static bool open_run(slt_run *r, const piece *p, ms_status *st)
{
    bool ok = slt_open(r) && slt_replay(r, p->record, p->statement, st) &&
              slt_set_number(r, "parallelism.default", p->parallelism);
    if (ok && p->resumes) {
        ms_session_set_resume(r->session, r->file->starts_over ? MS_RESUME_FRESH : MS_RESUME_YES);
    }
    return ok;
}

/* Operators that had ended by a checkpoint need not come back, and a checkpoint in which an
 * operator is about to end may come before or behind that. */
static void note_state(ms_job *job, outcome *out)
{
    out->state_min = 0;
    out->state_max = 0;
    for (uint32_t i = 0; i < ms_job_op_count(job); i++) {
        ms_op_stats stats;
        ms_job_op_stats(job, i, &stats);
        out->state_min += stats.watermark_ms == INT64_MAX ? 0 : stats.state_entries;
        out->state_max += stats.state_entries;
    }
}

static void note_start(ms_job *job, outcome *out)
{
    ms_job_totals totals;
    ms_job_totals_now(job, &totals);
    out->from = totals.checkpoint_id;
    out->rows_before = totals.rows_read_before;
    out->positions = totals.restored_splits + totals.restored_snapshots;
    out->state_max = UINT64_MAX;
}

/* What tasks that have all begun say of it. */
static void note_restored(ms_job *job, outcome *out)
{
    ms_job_totals totals;
    ms_job_totals_now(job, &totals);
    out->entries = totals.restored_entries;
    out->rows = slt_gate_rows();
    out->table_rows = slt_gate_table_rows();
    out->rows_torn = out->rows;
}

static void print_outcome(const outcome *out)
{
    const uint64_t numbers[CHILD_NUMBERS] = {
        out->rows,        out->table_rows, out->rows_torn, out->from,      out->checkpoint,
        out->rows_before, out->entries,    out->positions, out->state_min, out->state_max};
    for (uint32_t i = 0; i < CHILD_NUMBERS; i++) {
        printf("%" PRIu64 " ", numbers[i]);
    }
    printf("\n");
    fflush(stdout);
}

static bool take_checkpoint(ms_job *job, outcome *out, ms_status *st)
{
    bool ok = ms_job_checkpoint(job, CHECKPOINT_MS, &out->checkpoint, st) == MS_OK;
    note_restored(job, out);
    note_state(job, out);
    return ok;
}

/* Lets rows pass up to where the run is to end, with checkpoints. False: the job has ended. */
static bool pass_rows(ms_job *job, const piece *p, outcome *out, ms_status *st)
{
    if (p->tear != SLT_TEAR_COMMIT) {
        if (!slt_gate_wait(job) || !take_checkpoint(job, out, st)) {
            return false;
        }
        if (slt_gate_rows() >= p->rows) {
            return true;
        }
    }
    slt_gate_allow(p->rows);
    if (!slt_gate_wait(job)) {
        return false;
    }
    if (p->tear == SLT_TEAR_COMMIT) {
        /* It does not survive the next checkpoint. */
        note_restored(job, out);
        print_outcome(out);
        (void)take_checkpoint(job, out, st);
        return false;
    }
    return take_checkpoint(job, out, st);
}

/* Starts a job and leaves it when it has done what the piece says. */
static bool run_piece(slt_run *r, const piece *p, ms_execution **execution_out, outcome *out,
                      ms_status *st)
{
    slt_gate_begin(1);
    if (ms_script_execute(r->script, p->statement, false, execution_out, st) != MS_OK) {
        return false;
    }
    ms_job *job = ms_execution_job(*execution_out);
    if (job == NULL) {
        return false;
    }
    note_start(job, out);
    if (!pass_rows(job, p, out, st)) {
        return false;
    }
    if (!slt_server_restart(r)) {
        return false;
    }
    if (out->rows < p->rows_left) {
        slt_gate_allow(out->rows + 1);
        (void)slt_gate_wait(job);
        out->rows_torn = slt_gate_rows();
    }
    return true;
}

/* In this process: CANCEL, and the engine closed. */
static bool tear_here(slt_run *r, const piece *p, outcome *out, ms_status *st)
{
    ms_execution *execution = NULL;
    bool ok = open_run(r, p, st) && run_piece(r, p, &execution, out, st);
    ms_execution_close(execution);
    slt_close(r);
    return ok;
}

/* Children. */

void slt_child(int argc, char **argv)
{
    ms_status st = {0};
    static slt_mode modes[SLT_MODES_MAX];
    ms_arena arena;
    ms_arena_init(&arena, 0);
    slt_file file;
    unsigned numbers[5];
    unsigned long long rows[2];
    const char *nightly = getenv("MS_NIGHTLY");
    uint32_t count = slt_modes(nightly != NULL && strcmp(nightly, "1") == 0, modes);
    if (argc != 5 || !slt_parse(&arena, argv[0], &file) ||
        sscanf(argv[3], "%u %u %u %u %u %llu %llu", &numbers[0], &numbers[1], &numbers[2],
               &numbers[3], &numbers[4], &rows[0], &rows[1]) != 7) {
        exit(2);
    }
    uint32_t mode_index = (uint32_t)strtoul(argv[1], NULL, 10);
    MS_ASSERT(mode_index < count);
    slt_run r = {.file = &file, .mode = &modes[mode_index], .replay_from = numbers[2]};
    piece p = {.record = numbers[0],
               .statement = numbers[1],
               .replay_from = numbers[2],
               .parallelism = numbers[3],
               .resumes = numbers[4] != 0,
               .rows = rows[0],
               .rows_left = rows[1],
               .tear = r.mode->tear};
    snprintf(r.tmp, sizeof r.tmp, "%s", argv[2]);
    snprintf(r.backend, sizeof r.backend, "%s", argv[4]);
    if (p.tear == SLT_TEAR_COMMIT &&
        ms_env_faults_set(ms_str_lit("commit.before:1:kill"), &st) != MS_OK) {
        exit(2);
    }
    outcome out = {0};
    ms_execution *execution = NULL;
    if (open_run(&r, &p, &st) && run_piece(&r, &p, &execution, &out, &st)) {
        print_outcome(&out);
        (void)raise(SIGKILL);
    }
    fprintf(stderr, "slt: a child: %s\n", st.message);
    exit(1);
}

static bool read_outcome(const char *text, outcome *out)
{
    uint64_t *numbers[CHILD_NUMBERS] = {
        &out->rows,        &out->table_rows, &out->rows_torn, &out->from,      &out->checkpoint,
        &out->rows_before, &out->entries,    &out->positions, &out->state_min, &out->state_max};
    for (uint32_t i = 0; i < CHILD_NUMBERS; i++) {
        int bytes = 0;
        if (sscanf(text, "%" SCNu64 " %n", numbers[i], &bytes) != 1) {
            return false;
        }
        text += bytes;
    }
    return true;
}

static bool start_child(char **argv, pid_t *pid_out, int *output_out)
{
    int ends[2];
    if (pipe(ends) != 0) {
        return false;
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    bool ok = posix_spawn(pid_out, "/proc/self/exe", &actions, NULL, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    *output_out = ends[0];
    return ok;
}

/* In a child, which is killed. */
static bool tear_child(slt_run *r, const piece *p, outcome *out, ms_status *st)
{
    char mode[16];
    char numbers[160];
    snprintf(mode, sizeof mode, "%u", r->mode_index);
    snprintf(numbers, sizeof numbers, "%u %u %u %u %u %llu %llu", p->record, p->statement,
             p->replay_from, p->parallelism, p->resumes ? 1U : 0U, (unsigned long long)p->rows,
             (unsigned long long)p->rows_left);
    char name[] = "slt";
    char flag[] = "--child";
    char path[1024];
    snprintf(path, sizeof path, "%s", r->file->path);
    char *argv[] = {name, flag, path, mode, r->tmp, numbers, r->backend, NULL};
    pid_t pid = 0;
    int output = -1;
    int status = 0;
    if (!start_child(argv, &pid, &output)) {
        ms_status_set(st, MS_INTERNAL, ms_span_none, "the child did not start");
        return false;
    }
    char text[400];
    size_t bytes = 0;
    for (ssize_t n = 1; n > 0 && bytes + 1 < sizeof text; bytes += n > 0 ? (size_t)n : 0) {
        n = read(output, text + bytes, sizeof text - 1 - bytes);
    }
    text[bytes] = '\0';
    close(output);
    bool is_killed =
        waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    bool ok = is_killed && read_outcome(text, out);
    if (!ok) {
        ms_status_set(st, MS_INTERNAL, ms_span_none, "a child was to be killed, status %d", status);
    }
    return ok;
}

/* The whole job. */

static bool blame(slt_run *r, const char *what, uint64_t got, uint64_t wanted)
{
    if (r->crash_fault == NULL) {
        snprintf(r->crash_text, sizeof r->crash_text,
                 "%s: %" PRIu64 " where there should be %" PRIu64, what, got, wanted);
        r->crash_fault = r->crash_text;
    }
    return false;
}

/* A run that goes on: from where it should, with all that was there. */
static bool check_resumed(torn_job *t, const outcome *out)
{
    slt_run *r = t->r;
    if (out->from == 0 || out->from < t->checkpoint) {
        return blame(r, "the job goes on from checkpoint", out->from, t->checkpoint);
    }
    if (out->rows_before != t->table_base) {
        return blame(r, "rows of tables before the checkpoint", out->rows_before, t->table_base);
    }
    if (out->positions == 0) {
        return blame(r, "positions restored", 0, 1);
    }
    if (out->entries < t->state_min || out->entries > t->state_max) {
        return blame(r, "entries of state restored", out->entries, t->state_max);
    }
    t->crashes.positions += out->positions;
    t->crashes.entries += out->entries;
    return true;
}

/* Takes up what an interrupted run has shown. */
static bool note_piece(torn_job *t, const outcome *out)
{
    slt_run *r = t->r;
    if (t->runs > 0 && !check_resumed(t, out)) {
        return false;
    }
    if (out->checkpoint != 0 && out->checkpoint <= out->from) {
        return blame(r, "the number of a checkpoint", out->checkpoint, out->from + 1);
    }
    if (out->rows == 0) {
        return blame(r, "rows up to the interruption", 0, 1);
    }
    t->base += out->rows;
    t->table_base += out->table_rows;
    /* A number that is not known is greater than the one before. */
    t->checkpoint = out->checkpoint != 0 ? out->checkpoint : out->from + 1;
    t->state_min = out->state_min;
    t->state_max = out->state_max;
    t->crashes.interruptions++;
    t->crashes.rows_repeated += out->rows_torn - out->rows;
    t->runs++;
    return true;
}

static uint32_t parallelism_of(const slt_mode *mode, uint32_t run)
{
    return run % 2 == 0 ? mode->parallelism : mode->other_parallelism;
}

static bool tear(torn_job *t, uint32_t index, uint32_t count, ms_status *st)
{
    slt_run *r = t->r;
    uint64_t target = t->rows * (index + 1) / (count + 1);
    piece p = {.record = t->record,
               .statement = t->statement,
               .replay_from = r->replay_from,
               .parallelism = parallelism_of(r->mode, t->runs),
               .resumes = t->runs > 0,
               .rows = target > t->base ? target - t->base : 1,
               .rows_left = t->rows - t->base,
               .tear = r->mode->tear};
    outcome out = {0};
    bool ok = p.tear == SLT_TEAR_CANCEL ? tear_here(r, &p, &out, st) : tear_child(r, &p, &out, st);
    return ok && note_piece(t, &out) && slt_server_restart(r);
}

/* Goes on to the end; the engine stays open for the records that follow. */
static ms_rc run_rest(torn_job *t, ms_status *st)
{
    slt_run *r = t->r;
    piece p = {.record = t->record,
               .statement = t->statement,
               .parallelism = parallelism_of(r->mode, t->runs),
               .resumes = true};
    ms_execution *execution = NULL;
    outcome out = {0};
    bool ok = open_run(r, &p, st);
    slt_gate_begin(SLT_GATE_OPEN);
    ok = ok && ms_script_execute(r->script, t->statement, false, &execution, st) == MS_OK;
    ms_job *job = ok ? ms_execution_job(execution) : NULL;
    if (job != NULL) {
        note_start(job, &out);
        (void)ms_execution_wait(execution, WAIT_MS, st);
        note_restored(job, &out);
    } else if (ok) {
        (void)blame(r, "jobs that go on", 0, 1);
    }
    ms_execution_close(execution);
    if (job != NULL && st->code == MS_OK && check_resumed(t, &out) &&
        t->base + out.rows != t->rows) {
        (void)blame(r, "rows given out before and after the checkpoint", t->base + out.rows,
                    t->rows);
    }
    ms_session_set_resume(r->session, MS_RESUME_FRESH);
    uint32_t parallelism = r->file->compare_rows ? 1 : r->mode->parallelism;
    (void)slt_set_number(r, "parallelism.default", parallelism);
    return st->code;
}

ms_rc slt_crash_job(slt_run *r, const slt_record *record, uint32_t statement, uint64_t rows,
                    ms_status *st)
{
    const char *nightly = getenv("MS_NIGHTLY");
    uint32_t most = nightly != NULL && strcmp(nightly, "1") == 0 ? PIECES_MANY : PIECES_FEW;
    uint32_t count = rows < most ? (uint32_t)rows : most;
    torn_job t = {.r = r,
                  .record = (uint32_t)(record - r->file->records),
                  .statement = statement,
                  .rows = rows};
    slt_close(r);
    bool ok = true;
    for (uint32_t i = 0; ok && i < count && t.base < rows; i++) {
        ok = tear(&t, i, count, st);
    }
    if (!ok && st->code == MS_OK) {
        (void)blame(r, "rows of a job that ended early", t.base, rows);
    }
    ms_status rest = {0};
    ms_rc rc = run_rest(&t, ok ? st : &rest);
    if (ok && rc == MS_OK && r->crash_fault == NULL) {
        r->crashes.jobs++;
        r->crashes.interruptions += t.crashes.interruptions;
        r->crashes.rows_kept += t.base;
        r->crashes.rows_repeated += t.crashes.rows_repeated;
        r->crashes.positions += t.crashes.positions;
        r->crashes.entries += t.crashes.entries;
    }
    return st->code;
}
