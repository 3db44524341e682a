/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One row of a function that has only a vector form: its arguments become vectors of one row. Slow,
 * since it prepares the call each time; it is for constants and for the wording of errors.
 */
/* tidy: no-unit-test: registry_test.c makes a function and calls it */
#include "func/func_priv.h"

static void set_message(const ms_fn *fn, const ms_fn_lane *lane, ms_status *st)
{
    ms_rc code = (ms_rc)lane->codes[0];
    if (lane->message != NULL) {
        ms_status_set(st, code, ms_span_none, "%s", lane->message);
    } else {
        ms_status_set(st, code, ms_span_none, "function %s failed: %s", fn->desc->name,
                      ms_rc_meaning(code));
    }
}

static ms_rc run(const ms_fn *fn, const ms_fn_prepared *prepared, ms_fn_call *call, ms_arena *arena,
                 ms_value *out, ms_status *st)
{
    uint64_t bits = 0;
    uint8_t code = 0;
    uint16_t site = 0;
    ms_fn_lane lane = {.bits = &bits, .codes = &code, .sites = &site};
    call->state = prepared->state;
    call->lane = &lane;
    bool has_rows = !ms_fn_has(fn, MS_FN_STRICT) || ms_call_join_validity(call);
    if (has_rows) {
        prepared->eval(call);
    }
    if (lane.any) {
        set_message(fn, &lane, st);
        return st->code;
    }
    *out = ms_value_from_vec(arena, call->result, 0);
    return MS_OK;
}

ms_rc ms_fn_eval_row(const ms_fn *fn, const ms_fn_scalar_call *call, ms_value *out, ms_status *st)
{
    ms_arena *arena = call->arena;
    const ms_type **types = ms_arena_array(arena, const ms_type *, call->arg_count);
    const ms_vec **args = ms_arena_array(arena, const ms_vec *, call->arg_count);
    for (uint32_t i = 0; i < call->arg_count; i++) {
        ms_vec *vec = ms_arena_new(arena, ms_vec);
        ms_vec_alloc(vec, call->args[i].type, 1, arena);
        ms_value_to_vec(arena, &call->args[i], vec, 0, 1);
        args[i] = vec;
        types[i] = call->args[i].type;
    }
    ms_fn_args fn_args = {.count = call->arg_count, .types = types};
    ms_fn_prepared prepared;
    MS_TRY(ms_fn_prepare(arena, fn, &fn_args, call->result_type, call->config, &prepared, st));
    ms_vec result;
    ms_vec_alloc(&result, call->result_type, 1, arena);
    ms_heap *heap = ms_heap_create(0);
    ms_arena scratch;
    ms_arena_init(&scratch, 0);
    ms_fn_memory memory = {.arena = arena, .heap = heap, .scratch = &scratch};
    ms_fn_call row = {.struct_bytes = sizeof(row),
                      .arg_count = call->arg_count,
                      .args = args,
                      .result = &result,
                      .rows = 1,
                      .memory = &memory};
    ms_value value = {0};
    ms_rc rc = run(fn, &prepared, &row, arena, &value, st);
    if (rc == MS_OK) {
        *out = ms_value_copy(arena, &value);
    }
    ms_arena_release(&scratch);
    ms_heap_drop(heap);
    return rc;
}
