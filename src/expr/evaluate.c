/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running programs. An evaluator has one vector for each register, filled in by the instructions in
 * order. Vectors of plain values use buffers made at creation; nested values, flattened inputs and
 * the bytes of strings live in an arena and a heap that are emptied at the start of a run.
 *
 * Invariants between instructions: a row that failed is NULL in the register's validity and in its
 * lane; what rows outside an instruction's selection hold is unspecified, in values, validity and
 * lane, and nobody looks.
 */
#include "base/memory.h"
#include "expr/interp.h"
#include "expr/kernels.h"

#include <string.h>

/* The rows of a selection now. */
typedef struct live_sel {
    uint16_t *buffer; /* of a SPLIT */
    msi_rows in;
} live_sel;

struct ms_evaluator {
    const ms_program *program;
    uint32_t rows_max;
    ms_arena memory;  /* of the evaluator's life */
    ms_arena scratch; /* of a run */
    ms_arena call;    /* of an instruction */
    ms_heap *heap;
    ms_fn_memory fn_memory;
    ms_vec *buffers;
    ms_fn_lane *lanes;
    uint16_t **sel_buffers;
    ms_vec *regs;
    live_sel *sels;
    const ms_vec **args;
    ms_vec *flat_args; /* of constant arguments that were spread */
    ms_vec *frame;
    uint16_t *frame_sel;
    uint64_t overflows;
    uint32_t rows; /* of the batch */
};

/* Life. */

ms_evaluator *ms_evaluator_create(const ms_program *program, uint32_t rows_max)
{
    MS_ASSERT(rows_max > 0 && rows_max <= MS_BATCH_ROWS_MAX);
    ms_evaluator *ev = ms_mem_calloc(1, sizeof(*ev));
    static const ms_type forms[MS_PHYS_COUNT] = {
        [MS_PHYS_BOOL] = {.kind = MS_TYPE_BOOLEAN, .phys = MS_PHYS_BOOL},
        [MS_PHYS_I16] = {.kind = MS_TYPE_SMALLINT, .phys = MS_PHYS_I16},
        [MS_PHYS_I32] = {.kind = MS_TYPE_INT, .phys = MS_PHYS_I32},
        [MS_PHYS_I64] = {.kind = MS_TYPE_BIGINT, .phys = MS_PHYS_I64},
        [MS_PHYS_I128] = {.kind = MS_TYPE_DECIMAL, .phys = MS_PHYS_I128, .precision = 38}};
    ev->program = program;
    ev->rows_max = rows_max;
    ms_arena_init(&ev->memory, 0);
    ms_arena_init(&ev->scratch, 0);
    ms_arena_init(&ev->call, 0);
    ev->heap = ms_heap_create(0);
    ev->fn_memory = (ms_fn_memory){.arena = &ev->scratch, .heap = ev->heap, .scratch = &ev->call};
    ms_arena *memory = &ev->memory;
    ev->buffers = ms_arena_array(memory, ms_vec, program->buffer_count);
    for (uint32_t i = 0; i < program->buffer_count; i++) {
        ms_vec_alloc(&ev->buffers[i], &forms[program->buffers[i].phys], rows_max, memory);
        memset(ev->buffers[i].data, 0, ms_phys_bytes(ev->buffers[i].phys) * rows_max);
    }
    ev->lanes = ms_arena_array(memory, ms_fn_lane, program->lane_count);
    for (uint32_t i = 0; i < program->lane_count; i++) {
        ev->lanes[i].bits = ms_arena_array(memory, uint64_t, MS_BITMAP_WORDS(rows_max));
        ev->lanes[i].codes = ms_arena_array(memory, uint8_t, rows_max);
        ev->lanes[i].sites = ms_arena_array(memory, uint16_t, rows_max);
    }
    /* The loops without branches write one entry past the last hit. */
    ev->sel_buffers = ms_arena_array(memory, uint16_t *, program->sel_buffer_count);
    for (uint32_t i = 0; i < program->sel_buffer_count; i++) {
        ev->sel_buffers[i] = ms_arena_array(memory, uint16_t, (size_t)rows_max + 1);
    }
    ev->regs = ms_arena_array(memory, ms_vec, program->reg_count);
    ev->sels = ms_arena_array(memory, live_sel, program->sel_count);
    ev->args = ms_arena_array(memory, const ms_vec *, program->arg_max);
    ev->flat_args = ms_arena_array(memory, ms_vec, program->arg_max);
    ev->frame = ms_arena_array(memory, ms_vec, program->output_count);
    ev->frame_sel = ms_arena_array(memory, uint16_t, rows_max);
    for (uint32_t s = 1; s < program->sel_count; s++) {
        ev->sels[s].buffer = ev->sel_buffers[program->sels[s].buffer];
    }
    return ev;
}

void ms_evaluator_destroy(ms_evaluator *ev)
{
    if (ev == NULL) {
        return;
    }
    ms_heap_drop(ev->heap);
    ms_arena_release(&ev->call);
    ms_arena_release(&ev->scratch);
    ms_arena_release(&ev->memory);
    ms_mem_free(ev);
}

void ms_evaluator_watch(ms_evaluator *ev, const _Atomic bool *canceled)
{
    ev->fn_memory.canceled = canceled;
}

static bool is_canceled(const ms_evaluator *ev)
{
    const _Atomic bool *canceled = ev->fn_memory.canceled;
    /* Order relaxed: nothing is read on the strength of it. */
    return canceled != NULL && atomic_load_explicit(canceled, memory_order_relaxed);
}

size_t ms_evaluator_bytes(const ms_evaluator *ev)
{
    return sizeof(*ev) + ms_arena_used_bytes(&ev->memory) + ms_arena_used_bytes(&ev->scratch) +
           ms_arena_used_bytes(&ev->call) + ms_heap_held_bytes(ev->heap);
}

uint64_t ms_evaluator_overflows(const ms_evaluator *ev)
{
    return ev->overflows;
}

/* Registers. */

static ms_fn_lane *lane_of(ms_evaluator *ev, uint32_t reg)
{
    uint32_t lane = ev->program->regs[reg].lane;
    return lane != MSI_NONE ? &ev->lanes[lane] : NULL;
}

/* The vector of a result, empty: all valid, no failures. */
static ms_vec *open_result(ms_evaluator *ev, uint32_t reg)
{
    const msi_reg *r = &ev->program->regs[reg];
    ms_vec *vec = &ev->regs[reg];
    if (r->buffer != MSI_NONE) {
        *vec = ev->buffers[r->buffer];
        vec->type = r->type;
        vec->phys = r->type->phys;
        vec->valid = NULL;
    } else {
        ms_vec_alloc(vec, r->type, ev->rows_max, &ev->scratch);
    }
    ms_fn_lane *lane = lane_of(ev, reg);
    if (lane != NULL) {
        ms_lane_reset(lane, ev->rows);
    }
    return vec;
}

static uint32_t row_of(msi_rows in, uint32_t k)
{
    return in.rows != NULL ? in.rows[k] : k;
}

/* Inputs. An index vector is gathered at the live rows; others are taken as they are. */

static void gather(ms_evaluator *ev, ms_vec *out, const ms_vec *vec, msi_rows in);

static void gather_children(ms_evaluator *ev, ms_vec *out, const ms_vec *vec, msi_rows in)
{
    /* The children of a row are at the positions of its own values. */
    for (uint32_t c = 0; c < vec->child_count; c++) {
        ms_vec at = vec->children[c];
        uint16_t *index = ms_arena_alloc(&ev->scratch, ev->rows * sizeof(uint16_t), 2);
        for (uint32_t k = 0; k < in.count; k++) {
            uint32_t row = row_of(in, k);
            index[row] = (uint16_t)ms_vec_pos(&vec->children[c], ms_vec_pos(vec, row));
        }
        at.encoding = MS_ENC_INDEX;
        at.index = index;
        gather(ev, &out->children[c], &at, in);
    }
}

static void gather(ms_evaluator *ev, ms_vec *out, const ms_vec *vec, msi_rows in)
{
    size_t bytes = ms_phys_bytes(vec->phys);
    ms_vec_alloc(out, vec->type, ev->rows_max, &ev->scratch);
    for (uint32_t k = 0; k < in.count; k++) {
        uint32_t row = row_of(in, k);
        uint32_t pos = ms_vec_pos(vec, row);
        memcpy((char *)out->data + row * bytes, (const char *)vec->data + pos * bytes, bytes);
        if (vec->valid != NULL && !ms_bit_get(vec->valid, pos)) {
            ms_bit_clear(ms_vec_validity(out), row);
        }
    }
    if (vec->phys == MS_PHYS_ROW) {
        gather_children(ev, out, vec, in);
    } else if (vec->phys == MS_PHYS_LIST) {
        out->children = vec->children; /* lists point into them as before */
        out->child_rows = vec->child_rows;
    }
}

static void load_inputs(ms_evaluator *ev, const ms_batch *batch)
{
    const ms_program *program = ev->program;
    for (uint32_t r = 0; r < program->reg_count; r++) {
        const msi_reg *reg = &program->regs[r];
        if (reg->source == MSI_FROM_CONST) {
            ev->regs[r] = *reg->constant;
        } else if (reg->source == MSI_FROM_COLUMN) {
            const ms_vec *column = &batch->columns[reg->column];
            if (column->encoding == MS_ENC_INDEX) {
                gather(ev, &ev->regs[r], column, ev->sels[0].in);
            } else {
                ev->regs[r] = *column;
            }
        }
    }
}

/* Spreads a constant vector over all rows. */
static void spread(ms_evaluator *ev, ms_vec *out, const ms_vec *vec)
{
    ms_vec_alloc(out, vec->type, ev->rows_max, &ev->scratch);
    if (ms_vec_is_null(vec, 0)) {
        memset(ms_vec_validity(out), 0, MS_BITMAP_WORDS(ev->rows) * sizeof(uint64_t));
        return;
    }
    if (vec->phys == MS_PHYS_ROW) {
        ms_value value = ms_value_from_vec(&ev->scratch, vec, 0);
        for (uint32_t row = 0; row < ev->rows; row++) {
            ms_value_to_vec(&ev->scratch, &value, out, row, ev->rows_max);
        }
        return;
    }
    size_t bytes = ms_phys_bytes(vec->phys);
    for (uint32_t row = 0; row < ev->rows; row++) {
        memcpy((char *)out->data + row * bytes, vec->data, bytes);
    }
    if (vec->phys == MS_PHYS_LIST) {
        out->children = vec->children;
        out->child_rows = vec->child_rows;
    }
}

/* Calls. */

/* Of two failures of a row, the one whose span starts leftmost stays. */
static void add_failure(ms_evaluator *ev, ms_fn_lane *lane, uint32_t row, const ms_fn_lane *from)
{
    if (ms_bit_get(lane->bits, row)) {
        ms_span known = ev->program->sites[lane->sites[row]];
        ms_span other = ev->program->sites[from->sites[row]];
        if (other.start > known.start || (other.start == known.start && other.end >= known.end)) {
            return;
        }
        ms_bit_clear(lane->bits, row);
    }
    ms_lane_fail_at(lane, row, (ms_rc)from->codes[row], from->sites[row]);
}

static void add_failures(ms_evaluator *ev, ms_fn_lane *lane, const ms_fn_lane *from)
{
    if (from == NULL || !from->any) {
        return;
    }
    for (uint32_t w = 0; w < MS_BITMAP_WORDS(ev->rows); w++) {
        uint64_t word = from->bits[w];
        while (word != 0) {
            add_failure(ev, lane, w * 64 + (uint32_t)__builtin_ctzll(word), from);
            word &= word - 1;
        }
    }
}

/* A row that failed has no value. */
static void clear_failed(ms_evaluator *ev, ms_vec *vec, const ms_fn_lane *lane)
{
    if (lane == NULL || !lane->any) {
        return;
    }
    uint64_t *valid = ms_vec_validity(vec);
    for (uint32_t w = 0; w < MS_BITMAP_WORDS(ev->rows); w++) {
        valid[w] &= ~lane->bits[w];
    }
}

/* The operands, flat where the function needs it: kernels take at most all but one as constants. */
static void collect_args(ms_evaluator *ev, const msi_instr *instr)
{
    uint32_t constants = 0;
    for (uint32_t i = 0; i < instr->arg_count; i++) {
        ev->args[i] = &ev->regs[instr->args[i]];
        constants += ev->args[i]->encoding == MS_ENC_CONST;
    }
    bool all_constant = constants == instr->arg_count && constants > 0;
    for (uint32_t i = 0; i < instr->arg_count; i++) {
        bool is_const = ev->args[i]->encoding == MS_ENC_CONST;
        if (is_const && (!instr->takes_constants || (all_constant && i == 0))) {
            spread(ev, &ev->flat_args[i], ev->args[i]);
            ev->args[i] = &ev->flat_args[i];
        }
    }
}

static void run_call(ms_evaluator *ev, const msi_instr *instr, msi_rows in)
{
    ms_vec *result = open_result(ev, instr->out);
    ms_fn_lane *lane = lane_of(ev, instr->out);
    collect_args(ev, instr);
    ms_fn_call call = {.struct_bytes = sizeof(call),
                       .arg_count = instr->arg_count,
                       .state = instr->prepared.state,
                       .args = ev->args,
                       .result = result,
                       .rows = ev->rows,
                       .sel_count = in.count,
                       .sel = in.rows,
                       .lane = lane,
                       .memory = &ev->fn_memory};
    if (lane != NULL) {
        lane->site = instr->site;
    }
    if (!instr->is_strict || ms_call_join_validity(&call)) {
        instr->prepared.eval(&call);
    }
    ev->overflows += call.overflows;
    for (uint32_t i = 0; i < instr->arg_count && lane != NULL; i++) {
        add_failures(ev, lane, lane_of(ev, instr->args[i]));
    }
    clear_failed(ev, result, lane);
}

/* Fields. The child of a row vector is at the positions of the row's own values. */

/* Any encodings: gathers the child at the live rows of its parent. */
static void gather_field(ms_evaluator *ev, ms_vec *out, const ms_vec *row, const ms_vec *child,
                         msi_rows in)
{
    ms_vec at = *child;
    uint16_t *index = ms_arena_alloc(&ev->scratch, ev->rows * sizeof(uint16_t), 2);
    for (uint32_t k = 0; k < in.count; k++) {
        uint32_t live = row_of(in, k);
        index[live] = (uint16_t)ms_vec_pos(child, ms_vec_pos(row, live));
    }
    at.encoding = MS_ENC_INDEX;
    at.index = index;
    gather(ev, out, &at, in);
}

/* A copy of the parent's validity, less what is NULL in the child; both are flat. */
static uint64_t *joined_validity(ms_evaluator *ev, const ms_vec *row, const ms_vec *child)
{
    uint32_t words = MS_BITMAP_WORDS(ev->rows);
    uint64_t *bits = ms_arena_alloc(&ev->scratch, words * sizeof(uint64_t), sizeof(uint64_t));
    for (uint32_t w = 0; w < words; w++) {
        bits[w] = row->valid[w] & (child->valid != NULL ? child->valid[w] : UINT64_MAX);
    }
    return bits;
}

static void run_field(ms_evaluator *ev, const msi_instr *instr, msi_rows in)
{
    const ms_vec *row = &ev->regs[instr->args[0]];
    const ms_vec *child = &row->children[instr->index];
    ms_vec *out = &ev->regs[instr->out];
    ms_fn_lane *lane = lane_of(ev, instr->out);
    bool is_plain = row->encoding == MS_ENC_FLAT && child->encoding == MS_ENC_FLAT;
    if (row->encoding == MS_ENC_FLAT && row->valid == NULL && child->encoding != MS_ENC_INDEX) {
        *out = *child;
    } else {
        if (is_plain) {
            *out = *child;
        } else {
            gather_field(ev, out, row, child, in);
        }
        if (row->encoding == MS_ENC_CONST && ms_vec_is_null(row, 0)) {
            memset(ms_vec_validity(out), 0, MS_BITMAP_WORDS(ev->rows) * sizeof(uint64_t));
        } else if (row->encoding == MS_ENC_FLAT && row->valid != NULL) {
            out->valid = joined_validity(ev, row, out);
        }
    }
    out->type = ev->program->regs[instr->out].type;
    if (lane != NULL) {
        ms_lane_reset(lane, ev->rows);
        add_failures(ev, lane, lane_of(ev, instr->args[0]));
    }
}

/* Gives a vector a type of the same shape: the names of fields are in it, at every level. */
static void relabel(ms_evaluator *ev, ms_vec *vec, const ms_type *type)
{
    vec->type = type;
    if (vec->child_count == 0) {
        return;
    }
    ms_vec *children = ms_arena_array(&ev->scratch, ms_vec, vec->child_count);
    memcpy(children, vec->children, vec->child_count * sizeof(*children));
    /* The count of a MULTISET is a child that its type does not have. */
    for (uint32_t i = 0; i < vec->child_count && i < type->child_count; i++) {
        relabel(ev, &children[i], type->children[i]);
    }
    vec->children = children;
}

static void run_alias(ms_evaluator *ev, const msi_instr *instr)
{
    ms_vec *out = &ev->regs[instr->out];
    ms_fn_lane *lane = lane_of(ev, instr->out);
    *out = ev->regs[instr->args[0]];
    relabel(ev, out, ev->program->regs[instr->out].type);
    if (lane != NULL) {
        ms_lane_reset(lane, ev->rows);
        add_failures(ev, lane, lane_of(ev, instr->args[0]));
    }
}

/* Forms. */

static void run_clear(ms_evaluator *ev, const msi_instr *instr)
{
    ms_vec *out = open_result(ev, instr->out);
    memset(ms_vec_validity(out), 0, MS_BITMAP_WORDS(ev->rows) * sizeof(uint64_t));
}

/* Failures of the rows of a selection become failures of a merge register. */
static void merge_failures(ms_evaluator *ev, uint32_t out, uint32_t arg, msi_rows in)
{
    const ms_fn_lane *from = lane_of(ev, arg);
    ms_fn_lane *lane = lane_of(ev, out);
    if (from == NULL || !from->any) {
        return;
    }
    for (uint32_t k = 0; k < in.count; k++) {
        uint32_t row = row_of(in, k);
        if (ms_bit_get(from->bits, row)) {
            add_failure(ev, lane, row, from);
        }
    }
}

static void merge_validity(ms_evaluator *ev, ms_vec *out, const ms_vec *arg, msi_rows in)
{
    uint64_t *valid = out->valid;
    bool is_const = arg->encoding == MS_ENC_CONST;
    if (in.rows == NULL && !is_const) {
        for (uint32_t w = 0; w < MS_BITMAP_WORDS(ev->rows); w++) {
            valid[w] = arg->valid != NULL ? arg->valid[w] : UINT64_MAX;
        }
        return;
    }
    for (uint32_t k = 0; k < in.count; k++) {
        uint32_t row = row_of(in, k);
        if (!ms_vec_is_null(arg, row)) {
            ms_bit_set(valid, row);
        }
    }
}

static void run_merge(ms_evaluator *ev, const msi_instr *instr, msi_rows in)
{
    ms_vec *out = &ev->regs[instr->out];
    const ms_vec *arg = &ev->regs[instr->args[0]];
    bool is_const = arg->encoding == MS_ENC_CONST;
    merge_failures(ev, instr->out, instr->args[0], in);
    if (!ms_type_is_nested(out->type)) {
        merge_validity(ev, out, arg, in);
        msi_merge_values(out->data, arg->data, ms_phys_bytes(out->phys), is_const ? 0 : 1, in);
        return;
    }
    for (uint32_t k = 0; k < in.count; k++) {
        uint32_t row = row_of(in, k);
        if (!ms_vec_is_null(arg, row)) {
            ms_value value = ms_value_from_vec(&ev->scratch, arg, row);
            ms_bit_set(out->valid, row);
            ms_value_to_vec(&ev->scratch, &value, out, row, ev->rows_max);
        }
    }
}

/* Row by row: out is not FALSE (AND) or not TRUE (OR) here, and did not fail. */
static void run_logic(ms_evaluator *ev, const msi_instr *instr, msi_rows in)
{
    ms_vec *out = &ev->regs[instr->out];
    ms_arg arg = {ev->regs[instr->args[0]].data, ev->regs[instr->args[0]].valid,
                  ev->regs[instr->args[0]].encoding == MS_ENC_CONST ? 0u : UINT32_MAX};
    const ms_fn_lane *failed = lane_of(ev, instr->args[0]);
    uint8_t *values = out->data;
    merge_failures(ev, instr->out, instr->args[0], in);
    for (uint32_t k = 0; k < in.count; k++) {
        uint32_t row = row_of(in, k);
        if (ms_lane_has(failed, row) || ms_arg_is_null(arg, row)) {
            ms_bit_clear(out->valid, row);
        } else if ((*MS_ARG_AT(arg, uint8_t, row) != 0) == instr->is_or) {
            ms_bit_set(out->valid, row);
            values[row] = instr->is_or;
        }
        /* Else the operand is neutral: what out is, it stays. */
    }
}

static void run_pair(ms_evaluator *ev, const msi_instr *instr)
{
    ms_vec *out = open_result(ev, instr->out);
    collect_args(ev, instr);
    const ms_vec *a = ev->args[0];
    const ms_vec *b = ev->args[1];
    if (a->valid == NULL && b->valid == NULL) {
        msi_logic_values(out->data, a->data, b->data, instr->is_or, ev->rows);
        return;
    }
    msi_logic_nullable(out->data, ms_vec_validity(out), a->data, a->valid, b->data, b->valid,
                       instr->is_or, ev->rows);
}

static void set_sel(ms_evaluator *ev, uint32_t sel, uint32_t count)
{
    if (sel != MSI_NONE) {
        ev->sels[sel].in.count = count;
        ev->sels[sel].in.rows = count == ev->rows ? NULL : ev->sels[sel].buffer;
    }
}

static void run_split(ms_evaluator *ev, const msi_instr *instr, msi_rows in)
{
    const ms_vec *arg = &ev->regs[instr->args[0]];
    const ms_fn_lane *failed = lane_of(ev, instr->args[0]);
    msi_condition condition = {.values = arg->data,
                               .valid = arg->valid,
                               .failed = failed != NULL && failed->any ? failed->bits : NULL,
                               .is_constant = arg->encoding == MS_ENC_CONST,
                               .test = instr->test};
    uint32_t yes = 0;
    uint32_t no = 0;
    if (instr->out != MSI_NONE) {
        merge_failures(ev, instr->out, instr->args[0], in);
    }
    msi_split(&condition, in, instr->yes != MSI_NONE ? ev->sels[instr->yes].buffer : NULL, &yes,
              instr->no != MSI_NONE ? ev->sels[instr->no].buffer : NULL, &no);
    set_sel(ev, instr->yes, yes);
    set_sel(ev, instr->no, no);
}

static void run_instr(ms_evaluator *ev, const msi_instr *instr)
{
    msi_rows in = ev->sels[instr->sel].in;
    /* Nothing selected: nothing to compute, and nobody looks at the result. */
    if (in.count == 0 && instr->op != MSI_OP_SPLIT) {
        return;
    }
    switch (instr->op) {
    case MSI_OP_CALL:
        run_call(ev, instr, in);
        return;
    case MSI_OP_FIELD:
        run_field(ev, instr, in);
        return;
    case MSI_OP_ALIAS:
        run_alias(ev, instr);
        return;
    case MSI_OP_CLEAR:
        run_clear(ev, instr);
        return;
    case MSI_OP_MERGE:
        run_merge(ev, instr, in);
        return;
    case MSI_OP_LOGIC:
        run_logic(ev, instr, in);
        return;
    case MSI_OP_PAIR:
        run_pair(ev, instr);
        return;
    case MSI_OP_SPLIT:
        run_split(ev, instr, in);
        return;
    }
    MS_UNREACHABLE();
}

/* Failures that count. */

/*
 * The first row of the selection in the lane, if it comes before the one known, or is further left.
 */
static void find_failure(ms_evaluator *ev, uint32_t reg, msi_rows in, ms_eval_error *error)
{
    const ms_fn_lane *lane = lane_of(ev, reg);
    if (lane == NULL || !lane->any) {
        return;
    }
    for (uint32_t k = 0; k < in.count; k++) {
        uint32_t row = row_of(in, k);
        if (error->code != MS_OK && row > error->row) {
            return;
        }
        if (!ms_bit_get(lane->bits, row)) {
            continue;
        }
        ms_span span = ev->program->sites[lane->sites[row]];
        bool is_new = error->code == MS_OK || row < error->row || span.start < error->span.start ||
                      (span.start == error->span.start && span.end < error->span.end);
        if (is_new) {
            *error = (ms_eval_error){(ms_rc)lane->codes[row], row, span, false};
        }
        return;
    }
}

static void find_failures(ms_evaluator *ev, ms_eval_error *error)
{
    const ms_program *program = ev->program;
    *error = (ms_eval_error){.code = MS_OK};
    if (!program->can_fail) {
        return;
    }
    if (program->filter_reg != MSI_NONE) {
        find_failure(ev, program->filter_reg, ev->sels[0].in, error);
    }
    for (uint32_t i = 0; i < program->output_count; i++) {
        find_failure(ev, program->output_regs[i], ev->sels[program->filter_sel].in, error);
    }
    if (error->code == MS_CALL_LEFT) {
        *error = (ms_eval_error){.code = MS_OK, .is_cut = true, .row = error->row};
    }
}

/* The rows before the failing one. */
static void cut_frame(ms_batch *frame, const ms_eval_error *error)
{
    if (frame->sel == NULL) {
        frame->rows = error->row;
        return;
    }
    uint32_t count = 0;
    while (count < frame->sel_count && frame->sel[count] < error->row) {
        count++;
    }
    frame->sel_count = count;
}

/* What a copy of one output takes at most: computed strings may be parts of the input's. */
static uint64_t wide_bytes_max(const ms_evaluator *ev, uint64_t of_batch, uint32_t output)
{
    const msi_reg *reg = &ev->program->regs[ev->program->output_regs[output]];
    const ms_vec *vec = &ev->frame[output];
    if (vec->phys != MS_PHYS_STR) {
        return vec->child_count == 0 ? 0 : MS_BATCH_WIDE_UNKNOWN;
    }
    if (vec->encoding != MS_ENC_FLAT || of_batch == MS_BATCH_WIDE_UNKNOWN) {
        return MS_BATCH_WIDE_UNKNOWN;
    }
    return of_batch + (reg->source == MSI_FROM_INSTR ? ms_heap_used_bytes(ev->heap) : 0);
}

static void bound_frame(const ms_evaluator *ev, const ms_batch *batch, ms_batch *frame)
{
    uint64_t of_batch = ms_batch_wide_bytes_max(batch);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < ev->program->output_count; i++) {
        uint64_t most = wide_bytes_max(ev, of_batch, i);
        if (most == MS_BATCH_WIDE_UNKNOWN) {
            return;
        }
        bytes += most;
    }
    ms_batch_set_wide_bytes_max(frame, bytes);
}

static void make_frame(ms_evaluator *ev, const ms_batch *batch, ms_batch *frame)
{
    const ms_program *program = ev->program;
    for (uint32_t i = 0; i < program->output_count; i++) {
        const msi_reg *reg = &program->regs[program->output_regs[i]];
        /* A column passes as it came, even if something else needed it gathered. */
        ev->frame[i] = reg->source == MSI_FROM_COLUMN ? batch->columns[reg->column]
                                                      : ev->regs[program->output_regs[i]];
        ev->frame[i].type = program->schema.columns[i].type;
        ev->frame[i].owned = false;
    }
    if (program->output_count > 0) {
        ms_batch_frame(frame, batch, ev->frame, program->output_count);
        bound_frame(ev, batch, frame);
    } else {
        ms_batch_frame(frame, batch, batch->columns, batch->column_count);
    }
    if (program->filter_reg != MSI_NONE) {
        msi_rows kept = ev->sels[program->filter_sel].in;
        frame->sel = kept.rows;
        frame->sel_count = kept.count;
    }
}

/* What was computed is not looked at: a function may have given up. */
static void drop_run(const ms_evaluator *ev, const ms_batch *batch, ms_batch *frame,
                     ms_eval_error *error)
{
    ms_batch_frame(frame, batch, ev->frame, 0);
    frame->rows = 0;
    frame->sel = NULL;
    *error = (ms_eval_error){.code = MS_CANCELED, .row = ev->fn_memory.first_row};
}

void ms_evaluator_run(ms_evaluator *ev, const ms_batch *batch, ms_batch *frame_out,
                      ms_eval_error *error_out)
{
    const ms_program *program = ev->program;
    MS_ASSERT(batch->rows <= ev->rows_max);
    ev->rows = batch->rows;
    ms_arena_reset(&ev->scratch);
    ms_heap_reset(ev->heap);
    ev->sels[0].in = (msi_rows){batch->sel, batch->sel != NULL ? batch->sel_count : batch->rows};
    ev->fn_memory.first_row = batch->sel != NULL && batch->sel_count > 0 ? batch->sel[0] : 0;
    load_inputs(ev, batch);
    for (uint32_t i = 0; i < program->instr_count && !is_canceled(ev); i++) {
        run_instr(ev, &program->instrs[i]);
    }
    if (__builtin_expect(is_canceled(ev), 0)) {
        drop_run(ev, batch, frame_out, error_out);
        return;
    }
    make_frame(ev, batch, frame_out);
    find_failures(ev, error_out);
    if (error_out->code != MS_OK || error_out->is_cut) {
        cut_frame(frame_out, error_out);
    }
}

/* The interpreter finds the same failure again and words it. */
static void explain(ms_evaluator *ev, ms_arena *arena, const ms_batch *batch,
                    const ms_eval_error *error, ms_status *st)
{
    const ms_program *program = ev->program;
    ms_value value;
    if (program->filter != NULL && ms_interp_eval_row(arena, &program->config, program->filter,
                                                      batch, error->row, &value, st) != MS_OK) {
        return;
    }
    for (uint32_t i = 0; i < program->output_count; i++) {
        ms_status found = {0};
        ms_rc rc = ms_interp_eval_row(arena, &program->config, program->outputs[i], batch,
                                      error->row, &value, &found);
        if (rc == error->code && found.span.start == error->span.start &&
            found.span.end == error->span.end) {
            *st = found;
            return;
        }
    }
}

ms_rc ms_evaluator_explain(ms_evaluator *ev, const ms_batch *batch, const ms_eval_error *error,
                           ms_status *st)
{
    ms_arena arena;
    ms_status found = {0};
    if (!ms_status_is_ok(st)) {
        return st->code;
    }
    if (error->code == MS_CANCELED) {
        return ms_status_set(st, MS_CANCELED, error->span, "the evaluation was canceled");
    }
    ms_arena_init(&arena, 0);
    explain(ev, &arena, batch, error, &found);
    ms_arena_release(&arena);
    if (found.code != error->code) {
        /* Memory of the batch ran out, or the function is not deterministic. */
        ms_status_clear(&found);
        ms_status_set(&found, error->code, error->span, "%s", ms_rc_meaning(error->code));
    }
    *st = found;
    return st->code;
}
