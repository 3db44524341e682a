/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words that both sides share.
 */
#include "net/grpc.h"

#include "net/grpc_text_priv.h"

static const char *const code_names[] = {
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
};

_Static_assert(sizeof(code_names) / sizeof(code_names[0]) == MS_GRPC_CODE_COUNT, "a name a code");

const char *ms_grpc_code_name(ms_grpc_code code)
{
    return code_names[(unsigned)code < MS_GRPC_CODE_COUNT ? code : MS_GRPC_UNKNOWN];
}

bool ms_grpc_metadata_find(ms_grpc_metadata metadata, ms_str key, ms_str *value_out)
{
    *value_out = (ms_str){0};
    for (size_t i = 0; i < metadata.count; i++) {
        if (ms_str_equals(metadata.pairs[i].key, key)) {
            *value_out = metadata.pairs[i].value;
            return true;
        }
    }
    return false;
}

static bool is_key_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

static bool is_pair_valid(ms_grpc_pair pair)
{
    if (msi_grpc_key_is_reserved(pair.key)) {
        return false;
    }
    for (size_t i = 0; i < pair.key.bytes; i++) {
        if (!is_key_byte(pair.key.ptr[i])) {
            return false;
        }
    }
    if (msi_grpc_key_is_bin(pair.key)) {
        return true;
    }
    for (size_t i = 0; i < pair.value.bytes; i++) {
        if (pair.value.ptr[i] < 0x20 || pair.value.ptr[i] > 0x7e) {
            return false;
        }
    }
    /* HTTP/2 refuses blanks at the ends, where they carry no meaning. */
    size_t last = pair.value.bytes - 1;
    return pair.value.bytes == 0 || (pair.value.ptr[0] != ' ' && pair.value.ptr[last] != ' ');
}

bool ms_grpc_metadata_is_valid(ms_grpc_metadata metadata)
{
    for (size_t i = 0; i < metadata.count; i++) {
        if (!is_pair_valid(metadata.pairs[i])) {
            return false;
        }
    }
    return true;
}
