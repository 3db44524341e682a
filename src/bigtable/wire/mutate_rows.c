/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MutateRow and MutateRows between bytes and batches. Encoding takes two walks over each entry: one
 * adds up sizes, because lengths stand before contents, and one writes. Decoding takes two as well:
 * a key may stand behind the mutations, and a batch wants it first.
 *
 * Fields, as in proto/google/bigtable/v2:
 *
 *     MutateRowsRequest   1 table  2 entries  3 app profile  5 authorized view
 *     Entry               1 key  2 mutations  3 idempotency
 *     MutateRowRequest    1 table  2 key  3 mutations  4 app profile  6 authorized view
 *                         8 idempotency
 *     Mutation            1 SetCell  2 DeleteFromColumn  3 DeleteFromFamily  4 DeleteFromRow
 *                         5 AddToCell  6 MergeToCell  7 timestamp origin
 *
 * Everything else is passed over if it is well-formed, as protobuf-c does. A message field that
 * belongs once and occurs twice is refused, as ms_wire_check does.
 */
#include "bigtable/wire/mutate_rows.h"

#include "base/codec.h"
#include "bigtable/wire/time.h"
#include "bigtable/wire/wire_priv.h"

#define FIELD_TABLE 1u
#define FIELD_ENTRY 2u

/* The fields in which MutateRowRequest, MutateRowsRequest and its Entry differ. */
typedef struct entry_fields {
    unsigned key;
    unsigned mutation;
    unsigned idempotency;
    unsigned texts; /* beside them, as bits */
    const char *name;
} entry_fields;

static const entry_fields rows_entry = {1, 2, 3, 0, "google.bigtable.v2.MutateRowsRequest"};
static const entry_fields row_entry = {2, 3, 8, 1u << 1 | 1u << 4 | 1u << 6,
                                       "google.bigtable.v2.MutateRowRequest"};

#define ROWS_PROFILE 3u
#define ROWS_VIEW 5u
#define ROW_PROFILE 4u
#define ROW_VIEW 6u

#define FIELD_SET_CELL 1u
#define FIELD_DELETE_FROM_COLUMN 2u
#define FIELD_DELETE_FROM_FAMILY 3u
#define FIELD_DELETE_FROM_ROW 4u
#define FIELD_ADD_TO_CELL 5u
#define FIELD_MERGE_TO_CELL 6u
#define FIELD_ORIGIN 7u

/* Of the messages of mutations: what they have in common. */
#define FIELD_FAMILY 1u
#define FIELD_QUALIFIER 2u
#define FIELD_TIME 3u
#define FIELD_VALUE 4u

#define FIELD_VALUE_RAW 8u
#define FIELD_VALUE_RAW_TIME 9u
#define FIELD_VALUE_BYTES 2u
#define FIELD_VALUE_INT 6u

#define MICROS_PER_SECOND 1000000
#define NANOS_PER_MICRO 1000

/* Encoding. */

/* An integer input as a message has it. */
static bool input_number(const ms_bt_mutation *mutation, int64_t *number_out)
{
    if (mutation->kind != MS_BT_MUTATION_ADD_TO_CELL || mutation->value.bytes != sizeof(uint64_t)) {
        return false;
    }
    *number_out = (int64_t)__builtin_bswap64(ms_codec_load_u64(mutation->value.ptr));
    return true;
}

/* Of the Value that is an aggregate's input; NULL (an empty state) is a Value without a field. */
static size_t input_bytes(const ms_bt_mutation *mutation)
{
    int64_t number;
    if (input_number(mutation, &number)) {
        return msi_wire_int_size(number);
    }
    bool is_null = mutation->kind == MS_BT_MUTATION_MERGE_TO_CELL && mutation->value.bytes == 0;
    return is_null ? 0 : msi_wire_bytes_size(mutation->value.bytes);
}

static size_t time_range_bytes(const ms_bt_mutation *mutation)
{
    return msi_wire_plain_int_size(mutation->timestamp_micros) +
           msi_wire_plain_int_size(mutation->end_micros);
}

/* Of the message of a mutation, that is what is in the field of Mutation. */
static size_t body_bytes(const ms_bt_mutation *mutation, ms_str family)
{
    switch (mutation->kind) {
    case MS_BT_MUTATION_SET_CELL:
        return msi_wire_plain_bytes_size(family.bytes) +
               msi_wire_plain_bytes_size(mutation->qualifier.bytes) +
               msi_wire_plain_int_size(mutation->timestamp_micros) +
               msi_wire_plain_bytes_size(mutation->value.bytes);
    case MS_BT_MUTATION_DELETE_FROM_COLUMN:
        return msi_wire_plain_bytes_size(family.bytes) +
               msi_wire_plain_bytes_size(mutation->qualifier.bytes) +
               msi_wire_plain_bytes_size(time_range_bytes(mutation));
    case MS_BT_MUTATION_DELETE_FROM_FAMILY:
        return msi_wire_plain_bytes_size(family.bytes);
    case MS_BT_MUTATION_ADD_TO_CELL:
    case MS_BT_MUTATION_MERGE_TO_CELL:
        return msi_wire_plain_bytes_size(family.bytes) +
               msi_wire_bytes_size(msi_wire_bytes_size(mutation->qualifier.bytes)) +
               msi_wire_bytes_size(msi_wire_int_size(mutation->timestamp_micros)) +
               msi_wire_bytes_size(input_bytes(mutation));
    case MS_BT_MUTATION_DELETE_FROM_ROW:
    case MS_BT_MUTATION_COUNT:
        break;
    }
    return 0;
}

static size_t mutation_bytes(const ms_bt_mutation *mutation, size_t body)
{
    return msi_wire_bytes_size(body) + msi_wire_plain_int_size((int64_t)mutation->origin);
}

/* A row deletion names no family. */
static ms_str family_of(const ms_bt_mutation_batch *batch, const ms_bt_mutation *mutation)
{
    return mutation->kind == MS_BT_MUTATION_DELETE_FROM_ROW
               ? (ms_str){NULL, 0}
               : ms_bt_mutation_batch_family_name(batch, mutation->family);
}

static char *put_aggregate(char *at, const ms_bt_mutation *mutation)
{
    at = msi_wire_put_head(at, FIELD_QUALIFIER, msi_wire_bytes_size(mutation->qualifier.bytes));
    at = msi_wire_put_bytes(at, FIELD_VALUE_RAW, mutation->qualifier);
    at = msi_wire_put_head(at, FIELD_TIME, msi_wire_int_size(mutation->timestamp_micros));
    at = msi_wire_put_int(at, FIELD_VALUE_RAW_TIME, mutation->timestamp_micros);
    size_t input = input_bytes(mutation);
    at = msi_wire_put_head(at, FIELD_VALUE, input);
    int64_t number;
    if (input_number(mutation, &number)) {
        return msi_wire_put_int(at, FIELD_VALUE_INT, number);
    }
    return input == 0 ? at : msi_wire_put_bytes(at, FIELD_VALUE_RAW, mutation->value);
}

static char *put_body(char *at, const ms_bt_mutation *mutation, ms_str family)
{
    at = msi_wire_put_plain_bytes(at, FIELD_FAMILY, family);
    switch (mutation->kind) {
    case MS_BT_MUTATION_SET_CELL:
        at = msi_wire_put_plain_bytes(at, FIELD_QUALIFIER, mutation->qualifier);
        at = msi_wire_put_plain_int(at, FIELD_TIME, mutation->timestamp_micros);
        return msi_wire_put_plain_bytes(at, FIELD_VALUE, mutation->value);
    case MS_BT_MUTATION_DELETE_FROM_COLUMN: {
        size_t range = time_range_bytes(mutation);
        at = msi_wire_put_plain_bytes(at, FIELD_QUALIFIER, mutation->qualifier);
        if (range > 0) {
            at = msi_wire_put_head(at, FIELD_TIME, range);
            at = msi_wire_put_plain_int(at, 1, mutation->timestamp_micros);
            at = msi_wire_put_plain_int(at, 2, mutation->end_micros);
        }
        return at;
    }
    case MS_BT_MUTATION_ADD_TO_CELL:
    case MS_BT_MUTATION_MERGE_TO_CELL:
        return put_aggregate(at, mutation);
    case MS_BT_MUTATION_DELETE_FROM_FAMILY:
    case MS_BT_MUTATION_DELETE_FROM_ROW:
    case MS_BT_MUTATION_COUNT:
        break;
    }
    return at;
}

static unsigned field_of(ms_bt_mutation_kind kind)
{
    switch (kind) {
    case MS_BT_MUTATION_SET_CELL:
        return FIELD_SET_CELL;
    case MS_BT_MUTATION_DELETE_FROM_COLUMN:
        return FIELD_DELETE_FROM_COLUMN;
    case MS_BT_MUTATION_DELETE_FROM_FAMILY:
        return FIELD_DELETE_FROM_FAMILY;
    case MS_BT_MUTATION_DELETE_FROM_ROW:
        return FIELD_DELETE_FROM_ROW;
    case MS_BT_MUTATION_ADD_TO_CELL:
        return FIELD_ADD_TO_CELL;
    case MS_BT_MUTATION_MERGE_TO_CELL:
        return FIELD_MERGE_TO_CELL;
    case MS_BT_MUTATION_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

/* A point in time as the token of an entry has it; times before 1970 do not occur. */
static size_t timestamp_bytes(int64_t micros)
{
    return msi_wire_plain_int_size(micros / MICROS_PER_SECOND) +
           msi_wire_plain_int_size(micros % MICROS_PER_SECOND * NANOS_PER_MICRO);
}

static size_t idempotency_bytes(const ms_bt_mutation_entry *entry)
{
    return msi_wire_bytes_size(entry->token.bytes) +
           msi_wire_bytes_size(timestamp_bytes(entry->token_start_micros));
}

static char *put_idempotency(char *at, unsigned field, const ms_bt_mutation_entry *entry)
{
    int64_t start = entry->token_start_micros;
    at = msi_wire_put_head(at, field, idempotency_bytes(entry));
    at = msi_wire_put_bytes(at, 1, entry->token);
    at = msi_wire_put_head(at, 2, timestamp_bytes(start));
    at = msi_wire_put_plain_int(at, 1, start / MICROS_PER_SECOND);
    return msi_wire_put_plain_int(at, 2, start % MICROS_PER_SECOND * NANOS_PER_MICRO);
}

/* A cursor at the mutations that another is at. Only what is needed is copied, and piece by piece:
 * what was just written in pieces is slow to be read as a whole. */
static ms_bt_mutation_cursor mutations_at(const ms_bt_mutation_cursor *cursor)
{
    return (ms_bt_mutation_cursor){.next = cursor->next, .entry_end = cursor->entry_end};
}

/* Of all fields of an entry, at whose first mutation the cursor is. */
static size_t entry_bytes(const ms_bt_mutation_batch *batch, const ms_bt_mutation_entry *entry,
                          const ms_bt_mutation_cursor *at)
{
    ms_bt_mutation_cursor cursor = mutations_at(at);
    size_t bytes = msi_wire_plain_bytes_size(entry->key.bytes);
    ms_bt_mutation mutation;
    while (ms_bt_mutation_cursor_next(&cursor, &mutation)) {
        size_t body = body_bytes(&mutation, family_of(batch, &mutation));
        bytes += msi_wire_bytes_size(mutation_bytes(&mutation, body));
    }
    return entry->token.bytes == 0 ? bytes : bytes + msi_wire_bytes_size(idempotency_bytes(entry));
}

static char *put_entry(char *at, const entry_fields *fields, const ms_bt_mutation_batch *batch,
                       const ms_bt_mutation_entry *entry, const ms_bt_mutation_cursor *mutations)
{
    ms_bt_mutation_cursor cursor = mutations_at(mutations);
    at = msi_wire_put_plain_bytes(at, fields->key, entry->key);
    ms_bt_mutation mutation;
    while (ms_bt_mutation_cursor_next(&cursor, &mutation)) {
        ms_str family = family_of(batch, &mutation);
        size_t body = body_bytes(&mutation, family);
        at = msi_wire_put_head(at, fields->mutation, mutation_bytes(&mutation, body));
        at = msi_wire_put_head(at, field_of(mutation.kind), body);
        at = put_body(at, &mutation, family);
        at = msi_wire_put_plain_int(at, FIELD_ORIGIN, (int64_t)mutation.origin);
    }
    return entry->token.bytes == 0 ? at : put_idempotency(at, fields->idempotency, entry);
}

static ms_rc put_text(ms_buf *buf, unsigned field, ms_str text, ms_status *st)
{
    size_t bytes = msi_wire_plain_bytes_size(text.bytes);
    MS_TRY(ms_buf_reserve(buf, bytes + MSI_WIRE_SLACK, st));
    if (bytes > 0) {
        (void)msi_wire_put_bytes(buf->ptr + buf->bytes, field, text);
        buf->bytes += bytes;
    }
    return MS_OK;
}

ms_rc ms_wire_mutate_rows_encode(const ms_wire_mutate_head *head, const ms_bt_mutation_batch *batch,
                                 const uint32_t *indexes, size_t index_count, ms_buf *buf,
                                 ms_status *st)
{
    MS_TRY(put_text(buf, FIELD_TABLE, head->table, st));
    ms_bt_mutation_cursor cursor = ms_bt_mutation_cursor_make(batch);
    ms_bt_mutation_entry entry;
    size_t next = 0;
    while ((indexes == NULL || next < index_count) &&
           ms_bt_mutation_cursor_next_entry(&cursor, &entry)) {
        if (indexes != NULL && entry.index != indexes[next]) {
            continue;
        }
        next++;
        size_t bytes = entry_bytes(batch, &entry, &cursor);
        MS_TRY(ms_buf_reserve(buf, msi_wire_bytes_size(bytes) + MSI_WIRE_SLACK, st));
        char *at = msi_wire_put_head(buf->ptr + buf->bytes, FIELD_ENTRY, bytes);
        at = put_entry(at, &rows_entry, batch, &entry, &cursor);
        buf->bytes = (size_t)(at - buf->ptr);
    }
    MS_ASSERT(indexes == NULL || next == index_count);
    MS_TRY(put_text(buf, ROWS_PROFILE, head->app_profile, st));
    return put_text(buf, ROWS_VIEW, head->authorized_view, st);
}

ms_rc ms_wire_mutate_row_encode(const ms_wire_mutate_head *head, const ms_bt_mutation_batch *batch,
                                ms_buf *buf, ms_status *st)
{
    ms_bt_mutation_cursor cursor = ms_bt_mutation_cursor_make(batch);
    ms_bt_mutation_entry entry = {0};
    bool has_entry = ms_bt_mutation_cursor_next_entry(&cursor, &entry);
    MS_ASSERT(has_entry);
    /* Fields go in the order of their numbers: the token last, behind the texts. */
    ms_bt_mutation_entry plain = entry;
    plain.token = (ms_str){NULL, 0};
    MS_TRY(put_text(buf, FIELD_TABLE, head->table, st));
    MS_TRY(ms_buf_reserve(buf, entry_bytes(batch, &plain, &cursor) + MSI_WIRE_SLACK, st));
    char *at = put_entry(buf->ptr + buf->bytes, &row_entry, batch, &plain, &cursor);
    buf->bytes = (size_t)(at - buf->ptr);
    MS_TRY(put_text(buf, ROW_PROFILE, head->app_profile, st));
    MS_TRY(put_text(buf, ROW_VIEW, head->authorized_view, st));
    if (entry.token.bytes > 0) {
        MS_TRY(ms_buf_reserve(buf, msi_wire_bytes_size(idempotency_bytes(&entry)) + MSI_WIRE_SLACK,
                              st));
        at = put_idempotency(buf->ptr + buf->bytes, row_entry.idempotency, &entry);
        buf->bytes = (size_t)(at - buf->ptr);
    }
    return MS_OK;
}

/* Decoding. */

typedef struct decoder {
    const ms_wire_limits *limits;
    const entry_fields *fields;
    ms_bt_mutation_batch *batch;
    ms_bt_status *bt;
    ms_status st;  /* what the batch says; once for all, because clearing one takes its time */
    ms_str family; /* the last one, */
    uint16_t family_index;
    uint32_t index; /* of the mutation in its entry */
} decoder;

static ms_bt_code malformed(const decoder *d, const char *why)
{
    return msi_wire_refuse(d->limits, d->fields->name, why, d->bt);
}

static ms_bt_code cut_short(const decoder *d)
{
    return malformed(d, "a field is cut short or has a wrong tag");
}

static ms_bt_code full(const decoder *d)
{
    return ms_bt_status_from(d->bt, MS_BT_RESOURCE_EXHAUSTED, &d->st);
}

/* Mutations of one family mostly come together, so the last is kept. */
static bool is_last_family(const decoder *d, ms_str family)
{
    return d->family.ptr != NULL && ms_str_equals(d->family, family);
}

static ms_bt_code check_family(const decoder *d, ms_str family)
{
    return is_last_family(d, family) || msi_wire_is_text(family)
               ? MS_BT_OK
               : malformed(d, "a text is not UTF-8, or holds a NUL");
}

static ms_bt_code append(decoder *d, ms_str family, ms_bt_mutation *mutation)
{
    if (!is_last_family(d, family)) {
        d->family = (ms_str){NULL, 0};
        if (ms_bt_mutation_batch_family(d->batch, family, &d->family_index, &d->st) != MS_OK) {
            return full(d);
        }
        d->family = ms_bt_mutation_batch_family_name(d->batch, d->family_index);
    }
    mutation->family = d->family_index;
    return ms_bt_mutation_batch_append(d->batch, mutation, &d->st) == MS_OK ? MS_BT_OK : full(d);
}

/* A range of time; false when it is malformed. */
static bool take_time_range(ms_str bytes, ms_bt_mutation *mutation)
{
    const char *at = bytes.ptr;
    const char *end = msi_wire_end(bytes);
    while (at != end) {
        uint32_t tag;
        uint64_t value;
        at = msi_wire_get_tag(at, end, &tag);
        if (at == NULL) {
            return false;
        }
        if (tag == MSI_WIRE_TAG(1, MSI_WIRE_VARINT) || tag == MSI_WIRE_TAG(2, MSI_WIRE_VARINT)) {
            at = msi_wire_get_varint(at, end, &value);
            if (at == NULL) {
                return false;
            }
            *(tag >> 3 == 1 ? &mutation->timestamp_micros : &mutation->end_micros) = (int64_t)value;
            continue;
        }
        at = tag >> 3 <= 2 ? NULL : msi_wire_skip(at, end, tag);
        if (at == NULL) {
            return false;
        }
    }
    return true;
}

/* SetCell, DeleteFromColumn and DeleteFromFamily: the fields 1 to last, of which the third is a
 * number or, in DeleteFromColumn, a message. */
static ms_bt_code take_plain(decoder *d, ms_str body, unsigned last, ms_bt_mutation *mutation)
{
    ms_str family = {NULL, 0};
    bool is_delete = mutation->kind != MS_BT_MUTATION_SET_CELL;
    bool has_range = false;
    const char *at = body.ptr;
    const char *end = msi_wire_end(body);
    while (at != end) {
        uint32_t tag;
        uint64_t value;
        ms_str range;
        at = msi_wire_get_tag(at, end, &tag);
        if (at == NULL) {
            return cut_short(d);
        }
        if (tag >> 3 > last) {
            at = msi_wire_skip(at, end, tag);
        } else if (tag == MSI_WIRE_TAG(FIELD_FAMILY, MSI_WIRE_BYTES)) {
            at = msi_wire_get_bytes(at, end, &family);
        } else if (tag == MSI_WIRE_TAG(FIELD_QUALIFIER, MSI_WIRE_BYTES)) {
            at = msi_wire_get_bytes(at, end, &mutation->qualifier);
        } else if (tag == MSI_WIRE_TAG(FIELD_VALUE, MSI_WIRE_BYTES)) {
            at = msi_wire_get_bytes(at, end, &mutation->value);
        } else if (tag == MSI_WIRE_TAG(FIELD_TIME, MSI_WIRE_VARINT) && !is_delete) {
            at = msi_wire_get_varint(at, end, &value);
            mutation->timestamp_micros = at == NULL ? 0 : (int64_t)value;
        } else if (tag == MSI_WIRE_TAG(FIELD_TIME, MSI_WIRE_BYTES) && is_delete && !has_range) {
            at = msi_wire_get_bytes(at, end, &range);
            has_range = true;
            at = at != NULL && take_time_range(range, mutation) ? at : NULL;
        } else {
            at = NULL;
        }
        if (at == NULL) {
            return cut_short(d);
        }
        if (tag == MSI_WIRE_TAG(FIELD_FAMILY, MSI_WIRE_BYTES)) {
            MS_BT_TRY(check_family(d, family));
        }
    }
    return append(d, family, mutation);
}

/* A value of the API. One that holds anything but the kinds that mean something here is left to
 * ms_wire_check: the result is refused anyway, but what is malformed must be called that. */
static ms_bt_code take_value(decoder *d, ms_str bytes, msi_wire_value *value)
{
    bool is_simple = true;
    const char *at = bytes.ptr;
    const char *end = msi_wire_end(bytes);
    while (at != end) {
        uint32_t tag;
        uint64_t number;
        at = msi_wire_get_tag(at, end, &tag);
        if (at == NULL) {
            return cut_short(d);
        }
        switch (tag) {
        case MSI_WIRE_TAG(FIELD_VALUE_RAW, MSI_WIRE_BYTES):
        case MSI_WIRE_TAG(FIELD_VALUE_BYTES, MSI_WIRE_BYTES):
            at = msi_wire_get_bytes(at, end, &value->bytes);
            value->kind = tag >> 3 == FIELD_VALUE_RAW ? MSI_WIRE_VALUE_RAW : MSI_WIRE_VALUE_BYTES;
            break;
        case MSI_WIRE_TAG(FIELD_VALUE_RAW_TIME, MSI_WIRE_VARINT):
        case MSI_WIRE_TAG(FIELD_VALUE_INT, MSI_WIRE_VARINT):
            at = msi_wire_get_varint(at, end, &number);
            value->number = at == NULL ? 0 : (int64_t)number;
            value->kind =
                tag >> 3 == FIELD_VALUE_INT ? MSI_WIRE_VALUE_INT : MSI_WIRE_VALUE_RAW_TIME;
            break;
        default: {
            const ProtobufCFieldDescriptor *field =
                protobuf_c_message_descriptor_get_field(ms_pb_value_class(), tag >> 3);
            bool is_kind = field != NULL && (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
            value->kind = is_kind ? MSI_WIRE_VALUE_OTHER : value->kind;
            is_simple = false;
            at = msi_wire_skip(at, end, tag);
            break;
        }
        }
        if (at == NULL) {
            return cut_short(d);
        }
    }
    return is_simple ? MS_BT_OK : ms_wire_check(ms_pb_value_class(), bytes, d->limits, d->bt);
}

/* AddToCell and MergeToCell, whose fields are the same. */
static ms_bt_code take_aggregate(decoder *d, ms_str body, ms_bt_mutation *mutation)
{
    msi_wire_aggregate aggregate = {.qualifier = {.kind = MSI_WIRE_VALUE_NONE}};
    msi_wire_value *values[] = {&aggregate.qualifier, &aggregate.timestamp, &aggregate.input};
    unsigned seen = 0;
    ms_str family = {NULL, 0};
    const char *at = body.ptr;
    const char *end = msi_wire_end(body);
    while (at != end) {
        uint32_t tag;
        ms_str bytes;
        at = msi_wire_get_tag(at, end, &tag);
        if (at == NULL) {
            return cut_short(d);
        }
        unsigned field = tag >> 3 > FIELD_VALUE ? 0 : tag >> 3;
        if (field == 0) {
            at = msi_wire_skip(at, end, tag);
        } else {
            at = (tag & 7) == MSI_WIRE_BYTES ? msi_wire_get_bytes(at, end, &bytes) : NULL;
        }
        if (at == NULL || (field > FIELD_FAMILY && (seen >> field & 1) != 0)) {
            return cut_short(d);
        }
        seen |= 1u << field;
        if (field == FIELD_FAMILY) {
            family = bytes;
            MS_BT_TRY(check_family(d, family));
        } else if (field != 0) {
            MS_BT_TRY(take_value(d, bytes, values[field - FIELD_QUALIFIER]));
        }
    }
    MS_BT_TRY(msi_wire_take_aggregate(&aggregate, d->index, mutation, d->bt));
    return append(d, family, mutation);
}

static ms_bt_code take_delete_row(decoder *d, ms_str body, ms_bt_mutation *mutation)
{
    const char *at = body.ptr;
    const char *end = msi_wire_end(body);
    while (at != end) {
        uint32_t tag;
        at = msi_wire_get_tag(at, end, &tag);
        at = at == NULL ? NULL : msi_wire_skip(at, end, tag);
        if (at == NULL) {
            return cut_short(d);
        }
    }
    return ms_bt_mutation_batch_append(d->batch, mutation, &d->st) == MS_OK ? MS_BT_OK : full(d);
}

static ms_bt_code take_body(decoder *d, unsigned field, ms_str body, ms_bt_mutation *mutation)
{
    switch (field) {
    case FIELD_SET_CELL:
        mutation->kind = MS_BT_MUTATION_SET_CELL;
        return take_plain(d, body, FIELD_VALUE, mutation);
    case FIELD_DELETE_FROM_COLUMN:
        mutation->kind = MS_BT_MUTATION_DELETE_FROM_COLUMN;
        return take_plain(d, body, FIELD_TIME, mutation);
    case FIELD_DELETE_FROM_FAMILY:
        mutation->kind = MS_BT_MUTATION_DELETE_FROM_FAMILY;
        return take_plain(d, body, FIELD_FAMILY, mutation);
    case FIELD_ADD_TO_CELL:
        mutation->kind = MS_BT_MUTATION_ADD_TO_CELL;
        return take_aggregate(d, body, mutation);
    case FIELD_MERGE_TO_CELL:
        mutation->kind = MS_BT_MUTATION_MERGE_TO_CELL;
        return take_aggregate(d, body, mutation);
    case FIELD_DELETE_FROM_ROW:
        mutation->kind = MS_BT_MUTATION_DELETE_FROM_ROW;
        return take_delete_row(d, body, mutation);
    default:
        return ms_bt_status_set(d->bt, MS_BT_INVALID_ARGUMENT,
                                MSI_WIRE_IN_LIST "No mutation is set", d->index);
    }
}

/* A Mutation: which it is, and how its timestamp came about, in any order. */
static ms_bt_code take_mutation(decoder *d, ms_str bytes)
{
    ms_bt_mutation mutation = {.kind = MS_BT_MUTATION_SET_CELL};
    unsigned field = 0;
    ms_str body = {NULL, 0};
    const char *at = bytes.ptr;
    const char *end = msi_wire_end(bytes);
    while (at != end) {
        uint32_t tag;
        uint64_t origin;
        at = msi_wire_get_tag(at, end, &tag);
        if (at == NULL) {
            return cut_short(d);
        }
        if (tag == MSI_WIRE_TAG(FIELD_ORIGIN, MSI_WIRE_VARINT)) {
            at = msi_wire_get_varint(at, end, &origin);
            /* A number that is none of the enumeration says nothing. */
            bool is_known = at != NULL && (uint32_t)origin < MS_BT_TIMESTAMP_ORIGIN_COUNT;
            mutation.origin =
                is_known ? (ms_bt_timestamp_origin)(uint32_t)origin : MS_BT_TIMESTAMP_UNSPECIFIED;
        } else if (tag >> 3 > FIELD_ORIGIN) {
            at = msi_wire_skip(at, end, tag);
        } else if ((tag & 7) != MSI_WIRE_BYTES || tag >> 3 == FIELD_ORIGIN || field != 0) {
            return malformed(d, field != 0 ? "a mutation is two" : "a field has the wrong type");
        } else {
            field = tag >> 3;
            at = msi_wire_get_bytes(at, end, &body);
        }
        if (at == NULL) {
            return cut_short(d);
        }
    }
    return take_body(d, field, body, &mutation);
}

/* A point in time; false when it is malformed. */
static bool take_timestamp(ms_str bytes, int64_t *micros_out)
{
    ms_pb_timestamp timestamp = GOOGLE__PROTOBUF__TIMESTAMP__INIT;
    const char *at = bytes.ptr;
    const char *end = msi_wire_end(bytes);
    while (at != end) {
        uint32_t tag;
        uint64_t value;
        at = msi_wire_get_tag(at, end, &tag);
        if (at == NULL) {
            return false;
        }
        if (tag == MSI_WIRE_TAG(1, MSI_WIRE_VARINT) || tag == MSI_WIRE_TAG(2, MSI_WIRE_VARINT)) {
            at = msi_wire_get_varint(at, end, &value);
            if (at == NULL) {
                return false;
            }
            if (tag >> 3 == 1) {
                timestamp.seconds = (int64_t)value;
            } else {
                timestamp.nanos = (int32_t)(uint32_t)value;
            }
            continue;
        }
        at = tag >> 3 <= 2 ? NULL : msi_wire_skip(at, end, tag);
        if (at == NULL) {
            return false;
        }
    }
    *micros_out = ms_wire_timestamp_micros(&timestamp);
    return true;
}

/* What an entry says besides its mutations. */
typedef struct entry_head {
    ms_str key;
    ms_str token;
    int64_t start_micros;
    bool has_idempotency;
} entry_head;

static ms_bt_code take_idempotency(decoder *d, ms_str bytes, entry_head *head)
{
    bool has_start = false;
    const char *at = bytes.ptr;
    const char *end = msi_wire_end(bytes);
    if (head->has_idempotency) {
        return malformed(d, "a field occurs twice");
    }
    head->has_idempotency = true;
    while (at != end) {
        uint32_t tag;
        ms_str start;
        at = msi_wire_get_tag(at, end, &tag);
        if (at == NULL) {
            return cut_short(d);
        }
        if (tag == MSI_WIRE_TAG(1, MSI_WIRE_BYTES)) {
            at = msi_wire_get_bytes(at, end, &head->token);
        } else if (tag == MSI_WIRE_TAG(2, MSI_WIRE_BYTES) && !has_start) {
            has_start = true;
            at = msi_wire_get_bytes(at, end, &start);
            at = at != NULL && take_timestamp(start, &head->start_micros) ? at : NULL;
        } else {
            at = tag >> 3 <= 2 ? NULL : msi_wire_skip(at, end, tag);
        }
        if (at == NULL) {
            return cut_short(d);
        }
    }
    return MS_BT_OK;
}

/* The mutations of a message that holds an entry. All fields were looked at once: they are whole,
 * and those of the entry have the right type. */
static ms_bt_code take_mutations(decoder *d, ms_str bytes)
{
    const char *at = bytes.ptr;
    const char *end = msi_wire_end(bytes);
    d->index = 0;
    while (at != end) {
        uint32_t tag = 0;
        at = msi_wire_get_tag(at, end, &tag);
        if (tag != MSI_WIRE_TAG(d->fields->mutation, MSI_WIRE_BYTES)) {
            at = msi_wire_skip(at, end, tag);
            continue;
        }
        ms_str mutation = {NULL, 0};
        at = msi_wire_get_bytes(at, end, &mutation);
        MS_BT_TRY(take_mutation(d, mutation));
        d->index++;
    }
    return MS_BT_OK;
}

static ms_bt_code take_entry(decoder *d, const entry_head *head, ms_str bytes)
{
    if (ms_bt_mutation_batch_begin_row_once(d->batch, head->key, head->token, head->start_micros,
                                            &d->st) != MS_OK) {
        return full(d);
    }
    ms_bt_code code = take_mutations(d, bytes);
    if (code != MS_BT_OK) {
        ms_bt_mutation_batch_cancel_row(d->batch);
        return code;
    }
    ms_bt_mutation_batch_end_row(d->batch);
    return MS_BT_OK;
}

/* A field of a message that holds an entry, which is looked at once before its mutations are taken:
 * the key and the token are kept. */
static const char *get_entry_field(decoder *d, const char *at, const char *end, uint32_t tag,
                                   entry_head *head)
{
    ms_str bytes;
    uint32_t field = tag >> 3;
    bool is_ours =
        field == d->fields->key || field == d->fields->mutation || field == d->fields->idempotency;
    if (!is_ours) {
        bool is_text = field < 32 && (d->fields->texts >> field & 1) != 0;
        return is_text ? NULL : msi_wire_skip(at, end, tag);
    }
    at = (tag & 7) == MSI_WIRE_BYTES ? msi_wire_get_bytes(at, end, &bytes) : NULL;
    if (at == NULL) {
        return NULL;
    }
    if (field == d->fields->key) {
        head->key = bytes;
    }
    bool is_good = field != d->fields->idempotency || take_idempotency(d, bytes, head) == MS_BT_OK;
    return is_good ? at : NULL;
}

static ms_bt_code take_rows_entry(decoder *d, ms_str bytes)
{
    entry_head head = {.start_micros = 0};
    const char *at = bytes.ptr;
    const char *end = msi_wire_end(bytes);
    while (at != end) {
        uint32_t tag;
        at = msi_wire_get_tag(at, end, &tag);
        at = at == NULL ? NULL : get_entry_field(d, at, end, tag, &head);
        if (at == NULL) {
            return cut_short(d);
        }
    }
    return take_entry(d, &head, bytes);
}

/* A text of the request itself. */
static const char *get_text(const decoder *d, const char *at, const char *end, ms_str *text_out)
{
    at = msi_wire_get_bytes(at, end, text_out);
    if (at != NULL && !msi_wire_is_text(*text_out)) {
        (void)malformed(d, "a text is not UTF-8, or holds a NUL");
        return NULL;
    }
    return at;
}

ms_bt_code ms_wire_mutate_rows_decode(ms_str bytes, const ms_wire_limits *limits,
                                      ms_bt_mutation_batch *batch, ms_wire_mutate_head *head_out,
                                      ms_bt_status *bt)
{
    *head_out = (ms_wire_mutate_head){0};
    MS_BT_TRY(msi_wire_check_size(bytes, limits, bt));
    decoder d = {.limits = limits, .fields = &rows_entry, .batch = batch, .bt = bt};
    const char *at = bytes.ptr;
    const char *end = msi_wire_end(bytes);
    while (at != end) {
        uint32_t tag;
        ms_str entry;
        at = msi_wire_get_tag(at, end, &tag);
        if (at == NULL) {
            return cut_short(&d);
        }
        switch (tag) {
        case MSI_WIRE_TAG(FIELD_ENTRY, MSI_WIRE_BYTES):
            at = msi_wire_get_bytes(at, end, &entry);
            if (at != NULL) {
                MS_BT_TRY(take_rows_entry(&d, entry));
            }
            break;
        case MSI_WIRE_TAG(FIELD_TABLE, MSI_WIRE_BYTES):
            at = get_text(&d, at, end, &head_out->table);
            break;
        case MSI_WIRE_TAG(ROWS_PROFILE, MSI_WIRE_BYTES):
            at = get_text(&d, at, end, &head_out->app_profile);
            break;
        case MSI_WIRE_TAG(ROWS_VIEW, MSI_WIRE_BYTES):
            at = get_text(&d, at, end, &head_out->authorized_view);
            break;
        default:
            at = tag >> 3 <= ROWS_PROFILE || tag >> 3 == ROWS_VIEW ? NULL
                                                                   : msi_wire_skip(at, end, tag);
            break;
        }
        if (at == NULL) {
            return cut_short(&d);
        }
    }
    return MS_BT_OK;
}

ms_bt_code ms_wire_mutate_row_decode(ms_str bytes, const ms_wire_limits *limits,
                                     ms_bt_mutation_batch *batch, ms_wire_mutate_head *head_out,
                                     ms_bt_status *bt)
{
    *head_out = (ms_wire_mutate_head){0};
    MS_BT_TRY(msi_wire_check_size(bytes, limits, bt));
    decoder d = {.limits = limits, .fields = &row_entry, .batch = batch, .bt = bt};
    entry_head head = {.start_micros = 0};
    const char *at = bytes.ptr;
    const char *end = msi_wire_end(bytes);
    while (at != end) {
        uint32_t tag;
        at = msi_wire_get_tag(at, end, &tag);
        if (at == NULL) {
            return cut_short(&d);
        }
        switch (tag) {
        case MSI_WIRE_TAG(FIELD_TABLE, MSI_WIRE_BYTES):
            at = get_text(&d, at, end, &head_out->table);
            break;
        case MSI_WIRE_TAG(ROW_PROFILE, MSI_WIRE_BYTES):
            at = get_text(&d, at, end, &head_out->app_profile);
            break;
        case MSI_WIRE_TAG(ROW_VIEW, MSI_WIRE_BYTES):
            at = get_text(&d, at, end, &head_out->authorized_view);
            break;
        default:
            at = get_entry_field(&d, at, end, tag, &head);
            break;
        }
        if (at == NULL) {
            return cut_short(&d);
        }
    }
    return take_entry(&d, &head, bytes);
}
