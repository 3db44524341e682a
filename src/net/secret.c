/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secrets. Wiping goes through OpenSSL, whose function compilers may not remove.
 */
#include "net/secret.h"

#include "base/memory.h"

#include <openssl/crypto.h>

void ms_secret_wipe(void *ptr, size_t bytes)
{
    if (bytes > 0) {
        OPENSSL_cleanse(ptr, bytes);
    }
}

void ms_secret_set(ms_secret *secret, ms_str bytes)
{
    MS_ASSERT(bytes.bytes <= MS_SECRET_BYTES_MAX);
    char *copy = NULL;
    if (bytes.bytes > 0) {
        copy = ms_mem_alloc(bytes.bytes + 1);
        memcpy(copy, bytes.ptr, bytes.bytes);
        copy[bytes.bytes] = '\0';
    }
    ms_secret_release(secret);
    *secret = (ms_secret){copy, bytes.bytes};
}

void ms_secret_move(ms_secret *to, ms_secret *from)
{
    ms_secret moved = *from;
    *from = (ms_secret){0};
    ms_secret_release(to);
    *to = moved;
}

void ms_secret_release(ms_secret *secret)
{
    ms_secret_wipe(secret->ptr, secret->bytes);
    ms_mem_free(secret->ptr);
    *secret = (ms_secret){0};
}

ms_str ms_secret_reveal(const ms_secret *secret)
{
    return (ms_str){secret->bytes > 0 ? secret->ptr : "", secret->bytes};
}

bool ms_secret_equals(const ms_secret *secret, ms_str candidate)
{
    if (secret->bytes == 0) {
        return false;
    }
    unsigned char differs = secret->bytes != candidate.bytes;
    for (size_t i = 0; i < candidate.bytes; i++) {
        /* Wraps around, so that the time does not tell the secret's length. */
        differs |= (unsigned char)(candidate.ptr[i] ^ secret->ptr[i % secret->bytes]);
    }
    return differs == 0;
}

ms_str ms_secret_text(const ms_secret *secret)
{
    (void)secret;
    return ms_str_lit("***");
}
