/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What C sees of simdjson. Two ways in:
 *
 *   flat      a schema of scalars: the shim walks the lines of a buffer and fills columns itself;
 *             what it cannot convert alone (dates, decimals, odd tokens) it hands over as text
 *   document  one line as a tree, for schemas with ROW, ARRAY or MAP
 *
 * Ownership: the parsers own their buffers; nodes live until the next document. Thread: one at a
 * time.
 */
#ifndef MS_FORMAT_JSON_SHIM_H
#define MS_FORMAT_JSON_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Values within one value that is walked as a tree, objects and arrays included: about 300 MB of
 * memory, though a record of the greatest length could have ten times as many.
 */
#define MSI_JSON_VALUES_MAX 4194304u
#define MSI_JSON_DEPTH_MAX 500u /* objects and arrays in one another; deeper is malformed */

/* How a flat column takes a value. */
typedef enum msi_json_op {
    MSI_JSON_TEXT, /* by the text callback */
    MSI_JSON_BOOL,
    MSI_JSON_I32,
    MSI_JSON_I64,
    MSI_JSON_F64,
    MSI_JSON_STRING
} msi_json_op;

/* What a text handed to the callback was. */
typedef enum msi_json_token {
    MSI_JSON_TOKEN_STRING, /* unescaped, without quotes */
    MSI_JSON_TOKEN_NUMBER, /* as written */
    MSI_JSON_TOKEN_BOOL,   /* true or false */
    MSI_JSON_TOKEN_NESTED  /* an object or array, as written */
} msi_json_token;

typedef struct msi_json_column {
    const char *name;
    size_t name_bytes;
    msi_json_op op;
    void *data; /* of the batch at hand; set before each call */
} msi_json_column;

/* Where rows go. All callbacks get arg. */
typedef struct msi_json_sink {
    void *arg;
    void (*set_null)(void *arg, uint32_t column, uint32_t row);
    /* Undoes set_null: the row is written anew, or was given up. */
    void (*set_valid)(void *arg, uint32_t column, uint32_t row);
    /* Converts text; false when it is none of the column's type. */
    bool (*text)(void *arg, uint32_t column, uint32_t row, const char *text, size_t bytes,
                 msi_json_token token);
    /* A run of at least bytes for strings, which stays as long as the batch. */
    char *(*heap)(void *arg, size_t bytes, size_t *got_out);
    /* Asked after a row: true when no further one should come. */
    bool (*is_full)(void *arg);
} msi_json_sink;

typedef enum msi_json_error {
    MSI_JSON_OK,
    MSI_JSON_MALFORMED, /* the line is no JSON object */
    MSI_JSON_VALUE,     /* a value does not fit its column */
    MSI_JSON_MISSING,   /* a field is missing and fail_on_missing is set */
    MSI_JSON_LIMIT,     /* more than MSI_JSON_VALUES_MAX */
    MSI_JSON_MEMORY     /* the system has none; rows of the call are as if never written */
} msi_json_error;

typedef struct msi_json_outcome {
    uint32_t rows;   /* rows after the call */
    size_t consumed; /* bytes of whole lines taken, the failing one excluded */
    msi_json_error error;
    uint32_t column; /* of VALUE and MISSING */
} msi_json_outcome;

typedef struct msi_json_flat msi_json_flat;

/* NULL: there is no memory. */
msi_json_flat *msi_json_flat_create(const msi_json_column *columns, uint32_t column_count,
                                    bool fail_on_missing, bool null_on_error);
void msi_json_flat_destroy(msi_json_flat *flat);

/* From here on rows go to another batch. */
void msi_json_flat_begin(msi_json_flat *flat);

/*
 * Decodes lines of input, whose last byte is a line feed or the end of the file, into rows from
 * `row` on, up to row_max. input has 64 readable bytes behind it. Stops before a bad line, whose
 * row is as if it had never been written. Values of fields that are no columns are skipped, not
 * checked.
 */
msi_json_outcome msi_json_flat_decode(msi_json_flat *flat, msi_json_column *columns,
                                      const msi_json_sink *sink, const char *input, size_t bytes,
                                      uint32_t row, uint32_t row_max);

/* Documents. */

typedef struct msi_json_document msi_json_document;
typedef struct msi_json_node {
    msi_json_document *document; /* private, as is index */
    uint32_t index;
} msi_json_node;

typedef enum msi_json_kind {
    MSI_JSON_KIND_NULL,
    MSI_JSON_KIND_BOOL,
    MSI_JSON_KIND_NUMBER,
    MSI_JSON_KIND_STRING,
    MSI_JSON_KIND_ARRAY,
    MSI_JSON_KIND_OBJECT
} msi_json_kind;

/* NULL: there is no memory. */
msi_json_document *msi_json_document_create(void);
void msi_json_document_destroy(msi_json_document *document);

/* Parses one line, which is copied; MALFORMED when it is not exactly one JSON value. */
msi_json_error msi_json_document_parse(msi_json_document *document, const char *text, size_t bytes,
                                       msi_json_node *root_out);
msi_json_kind msi_json_node_kind(const msi_json_node *node);

/*
 * A string without quotes and escapes, a number or word as written, an array or object without
 * blanks; valid until the next call for this document.
 */
const char *msi_json_node_text(const msi_json_node *node, size_t *bytes_out);

/* The last member of this name; false when there is none. */
bool msi_json_node_member(const msi_json_node *node, const char *name, size_t name_bytes,
                          msi_json_node *member_out);
size_t msi_json_node_count(const msi_json_node *node);

/* Calls on every element, or on every member with its name; stops when a call answers false. */
bool msi_json_node_each(const msi_json_node *node,
                        bool (*on_item)(void *arg, const char *name, size_t name_bytes,
                                        const msi_json_node *item),
                        void *arg);

#ifdef __cplusplus
}
#endif

#endif
