/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our client against Google's emulator, beside the same client of the embedded store: random
 * writes, deletions, checks and modifications on both, and random reads and filters that must then
 * give the same rows.
 *
 *     conformance_emulator [PROGRAM]
 *
 * Only what the emulator has right is compared. Left out, because it is known to differ from the
 * service or nobody promises it: limits and offsets of cells per row over several families (it
 * takes families in no order), the order of copies of one cell, sinks, bitmasks, samples, labels,
 * conditions without a predicate, the errors of mutations and all limits, garbage collection,
 * sampled keys.
 *
 * Where there is no emulator it says so and ends with 77, which counts as skipped.
 */
#include "bigtable/store/store_testing.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define SKIPPED 77
#define STEPS 1500u
#define ROWS 8u
#define MICROS_FUTURE INT64_C(4102444800000000) /* a modification keeps the time of a later cell */
#define FAMILIES 5u
#define DATA_FAMILIES 3u

/* In order. Random cells are in the first three, modified ones in "n", sums in "s". */
static const char *const family_names[] = {"B", "a", "aB", "n", "s"};
static const char *const program_places[] = {
    "/usr/lib/google-cloud-sdk/platform/bigtable-emulator/cbtemulator",
    "/usr/local/bin/cbtemulator", "/usr/bin/cbtemulator"};
static const char *program;

typedef struct pair {
    fixture ours;
    fixture theirs; /* client, parker, mailbox and table only */
    pid_t pid;
    ms_loop *loop;
    struct ms_bt_transport *transport;
    ms_arena arena;
    ms_env_random random;
    unsigned rows_read;
    unsigned reads_with_filters;
    unsigned checks_that_matched;
} pair;

static unsigned below(pair *p, unsigned bound)
{
    return (unsigned)ms_env_random_below(&p->random, bound);
}

/* The emulator. */

/* Starts it at a port of its choice, which its first line names. */
static pid_t start_emulator(char *target_out, size_t bytes)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        execl(program, program, "-host", "127.0.0.1", "-port", "0", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *lines = fdopen(ends[0], "r");
    char line[256] = "";
    assert_non_null(fgets(line, sizeof(line), lines));
    fclose(lines);
    const char *at = strstr(line, "127.0.0.1:");
    assert_non_null(at);
    snprintf(target_out, bytes, "%.*s", (int)strcspn(at, "\n"), at);
    return pid;
}

static void connect_theirs(pair *p, const char *target)
{
    ms_status st = {0};
    fixture *f = &p->theirs;
    ms_parker_init(&f->parker);
    ms_mailbox_init(&f->mailbox, &f->parker);
    f->table = p->ours.table;
    assert_ok(ms_loop_create("emulator", &p->loop, &st));
    ms_bt_grpc_options grpc = {.loop = p->loop, .target = ms_str_cstr(target)};
    assert_ok(ms_bt_grpc_create(&grpc, &p->transport, &st));
    f->client = ms_bt_client_create(p->transport, NULL);
}

/* One family at a time: the emulator gives them in the order in which it got to know them. */
static void make_table(fixture *f)
{
    create_table(f, NULL, 0);
    for (size_t i = 0; i < FAMILIES; i++) {
        bool is_sum = i == FAMILIES - 1;
        add_family_of(f, &(ms_bt_family){.name = ms_str_cstr(family_names[i]),
                                         .type = is_sum ? MS_BT_VALUE_INT64_SUM : MS_BT_VALUE_RAW});
    }
}

static int setup(void **state)
{
    pair *p = calloc(1, sizeof(*p));
    char target[64];
    fixture_init(&p->ours, MS_BT_SYNC_OS);
    p->pid = start_emulator(target, sizeof(target));
    connect_theirs(p, target);
    ms_arena_init(&p->arena, 0);
    make_table(&p->ours);
    make_table(&p->theirs);
    *state = p;
    return 0;
}

static int teardown(void **state)
{
    pair *p = *state;
    ms_bt_client_destroy(p->theirs.client);
    ms_bt_grpc_destroy(p->transport);
    ms_loop_destroy(p->loop);
    ms_mailbox_release(&p->theirs.mailbox);
    kill(p->pid, SIGKILL);
    (void)waitpid(p->pid, NULL, 0);
    ms_arena_release(&p->arena);
    fixture_release(&p->ours);
    free(p);
    return 0;
}

/* Random things. */

static ms_str random_text(pair *p, unsigned bytes_min, unsigned bytes_max)
{
    static const char letters[] = {'a', 'b', 'B', '0', ' ', '\n', '\0', '\x7f'};
    char text[8];
    size_t bytes = bytes_min + below(p, bytes_max - bytes_min + 1);
    for (size_t i = 0; i < bytes; i++) {
        text[i] = letters[below(p, sizeof(letters))];
    }
    return ms_arena_copy_str(&p->arena, ms_str_make(text, bytes));
}

static ms_str random_key(pair *p)
{
    return ms_arena_format(&p->arena, "r%u", below(p, ROWS));
}

static ms_str random_family(pair *p)
{
    return ms_str_cstr(family_names[below(p, DATA_FAMILIES)]);
}

static ms_bt_range random_range(pair *p)
{
    ms_bt_range range;
    range.start.kind = (ms_bt_bound_kind)below(p, MS_BT_BOUND_COUNT);
    range.end.kind = (ms_bt_bound_kind)below(p, MS_BT_BOUND_COUNT);
    range.start.key =
        range.start.kind == MS_BT_BOUND_NONE ? (ms_str){NULL, 0} : random_text(p, 1, 2);
    range.end.key = range.end.kind == MS_BT_BOUND_NONE ? (ms_str){NULL, 0} : random_text(p, 1, 2);
    return range;
}

static const ms_bt_filter *random_regex(pair *p)
{
    static const ms_bt_filter_kind kinds[] = {MS_BT_FILTER_ROW_KEY_REGEX, MS_BT_FILTER_FAMILY_REGEX,
                                              MS_BT_FILTER_QUALIFIER_REGEX,
                                              MS_BT_FILTER_VALUE_REGEX};
    static const char *const keys[] = {"r[0-4]", "r.", "r(1|3|5)", "r7", "x", ".*"};
    static const char *const names[] = {"a.*", "B|a", "[aB]+", ".*", "(?i)A"};
    static const char *const texts[] = {"a+",     ".*",       "[^a]*", "(ab|B).?", "\\C*",
                                        "(?s).*", "[ab0B ]+", "a{2}",  "",         "a?b*"};
    ms_bt_filter_kind kind = kinds[below(p, 4)];
    const char *text = kind == MS_BT_FILTER_ROW_KEY_REGEX  ? keys[below(p, 6)]
                       : kind == MS_BT_FILTER_FAMILY_REGEX ? names[below(p, 5)]
                                                           : texts[below(p, 10)];
    return ms_bt_filter_regex(&p->arena, kind, ms_str_cstr(text));
}

static const ms_bt_filter *random_leaf(pair *p)
{
    ms_arena *arena = &p->arena;
    ms_bt_range range;
    switch (below(p, 8)) {
    case 0:
        return ms_bt_filter_pass_all(arena);
    case 1:
        return ms_bt_filter_block_all(arena);
    case 2: {
        ms_str family = random_family(p);
        range = random_range(p);
        return ms_bt_filter_column_range(arena, family, &range);
    }
    case 3: {
        int64_t start = 1000 * (int64_t)below(p, 4);
        return ms_bt_filter_timestamp_range(arena, start, 1000 * (int64_t)(5 + below(p, 4)));
    }
    case 4:
        range = random_range(p);
        return ms_bt_filter_value_range(arena, &range);
    case 5:
        return ms_bt_filter_cells_per_column(arena, 1 + (int32_t)below(p, 3));
    default:
        return random_regex(p);
    }
}

static const ms_bt_filter *random_filter(pair *p, unsigned depth)
{
    if (depth == 0 || below(p, 3) == 0) {
        return random_leaf(p);
    }
    const ms_bt_filter *children[3];
    for (int i = 0; i < 3; i++) {
        children[i] = random_filter(p, depth - 1);
    }
    switch (below(p, 3)) {
    case 0:
        return ms_bt_filter_chain(&p->arena, children, 2 + below(p, 2));
    case 1:
        return ms_bt_filter_interleave(&p->arena, children, 2 + below(p, 2));
    default:
        return ms_bt_filter_condition(&p->arena, children[0], children[1], children[2]);
    }
}

/* Values are stripped last of all: nobody promises which of two copies of a cell comes first. */
static const ms_bt_filter *random_whole_filter(pair *p, unsigned depth)
{
    const ms_bt_filter *children[2] = {random_filter(p, depth),
                                       ms_bt_filter_strip_value(&p->arena)};
    return below(p, 6) == 0 ? ms_bt_filter_chain(&p->arena, children, 2) : children[0];
}

/* Writing. */

static void add_mutation(pair *p, ms_bt_mutation_batch *batch)
{
    ms_status st = {0};
    uint16_t family = 0;
    uint16_t sums = 0;
    assert_ok(ms_bt_mutation_batch_family(batch, random_family(p), &family, &st));
    assert_ok(ms_bt_mutation_batch_family(batch, ms_str_lit("s"), &sums, &st));
    int64_t micros = 1000 * (int64_t)below(p, 9);
    ms_str qualifier = random_text(p, 1, 2);
    switch (below(p, 12)) {
    case 0:
        assert_ok(ms_bt_mutation_batch_delete_column(batch, family, qualifier, 0, 0, &st));
        break;
    case 1:
        assert_ok(ms_bt_mutation_batch_delete_column(batch, family, qualifier, micros,
                                                     micros + 3000, &st));
        break;
    case 2:
        assert_ok(ms_bt_mutation_batch_delete_family(batch, family, &st));
        break;
    case 3:
        assert_ok(ms_bt_mutation_batch_delete_row(batch, &st));
        break;
    case 4:
        assert_ok(ms_bt_mutation_batch_add_to_cell(batch, sums, ms_str_lit("q"), micros % 2000,
                                                   (int64_t)below(p, 100) - 50, &st));
        break;
    default:
        assert_ok(ms_bt_mutation_batch_set_cell(batch, family, qualifier, micros,
                                                random_text(p, 0, 3), &st));
        break;
    }
}

static void fill_entry(pair *p, ms_bt_mutation_batch *batch, ms_str key)
{
    ms_status st = {0};
    assert_ok(ms_bt_mutation_batch_begin_row(batch, key, &st));
    for (unsigned i = 1 + below(p, 4); i > 0; i--) {
        add_mutation(p, batch);
    }
    ms_bt_mutation_batch_end_row(batch);
}

static void mutate(pair *p)
{
    ms_bt_mutation_batch batch;
    ms_bt_mutation_batch_init(&batch, 1u << 20);
    for (unsigned i = 1 + below(p, 3); i > 0; i--) {
        fill_entry(p, &batch, random_key(p));
    }
    ms_bt_status ours = write_batch(&p->ours, &batch);
    ms_bt_status theirs = write_batch(&p->theirs, &batch);
    assert_bt(&ours, MS_BT_OK);
    assert_bt(&theirs, MS_BT_OK);
    ms_bt_mutation_batch_release(&batch);
}

static bool check_one(fixture *f, ms_str key, const ms_bt_filter *predicate,
                      const ms_bt_mutation_batch *if_true, const ms_bt_mutation_batch *if_false)
{
    ms_bt_check_and_mutate call;
    ms_bt_check_and_mutate_init(&call, &f->mailbox, done_nothing, NULL);
    call.table = &f->table;
    call.row_key = key;
    call.predicate = predicate;
    call.if_true = if_true;
    call.if_false = if_false;
    ms_bt_client_check_and_mutate(f->client, &call);
    ms_bt_call_wait(&call.call, &f->parker);
    assert_bt(&call.call.status, MS_BT_OK);
    bool matched = call.predicate_matched;
    ms_bt_check_and_mutate_release(&call);
    return matched;
}

static void check_and_mutate(pair *p)
{
    ms_bt_mutation_batch batches[2];
    ms_str key = random_key(p);
    for (int i = 0; i < 2; i++) {
        ms_bt_mutation_batch_init(&batches[i], 1u << 20);
        fill_entry(p, &batches[i], key);
    }
    const ms_bt_filter *predicate = below(p, 5) == 0 ? NULL : random_filter(p, 2);
    bool ours = check_one(&p->ours, key, predicate, &batches[0], &batches[1]);
    assert_int_equal(check_one(&p->theirs, key, predicate, &batches[0], &batches[1]), ours);
    p->checks_that_matched += ours;
    ms_bt_mutation_batch_release(&batches[0]);
    ms_bt_mutation_batch_release(&batches[1]);
}

static void modify_one(fixture *f, ms_str key, const ms_bt_rule *rules, size_t count, ms_buf *out)
{
    ms_bt_read_modify_write call;
    ms_bt_read_modify_write_init(&call, &f->mailbox, done_nothing, NULL);
    call.table = &f->table;
    call.row_key = key;
    call.rules = rules;
    call.rule_count = count;
    ms_bt_client_read_modify_write(f->client, &call);
    ms_bt_call_wait(&call.call, &f->parker);
    assert_bt(&call.call.status, MS_BT_OK);
    append_page(&call.row, out);
    ms_bt_read_modify_write_release(&call);
}

static void assert_same_text(ms_buf *ours, ms_buf *theirs, const char *what)
{
    if (!ms_str_equals(ms_buf_view(ours), ms_buf_view(theirs))) {
        fail_msg("%s:\n  ours   %.*s\n  theirs %.*s", what, MS_STR_ARG(ms_buf_view(ours)),
                 MS_STR_ARG(ms_buf_view(theirs)));
    }
    ms_buf_release(ours);
    ms_buf_release(theirs);
}

/* Both columns get a cell of a later time first, so that no clock shows in what comes of it. */
static void read_modify_write(pair *p)
{
    const ms_bt_rule rules[] = {{.kind = MS_BT_RULE_INCREMENT,
                                 .family = ms_str_lit("n"),
                                 .qualifier = ms_str_lit("count"),
                                 .increment = (int64_t)below(p, 1000) - 500},
                                {.kind = MS_BT_RULE_APPEND,
                                 .family = ms_str_lit("n"),
                                 .qualifier = ms_str_lit("text"),
                                 .append = random_text(p, 0, 3)}};
    ms_status st = {0};
    ms_str key = random_key(p);
    ms_bt_mutation_batch batch;
    uint16_t family = 0;
    ms_bt_mutation_batch_init(&batch, 1u << 20);
    assert_ok(ms_bt_mutation_batch_family(&batch, ms_str_lit("n"), &family, &st));
    assert_ok(ms_bt_mutation_batch_begin_row(&batch, key, &st));
    assert_ok(ms_bt_mutation_batch_set_cell(&batch, family, ms_str_lit("count"), MICROS_FUTURE,
                                            ms_str_make("\0\0\0\0\0\0\1", 8), &st));
    assert_ok(ms_bt_mutation_batch_set_cell(&batch, family, ms_str_lit("text"), MICROS_FUTURE,
                                            random_text(p, 0, 3), &st));
    ms_bt_mutation_batch_end_row(&batch);
    ms_bt_status ours = write_batch(&p->ours, &batch);
    ms_bt_status theirs = write_batch(&p->theirs, &batch);
    assert_bt(&ours, MS_BT_OK);
    assert_bt(&theirs, MS_BT_OK);
    ms_bt_mutation_batch_release(&batch);
    ms_buf texts[2];
    ms_buf_init(&texts[0], 1u << 20);
    ms_buf_init(&texts[1], 1u << 20);
    for (int i = 0; i < 3; i++) {
        modify_one(&p->ours, key, rules, 2, &texts[0]);
        modify_one(&p->theirs, key, rules, 2, &texts[1]);
    }
    assert_same_text(&texts[0], &texts[1], "ReadModifyWriteRow");
}

static void drop_one(fixture *f, ms_str prefix)
{
    ms_bt_table_call call;
    ms_bt_table_call_init(&call, &f->mailbox, done_nothing, NULL);
    call.name = f->table;
    call.key = prefix;
    ms_bt_client_drop_rows(f->client, &call);
    ms_bt_call_wait(&call.call, &f->parker);
    assert_bt(&call.call.status, MS_BT_OK);
    ms_bt_table_call_release(&call);
}

/* Reading. */

static void make_rows(pair *p, ms_bt_row_set *rows)
{
    unsigned how = below(p, 4);
    ms_str *keys = ms_arena_array(&p->arena, ms_str, 3);
    ms_bt_range *ranges = ms_arena_array(&p->arena, ms_bt_range, 2);
    rows->keys = keys;
    rows->ranges = ranges;
    if (how == 1 || how == 3) {
        rows->key_count = 1 + below(p, 3);
        for (size_t i = 0; i < rows->key_count; i++) {
            keys[i] = random_key(p);
        }
    }
    if (how >= 2) {
        rows->range_count = 1 + below(p, 2);
        for (size_t i = 0; i < rows->range_count; i++) {
            unsigned start = below(p, ROWS);
            unsigned end = start + 1 + below(p, ROWS - start);
            ranges[i].start =
                (ms_bt_bound){below(p, 2) == 0 ? MS_BT_BOUND_CLOSED : MS_BT_BOUND_OPEN,
                              ms_arena_format(&p->arena, "r%u", start)};
            ranges[i].end = (ms_bt_bound){below(p, 2) == 0 ? MS_BT_BOUND_CLOSED : MS_BT_BOUND_OPEN,
                                          ms_arena_format(&p->arena, "r%u", end)};
        }
    }
}

static void read_both(pair *p)
{
    ms_status st = {0};
    ms_bt_read_options options = {.table = p->ours.table};
    make_rows(p, &options.rows);
    options.filter = below(p, 4) == 0 ? NULL : random_whole_filter(p, below(p, 4));
    options.rows_limit = below(p, 3) == 0 ? 1 + below(p, 4) : 0;
    options.is_reversed = below(p, 4) == 0;
    ms_buf texts[2];
    ms_buf what;
    ms_buf_init(&texts[0], 8u << 20);
    ms_buf_init(&texts[1], 8u << 20);
    ms_buf_init(&what, 1u << 20);
    ms_bt_status ours = read_text(&p->ours, &options, &texts[0]);
    ms_bt_status theirs = read_text(&p->theirs, &options, &texts[1]);
    if (options.filter != NULL) {
        assert_ok(ms_bt_filter_render(options.filter, &what, &st));
    }
    assert_ok(ms_buf_format(&what, &st, ", limit %" PRId64 "%s", options.rows_limit,
                            options.is_reversed ? ", reversed" : ""));
    assert_ok(ms_buf_append_byte(&what, '\0', &st));
    if (!ms_bt_status_is_ok(&ours) || !ms_bt_status_is_ok(&theirs)) {
        fail_msg("%s: ours %s, theirs %s", what.ptr, ours.text, theirs.text);
    }
    p->rows_read += texts[0].bytes > 0;
    p->reads_with_filters += texts[0].bytes > 0 && options.filter != NULL;
    assert_same_text(&texts[0], &texts[1], what.ptr);
    ms_buf_release(&what);
}

static void the_same_calls_give_the_same_rows(void **state)
{
    pair *p = *state;
    const char *seed = getenv("MS_SEED");
    ms_env_random_init(&p->random, seed != NULL ? strtoull(seed, NULL, 10) : 1);
    for (unsigned step = 0; step < STEPS; step++) {
        ms_arena_reset(&p->arena);
        unsigned how = below(p, 40);
        if (how == 0) {
            ms_str prefix = random_key(p);
            drop_one(&p->ours, prefix);
            drop_one(&p->theirs, prefix);
        } else if (how < 6) {
            check_and_mutate(p);
        } else if (how < 10) {
            read_modify_write(p);
        } else if (how < 22) {
            mutate(p);
        }
        read_both(p);
    }
    /* The test means nothing when nothing is there to be read. */
    assert_true(p->rows_read > STEPS / 3);
    assert_true(p->reads_with_filters > STEPS / 5);
    assert_true(p->checks_that_matched > 20);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_same_calls_give_the_same_rows, setup, teardown),
    };
    program = argc > 1 ? argv[1] : NULL;
    for (size_t i = 0; program == NULL && i < sizeof(program_places) / sizeof(*program_places);
         i++) {
        program = access(program_places[i], X_OK) == 0 ? program_places[i] : NULL;
    }
    if (program == NULL) {
        printf("SKIPPED  Google's emulator (cbtemulator) is not installed\n");
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
