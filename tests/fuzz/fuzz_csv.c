/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of the csv format: records as columns of all types, with options by the first byte.
 */
#include "fuzz_format.h"

#include "format/csv.h"

/* Two columns become a ROW and an ARRAY. */
static ms_schema with_nested(ms_arena *arena, ms_schema schema)
{
    ms_field *fields = ms_arena_array(arena, ms_field, schema.column_count);
    memcpy(fields, schema.columns, schema.column_count * sizeof *fields);
    const ms_type *text = ms_type_string(arena, true);
    const ms_field parts[] = {{ms_str_lit("x"), schema.columns[3].type}, {ms_str_lit("y"), text}};
    fields[2].type = ms_type_row(arena, parts, 2, true);
    fields[14].type = ms_type_array(arena, text, true);
    return (ms_schema){schema.column_count, fields};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const ms_option all[] = {
        {.key = {"ignore-parse-errors", 19}, .value = {"true", 4}},
        {.key = {"escape-character", 16}, .value = {"\\", 1}},
        {.key = {"allow-comments", 14}, .value = {"true", 4}},
        {.key = {"ignore-first-line", 17}, .value = {"true", 4}},
        {.key = {"trim-spaces", 11}, .value = {"true", 4}},
        {.key = {"null-literal", 12}, .value = {"null", 4}},
        {.key = {"ignore-trailing-unmappable", 26}, .value = {"true", 4}},
    };
    if (bytes < 2) {
        return 0;
    }
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_schema schema = with_nested(&arena, fuzz_schema(&arena, false));
    schema.column_count = (data[0] & 128) != 0 ? 1 : schema.column_count;
    ms_option options[7];
    uint32_t count = 0;
    for (uint32_t i = 0; i < 7; i++) {
        if ((data[0] >> i & 1) != 0) {
            options[count++] = all[i];
        }
    }
    ms_option_list list = {count, options};
    fuzz_compare(&ms_format_csv, &schema, &list, ms_str_make((const char *)data + 2, bytes - 2),
                 data[1]);
    ms_arena_release(&arena);
    return 0;
}
