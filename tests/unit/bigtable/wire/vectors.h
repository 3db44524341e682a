/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors of other clients: JSON files beside the tree, which are not part of it. A test that needs
 * one is skipped where it is not there. Bytes are base64 in them.
 */
#ifndef MS_TESTS_UNIT_BIGTABLE_WIRE_VECTORS_H
#define MS_TESTS_UNIT_BIGTABLE_WIRE_VECTORS_H

#ifndef MS_TEST_VECTORS
#define MS_TEST_VECTORS "../shared/vectors"
#endif

#include "bigtable/wire/wire_testing.h"

#include <jansson.h>

/* NULL when the file is not there. */
static inline json_t *load_vectors(const char *name)
{
    char path[512];
    json_error_t error;
    (void)snprintf(path, sizeof(path), "%s/%s", MS_TEST_VECTORS, name);
    if (access(path, R_OK) != 0) {
        return NULL;
    }
    json_t *root = json_load_file(path, 0, &error);
    if (root == NULL) {
        fail_msg("%s:%d: %s", path, error.line, error.text);
    }
    return root;
}

/* A text of an object; empty when it is not there. */
static inline ms_str text_at(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return value == NULL ? ms_str_lit("")
                         : ms_str_make(json_string_value(value), json_string_length(value));
}

/* A number, which may be written as a text. */
static inline int64_t number_at(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_string(value) ? strtoll(json_string_value(value), NULL, 10)
                                 : json_integer_value(value);
}

static inline bool flag_at(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

static inline ms_str base64(ms_str text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *bytes = ms_arena_alloc(&arena, text.bytes + 1, 1);
    size_t count = 0;
    uint32_t word = 0;
    for (size_t i = 0; i < text.bytes && text.ptr[i] != '='; i++) {
        const char *found = strchr(digits, text.ptr[i]);
        assert_non_null(found);
        word = word << 6 | (uint32_t)(found - digits);
        if (i % 4 != 0) {
            bytes[count++] = (char)(word >> (6 - 2 * (i % 4)));
        }
    }
    return ms_str_make(bytes, count);
}

static inline ms_str bytes_at(const json_t *object, const char *key)
{
    return base64(text_at(object, key));
}

#endif
