/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Typed options: a connector, format or setting describes its keys in a const table, and one
 * function checks the user's list against it: unknown keys (with the nearest name as hint), missing
 * required keys, values that do not parse or are out of range. Every message names the key as the
 * user wrote it and has the span of the value or key.
 *
 *     static const ms_option_desc options[] = {
 *         {.key = "number-of-rows", .kind = MS_OPT_I64, .min = 1},
 *         {.key = "scan.mode", .kind = MS_OPT_ENUM, .values = "bounded", .fallback = "bounded"},
 *     };
 *
 * A key ending in ".#" or containing ".#." stands for any one component ("fields.#.kind").
 *
 * Ownership: values borrow from the list or from the table. Thread: any.
 */
#ifndef MS_CATALOG_OPTION_H
#define MS_CATALOG_OPTION_H

#include "catalog/table.h"

typedef enum ms_option_kind {
    MS_OPT_STRING,
    MS_OPT_BOOL,
    MS_OPT_I64,
    MS_OPT_F64,
    MS_OPT_DURATION, /* Flink's text; milliseconds, 0 only from a zero */
    MS_OPT_BYTES,    /* Flink's MemorySize text; bytes */
    MS_OPT_ENUM,     /* one of values, matched without case; its index */
    MS_OPT_LIST      /* text split at ';' by the reader */
} ms_option_kind;

typedef struct ms_option_desc {
    const char *key;
    ms_option_kind kind;
    bool required;
    bool unsupported; /* known to Flink, refused by name here with MS_NOT_SUPPORTED */
    int64_t min;      /* numbers, durations, sizes; both 0: unbounded */
    int64_t max;
    const char *values;   /* ENUM: "a|b|c" */
    const char *fallback; /* the default as text; NULL: unset */
    const char *hint;     /* for an error at this key; NULL: none */
} ms_option_desc;

typedef struct ms_option_value {
    bool is_set;    /* by the user, not by the default */
    bool has_value; /* by either */
    ms_span span;   /* of the value, else of the key */
    ms_str text;
    int64_t i64; /* I64, DURATION, BYTES, BOOL (0 or 1), ENUM (index) */
    double f64;
} ms_option_value;

/*
 * Checks every entry of the list against the descriptors; extra (may be NULL) is asked about keys
 * that no descriptor knows and answers true when it takes them (format prefixes). owner is the kind
 * and name for messages, as in "connector \"datagen\"".
 */
ms_rc ms_options_check(const ms_option_list *list, const ms_option_desc *descs, uint32_t desc_count,
                       bool (*extra)(void *arg, ms_str key), void *arg, const char *owner,
                       ms_status *st) MS_MUST_USE;

/* The value of one described key, parsed; one that does not parse fails. The key is in descs. */
ms_rc ms_option_get(const ms_option_list *list, const ms_option_desc *descs, uint32_t desc_count,
                    const char *key, ms_option_value *value_out, ms_status *st) MS_MUST_USE;

/*
 * Parses one text as its descriptor says. Messages name the key as the user wrote it; what is the
 * noun before it ("option" or "setting").
 */
ms_rc ms_option_parse(const ms_option_desc *desc, ms_str key, ms_str text, ms_span span,
                      const char *what, ms_option_value *value_out, ms_status *st) MS_MUST_USE;

/* The descriptor that fits a key, "#" standing for any one component; NULL when none does. */
const ms_option_desc *ms_option_find(const ms_option_desc *descs, uint32_t desc_count, ms_str key);

/* The described key nearest to a misspelt one, for a hint; NULL when none is near. */
const char *ms_option_nearest(const ms_option_desc *descs, uint32_t desc_count, ms_str key);

/*
 * The entries whose key starts with prefix, for descriptors whose keys lack it: a format describes
 * "ignore-parse-errors", and the user, like every message, writes "json.ignore-parse-errors". The
 * last entry of a key wins when read.
 */
ms_option_list ms_options_with_prefix(ms_arena *arena, const ms_option_list *list, ms_str prefix);

#endif
