/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan text of checkpoints, version 1: a head line, a line of settings and one line a node,
 * inputs before consumers. Fields are separated by tabs and are key=value; texts are in double
 * quotes with backslash escapes, so that no field holds a tab or a line feed of its own.
 *
 *     millstream plan 1
 *     mode=streaming  bounded=yes  overflow=wrap  zone="UTC"
 *     1  kind=Source  id=0f..  input=  schema=("a" INT)  changes=[I]  table="s"  scan="..."
 *     2  kind=Calc    id=ab..  input=1  schema=(...)  changes=[I]  filter=...  select=...
 *
 * What may differ between two runs of one statement is left out: parallelism and the exchanges that
 * follow from it, emission settings, and the places of expressions in the text, which move when
 * something else in the script changes.
 */
#include "plan/physical.h"

#include "plan/plan_priv.h"
#include "type/hash.h"

#include <inttypes.h>

#define PLAN_HEAD "millstream plan 1\n"
#define PLAN_TEXT_BYTES (64u << 20) /* of the plan at hand when compared: far above any real plan */

const char *ms_pnode_kind_name(ms_pnode_kind kind)
{
    static const char *const names[] = {
        [MS_PNODE_SOURCE] = "TableSourceScan",
        [MS_PNODE_VALUES] = "Values",
        [MS_PNODE_CALC] = "Calc",
        [MS_PNODE_WATERMARK] = "WatermarkAssigner",
        [MS_PNODE_AGGREGATE] = "GroupAggregate",
        [MS_PNODE_UNION] = "Union",
        [MS_PNODE_EXCHANGE] = "Exchange",
        [MS_PNODE_SORT] = "Sort",
        [MS_PNODE_LIMIT] = "Limit",
        [MS_PNODE_SINK] = "Sink",
        [MS_PNODE_COLLECT] = "Collect",
    };
    _Static_assert(sizeof(names) / sizeof(names[0]) == MS_PNODE_COUNT, "a name a kind");
    return names[kind];
}

const ms_pnode *msi_plan_skip_exchanges(const ms_pnode *node)
{
    while (node->kind == MS_PNODE_EXCHANGE) {
        node = node->inputs[0];
    }
    return node;
}

ms_rc msi_plan_write_changelog(ms_buf *out, ms_changelog changelog, ms_status *st)
{
    static const struct {
        ms_changelog bit;
        const char *name;
    } kinds[] = {
        {1u << MS_ROW_INSERT, "I"},
        {1u << MS_ROW_UPDATE_BEFORE, "UB"},
        {1u << MS_ROW_UPDATE_AFTER, "UA"},
        {1u << MS_ROW_DELETE, "D"},
    };
    const char *separator = "[";
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if ((changelog & kinds[i].bit) != 0) {
            MS_TRY(ms_buf_format(out, st, "%s%s", separator, kinds[i].name));
            separator = ",";
        }
    }
    return ms_buf_append(out, separator[0] == '[' ? ms_str_lit("[]") : ms_str_lit("]"), st);
}

ms_rc msi_plan_describe(const ms_pnode *node, ms_buf *out, ms_status *st)
{
    if (node->kind == MS_PNODE_SOURCE) {
        const ms_scan *scan = node->u.source.scan;
        return scan->klass->describe != NULL ? scan->klass->describe(scan, out, st) : MS_OK;
    }
    const ms_sink *sink = node->u.sink.sink;
    return sink->klass->describe != NULL ? sink->klass->describe(sink, out, st) : MS_OK;
}

/* Writing. */

typedef struct plan_writer {
    const ms_plan *plan;
    ms_arena *scratch;
    ms_buf *out;
    ms_status *st;
} plan_writer;

static ms_rc write_quoted(plan_writer *w, ms_str text)
{
    MS_TRY(ms_buf_append_byte(w->out, '"', w->st));
    for (size_t i = 0; i < text.bytes; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c == '"' || c == '\\') {
            MS_TRY(ms_buf_format(w->out, w->st, "\\%c", c));
        } else if (c < 0x20) {
            MS_TRY(ms_buf_format(w->out, w->st, "\\x%02x", c));
        } else {
            MS_TRY(ms_buf_append_byte(w->out, (char)c, w->st));
        }
    }
    return ms_buf_append_byte(w->out, '"', w->st);
}

static const ms_expr *expr_without_place(void *ctx, ms_arena *arena, const ms_expr *expr)
{
    (void)ctx;
    ms_expr *copy = ms_arena_new(arena, ms_expr);
    *copy = *expr;
    copy->span = ms_span_none;
    return copy;
}

static ms_rc write_expr(plan_writer *w, const ms_expr *expr)
{
    return ms_expr_write(w->out, ms_expr_rewrite(w->scratch, expr, expr_without_place, NULL),
                         w->st);
}

/* The number of a node in the text: exchanges are not counted. */
static uint32_t node_number(const ms_plan *plan, const ms_pnode *node)
{
    uint32_t number = 0;
    for (uint32_t i = 0; i < plan->node_count; i++) {
        number += plan->nodes[i]->kind != MS_PNODE_EXCHANGE;
        if (plan->nodes[i] == node) {
            return number;
        }
    }
    MS_UNREACHABLE();
}

static ms_rc write_schema(plan_writer *w, const ms_schema *schema)
{
    MS_TRY(ms_buf_append(w->out, ms_str_lit("\tschema=("), w->st));
    for (uint32_t i = 0; i < schema->column_count; i++) {
        if (i > 0) {
            MS_TRY(ms_buf_append(w->out, ms_str_lit(", "), w->st));
        }
        MS_TRY(write_quoted(w, schema->columns[i].name));
        MS_TRY(ms_buf_append_byte(w->out, ' ', w->st));
        ms_str type = ms_type_text(w->scratch, schema->columns[i].type);
        MS_TRY(ms_buf_append(w->out, type, w->st));
    }
    return ms_buf_append_byte(w->out, ')', w->st);
}

/* Rows of constants may be many: their hash stands for them. */
static ms_rc write_values(plan_writer *w, const ms_pnode *node)
{
    uint32_t row_count = node->u.values.row_count;
    uint32_t column_count = node->schema.column_count;
    uint64_t hash = MS_HASH_SEED;
    for (uint32_t i = 0; i < row_count; i++) {
        uint64_t row =
            ms_hash_values(&node->u.values.cells[(size_t)i * column_count], column_count);
        hash = ms_hash_mix(hash ^ row);
    }
    return ms_buf_format(w->out, w->st, "\trows=%" PRIu32 "\tcells=%016" PRIx64, row_count, hash);
}

static ms_rc write_calc(plan_writer *w, const ms_pnode *node)
{
    MS_TRY(ms_buf_append(w->out, ms_str_lit("\tfilter="), w->st));
    if (node->u.calc.filter != NULL) {
        MS_TRY(write_expr(w, node->u.calc.filter));
    }
    MS_TRY(ms_buf_append(w->out, ms_str_lit("\tselect="), w->st));
    for (uint32_t i = 0; i < node->u.calc.expr_count; i++) {
        if (i > 0) {
            MS_TRY(ms_buf_append_byte(w->out, ' ', w->st));
        }
        MS_TRY(write_expr(w, node->u.calc.exprs[i]));
    }
    return MS_OK;
}

static ms_rc write_aggregate(plan_writer *w, const ms_pnode *node)
{
    MS_TRY(ms_buf_append(w->out, ms_str_lit("\tcalls="), w->st));
    for (uint32_t i = 0; i < node->u.aggregate.call_count; i++) {
        const ms_agg_call *call = &node->u.aggregate.calls[i];
        MS_TRY(ms_buf_format(w->out, w->st, "%s%s(", i == 0 ? "" : ", ", ms_agg_name(call->kind)));
        if (call->arg != UINT32_MAX) {
            MS_TRY(ms_buf_format(w->out, w->st, "%" PRIu32, call->arg));
        }
        MS_TRY(ms_buf_append_byte(w->out, ')', w->st));
        if (call->filter != UINT32_MAX) {
            MS_TRY(ms_buf_format(w->out, w->st, " filter %" PRIu32, call->filter));
        }
    }
    return MS_OK;
}

static ms_rc write_sort(plan_writer *w, const ms_pnode *node)
{
    MS_TRY(ms_buf_append(w->out, ms_str_lit("\tkeys="), w->st));
    for (uint32_t i = 0; i < node->u.sort.key_count; i++) {
        const ms_sort_key *key = &node->u.sort.keys[i];
        MS_TRY(ms_buf_format(w->out, w->st, "%s%" PRIu32 " %s nulls %s", i == 0 ? "" : ", ",
                             key->column, key->descending ? "desc" : "asc",
                             key->nulls_first ? "first" : "last"));
    }
    return ms_buf_format(w->out, w->st, "\tlimit=%" PRIu64 "\toffset=%" PRIu64, node->u.sort.limit,
                         node->u.sort.offset);
}

/* table and what the connector says of its face, which has the pushed ranges and columns. */
static ms_rc write_face(plan_writer *w, const ms_pnode *node)
{
    bool is_source = node->kind == MS_PNODE_SOURCE;
    MS_TRY(ms_buf_append(w->out, ms_str_lit("\ttable="), w->st));
    MS_TRY(write_quoted(w, is_source ? node->u.source.table : node->u.sink.table));
    MS_TRY(ms_buf_format(w->out, w->st, "\t%s=", is_source ? "scan" : "sink"));
    ms_buf face;
    ms_buf_init(&face, w->out->max_bytes);
    ms_rc rc = msi_plan_describe(node, &face, w->st);
    if (rc == MS_OK) {
        rc = write_quoted(w, ms_buf_view(&face));
    }
    ms_buf_release(&face);
    return rc;
}

static ms_rc write_particulars(plan_writer *w, const ms_pnode *node)
{
    switch (node->kind) {
    case MS_PNODE_SOURCE:
    case MS_PNODE_SINK:
        return write_face(w, node);
    case MS_PNODE_VALUES:
        return write_values(w, node);
    case MS_PNODE_CALC:
        return write_calc(w, node);
    case MS_PNODE_WATERMARK:
        MS_TRY(ms_buf_format(w->out, w->st, "\trowtime=%" PRIu32 "\tinterval=%" PRId64 "\texpr=",
                             node->u.watermark.rowtime, node->u.watermark.interval_ms));
        return write_expr(w, node->u.watermark.expr);
    case MS_PNODE_AGGREGATE:
        return write_aggregate(w, node);
    case MS_PNODE_SORT:
        return write_sort(w, node);
    case MS_PNODE_LIMIT:
        return ms_buf_format(w->out, w->st, "\tlimit=%" PRIu64 "\toffset=%" PRIu64,
                             node->u.limit.limit, node->u.limit.offset);
    case MS_PNODE_UNION:
    case MS_PNODE_EXCHANGE:
    case MS_PNODE_COLLECT:
        return MS_OK;
    case MS_PNODE_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

static ms_rc write_node(plan_writer *w, const ms_pnode *node)
{
    MS_TRY(ms_buf_format(w->out, w->st, "%" PRIu32 "\tkind=%s\tid=%016" PRIx64 "\tinput=",
                         node_number(w->plan, node), ms_pnode_kind_name(node->kind), node->id));
    for (uint32_t i = 0; i < node->input_count; i++) {
        const ms_pnode *input = msi_plan_skip_exchanges(node->inputs[i]);
        MS_TRY(ms_buf_format(w->out, w->st, "%s%" PRIu32, i == 0 ? "" : ",",
                             node_number(w->plan, input)));
    }
    MS_TRY(write_schema(w, &node->schema));
    MS_TRY(ms_buf_append(w->out, ms_str_lit("\tchanges="), w->st));
    MS_TRY(msi_plan_write_changelog(w->out, node->changelog, w->st));
    MS_TRY(write_particulars(w, node));
    return ms_buf_append_byte(w->out, '\n', w->st);
}

static ms_rc write_plan(plan_writer *w)
{
    const ms_plan *plan = w->plan;
    MS_TRY(ms_buf_append(w->out, ms_str_lit(PLAN_HEAD), w->st));
    MS_TRY(ms_buf_format(w->out, w->st, "settings\tmode=%s\tbounded=%s\toverflow=%s\tzone=",
                         plan->is_streaming ? "streaming" : "batch",
                         plan->is_bounded ? "yes" : "no",
                         plan->overflow_is_error ? "error" : "wrap"));
    MS_TRY(write_quoted(w, plan->local_time_zone));
    MS_TRY(ms_buf_append_byte(w->out, '\n', w->st));
    for (uint32_t i = 0; i < plan->node_count; i++) {
        if (plan->nodes[i]->kind != MS_PNODE_EXCHANGE) {
            MS_TRY(write_node(w, plan->nodes[i]));
        }
    }
    return MS_OK;
}

ms_rc ms_plan_write_text(const ms_plan *plan, ms_buf *out, ms_status *st)
{
    ms_arena scratch;
    ms_arena_init(&scratch, 0);
    plan_writer writer = {plan, &scratch, out, st};
    ms_rc rc = write_plan(&writer);
    ms_arena_release(&scratch);
    return rc;
}

/* Checking. */

/* Cuts the text up to the next separator, and the separator, off *rest_inout. */
static ms_str cut_at(ms_str *rest_inout, char separator)
{
    size_t end = ms_str_find_byte(*rest_inout, separator, 0);
    if (end == SIZE_MAX) {
        ms_str all = *rest_inout;
        *rest_inout = ms_str_slice(all, all.bytes, all.bytes);
        return all;
    }
    ms_str head = ms_str_slice(*rest_inout, 0, end);
    *rest_inout = ms_str_slice(*rest_inout, end + 1, rest_inout->bytes);
    return head;
}

/* The value of a field of a line; empty when the line has none. */
static ms_str line_field(ms_str line, ms_str key)
{
    while (line.bytes > 0) {
        ms_str field = cut_at(&line, '\t');
        if (field.bytes > key.bytes && ms_str_starts_with(field, key) &&
            field.ptr[key.bytes] == '=') {
            return ms_str_slice(field, key.bytes + 1, field.bytes);
        }
    }
    return (ms_str){NULL, 0};
}

/* "operator 2 (Calc)", or "the settings". */
static ms_str line_subject(ms_arena *scratch, ms_str line)
{
    ms_str kind = line_field(line, ms_str_lit("kind"));
    if (kind.ptr == NULL) {
        return ms_str_lit("the settings");
    }
    ms_str rest = line;
    ms_str number = cut_at(&rest, '\t');
    ms_str table = line_field(line, ms_str_lit("table"));
    if (table.ptr != NULL) {
        return ms_arena_format(scratch, "operator %.*s (%.*s of table %.*s)", MS_STR_ARG(number),
                               MS_STR_ARG(kind), MS_STR_ARG(table));
    }
    return ms_arena_format(scratch, "operator %.*s (%.*s)", MS_STR_ARG(number), MS_STR_ARG(kind));
}

/* Reports how two lines differ; two that only differ in the id do not, as far as this goes. */
static ms_rc report_difference(ms_arena *scratch, ms_str stored, ms_str actual, ms_status *st)
{
    ms_str hint = ms_str_lit("Restore the statement, tables and settings that the checkpoint was "
                             "taken with, or run with --fresh to start anew.");
    if (stored.bytes == 0 || actual.bytes == 0) {
        ms_str subject = line_subject(scratch, stored.bytes > 0 ? stored : actual);
        ms_status_set(st, MS_PLAN_MISMATCH, ms_span_none,
                      "the checkpoint belongs to another plan: %.*s is only in %s",
                      MS_STR_ARG(subject), stored.bytes > 0 ? "the checkpoint" : "the statement");
        return ms_status_hint(st, "%.*s", MS_STR_ARG(hint));
    }
    ms_str subject = line_subject(scratch, actual);
    while (stored.bytes > 0 || actual.bytes > 0) {
        ms_str theirs = cut_at(&stored, '\t');
        ms_str ours = cut_at(&actual, '\t');
        /* An id follows from all that is above: the line of what changed there says more. */
        if (ms_str_equals(theirs, ours) || ms_str_starts_with(ours, ms_str_lit("id="))) {
            continue;
        }
        ms_str rest = ours.bytes > 0 ? ours : theirs;
        ms_str key = cut_at(&rest, '=');
        ms_status_set(st, MS_PLAN_MISMATCH, ms_span_none,
                      "the checkpoint belongs to another plan: %.*s differs in its %.*s",
                      MS_STR_ARG(subject), MS_STR_ARG(key));
        ms_status_detail(st, "checkpoint: %.*s; statement: %.*s", MS_STR_ARG(theirs),
                         MS_STR_ARG(ours));
        return ms_status_hint(st, "%.*s", MS_STR_ARG(hint));
    }
    return MS_OK;
}

static ms_rc check_lines(ms_arena *scratch, ms_str stored, ms_str actual, ms_status *st)
{
    if (!ms_str_starts_with(stored, ms_str_lit(PLAN_HEAD))) {
        ms_status_set(st, MS_CORRUPT_DATA, ms_span_none,
                      "the plan of the checkpoint is not a plan text of version 1");
        return ms_status_hint(st, "Run with --fresh to start anew.");
    }
    bool is_moved = false;
    while (stored.bytes > 0 || actual.bytes > 0) {
        ms_str theirs = cut_at(&stored, '\n');
        ms_str ours = cut_at(&actual, '\n');
        if (!ms_str_equals(theirs, ours)) {
            MS_TRY(report_difference(scratch, theirs, ours, st));
            is_moved = true;
        }
    }
    if (!is_moved) {
        return MS_OK;
    }
    ms_status_set(st, MS_PLAN_MISMATCH, ms_span_none,
                  "the checkpoint belongs to another plan: its operators have other ids");
    return ms_status_hint(st, "Run with --fresh to start anew.");
}

ms_rc ms_plan_check_text(const ms_plan *plan, ms_str stored, ms_status *st)
{
    ms_arena scratch;
    ms_arena_init(&scratch, 0);
    ms_buf actual;
    ms_buf_init(&actual, PLAN_TEXT_BYTES);
    ms_rc rc = ms_plan_write_text(plan, &actual, st);
    if (rc == MS_OK) {
        rc = check_lines(&scratch, stored, ms_buf_view(&actual), st);
    }
    ms_buf_release(&actual);
    ms_arena_release(&scratch);
    return rc;
}
