/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sketch of hll.h. A hash of 64 bits says which bucket counts it (its top bits) and how rare it
 * is (rho: zeros in front of the first one behind those bits, plus one); a register keeps the
 * largest rho of its bucket. While few buckets are hit, the list of values is kept instead, with
 * more bits, in one of two forms:
 *
 *     plain      the top sparse_precision bits, when those behind the top precision ones are not
 *                all zero, for then they tell rho
 *     flagged    flag | bucket << 6 | rho, counted behind the top sparse_precision bits
 */
#include "bigtable/model/hll.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

#define PRECISION_MIN 10u
#define PRECISION_MAX 24u
#define SPARSE_PRECISION_MAX 25u
#define HASH_BITS 64u
#define RHO_BITS 6u
#define RHO_MASK ((1u << RHO_BITS) - 1u)

/* Field numbers and constants of the messages. */
enum {
    FIELD_TYPE = 1,
    FIELD_VALUE_COUNT = 2,
    FIELD_ENCODING = 3,
    FIELD_VALUE_TYPE = 4,
    FIELD_STATE = 112,
    FIELD_SPARSE_SIZE = 2,
    FIELD_PRECISION = 3,
    FIELD_SPARSE_PRECISION = 4,
    FIELD_DATA = 5,
    FIELD_SPARSE_DATA = 6,
    TYPE_HLL = 112,
    ENCODING = 2,
    VALUE_INT64 = 4,
    VALUE_UINT64 = 8 /* what 64-bit integers are written as */
};

/* Hashing. */

static uint64_t mix(uint64_t v)
{
    return v ^ v >> 47;
}

uint64_t ms_bt_hll_hash_int64(int64_t value)
{
    const uint64_t k0 = UINT64_C(0xa5b85c5e198ed849);
    const uint64_t k1 = UINT64_C(0x8d58ac26afe12e47);
    const uint64_t k2 = UINT64_C(0xc47b6e9e3a970ed3);
    const uint64_t k3 = UINT64_C(0xc6a4a7935bd1e995);
    uint64_t word = (uint64_t)value;
    uint64_t r = (k0 ^ k1 ^ k2) ^ 8 * k3;
    r = (r ^ mix(word * k3) * k3) * k3;
    r = mix(mix(r) * k3);
    uint64_t sum = r + k0;
    uint64_t a = mix((word ^ sum) * k3);
    uint64_t b = mix((sum ^ a) * k3);
    uint64_t hash = b * k3;
    return hash < 2 ? hash - 2 : hash;
}

/* Zeros in front of the first one of the lowest bits, plus one; bits + 1 when there is none. */
static unsigned rho_of(uint64_t value, unsigned bits)
{
    uint64_t lowest = bits == 0 ? 0 : value << (HASH_BITS - bits);
    return lowest == 0 ? bits + 1 : (unsigned)__builtin_clzll(lowest) + 1;
}

/* One value in the most precise form: the top bits of its hash, and rho behind them. */
typedef struct entry {
    uint32_t prefix; /* sparse_precision bits, resp. precision bits when there is no other */
    unsigned rho;    /* behind the prefix; only if the prefix's lower part is zero */
} entry;

static uint32_t flag_of(unsigned precision, unsigned sparse_precision)
{
    unsigned bit = precision + RHO_BITS;
    return UINT32_C(1) << (bit > sparse_precision ? bit : sparse_precision);
}

static uint32_t low_bits(uint32_t value, unsigned bits)
{
    return value & ((UINT32_C(1) << bits) - 1);
}

static uint32_t encode(const ms_bt_hll *hll, entry value)
{
    unsigned extra = hll->sparse_precision - hll->precision;
    if (low_bits(value.prefix, extra) != 0) {
        return value.prefix;
    }
    return flag_of(hll->precision, hll->sparse_precision) | value.prefix >> extra << RHO_BITS |
           value.rho;
}

static entry decode(const ms_bt_hll *hll, uint32_t encoded)
{
    uint32_t flag = flag_of(hll->precision, hll->sparse_precision);
    if ((encoded & flag) == 0) {
        return (entry){encoded, 0};
    }
    unsigned extra = hll->sparse_precision - hll->precision;
    return (entry){(encoded ^ flag) >> RHO_BITS << extra, encoded & RHO_MASK};
}

/* The same value with a shorter prefix: what is cut off tells rho. */
static entry shorten(entry value, unsigned from_bits, unsigned to_bits)
{
    unsigned cut = from_bits - to_bits;
    uint32_t rest = low_bits(value.prefix, cut);
    return (entry){value.prefix >> cut, rest != 0 ? rho_of(rest, cut) : value.rho + cut};
}

/* Memory. */

static ms_bt_code no_memory(ms_bt_status *bt)
{
    return ms_bt_status_set(bt, MS_BT_RESOURCE_EXHAUSTED, "Out of memory for an HLL sketch");
}

void ms_bt_hll_release(ms_bt_hll *hll)
{
    ms_mem_free(hll->registers);
    ms_mem_free(hll->sparse);
    *hll = (ms_bt_hll){0};
}

static ms_bt_code reserve(ms_bt_hll *hll, uint32_t count, ms_bt_status *bt)
{
    if (count <= hll->sparse_capacity) {
        return MS_BT_OK;
    }
    uint32_t capacity = hll->sparse_capacity == 0 ? 16 : hll->sparse_capacity;
    while (capacity < count) {
        capacity *= 2;
    }
    uint32_t *sparse = ms_mem_try_realloc(hll->sparse, capacity * sizeof(*sparse));
    if (sparse == NULL) {
        return no_memory(bt);
    }
    hll->sparse = sparse;
    hll->sparse_capacity = capacity;
    return MS_BT_OK;
}

static size_t register_count(const ms_bt_hll *hll)
{
    return (size_t)1 << hll->precision;
}

/* Registers. */

static void raise_register(ms_bt_hll *hll, uint32_t bucket, unsigned rho)
{
    if (hll->registers[bucket] < rho) {
        hll->registers[bucket] = (uint8_t)rho;
    }
}

/* Puts a value whose prefix has from_bits, at least precision, into its register. */
static void put_into_register(ms_bt_hll *hll, entry value, unsigned from_bits)
{
    entry bucket = shorten(value, from_bits, hll->precision);
    raise_register(hll, bucket.prefix, bucket.rho);
}

static ms_bt_code make_registers(ms_bt_hll *hll, ms_bt_status *bt)
{
    if (hll->registers != NULL) {
        return MS_BT_OK;
    }
    hll->registers = ms_mem_try_calloc(register_count(hll), 1);
    if (hll->registers == NULL) {
        return no_memory(bt);
    }
    for (uint32_t i = 0; i < hll->sparse_count; i++) {
        put_into_register(hll, decode(hll, hll->sparse[i]), hll->sparse_precision);
    }
    ms_mem_free(hll->sparse);
    hll->sparse = NULL;
    hll->sparse_count = 0;
    hll->sparse_capacity = 0;
    return MS_BT_OK;
}

/* Lists. */

/* Lists longer than this, in bytes, are worth less than registers. */
static size_t sparse_bytes_max(const ms_bt_hll *hll)
{
    return register_count(hll) / 4 * 3;
}

/* The first place whose value is not below. */
static uint32_t lower_bound(const ms_bt_hll *hll, uint32_t encoded)
{
    uint32_t low = 0;
    uint32_t high = hll->sparse_count;
    /* Lists are read in order. */
    if (high > 0 && hll->sparse[high - 1] < encoded) {
        return high;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (hll->sparse[middle] < encoded) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Of values that are flagged and of one bucket, the list keeps the one with the largest rho. */
static ms_bt_code put_into_list(ms_bt_hll *hll, uint32_t encoded, ms_bt_status *bt)
{
    bool is_flagged = (encoded & flag_of(hll->precision, hll->sparse_precision)) != 0;
    uint32_t at = lower_bound(hll, is_flagged ? encoded & ~RHO_MASK : encoded);
    bool is_there = at < hll->sparse_count && is_flagged
                        ? (hll->sparse[at] ^ encoded) >> RHO_BITS == 0
                        : at < hll->sparse_count && hll->sparse[at] == encoded;
    if (is_there) {
        hll->sparse[at] = hll->sparse[at] < encoded ? encoded : hll->sparse[at];
        return MS_BT_OK;
    }
    MS_BT_TRY(reserve(hll, hll->sparse_count + 1, bt));
    memmove(hll->sparse + at + 1, hll->sparse + at,
            (hll->sparse_count - at) * sizeof(*hll->sparse));
    hll->sparse[at] = encoded;
    hll->sparse_count++;
    /* A value takes a byte at least. */
    return hll->sparse_count > sparse_bytes_max(hll) ? make_registers(hll, bt) : MS_BT_OK;
}

/* Adding. */

static void count_values(ms_bt_hll *hll, int64_t count)
{
    if (__builtin_add_overflow(hll->value_count, count, &hll->value_count)) {
        hll->value_count = INT64_MAX;
    }
}

/* Puts a value in whose prefix has from_bits: at least those of the sketch. */
static ms_bt_code put(ms_bt_hll *hll, entry value, unsigned from_bits, ms_bt_status *bt)
{
    if (hll->registers != NULL) {
        put_into_register(hll, value, from_bits);
        return MS_BT_OK;
    }
    return put_into_list(hll, encode(hll, shorten(value, from_bits, hll->sparse_precision)), bt);
}

ms_bt_code ms_bt_hll_add_int64(ms_bt_hll *hll, int64_t value, ms_bt_status *bt)
{
    uint64_t hash = ms_bt_hll_hash_int64(value);
    unsigned bits = hll->registers != NULL ? hll->precision : hll->sparse_precision;
    entry prefix = {(uint32_t)(hash >> (HASH_BITS - bits)), rho_of(hash, HASH_BITS - bits)};
    MS_BT_TRY(put(hll, prefix, bits, bt));
    count_values(hll, 1);
    return MS_BT_OK;
}

/* Merging. */

/* Lowers the precisions of a sketch; sparse_precision 0 makes registers of it. */
static ms_bt_code lower(ms_bt_hll *hll, unsigned precision, unsigned sparse_precision,
                        ms_bt_status *bt)
{
    if (hll->precision == precision && hll->sparse_precision == sparse_precision) {
        return MS_BT_OK;
    }
    if (sparse_precision == 0) {
        MS_BT_TRY(make_registers(hll, bt));
    }
    ms_bt_hll before = *hll;
    *hll = (ms_bt_hll){.precision = precision,
                       .sparse_precision = sparse_precision,
                       .value_count = before.value_count};
    ms_bt_code code = before.registers != NULL ? make_registers(hll, bt) : MS_BT_OK;
    for (size_t i = 0; before.registers != NULL && code == MS_BT_OK && i < register_count(&before);
         i++) {
        if (before.registers[i] != 0) {
            put_into_register(hll, (entry){(uint32_t)i, before.registers[i]}, before.precision);
        }
    }
    for (uint32_t i = 0; code == MS_BT_OK && i < before.sparse_count; i++) {
        code = put(hll, decode(&before, before.sparse[i]), before.sparse_precision, bt);
    }
    ms_bt_hll_release(&before);
    return code;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

ms_bt_code ms_bt_hll_merge(ms_bt_hll *hll, const ms_bt_hll *other, ms_bt_status *bt)
{
    bool is_not_above =
        hll->precision <= other->precision && hll->sparse_precision <= other->sparse_precision;
    bool is_not_below =
        hll->precision >= other->precision && hll->sparse_precision >= other->sparse_precision;
    if (!is_not_above && !is_not_below) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Precisions of the HLL sketches are not compatible: %u and %u, "
                                "sparse %u and %u",
                                hll->precision, other->precision, hll->sparse_precision,
                                other->sparse_precision);
    }
    MS_BT_TRY(lower(hll, least(hll->precision, other->precision),
                    least(hll->sparse_precision, other->sparse_precision), bt));
    if (other->registers != NULL) {
        MS_BT_TRY(make_registers(hll, bt));
        for (size_t i = 0; i < register_count(other); i++) {
            if (other->registers[i] != 0) {
                put_into_register(hll, (entry){(uint32_t)i, other->registers[i]}, other->precision);
            }
        }
    }
    for (uint32_t i = 0; i < other->sparse_count; i++) {
        MS_BT_TRY(put(hll, decode(other, other->sparse[i]), other->sparse_precision, bt));
    }
    count_values(hll, other->value_count);
    return MS_BT_OK;
}

/* Estimating. */

/* The sums of Ertl's estimator (2017) for empty and for full registers. */
static double sigma(double x)
{
    double sum = x;
    double before = -1.0;
    double weight = 1.0;
    while (sum != before) {
        x *= x;
        before = sum;
        sum += x * weight;
        weight += weight;
    }
    return sum;
}

static double tau(double x)
{
    if (x <= 0.0 || x >= 1.0) {
        return 0.0;
    }
    double sum = 1.0 - x;
    double before = -1.0;
    double weight = 0.5;
    while (sum != before) {
        x = sqrt(x);
        before = sum;
        sum -= (1.0 - x) * (1.0 - x) * weight;
        weight /= 2.0;
    }
    return sum / 3.0;
}

static double estimate_registers(const ms_bt_hll *hll)
{
    unsigned rho_max = HASH_BITS - hll->precision + 1;
    size_t counts[HASH_BITS + 2] = {0};
    for (size_t i = 0; i < register_count(hll); i++) {
        counts[hll->registers[i]]++;
    }
    double m = (double)register_count(hll);
    if (counts[0] == register_count(hll)) {
        return 0.0;
    }
    double sum = m * tau(1.0 - (double)counts[rho_max] / m);
    for (unsigned rho = rho_max - 1; rho > 0; rho--) {
        sum = (sum + (double)counts[rho]) / 2.0;
    }
    sum += m * sigma((double)counts[0] / m);
    return m * m / (2.0 * log(2.0) * sum);
}

int64_t ms_bt_hll_estimate(const ms_bt_hll *hll)
{
    double estimate = 0.0;
    if (hll->registers != NULL) {
        estimate = estimate_registers(hll);
    } else {
        /* How many values hit so many of the prefixes. */
        double m = ldexp(1.0, (int)hll->sparse_precision);
        estimate = m * log(m / (m - (double)hll->sparse_count));
    }
    return (int64_t)floor(estimate + 0.5);
}

/* Writing. */

static size_t put_varint(uint64_t value, uint8_t *to)
{
    size_t bytes = 0;
    while (value >= 0x80) {
        to[bytes++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    to[bytes++] = (uint8_t)value;
    return bytes;
}

#define VARINT_BYTES_MAX 10u

static ms_rc append_varint(ms_buf *buf, uint64_t value, ms_status *st)
{
    uint8_t bytes[VARINT_BYTES_MAX];
    size_t count = put_varint(value, bytes);
    return ms_buf_append(buf, ms_str_make((const char *)bytes, count), st);
}

static ms_rc append_int(ms_buf *buf, unsigned field, uint64_t value, ms_status *st)
{
    MS_TRY(append_varint(buf, (uint64_t)field << 3, st));
    return append_varint(buf, value, st);
}

/* The tag and length of a field of bytes. */
static ms_rc append_length(ms_buf *buf, unsigned field, size_t bytes, ms_status *st)
{
    MS_TRY(append_varint(buf, (uint64_t)field << 3 | 2, st));
    return append_varint(buf, bytes, st);
}

/* The list as differences; with to NULL, only how long that is. */
static size_t put_list(const ms_bt_hll *hll, uint8_t *to)
{
    uint8_t scratch[VARINT_BYTES_MAX];
    size_t bytes = 0;
    uint32_t before = 0;
    for (uint32_t i = 0; i < hll->sparse_count; i++) {
        bytes += put_varint(hll->sparse[i] - before, to == NULL ? scratch : to + bytes);
        before = hll->sparse[i];
    }
    return bytes;
}

static ms_rc append_list(const ms_bt_hll *hll, size_t bytes, ms_buf *buf, ms_status *st)
{
    MS_TRY(append_length(buf, FIELD_SPARSE_DATA, bytes, st));
    MS_TRY(ms_buf_reserve(buf, bytes, st));
    buf->bytes += put_list(hll, (uint8_t *)buf->ptr + buf->bytes);
    return MS_OK;
}

static size_t int_bytes(unsigned field, uint64_t value)
{
    uint8_t scratch[VARINT_BYTES_MAX];
    return put_varint((uint64_t)field << 3, scratch) + put_varint(value, scratch);
}

/* The inner message; its length without what is only counted, then its fields. */
static ms_rc append_state(const ms_bt_hll *hll, size_t list_bytes, ms_buf *buf, ms_status *st)
{
    bool is_sparse = hll->registers == NULL;
    size_t data_bytes = is_sparse ? list_bytes : register_count(hll);
    size_t bytes = int_bytes(FIELD_PRECISION, hll->precision);
    bytes += hll->sparse_count > 0 ? int_bytes(FIELD_SPARSE_SIZE, hll->sparse_count) : 0;
    bytes +=
        hll->sparse_precision > 0 ? int_bytes(FIELD_SPARSE_PRECISION, hll->sparse_precision) : 0;
    bytes += int_bytes(FIELD_DATA, data_bytes) + data_bytes;
    MS_TRY(append_length(buf, FIELD_STATE, bytes, st));
    if (hll->sparse_count > 0) {
        MS_TRY(append_int(buf, FIELD_SPARSE_SIZE, hll->sparse_count, st));
    }
    MS_TRY(append_int(buf, FIELD_PRECISION, hll->precision, st));
    if (hll->sparse_precision > 0) {
        MS_TRY(append_int(buf, FIELD_SPARSE_PRECISION, hll->sparse_precision, st));
    }
    if (is_sparse) {
        return append_list(hll, list_bytes, buf, st);
    }
    MS_TRY(append_length(buf, FIELD_DATA, data_bytes, st));
    return ms_buf_append(buf, ms_str_make((const char *)hll->registers, data_bytes), st);
}

ms_rc ms_bt_hll_write(ms_bt_hll *hll, ms_buf *buf, ms_status *st)
{
    size_t list_bytes = put_list(hll, NULL);
    if (hll->registers == NULL && list_bytes > sparse_bytes_max(hll)) {
        ms_bt_status bt = {0};
        if (make_registers(hll, &bt) != MS_BT_OK) {
            return ms_mem_refuse(register_count(hll), st);
        }
    }
    MS_TRY(append_int(buf, FIELD_TYPE, TYPE_HLL, st));
    MS_TRY(append_int(buf, FIELD_VALUE_COUNT, (uint64_t)hll->value_count, st));
    MS_TRY(append_int(buf, FIELD_ENCODING, ENCODING, st));
    MS_TRY(append_int(buf, FIELD_VALUE_TYPE, VALUE_UINT64, st));
    return append_state(hll, list_bytes, buf, st);
}

/* Reading: bytes may be anything. */

/* A field of a message. */
typedef struct field {
    uint64_t number;
    bool is_bytes;
    uint64_t value; /* of an integer */
    ms_str bytes;
} field;

static bool take_varint(ms_str *in, uint64_t *value_out)
{
    *value_out = 0;
    for (unsigned shift = 0; shift < 64 && in->bytes > 0; shift += 7) {
        uint8_t byte = (uint8_t)in->ptr[0];
        *in = ms_str_slice(*in, 1, in->bytes);
        *value_out |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            return true;
        }
    }
    return false;
}

/* False when the message is damaged. Fields of a fixed width do not occur, and are skipped. */
static bool take_field(ms_str *in, field *field_out)
{
    uint64_t tag = 0;
    if (!take_varint(in, &tag)) {
        return false;
    }
    *field_out = (field){.number = tag >> 3};
    uint64_t bytes = 0;
    switch (tag & 7) {
    case 0:
        return take_varint(in, &field_out->value);
    case 2:
        if (!take_varint(in, &bytes)) {
            return false;
        }
        field_out->is_bytes = true;
        break;
    case 1:
        field_out->number = 0;
        bytes = 8;
        break;
    case 5:
        field_out->number = 0;
        bytes = 4;
        break;
    default:
        return false;
    }
    if (bytes > in->bytes) {
        return false;
    }
    field_out->bytes = ms_str_slice(*in, 0, (size_t)bytes);
    *in = ms_str_slice(*in, (size_t)bytes, in->bytes);
    return true;
}

/* What the two messages say. */
typedef struct message {
    uint64_t type;
    uint64_t value_count;
    uint64_t encoding;
    uint64_t value_type;
    ms_str state;
    uint64_t precision;
    uint64_t sparse_precision;
    ms_str data;
    ms_str sparse_data;
} message;

static bool parse_outer(ms_str in, message *m)
{
    m->encoding = 1;
    while (in.bytes > 0) {
        field f;
        if (!take_field(&in, &f)) {
            return false;
        }
        if (f.number == FIELD_STATE && f.is_bytes) {
            m->state = f.bytes;
        } else if (f.number == FIELD_TYPE && !f.is_bytes) {
            m->type = f.value;
        } else if (f.number == FIELD_VALUE_COUNT && !f.is_bytes) {
            m->value_count = f.value;
        } else if (f.number == FIELD_ENCODING && !f.is_bytes) {
            m->encoding = f.value;
        } else if (f.number == FIELD_VALUE_TYPE && !f.is_bytes) {
            m->value_type = f.value;
        }
    }
    return true;
}

static bool parse_inner(ms_str in, message *m)
{
    while (in.bytes > 0) {
        field f;
        if (!take_field(&in, &f)) {
            return false;
        }
        if (f.number == FIELD_DATA && f.is_bytes) {
            m->data = f.bytes;
        } else if (f.number == FIELD_SPARSE_DATA && f.is_bytes) {
            m->sparse_data = f.bytes;
        } else if (f.number == FIELD_PRECISION && !f.is_bytes) {
            m->precision = f.value;
        } else if (f.number == FIELD_SPARSE_PRECISION && !f.is_bytes) {
            m->sparse_precision = f.value;
        }
    }
    return true;
}

static ms_bt_code not_a_sketch(ms_bt_status *bt, const char *why)
{
    return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT, "The value is not an HLL sketch: %s", why);
}

static ms_bt_code check_message(const message *m, ms_bt_status *bt)
{
    if (m->type != TYPE_HLL || m->encoding != ENCODING) {
        return not_a_sketch(bt, "its type or encoding is another");
    }
    if (m->value_type != 0 && m->value_type != VALUE_INT64 && m->value_type != VALUE_UINT64) {
        return not_a_sketch(bt, "it counts values of another type than INT64");
    }
    if (m->value_count > INT64_MAX) {
        return not_a_sketch(bt, "its number of values is negative");
    }
    if (m->precision < PRECISION_MIN || m->precision > PRECISION_MAX) {
        return not_a_sketch(bt, "its precision is not between 10 and 24");
    }
    if (m->sparse_precision != 0 &&
        (m->sparse_precision < m->precision || m->sparse_precision > SPARSE_PRECISION_MAX)) {
        return not_a_sketch(bt, "its sparse precision is not between its precision and 25");
    }
    if (m->data.bytes > 0 && m->sparse_data.bytes > 0) {
        return not_a_sketch(bt, "it has data of both kinds");
    }
    if (m->sparse_precision == 0 && m->sparse_data.bytes > 0) {
        return not_a_sketch(bt, "it has sparse data without a sparse precision");
    }
    return MS_BT_OK;
}

static ms_bt_code read_registers(ms_bt_hll *hll, ms_str data, ms_bt_status *bt)
{
    if (data.bytes != 0 && data.bytes != register_count(hll)) {
        return not_a_sketch(bt, "its number of registers does not fit its precision");
    }
    MS_BT_TRY(make_registers(hll, bt));
    for (size_t i = 0; i < data.bytes; i++) {
        uint8_t rho = (uint8_t)data.ptr[i];
        if (rho > HASH_BITS - hll->precision + 1) {
            return not_a_sketch(bt, "a register is too large");
        }
        hll->registers[i] = rho;
    }
    return MS_BT_OK;
}

static bool is_sparse_value(const ms_bt_hll *hll, uint64_t encoded)
{
    uint32_t flag = flag_of(hll->precision, hll->sparse_precision);
    unsigned extra = hll->sparse_precision - hll->precision;
    if (encoded < flag) {
        return encoded >> hll->sparse_precision == 0 && low_bits((uint32_t)encoded, extra) != 0;
    }
    uint64_t rest = encoded - flag;
    return rest >> RHO_BITS >> hll->precision == 0 && (rest & RHO_MASK) > 0 &&
           (rest & RHO_MASK) <= HASH_BITS - hll->sparse_precision + 1;
}

/* The list is read as written: a writer that keeps less than what belongs together is corrected by
 * putting its values in one by one. */
static ms_bt_code read_list(ms_bt_hll *hll, ms_str data, ms_bt_status *bt)
{
    uint64_t encoded = 0;
    while (data.bytes > 0) {
        uint64_t step = 0;
        if (!take_varint(&data, &step) || step > UINT32_MAX ||
            !is_sparse_value(hll, encoded + step)) {
            return not_a_sketch(bt, "its sparse data is damaged");
        }
        encoded += step;
        entry value = decode(hll, (uint32_t)encoded);
        MS_BT_TRY(put(hll, value, hll->sparse_precision, bt));
    }
    return MS_BT_OK;
}

ms_bt_code ms_bt_hll_init(ms_bt_hll *hll, ms_str state, ms_bt_status *bt)
{
    *hll = (ms_bt_hll){.precision = MS_BT_HLL_PRECISION,
                       .sparse_precision = MS_BT_HLL_SPARSE_PRECISION};
    if (state.bytes == 0) {
        return MS_BT_OK;
    }
    message m = {0};
    if (!parse_outer(state, &m) || !parse_inner(m.state, &m)) {
        return not_a_sketch(bt, "it is no message");
    }
    MS_BT_TRY(check_message(&m, bt));
    hll->precision = (unsigned)m.precision;
    hll->sparse_precision = (unsigned)m.sparse_precision;
    hll->value_count = (int64_t)m.value_count;
    ms_bt_code code = m.data.bytes > 0 || m.sparse_precision == 0
                          ? read_registers(hll, m.data, bt)
                          : read_list(hll, m.sparse_data, bt);
    if (code != MS_BT_OK) {
        ms_bt_hll_release(hll);
    }
    return code;
}
