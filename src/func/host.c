/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions behind the host table: thin, since a plugin sees flat vectors only and the engine
 * has flattened everything for it.
 */
/* tidy: no-unit-test: registry_test.c makes a function and calls it */
#include "func/host.h"

#include "func/call.h"
#include "func/typing.h"
#include "type/value.h"

static void *host_alloc(ms_fn_memory *memory, size_t bytes)
{
    return ms_arena_alloc(memory->arena, bytes, 16);
}

static const ms_type *host_type_parse(ms_fn_memory *memory, ms_str text, ms_status *st)
{
    const ms_type *type = ms_typing_parse(memory->arena, text);
    if (type == NULL) {
        ms_status_set(st, MS_INVALID_ARGUMENT, ms_span_none, "\"%.*s\" is not a type",
                      MS_STR_ARG(text));
    }
    return type;
}

static ms_str host_type_text(ms_fn_memory *memory, const ms_type *type)
{
    return ms_type_text(memory->arena, type);
}

static bool host_type_is_nullable(const ms_type *type)
{
    return type->nullable;
}

static const void *host_data(const ms_vec *vec)
{
    return vec->data;
}

static const uint64_t *host_validity(const ms_vec *vec)
{
    return vec->valid;
}

static ms_str host_string_at(const ms_vec *vec, uint32_t row)
{
    MS_ASSERT(vec->phys == MS_PHYS_STR);
    return ms_view_str(MS_VEC_DATA(vec, ms_view) + ms_vec_pos(vec, row));
}

static void *host_result_data(ms_fn_call *call)
{
    return call->result->data;
}

static void host_set_string(ms_fn_call *call, uint32_t row, ms_str text)
{
    MS_ASSERT(call->result->phys == MS_PHYS_STR);
    char inline_bytes[MS_VIEW_INLINE];
    char *space =
        text.bytes <= MS_VIEW_INLINE ? inline_bytes : ms_call_string(call, row, text.bytes);
    if (space == NULL) {
        return;
    }
    if (text.bytes > 0) {
        memcpy(space, text.ptr, text.bytes);
    }
    MS_VEC_DATA(call->result, ms_view)[row] = ms_view_make(space, (uint32_t)text.bytes);
}

static void host_set_null(ms_fn_call *call, uint32_t row)
{
    ms_call_null(call, row);
}

static void host_fail(ms_fn_call *call, uint32_t row, ms_rc code, const char *message)
{
    MS_ASSERT(call->lane != NULL); /* the function said that it cannot fail */
    bool is_code = code > MS_OK && code < MS_RC_COUNT;
    ms_call_fail(call, row, is_code ? code : MS_INVALID_ARGUMENT);
    call->lane->message = message;
}

const ms_fn_host *ms_fn_host_table(void)
{
    static const ms_fn_host table = {
        .struct_bytes = sizeof(ms_fn_host),
        .api_level = MS_UDF_API_LEVEL,
        .alloc = host_alloc,
        .type_parse = host_type_parse,
        .type_text = host_type_text,
        .type_is_nullable = host_type_is_nullable,
        .data = host_data,
        .validity = host_validity,
        .string_at = host_string_at,
        .result_data = host_result_data,
        .set_string = host_set_string,
        .set_null = host_set_null,
        .fail = host_fail,
    };
    return &table;
}
