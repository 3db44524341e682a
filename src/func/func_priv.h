/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this folder share: the tables of built-ins by topic, the helpers that their
 * infer, specialize and scalar hooks use, and access to numbers by physical form.
 *
 * A built-in is one entry of a table: its descriptor, and its scalar form, which works on values
 * and shares no loop with the vector form.
 *
 * Thread: any.
 */
#ifndef MS_FUNC_FUNC_PRIV_H
#define MS_FUNC_FUNC_PRIV_H

#include "func/call.h"
#include "func/registry.h"
#include "func/typing.h"
#include "type/decimal.h"

/* Tables of built-ins, one a topic, each ended by an entry without a descriptor. */
extern const ms_fn msi_fns_arith[];
extern const ms_fn msi_fns_compare[];
extern const ms_fn msi_fns_logic[];
extern const ms_fn msi_fns_string[];
extern const ms_fn msi_fns_like[];
extern const ms_fn msi_fns_temporal[];
extern const ms_fn msi_fns_nested[];
extern const ms_fn msi_fns_form[];

/* The opening of a scalar descriptor. */
#define MSI_SCALAR(fn_name)                                                                        \
    .struct_bytes = sizeof(ms_fn_desc), .api_level = MS_UDF_API_LEVEL, .name = (fn_name),          \
    .kind = MS_FN_SCALAR
#define MSI_STEADY (MS_FN_DETERMINISTIC | MS_FN_PURE | MS_FN_TAKES_CONSTANTS)
#define MSI_STRICT (MSI_STEADY | MS_FN_STRICT)
#define MSI_SIGNATURES(list)                                                                       \
    .signatures = (list), .signature_count = sizeof(list) / sizeof((list)[0])

/* Hooks. */

/* The arena behind an infer or specialize step. */
static inline ms_arena *msi_infer_arena(const ms_fn_infer *in)
{
    return in->memory->arena;
}

/* Refuses the arguments; the caller adds the function's name, the types and the candidates. */
ms_rc msi_infer_refuse(ms_status *st);

/* True when an argument is the untyped NULL literal. */
bool msi_infer_has_null(const ms_fn_infer *in);

/* State of a call, in the memory of the program. */
#define MSI_PLAN_NEW(plan, type) ms_arena_new((plan)->memory->arena, type)

/* Specializing met a physical form that has no kernel: a bug in infer, reported as internal. */
ms_rc msi_plan_unsupported(const ms_fn_plan *plan, ms_status *st);

/* True when the type is, or contains, TIMESTAMP_LTZ. */
bool msi_type_has_zone(const ms_type *type);

/* Numbers. */

/* An integer, date, time, timestamp, interval or narrow decimal at a row, by physical form. */
static inline int64_t msi_load_int(ms_arg arg, ms_phys phys, uint32_t row)
{
    switch (phys) {
    case MS_PHYS_BOOL:
        return *MS_ARG_AT(arg, uint8_t, row);
    case MS_PHYS_I8:
        return *MS_ARG_AT(arg, int8_t, row);
    case MS_PHYS_I16:
        return *MS_ARG_AT(arg, int16_t, row);
    case MS_PHYS_I32:
        return *MS_ARG_AT(arg, int32_t, row);
    case MS_PHYS_I64:
        return *MS_ARG_AT(arg, int64_t, row);
    case MS_PHYS_NONE:
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

/* Keeps the low bits. */
static inline void msi_store_int(void *data, ms_phys phys, uint32_t row, int64_t value)
{
    switch (phys) {
    case MS_PHYS_BOOL:
        ((uint8_t *)data)[row] = (uint8_t)value;
        return;
    case MS_PHYS_I8:
        ((int8_t *)data)[row] = (int8_t)value;
        return;
    case MS_PHYS_I16:
        ((int16_t *)data)[row] = (int16_t)value;
        return;
    case MS_PHYS_I32:
        ((int32_t *)data)[row] = (int32_t)value;
        return;
    case MS_PHYS_I64:
        ((int64_t *)data)[row] = value;
        return;
    case MS_PHYS_NONE:
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

/* Any exact number as an unscaled integer of 128 bits. */
static inline ms_i128 msi_load_wide(ms_arg arg, ms_phys phys, uint32_t row)
{
    return phys == MS_PHYS_I128 ? *MS_ARG_AT(arg, ms_i128, row) : msi_load_int(arg, phys, row);
}

static inline void msi_store_wide(void *data, ms_phys phys, uint32_t row, ms_i128 value)
{
    if (phys == MS_PHYS_I128) {
        ((ms_i128 *)data)[row] = value;
    } else {
        msi_store_int(data, phys, row, (int64_t)value);
    }
}

static inline int32_t msi_scale_of(const ms_type *type)
{
    return type->kind == MS_TYPE_DECIMAL ? type->scale : 0;
}

/* The value limits of an integer's physical form. */
int64_t msi_int_min(ms_phys phys);
int64_t msi_int_max(ms_phys phys);

/* The same over values, for the scalar forms. */
ms_decimal msi_value_decimal(const ms_value *value);
void msi_value_set_exact(ms_value *out, ms_i128 unscaled);

/* Cuts an integer to the width of the physical form, as the vector forms do by storing it. */
int64_t msi_int_wrap(ms_phys phys, ms_i128 value);

/* True when some argument of the call is NULL; *out becomes NULL then. */
bool msi_scalar_is_null(const ms_fn_scalar_call *call, ms_value *out);

#endif
