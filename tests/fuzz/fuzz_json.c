/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of the json format: lines as columns of all types, through the walk of flat schemas
 * or through trees.
 */
#include "fuzz_format.h"

#include "format/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const ms_option all[] = {
        {.key = {"ignore-parse-errors", 19}, .value = {"true", 4}},
        {.key = {"timestamp-format.standard", 25}, .value = {"ISO-8601", 8}},
    };
    static const ms_option missing[] = {
        {.key = {"fail-on-missing-field", 21}, .value = {"true", 4}}};
    if (bytes < 2) {
        return 0;
    }
    ms_arena arena;
    ms_arena_init(&arena, 0);
    unsigned flags = data[0];
    ms_schema schema = fuzz_schema(&arena, (flags & 4) != 0);
    ms_option_list options = {flags & 3, all};
    if ((flags & 3) == 3) {
        options = (ms_option_list){1, missing};
    }
    fuzz_compare(&ms_format_json, &schema, &options, ms_str_make((const char *)data + 2, bytes - 2),
                 data[1]);
    ms_arena_release(&arena);
    return 0;
}
