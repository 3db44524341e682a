/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small helpers shared by the built-in functions: limits of integers, numbers in values, strings of
 * a batch, and refusals.
 */
/* tidy: no-unit-test: helpers that every function uses */
#include "func/func_priv.h"

ms_rc msi_infer_refuse(ms_status *st)
{
    return ms_status_set(st, MS_UNDEFINED_FUNCTION, ms_span_none, "arguments do not fit");
}

bool msi_infer_has_null(const ms_fn_infer *in)
{
    for (uint32_t i = 0; i < in->arg_count; i++) {
        if (in->arg_types[i]->kind == MS_TYPE_NULL) {
            return true;
        }
    }
    return false;
}

ms_rc msi_plan_unsupported(const ms_fn_plan *plan, ms_status *st)
{
    ms_str text = ms_type_text_bare(plan->memory->arena, plan->arg_types[0]);
    return ms_status_set(st, MS_INTERNAL, ms_span_none, "no kernel for a value of type %.*s",
                         MS_STR_ARG(text));
}

int64_t msi_int_min(ms_phys phys)
{
    return phys == MS_PHYS_I8    ? INT8_MIN
           : phys == MS_PHYS_I16 ? INT16_MIN
           : phys == MS_PHYS_I32 ? INT32_MIN
                                 : INT64_MIN;
}

int64_t msi_int_max(ms_phys phys)
{
    return phys == MS_PHYS_I8    ? INT8_MAX
           : phys == MS_PHYS_I16 ? INT16_MAX
           : phys == MS_PHYS_I32 ? INT32_MAX
                                 : INT64_MAX;
}

ms_decimal msi_value_decimal(const ms_value *value)
{
    ms_i128 unscaled = value->type->phys == MS_PHYS_I128 ? value->u.dec : value->u.i;
    return (ms_decimal){unscaled, msi_scale_of(value->type)};
}

void msi_value_set_exact(ms_value *out, ms_i128 unscaled)
{
    if (out->type->phys == MS_PHYS_I128) {
        out->u.dec = unscaled;
    } else {
        out->u.i = (int64_t)unscaled;
    }
}

int64_t msi_int_wrap(ms_phys phys, ms_i128 value)
{
    switch (phys) {
    case MS_PHYS_I8:
        return (int8_t)value;
    case MS_PHYS_I16:
        return (int16_t)value;
    case MS_PHYS_I32:
        return (int32_t)value;
    case MS_PHYS_I64:
        return (int64_t)value;
    case MS_PHYS_NONE:
    case MS_PHYS_BOOL:
    case MS_PHYS_I128:
    case MS_PHYS_F32:
    case MS_PHYS_F64:
    case MS_PHYS_TS16:
    case MS_PHYS_STR:
    case MS_PHYS_LIST:
    case MS_PHYS_ROW:
    case MS_PHYS_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

bool msi_scalar_is_null(const ms_fn_scalar_call *call, ms_value *out)
{
    for (uint32_t i = 0; i < call->arg_count; i++) {
        if (call->args[i].is_null) {
            out->is_null = true;
        }
    }
    return out->is_null;
}

bool msi_type_has_zone(const ms_type *type)
{
    if (type->kind == MS_TYPE_TIMESTAMP_LTZ) {
        return true;
    }
    for (uint32_t i = 0; i < type->child_count; i++) {
        if (msi_type_has_zone(type->children[i])) {
            return true;
        }
    }
    return false;
}

bool ms_call_join_validity(ms_fn_call *call)
{
    ms_vec *result = call->result;
    uint32_t words = MS_BITMAP_WORDS(call->rows);
    for (uint32_t i = 0; i < call->arg_count; i++) {
        const ms_vec *arg = call->args[i];
        if (arg->valid == NULL) {
            continue;
        }
        uint64_t *bits = ms_vec_validity(result);
        if (arg->encoding == MS_ENC_CONST) {
            if (!ms_bit_get(arg->valid, 0)) {
                memset(bits, 0, words * sizeof(uint64_t));
                return false;
            }
            continue;
        }
        for (uint32_t w = 0; w < words; w++) {
            bits[w] &= arg->valid[w];
        }
    }
    return true;
}

bool ms_call_has_room(ms_fn_call *call, uint32_t row, size_t bytes)
{
    const ms_fn_memory *memory = call->memory;
    uint64_t used = ms_heap_used_bytes(memory->heap) + bytes;
    if (used <= MS_BATCH_BYTES_TARGET || row == memory->first_row) {
        return true;
    }
    ms_call_leave(call, row);
    return false;
}

char *ms_call_string(ms_fn_call *call, uint32_t row, size_t bytes)
{
    uint64_t used = ms_heap_used_bytes(call->memory->heap) + bytes;
    if (__builtin_expect(used > MS_BATCH_BYTES_TARGET, 0)) {
        if (bytes <= MS_LIMIT_STRING_BYTES && row != call->memory->first_row) {
            ms_call_leave(call, row);
            return NULL;
        }
        if (bytes > MS_LIMIT_STRING_BYTES || used > MS_CALL_HEAP_BYTES_MAX) {
            ms_call_fail(call, row, MS_LIMIT);
            return NULL;
        }
    }
    return ms_heap_alloc(call->memory->heap, bytes);
}
